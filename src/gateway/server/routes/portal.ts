/**
 * Serves the portal from our own files only: `/` for browsers, its pages below `/portal`, the explorer at
 * `/explore`, and the REST documentation at `/docs`. Portal and explorer are one HTML page, whose script
 * renders the page of the address. The files were built with the package (src/portal/bundle.ts); the
 * operations library and the public facts about the school are read here.
 */

import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { etagOf } from '../../../base/http/etag.js';
import type { Domain } from '../../../base/model/scope.js';
import { succeeds } from '../../../base/process/succeeds.js';
import { loadOperationsLibrary } from '../../../portal/explore/operations-library.js';
import { isOfPath } from '../../../portal/page-paths.js';
import { type PortalFiles, portalDirectory, readPortalFiles } from '../../../portal/pages/portal-files.js';
import { HOUSE_SIGN, printRoomHeader, ROOM_THEME_SCRIPT } from '../../../portal/pages/room-header.js';
import { newNonce, prefersPage, sendNoticePage, sendPage } from '../sending/notice-page.js';
import {
  DOCUMENTATION_HEADERS,
  EXPLORER_HEADERS,
  portalHeaders,
  type SecurityHeaders,
} from '../sending/security-headers.js';
import { mediaTypeOf, sendBuiltFile, sendIfChanged } from '../sending/send-built-file.js';
import { printServiceWorker, SERVICE_WORKER_PATH } from './service-worker.js';

export interface PortalOptions {
  /** The package directory, with the library in `schema/operations` and the page in `dist`. */
  readonly packageDirectory: string;
  /** The main school; `undefined` while the database has none. */
  readonly school: () => Pick<Domain, 'id' | 'name'> | undefined;
  /** The display name of the identity provider, if there is one. */
  readonly identityProvider: string | undefined;
  /** The demo logins that the form may show, and the school they belong to. */
  readonly demo: { readonly domainId: string; readonly userNames: readonly string[] };
}

/** The pages of mailed or logged links; their secret comes after `#`. */
const LINK_PAGES = ['/welcome', '/first-run'];

/** @throws Error when an example of the library is incomplete */
export async function usePortal(
  app: FastifyInstance,
  { packageDirectory, school, identityProvider, demo }: PortalOptions,
): Promise<void> {
  const directory = portalDirectory(packageDirectory);
  const files = await readPortalFiles(directory).catch(() => undefined);
  const library = await loadOperationsLibrary(path.join(packageDirectory, 'schema', 'operations'));

  const sendBuilt = async (reply: FastifyReply, headers: SecurityHeaders, page: PrintedPage) => {
    const built = getBuilt(files);
    if (await isReplaced(directory, built)) return sendNoticePage(reply, 'replaced');
    return sendPage(reply, headers, printPage(built, page));
  };
  const sendPortal = async (request: FastifyRequest, reply: FastifyReply) => {
    const nonce = newNonce();
    return await sendBuilt(reply, portalHeaders(nonce), { address: request.url, nonce });
  };
  addToIndex(app, sendPortal);
  const sendExplorer = async (_request: FastifyRequest, reply: FastifyReply) =>
    await sendBuilt(reply, EXPLORER_HEADERS, { address: '/explore' });
  for (const url of ['/portal', '/portal/*', ...LINK_PAGES])
    app.route({ method: ['GET', 'HEAD'], url, handler: sendPortal });
  app.route({ method: ['GET', 'HEAD'], url: '/explore', handler: sendExplorer });
  if (files) {
    const script = printServiceWorker(files);
    addContent(app, SERVICE_WORKER_PATH, EXPLORER_HEADERS, () => script);
  }
  addContent(app, '/explore/operations.json', {}, () => JSON.stringify(library));
  addContent(app, '/explore/school.json', {}, () => {
    const main = school();
    // The login form shows the demo logins, as the README does, but only for the demo school.
    const demoUsers = main?.id === demo.domainId ? demo.userNames : [];
    return JSON.stringify({
      school: main?.name ?? null,
      demoUsers,
      identityProvider: identityProvider ?? null,
    });
  });
  addContent(app, '/docs', DOCUMENTATION_HEADERS, () => printRestDocs(getBuilt(files)));
  addContent(app, '/docs/room-theme.js', DOCUMENTATION_HEADERS, () => ROOM_THEME_SCRIPT);
  addContent(
    app,
    '/docs/favicon.png',
    { ...DOCUMENTATION_HEADERS, 'cache-control': 'public, max-age=300' },
    () => readFile(path.join(directory, 'favicon.png')),
  );
  addAssets(app, directory, new Set(files?.names));
}

