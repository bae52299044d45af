/**
 * The contract to read: `/docs`, which shows `/openapi.json`. All files are our own or the package's; nothing
 * is loaded from elsewhere.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accepts } from '../content-encoding.js';
import { DOCUMENTATION_HEADERS } from './security-headers.js';

const compress = promisify(gzip);
const packages = createRequire(import.meta.url);

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Campus Gateway: REST</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<main id="contract"></main>
<noscript>The contract as text: <a href="/openapi.json">openapi.json</a></noscript>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`;

const PAGE_STYLE = `body { margin: 0; }
html.dark-mode body { background: #1c2022; }
.swagger-ui .wrapper { box-sizing: border-box; max-width: 1100px; padding: 0 16px; }
.swagger-ui .info { margin: 24px 0; }
@media (max-width: 640px) {
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; flex: 1 1 60%; }
  .swagger-ui .opblock .opblock-summary-description { flex: 1 1 100%; padding: 4px 0; }
  .swagger-ui .opblock-body, .swagger-ui table { overflow-x: auto; }
}
`;

const PAGE_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#contract',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

interface Asset {
  readonly type: string;
  readonly load: () => Promise<Buffer>;
}

const ASSETS: Readonly<Record<string, Asset>> = {
  '/docs/page.css': { type: 'text/css; charset=utf-8', load: async () => Buffer.from(PAGE_STYLE) },
  '/docs/page.js': { type: 'text/javascript; charset=utf-8', load: async () => Buffer.from(PAGE_SCRIPT) },
  '/docs/swagger-ui.css': packaged('swagger-ui.css', 'text/css; charset=utf-8'),
  '/docs/swagger-ui.js': packaged('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
  '/docs/favicon.png': packaged('favicon-32x32.png', 'image/png'),
};

export function useDocumentation(app: FastifyInstance): void {
  const page: Asset = { type: 'text/html; charset=utf-8', load: async () => Buffer.from(PAGE) };
  const assets = Object.entries({ ...ASSETS, '/docs': page });
  for (const [url, asset] of assets) {
    const send = createAssetHandler(asset);
    app.route({ method: ['GET', 'HEAD'], url, handler: send });
  }
}

/** Loaded and compressed at the first request, and kept: they are few, and change with the version only. */
function createAssetHandler(asset: Asset) {
  let ready: Promise<{ readonly plain: Buffer; readonly compressed: Buffer }> | undefined;
  const prepare = async () => {
    const plain = await asset.load();
    return { plain, compressed: await compress(plain) };
  };
  return async (request: FastifyRequest, reply: FastifyReply) => {
    ready ??= prepare();
    const { plain, compressed } = await ready;
    reply
      .headers(DOCUMENTATION_HEADERS)
      .header('cache-control', 'public, max-age=300')
      .header('vary', 'Accept-Encoding')
      .type(asset.type);
    const isCompressed = accepts(request.headers['accept-encoding'], 'gzip');
    if (isCompressed) reply.header('content-encoding', 'gzip');
    return reply.send(isCompressed ? compressed : plain);
  };
}

function packaged(file: string, type: string): Asset {
  return { type, load: () => readFile(packages.resolve(`swagger-ui-dist/${file}`)) };
}
