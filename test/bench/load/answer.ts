/** Reads one answer to its end, as a client does that keeps nothing of it, and says how long it took. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { HttpRequest } from './http-request.js';

export interface TimedAnswer {
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
}

/** @throws Error when the answer is not 2xx */
export async function timeAnswer(url: string, asked: HttpRequest): Promise<TimedAnswer> {
  const startedAt = performance.now();
  const response = await send(url, asked);
  let bytes = 0;
  let firstByteMs = Number.NaN;
  response.on('data', (chunk: Buffer) => {
    if (bytes === 0) firstByteMs = performance.now() - startedAt;
    bytes += chunk.length;
  });
  await once(response, 'end');
  return { bytes, firstByteMs, totalMs: performance.now() - startedAt };
}

/** The text of an answer. @throws Error when it is not 2xx, or tells errors as GraphQL does */
export async function readAnswer(url: string, asked: HttpRequest): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await send(url, asked)) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (text.slice(0, 2000).includes('"errors"')) throw new Error(`${asked.path}: ${text.slice(0, 2000)}`);
  return text;
}

async function send(
  url: string,
  { method = 'GET', path, headers, body }: HttpRequest,
): Promise<IncomingMessage> {
  const call = request(url + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
  });
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  if (response.statusCode !== undefined && response.statusCode < 300) return response;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  throw new Error(`${path}: ${response.statusCode} ${Buffer.concat(chunks).toString().slice(0, 1000)}`);
}
