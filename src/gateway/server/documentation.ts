/**
 * The REST documentation at `/docs`, which shows `/openapi.json`. All files are ours or the package's;
 * nothing is loaded from elsewhere.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../base/errors.js';
import { sendText } from '../../base/http/text-answer.js';
import { type PortalFiles, portalDirectory, readPortalFiles } from '../../portal/rooms/portal-files.js';
import { printRoomHeader, ROOM_THEME_SCRIPT } from '../../portal/rooms/room-header.js';
import { DOCUMENTATION_HEADERS } from './security-headers.js';

const packages = createRequire(import.meta.url);

function printPage({ script, style }: PortalFiles['restDocs']): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>REST · Campus Gateway</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="${style}">
<script src="/docs/room-theme.js"></script>
<script src="/docs/swagger-ui.js" defer></script>
<script type="module" src="${script}"></script>
</head>
<body>
${printRoomHeader('/docs')}
<main>
<h1>REST</h1>
<p class="room-user" role="status"></p>
<div id="contract"></div>
</main>
<noscript>The contract as text: <a href="/openapi.json">openapi.json</a></noscript>
</body>
</html>
`;
}

interface Asset {
  readonly type: string;
  readonly load: () => Promise<Buffer>;
}

const ASSETS: Readonly<Record<string, Asset>> = {
  '/docs/room-theme.js': {
    type: 'text/javascript; charset=utf-8',
    load: async () => Buffer.from(ROOM_THEME_SCRIPT),
  },
  '/docs/swagger-ui.css': packaged('swagger-ui.css', 'text/css; charset=utf-8'),
  '/docs/swagger-ui.js': packaged('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
  '/docs/favicon.png': packaged('favicon-32x32.png', 'image/png'),
};

/** Its script and styles belong to the portal and are built with it. */
export function useDocumentation(
  app: FastifyInstance,
  { packageDirectory }: { readonly packageDirectory: string },
): void {
  const page: Asset = {
    type: 'text/html; charset=utf-8',
    load: async () => {
      const files = await readPortalFiles(portalDirectory(packageDirectory)).catch(() => undefined);
      if (!files)
        throw new ServiceError('UNAVAILABLE', 'The portal has not been built; `npm run build` makes it.');
      return Buffer.from(printPage(files.restDocs));
    },
  };
  const assets = Object.entries({ ...ASSETS, '/docs': page });
  for (const [url, asset] of assets) {
    const send = createAssetHandler(asset);
    app.route({ method: ['GET', 'HEAD'], url, handler: send });
  }
}

/** Loads an asset at its first request and keeps it: they are few, and change only with the version. */
function createAssetHandler({ type, load }: Asset) {
  let loaded: Promise<Buffer> | undefined;
  return async (_request: FastifyRequest, reply: FastifyReply) => {
    loaded ??= load();
    const text = await loaded;
    reply
      .headers(DOCUMENTATION_HEADERS)
      .header('cache-control', 'public, max-age=300')
      .header('vary', 'Accept-Encoding');
    return sendText(reply, { status: 200, mediaType: type, text });
  };
}

function packaged(file: string, type: string): Asset {
  return { type, load: () => readFile(packages.resolve(`swagger-ui-dist/${file}`)) };
}
