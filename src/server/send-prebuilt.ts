/**
 * Files that were built with the package and lie beside their compressed forms: `page.js`, `page.js.br`,
 * `page.js.gz`.
 */
import { open } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accepts } from '../content-encoding.js';

/** The forms that a client may accept, the smallest first. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

/**
 * Begins to send a file in the smallest form that the client takes. Gives `missing`, with nothing sent, where
 * there is no such file.
 *
 * The answer is not waited for: a reply that is awaited gives nothing, and a client that goes away in the
 * middle would fail the handler when its headers are out already.
 */
export async function sendPrebuilt(
  file: string,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<'sending' | 'missing'> {
  const accepted = request.headers['accept-encoding'];
  const encoding = ENCODINGS.find(({ name }) => accepts(accepted, name));
  // Opened first: files that were built anew under a gateway that runs may have other names.
  const opened = await open(file + (encoding?.suffix ?? '')).catch(() => undefined);
  if (!opened) return 'missing';
  if (encoding) reply.header('content-encoding', encoding.name);
  if (request.method === 'GET') {
    reply.send(opened.createReadStream());
    return 'sending';
  }
  await opened.close();
  reply.send();
  return 'sending';
}
