/**
 * As much of S3 as an SDK needs to keep objects, on loopback: whole and multipart uploads, ranges, deletion.
 * It looks at no signature. Ours, because the servers of the registry have not been kept up for years.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface S3Server {
  readonly url: string;
  readonly objects: Map<string, Buffer>;
  /** Multipart uploads that were neither completed nor aborted. */
  readonly uploads: Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>;
  /** `down` answers 503, `forbidden` 403, `silent` nothing but the begin of uploads and deletions. */
  state: 'up' | 'down' | 'forbidden' | 'silent';
  close(): Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const s3: S3Server = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/school`,
    objects: new Map(),
    uploads: new Map(),
    state: 'up',
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return s3;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', s3.url);
    const key = pathname.replace('/school/', '');
    const body = await bodyOf(request);
    const say = (status: number, text = '', headers: Record<string, string> = {}) =>
      response.writeHead(status, headers).end(text);
    if (s3.state === 'down') return void say(503, '<Error><Code>SlowDown</Code></Error>');
    if (s3.state === 'forbidden') return void say(403, '<Error><Code>AccessDenied</Code></Error>');
    const isFrame = request.method === 'DELETE' || (request.method === 'POST' && searchParams.has('uploads'));
    if (s3.state === 'silent' && !isFrame) return;
    const upload = searchParams.get('uploadId') ?? '';
    switch (request.method) {
      case 'POST': {
        if (searchParams.has('uploads')) {
          const id = randomUUID();
          s3.uploads.set(id, { key, parts: new Map() });
          return void say(
            200,
            `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
          );
        }
        const parts = [...(s3.uploads.get(upload)?.parts ?? [])].sort(([a], [b]) => a - b);
        s3.uploads.delete(upload);
        s3.objects.set(key, Buffer.concat(parts.map(([, part]) => part)));
        return void say(
          200,
          '<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>',
        );
      }
      case 'PUT': {
        const part = searchParams.get('partNumber');
        if (part === null) s3.objects.set(key, body);
        else s3.uploads.get(upload)?.parts.set(Number(part), body);
        return void say(200, '', { ETag: '"e"' });
      }
      case 'DELETE':
        if (upload) s3.uploads.delete(upload);
        else s3.objects.delete(key);
        return void say(204);
      default: {
        if (searchParams.has('uploads')) {
          const prefix = searchParams.get('prefix') ?? '';
          const open = [...s3.uploads].filter(([, one]) => one.key.startsWith(prefix));
          const list = open.map(
            ([id, one]) => `<Upload><Key>${one.key}</Key><UploadId>${id}</UploadId></Upload>`,
          );
          const text = `<ListMultipartUploadsResult>${list.join('')}</ListMultipartUploadsResult>`;
          return void say(200, text);
        }
        const object = s3.objects.get(key);
        if (!object) return void say(404, '<Error><Code>NoSuchKey</Code></Error>');
        const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
        const bytes = object.subarray(Number(start ?? 0), Number(end ?? object.length - 1) + 1);
        response.writeHead(206, { 'Content-Length': String(bytes.length), ETag: '"e"' }).end(bytes);
      }
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return request.headers['content-encoding'] === 'aws-chunked' ? unchunked(bytes) : bytes;
}

/** `<size in hexadecimal>;…\r\n<bytes>\r\n`, until a size of 0. */
function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
