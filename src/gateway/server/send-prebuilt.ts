/**
 * Serves files built with the package, which lie beside their compressed forms: `page.js`, `page.js.br`,
 * `page.js.gz`.
 */
import { open } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accepts } from '../../base/http/content-encoding.js';

/** The compressed forms, smallest first. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

/**
 * Begins to send a file in the smallest form the client accepts. Returns `missing`, with nothing sent, if
 * there is no such file.
 *
 * The reply is not awaited: an awaited reply yields nothing, and a client that disconnects midway would fail
 * the handler after its headers were sent.
 */
export async function sendPrebuilt(
  file: string,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<'sending' | 'missing'> {
  const accepted = request.headers['accept-encoding'];
  const encoding = ENCODINGS.find(({ name }) => accepts(accepted, name));
  // Opened first, because a rebuild under a running gateway may have renamed the files.
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