/**
 * Runs before `GET /` of the REST table: a client that prefers HTML gets the portal instead of the index,
 * unless a report is requested (`?report=`).
 */
function addToIndex(
  app: FastifyInstance,
  sendPortal: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  app.addHook('onRoute', (route) => {
    if (route.url !== '/' || ![route.method].flat().includes('GET')) return;
    const before = async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('vary', 'Accept');
      const hasReport = Object.hasOwn(request.query as object, 'report');
      if (!hasReport && prefersPage(request)) return await sendPortal(request, reply);
    };
    route.onRequest = [before, ...[route.onRequest ?? []].flat()];
  });
}

/** @throws UNAVAILABLE (503) */
function getBuilt(files: PortalFiles | undefined): PortalFiles {
  if (files) return files;
  throw new ServiceError('UNAVAILABLE', 'The portal has not been built; `npm run build` makes it.');
}

/** Whether a newer build has removed the files that the pages of the running gateway name. */
async function isReplaced(directory: string, { script }: PortalFiles): Promise<boolean> {
  return !(await succeeds(access(path.join(directory, path.basename(script)))));
}

/**
 * The splash screen until styles and script arrive, which takes a slow phone seconds; it must not depend on
 * the stylesheet. `Splash` of the portal continues it.
 */
const SPLASH_STYLE = `
.splash{display:grid;place-items:center;min-height:80vh;font:18px/1.4 system-ui,sans-serif}
.splash .brand{display:inline-flex;align-items:center;gap:10px;font-weight:650}
body:has(#portal:not(:empty))>.splash{display:none}`;
const SPLASH = `<div class="splash"><span class="brand">${HOUSE_SIGN}
<span class="brand-name">Campus Gateway</span></span></div>`;

interface PrintedPage {
  /** The requested address. Its HTML preloads the files of the page together with the script. */
  readonly address: string;
  /** Allows the script to add styles under the policy that names it. */
  readonly nonce?: string;
}

function printPage(
  { script, style, preload, arrive, pages }: PortalFiles,
  { address, nonce }: PrintedPage,
): string {
  const nonceAttribute = nonce === undefined ? '' : ` nonce="${nonce}"`;
  const [pathname = ''] = address.split('?');
  const ofPage = pages.find(({ path: one }) => isOfPath(pathname, one))?.files ?? [];
  const preloads = [...preload, ...ofPage].map((file) => `<link rel="modulepreload" href="${file}">`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Campus Gateway</title>
<link rel="icon" href="/docs/favicon.png">
<style${nonceAttribute}>${SPLASH_STYLE}</style>
<script async fetchpriority="high" src="${arrive}"></script>
<script type="module" src="${script}"${nonceAttribute}></script>
${preloads.join('\n')}
</head>
<body>
${SPLASH}
<link rel="stylesheet" href="${style}">
<div id="portal"></div>
<noscript>The portal needs JavaScript.
The interface as text is in <a href="/openapi.json">openapi.json</a>.</noscript>
</body>
</html>
`;
}

/** The REST documentation: Swagger UI with `/openapi.json`. Nothing is loaded from elsewhere. */
function printRestDocs({ restDocs: { script, style } }: PortalFiles): string {
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

/** Small, and revalidated each time unless the headers say otherwise: an unchanged one costs a 304. */
function addContent(
  app: FastifyInstance,
  url: string,
  headers: SecurityHeaders,
  load: () => string | Promise<Buffer>,
): void {
  const mediaType = mediaTypeOf(url, 'text/html; charset=utf-8');
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: async (request, reply) => {
      const text = await load();
      reply.headers({ 'cache-control': 'no-cache', vary: 'Accept-Encoding', ...headers });
      return sendIfChanged(request, reply, { mediaType, etag: etagOf(mediaType, text), print: () => text });
    },
  });
}

function addAssets(app: FastifyInstance, directory: string, names: ReadonlySet<string>): void {
  app.route<{ Params: { name: string } }>({
    method: ['GET', 'HEAD'],
    url: '/portal/assets/:name',
    handler: async (request, reply) => {
      const { name } = request.params;
      if (!names.has(name)) throw new ServiceError('NOT_FOUND', `The portal has no file ${name}.`);
      reply.headers(EXPLORER_HEADERS).type(mediaTypeOf(name, 'application/octet-stream'));
      await sendBuiltFile(request, reply, {
        ...{ directory, name, etag: `"${name}"`, isImmutable: true },
        missing: new ServiceError(
          'NOT_FOUND',
          'The portal was built again; restart the gateway, then reload the page.',
        ),
      });
      return reply;
    },
  });
}
