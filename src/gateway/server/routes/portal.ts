/**
 * Serves the portal from our own files only: `/` for browsers, its pages below `/portal`, and the explorer at
 * `/explore`. All of them are one HTML page, whose script renders the page of the address. The files were
 * built with the package (src/portal/bundle.ts); the operations library and the public facts about the school
 * are read here.
 */

import { createHash } from 'node:crypto';
import { access, open } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { accepts } from '../../../base/http/content-encoding.js';
import { isUnchanged } from '../../../base/http/etag.js';
import type { Domain } from '../../../base/model/scope.js';
import { succeeds } from '../../../base/process/succeeds.js';
import { loadOperationsLibrary } from '../../../portal/explore/operations-library.js';
import { isOfPath } from '../../../portal/page-paths.js';
import {
  manualDirectory,
  type PortalFiles,
  portalDirectory,
  readManualFiles,
  readPortalFiles,
} from '../../../portal/pages/portal-files.js';
import { HOUSE_SIGN } from '../../../portal/pages/room-header.js';
import { newNonce, prefersPage, sendNoticePage, sendPage } from '../sending/notice-page.js';
import {
  EXPLORER_HEADERS,
  MANUAL_HEADERS,
  portalHeaders,
  type SecurityHeaders,
} from '../sending/security-headers.js';
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

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ttf': 'font/ttf',
};

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
  for (const url of ['/portal', '/portal/*', ...LINK_PAGES])
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => sendPortal(request, reply),
    });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/explore',
    handler: async (_request, reply) => sendBuilt(reply, EXPLORER_HEADERS, { address: '/explore' }),
  });
  if (files) {
    const script = printServiceWorker(files);
    addDescription(app, SERVICE_WORKER_PATH, () => script, EXPLORER_HEADERS);
  }
  addDescription(app, '/explore/operations.json', () => JSON.stringify(library));
  addDescription(app, '/explore/school.json', () =>
    JSON.stringify({ ...describeSchool(school(), demo), identityProvider: identityProvider ?? null }),
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
export function getBuilt(files: PortalFiles | undefined): PortalFiles {
  if (files) return files;
  throw new ServiceError('UNAVAILABLE', 'The portal has not been built; `npm run build` makes it.');
}

/** Whether a newer build has removed the files that the pages of the running gateway name. */
async function isReplaced(directory: string, { script }: PortalFiles): Promise<boolean> {
  return !(await succeeds(access(path.join(directory, path.basename(script)))));
}

/** The login form shows the demo logins, as the README does, but only for the demo school. */
function describeSchool(school: ReturnType<PortalOptions['school']>, demo: PortalOptions['demo']) {
  return {
    school: school?.name ?? null,
    demoUsers: school?.id === demo.domainId ? demo.userNames : [],
  };
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

/** Small, and revalidated each time: an unchanged one costs a 304. */
function addDescription(
  app: FastifyInstance,
  url: string,
  print: () => string,
  headers: SecurityHeaders = {},
): void {
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: async (request, reply) => {
      const text = print();
      const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
      const type = TYPES[path.extname(url)] ?? 'application/json; charset=utf-8';
      reply.headers({ ...headers, 'cache-control': 'no-cache', etag }).type(type);
      return isUnchanged(request.headers['if-none-match'], etag) ? reply.code(304).send() : reply.send(text);
    },
  });
}

/** Assets are cached for ever: other content has another name. */
function addAssets(app: FastifyInstance, directory: string, names: ReadonlySet<string>): void {
  app.route<{ Params: { name: string } }>({
    method: ['GET', 'HEAD'],
    url: '/portal/assets/:name',
    handler: async (request, reply) => {
      const { name } = request.params;
      if (!names.has(name)) throw new ServiceError('NOT_FOUND', `The portal has no file ${name}.`);
      const etag = `"${name}"`;
      reply
        .headers(EXPLORER_HEADERS)
        .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding', etag })
        .type(TYPES[path.extname(name)] ?? 'application/octet-stream');
      if (isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send();
      const outcome = await sendPrebuilt(path.join(directory, name), { request, reply });
      if (outcome === 'sending') return reply;
      throw new ServiceError(
        'NOT_FOUND',
        'The portal was built again; restart the gateway, then reload the page.',
      );
    },
  });
}

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

const MANUAL_TYPES: Readonly<Record<string, string>> = {
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
    throw new ServiceError('UNAVAILABLE', 'The manual was built again; restart the gateway.');
  };

  for (const url of ['/manual', '/manual/*']) {
    app.route({ method: ['GET', 'HEAD'], url, handler: send });
  }
}

/** An asset has a hash of its content in its name; a page is revalidated each time, which costs a 304. */
function cachingOf(address: string): string {
  return address.startsWith('/manual/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
}

function typeOf(address: string, name: string): string {
  const type = MANUAL_TYPES[path.extname(name)];
  const isText = address.startsWith('/manual/files/') && type !== 'image/png';
  return isText ? PLAIN_TEXT : (type ?? PLAIN_TEXT);
}
