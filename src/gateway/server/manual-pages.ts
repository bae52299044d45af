/**
 * `/manual`: the documentation of this version, built with the package (src/portal/manual/build.ts). It loads
 * our own files only.
 */
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../base/errors.js';
import { isUnchanged } from '../../base/http/etag.js';
import { manualDirectory, readManualFiles } from '../../portal/manual/manual-files.js';
import { prefersPage, sendNoticePage } from './notice-page.js';
import { addOtherMethods } from './rest.js';
import { MANUAL_HEADERS } from './security-headers.js';
import { sendPrebuilt } from './send-prebuilt.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
};

/** The type of text files in the package: shown, never executed. */
const PLAIN_TEXT = 'text/plain; charset=utf-8';

export async function useManualPages(
  app: FastifyInstance,
  { packageDirectory }: { readonly packageDirectory: string },
): Promise<void> {
  const directory = manualDirectory(packageDirectory);
  const files = await readManualFiles(directory).catch(() => undefined);

  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!files)
      throw new ServiceError('UNAVAILABLE', 'The manual has not been built; `npm run build` makes it.');
    const address = new URL(request.url, 'http://manual').pathname.replace(/\/$/, '');
    // Only built files are served, so no path leads out of the folder.
    const name = Object.hasOwn(files.names, address) ? files.names[address] : undefined;
    if (name === undefined) {
      if (prefersPage(request)) return sendNoticePage(reply, 'missing');
      throw new ServiceError('NOT_FOUND', `The manual has no page ${address}.`);
    }
    const etag = `"${files.key.slice(0, 22)}"`;
    reply
      .headers(MANUAL_HEADERS)
      .headers({ 'cache-control': cachingOf(address), vary: 'Accept-Encoding', etag })
      .type(typeOf(address, name));
    if (isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send();
    const outcome = await sendPrebuilt(path.join(directory, name), { request, reply });
    if (outcome === 'sending') return reply;
    throw new ServiceError('UNAVAILABLE', 'The manual was built anew; restart the gateway.');
  };

  for (const url of ['/manual', '/manual/*']) {
    app.route({ method: ['GET', 'HEAD'], url, handler: send });
  }
  addOtherMethods(app, '/manual/*', ['GET', 'HEAD']);
}

/** An asset has a hash of its content in its name; a page is revalidated each time, which costs a 304. */
function cachingOf(address: string): string {
  return address.startsWith('/manual/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
}

function typeOf(address: string, name: string): string {
  const type = TYPES[path.extname(name)];
  const isText = address.startsWith('/manual/files/') && type !== 'image/png';
  return isText ? PLAIN_TEXT : (type ?? PLAIN_TEXT);
}
