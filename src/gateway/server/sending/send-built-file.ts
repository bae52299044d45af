/** Sends content that does not depend on records: texts printed here, and files built with the package. */
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { accepts } from '../../../base/http/content-encoding.js';
import { etagHeld, isUnchanged } from '../../../base/http/etag.js';
import { sendText } from '../../../base/http/text-answer.js';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.ttf': 'font/ttf',
};

/** The media type of a file of ours. */
export function mediaTypeOf(name: string, otherwise: string): string {
  return MEDIA_TYPES[path.extname(name)] ?? otherwise;
}

export interface PrintedText {
  readonly mediaType: string;
  readonly etag: string;
  /** Called only if the caller does not have the text. */
  readonly print: () => string | Uint8Array;
}

export function sendIfChanged(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, etag, print }: PrintedText,
): FastifyReply {
  const known = request.headers['if-none-match'];
  if (isUnchanged(known, etag)) return reply.code(304).header('etag', etagHeld(known, etag)).send();
  return sendText(reply.header('etag', etag), { status: 200, mediaType, text: print() });
}

export interface ServedFile {
  readonly directory: string;
  /** In the directory; its compressed forms lie beside it. */
  readonly name: string;
  readonly etag: string;
  /** Whether other content has another name, so that the file may be kept for ever. */
  readonly isImmutable: boolean;
  /** Why a file that was built is not there. */
  readonly missing: ServiceError;
}

/** The compressed forms, smallest first. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

/**
 * Begins to send a file in the smallest form the client accepts.
 *
 * The reply is not returned, because an awaited reply ends with the answer: a client that disconnects midway
 * would fail the handler after its headers were sent.
 *
 * @throws `missing`, with nothing sent
 */
export async function sendBuiltFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { directory, name, etag, isImmutable, missing }: ServedFile,
): Promise<void> {
  const { 'if-none-match': known, 'accept-encoding': accepted } = request.headers;
  const caching = isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
  reply.headers({ 'cache-control': caching, vary: 'Accept-Encoding', etag });
  if (isUnchanged(known, etag)) {
    reply.code(304).send();
    return;
  }
  const encoding = ENCODINGS.find((one) => accepts(accepted, one.name));
  // Opened first, because a rebuild under a running gateway may have renamed the files.
  const opened = await open(path.join(directory, name) + (encoding?.suffix ?? '')).catch(() => undefined);
  if (!opened) throw missing;
  if (encoding) reply.header('content-encoding', encoding.name);
  if (request.method === 'HEAD') await opened.close();
  reply.send(request.method === 'HEAD' ? undefined : opened.createReadStream());
}
