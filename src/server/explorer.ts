/**
 * `/explore`: GraphiQL for the people of a school, from our own files alone. What the page is made of was
 * built with the package (src/explore/bundle.ts); the operations library and what may be known of the school
 * are read here.
 */

import { createHash } from 'node:crypto';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.js';
import { isUnchanged } from '../etag.js';
import { loadOperationsLibrary } from '../explore/operations-library.js';
import { type PageFiles, pageDirectory, readPageFiles } from '../explore/page-files.js';
import type { Domain } from '../model/scope.js';
import { addOtherMethods } from './rest.js';
import { EXPLORER_HEADERS } from './security-headers.js';
import { sendPrebuilt } from './send-prebuilt.js';

export interface ExplorerOptions {
  /** The package directory, with the library in `schema/operations` and the page in `dist`. */
  readonly packageDirectory: string;
  /** The main school; `undefined` while there is none. */
  readonly school: () => Pick<Domain, 'id' | 'name'> | undefined;
  /** The logins that the form may show, and of which school they are. */
  readonly demo: { readonly domainId: string; readonly userNames: readonly string[] };
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ttf': 'font/ttf',
};

/** @throws Error when an example of the library lacks something */
export async function useExplorer(
  app: FastifyInstance,
  { packageDirectory, school, demo }: ExplorerOptions,
): Promise<void> {
  const directory = pageDirectory(packageDirectory);
  const files = await readPageFiles(directory).catch(() => undefined);
  const library = await loadOperationsLibrary(path.join(packageDirectory, 'schema', 'operations'));

  addPage(app, '/explore', 'text/html; charset=utf-8', () => printPage(getBuilt(files)));
  addPage(app, '/explore/operations.json', 'application/json; charset=utf-8', () => JSON.stringify(library));
  addPage(app, '/explore/school.json', 'application/json; charset=utf-8', () =>
    JSON.stringify(describeSchool(school(), demo)),
  );
  addAssets(app, directory, new Set(files?.names));
}

function getBuilt(files: PageFiles | undefined): PageFiles {
  if (files) return files;
  throw new ServiceError('UNAVAILABLE', 'The explorer has not been built; `npm run build` makes it.');
}

/**
 * The demo logins stand on the login form of the demo school, as they do in the README; those of another
 * school do not.
 */
function describeSchool(school: ReturnType<ExplorerOptions['school']>, demo: ExplorerOptions['demo']) {
  return {
    school: school?.name ?? null,
    demoUsers: school?.id === demo.domainId ? demo.userNames : [],
  };
}

function printPage({ script, style }: PageFiles): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Campus Gateway: explorer</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<div id="explorer"></div>
<noscript>The explorer needs JavaScript; the interface as text is in <a href="/openapi.json">openapi.json</a>.</noscript>
</body>
</html>
`;
}

/** Small, and asked for again each time: an unchanged one costs a 304. */
function addPage(app: FastifyInstance, url: string, type: string, print: () => string): void {
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: async (request, reply) => {
      const text = print();
      const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
      reply.headers(EXPLORER_HEADERS).headers({ 'cache-control': 'no-cache', etag }).type(type);
      return isUnchanged(request.headers['if-none-match'], etag) ? reply.code(304).send() : reply.send(text);
    },
  });
}

/** Assets are kept for ever by who has them: another content has another name. */
function addAssets(app: FastifyInstance, directory: string, names: ReadonlySet<string>): void {
  app.route<{ Params: { name: string } }>({
    method: ['GET', 'HEAD'],
    url: '/explore/assets/:name',
    handler: async (request, reply) => {
      const { name } = request.params;
      if (!names.has(name)) throw new ServiceError('NOT_FOUND', `The explorer has no file ${name}.`);
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
        'The explorer was built anew; restart the gateway, then reload the page.',
      );
    },
  });
  addOtherMethods(app, '/explore/assets/:name', ['GET', 'HEAD']);
}
