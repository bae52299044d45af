/**
 * The REST documentation at `/docs`, which shows `/openapi.json` by Swagger UI. Its script and styles are
 * built with the portal; nothing is loaded from elsewhere.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendText } from '../../../base/http/text-answer.js';
import { type PortalFiles, portalDirectory, readPortalFiles } from '../../../portal/pages/portal-files.js';
import { printRoomHeader, ROOM_THEME_SCRIPT } from '../../../portal/pages/room-header.js';
import { DOCUMENTATION_HEADERS } from '../sending/security-headers.js';
import { getBuilt } from './portal.js';

function printPage({ script, style }: PortalFiles['restDocs']): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>REST · Campus Gateway</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="${style}">
<script src="/docs/room-theme.js"></script>
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

export function useDocumentation(
  app: FastifyInstance,
  { packageDirectory }: { readonly packageDirectory: string },
): void {
  const directory = portalDirectory(packageDirectory);
  const page: Asset = {
    type: 'text/html; charset=utf-8',
    load: async () => {
      const files = getBuilt(await readPortalFiles(directory).catch(() => undefined));
      return Buffer.from(printPage(files.restDocs));
    },
  };
  const assets: Readonly<Record<string, Asset>> = {
    '/docs': page,
    '/docs/room-theme.js': {
      type: 'text/javascript; charset=utf-8',
      load: async () => Buffer.from(ROOM_THEME_SCRIPT),
    },
    '/docs/favicon.png': { type: 'image/png', load: () => readFile(path.join(directory, 'favicon.png')) },
  };
  for (const [url, asset] of Object.entries(assets)) {
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
