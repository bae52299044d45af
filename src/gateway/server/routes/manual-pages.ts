/** Serves the manual below `/manual`, from the files built with the package. */
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { manualDirectory, readManualFiles } from '../../../portal/pages/portal-files.js';
import { prefersPage, sendNoticePage } from '../sending/notice-page.js';
import { MANUAL_HEADERS } from '../sending/security-headers.js';
import { mediaTypeOf, sendBuiltFile } from '../sending/send-built-file.js';

/** The type of text files in the package: shown, never executed. */
const PLAIN_TEXT = 'text/plain; charset=utf-8';

export async function useManualPages(
  app: FastifyInstance,
  { packageDirectory }: { readonly packageDirectory: string },
): Promise<void> {
  const directory = manualDirectory(packageDirectory);
  const files = await readManualFiles(directory).catch(() => undefined);
  for (const url of ['/manual', '/manual/*']) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => {
        if (!files)
          throw new ServiceError('UNAVAILABLE', 'The manual has not been built; `npm run build` makes it.');
        const address = new URL(request.url, 'http://manual').pathname.replace(/\/$/, '');
        // Only built files are served, so no path leads out of the folder.
        const name = Object.hasOwn(files.names, address) ? files.names[address] : undefined;
        if (name === undefined) {
          if (prefersPage(request)) return sendNoticePage(reply, 'missing');
          throw new ServiceError('NOT_FOUND', `The manual has no page ${address}.`);
        }
        await sendBuiltFile(request, reply.headers(MANUAL_HEADERS).type(typeOf(address, name)), {
          ...{ directory, name, etag: `"${files.key.slice(0, 22)}"` },
          // An asset has a hash of its content in its name.
          isImmutable: address.startsWith('/manual/assets/'),
          missing: new ServiceError('UNAVAILABLE', 'The manual was built again; restart the gateway.'),
        });
        return reply;
      },
    });
  }
}

function typeOf(address: string, name: string): string {
  const isShownAsText = address.startsWith('/manual/files/') && !name.endsWith('.png');
  return isShownAsText ? PLAIN_TEXT : mediaTypeOf(name, PLAIN_TEXT);
}
