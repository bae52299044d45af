/** The pages of the portal and their files; what they do is in test/browser. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { ServiceError } from '../../../../src/base/errors.js';
import { usePortal } from '../../../../src/gateway/server/routes/portal.js';
import { portalDirectory } from '../../../../src/portal/pages/portal-files.js';
import { itAnswers, useGateway } from '../../../contract/gateway.js';

const gateway = useGateway();

/** What a browser accepts where a page is asked for. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

async function assetOf(kind: 'script' | 'style'): Promise<string> {
  const page = await (await gateway.fetch('/explore')).text();
  const found = { script: /src="([^"]+\.js)"/, style: /href="([^"]+\.css)"/ }[kind].exec(page)?.[1];
  if (found === undefined) throw new Error(`The page loads no ${kind}`);
  return found;
}

/** As it comes over the wire: `fetch` would decompress it. */
async function getRaw(path: string, encoding: string) {
  return await new Promise<{ readonly headers: http.IncomingHttpHeaders; readonly body: Buffer }>(
    (resolve, reject) => {
      http
        .get(gateway.url + path, { headers: { 'accept-encoding': encoding } }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
        })
        .on('error', reject);
    },
  );
}

describe('the portal', () => {
  itAnswers(gateway, [
    {
      name: 'has no other files than its own',
      path: '/portal/assets/nothing.js',
      status: 404,
      expectBody: { detail: 'The portal has no file nothing.js.' },
    },
    {
      name: 'gives no file above its folder',
      path: '/portal/assets/..%2F..%2F..%2Fpackage.json',
      status: 404,
    },
    { name: 'takes no other methods', method: 'POST', path: '/explore', status: 405 },
    {
      name: 'takes no other methods on its files',
      method: 'DELETE',
      path: '/portal/assets/x.js',
      status: 405,
    },
    {
      name: 'names no demo logins where there is no demo school',
      path: '/explore/school.json',
      status: 200,
      expectBody: { school: 'Top', demoUsers: [] },
    },
    { name: 'is listed in the index', path: '/', status: 200, expectBody: { explorer: '/explore' } },
  ]);

  it('is a page that loads nothing from elsewhere, and may not', async () => {
    const response = await gateway.fetch('/explore');
    const page = await response.text();
    expect(page).not.toMatch(/https?:\/\//);
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none';script-src 'self';worker-src 'self';style-src 'self' " +
        "'unsafe-inline';img-src 'self' data:;font-src 'self' data:;connect-src 'self';base-uri " +
        "'none';form-action 'none';frame-ancestors 'none'",
    );
    for (const path of [await assetOf('script'), await assetOf('style')]) {
      expect((await gateway.fetch(path)).status).toBe(200);
    }
  });

  it.each(['/', '/portal', '/portal/records/task?sort=name', '/portal/what-nobody-made'])(
    'is a page at %s whose styles carry the nonce of this answer alone',
    async (address) => {
      const ask = async () => await gateway.fetch(address, { headers: { accept: BROWSER } });
      const nonces = await Promise.all(
        [await ask(), await ask()].map(async (response) => {
          expect(response.headers.get('cache-control')).toBe('no-store');
          const policy = response.headers.get('content-security-policy') ?? '';
          const [, nonce = ''] = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy) ?? [];
          expect(policy).not.toContain('unsafe');
          expect(await response.text()).toContain(` nonce="${nonce}"`);
          return nonce;
        }),
      );
      expect(new Set(nonces).size).toBe(2);
    },
  );

  it('asks for the files of its page and for who is there before its script runs', async () => {
    const read = async (address: string) =>
      await (await gateway.fetch(address, { headers: { accept: BROWSER } })).text();
    const [home, records] = [await read('/'), await read('/portal/records/task?sort=name')];
    const filesOf = (page: string) =>
      [...page.matchAll(/"modulepreload" href="([^"]+)"/g)].map(([, file]) => file);
    expect(filesOf(home).join()).toContain('/home-page-');
    expect(filesOf(records).join()).toContain('/records-page-');
    expect(filesOf(await read('/portal/what-nobody-made')).join()).not.toContain('-page-');
    const early = /<script async fetchpriority="high" src="([^"]+)">/.exec(home)?.[1] ?? '';
    for (const file of [...filesOf(home), ...filesOf(records), early])
      expect([file, (await gateway.fetch(file ?? '')).status]).toEqual([file, 200]);
  });

  it.each([undefined, '*/*', 'application/json', 'application/json, text/html;q=0.9'])(
    'leaves the index to a program that accepts %s',
    async (accept) => {
      const response = await gateway.fetch('/', { headers: accept === undefined ? {} : { accept } });
      expect(response.headers.get('vary')).toContain('Accept');
      expect(await response.json()).toMatchObject({ name: 'campus-gateway' });
    },
  );

  it('leaves a report that is asked for at / to the report, even to a browser', async () => {
    const response = await gateway.fetch('/?report=strength', { headers: { accept: BROWSER } });
    expect(response.status).toBe(401);
  });

  it.each(['/nonsense', '/records', '/o/recs/task/a/b', '/manual/nonsense'])(
    'tells a browser in both languages that there is nothing at %s',
    async (address) => {
      const response = await gateway.fetch(address, { headers: { accept: BROWSER } });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-store');
      const page = await response.text();
      const [, nonce = 'none'] = /<style nonce="([\w-]{22})">/.exec(page) ?? [];
      expect(response.headers.get('content-security-policy')).toContain(`style-src 'self' 'nonce-${nonce}'`);
      expect(page).toContain('<h1>Page not found</h1>');
      expect(page).toContain('<div lang="hi"><h2>ऐसा कोई पृष्ठ नहीं है</h2>');
      expect(page).toContain('<a class="action" href="/">');
    },
  );

  it.each(['*/*', 'application/json', 'application/problem+json, text/html;q=0.9', undefined])(
    'leaves the problem of an unknown address to a program that accepts %s',
    async (accept) => {
      const headers = { 'x-request-id': 'asked', ...(accept !== undefined && { accept }) };
      const response = await gateway.fetch('/nonsense', { headers });
      const detail = 'There is nothing at /nonsense. GET / lists every path.';
      expect([response.status, await response.json()]).toEqual([
        404,
        { type: 'urn:campus:error:NOT_FOUND', title: 'Not found', status: 404, detail, instance: 'asked' },
      ]);
    },
  );

  it.each([
    { name: 'a credential', path: '/nonsense', as: 'viewer' },
    { name: 'another method', path: '/nonsense', method: 'POST' },
    { name: 'a path of the contract', path: '/o/recs/nonsense', as: 'viewer' },
    { name: 'a script that is none', path: '/x/nonsense' },
  ] as const)('answers JSON to $name that accepts a page', async ({ path, ...asked }) => {
    const response = await gateway.fetch(path, { ...asked, headers: { accept: BROWSER } });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      expect.stringMatching(/^application\/(problem\+)?json; charset=utf-8$/),
    ]);
  });

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)(
    'gives its files as %s, the same as plain, to be kept for ever',
    async (encoding, decompress) => {
      const path = await assetOf('style');
      const [plain, compressed] = await Promise.all([getRaw(path, 'identity'), getRaw(path, encoding)]);
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(compressed.headers).toMatchObject({
        'content-encoding': encoding,
        'content-type': 'text/css; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
      });
      expect(decompress(compressed.body).equals(plain.body)).toBe(true);
      expect(compressed.body.length).toBeLessThan(plain.body.length);
      const etag = String(compressed.headers.etag);
      expect((await gateway.fetch(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    },
  );

  it('does not send what the client refuses', async () => {
    const { headers } = await getRaw(await assetOf('style'), 'br;q=0, gzip;q=0.5');
    expect(headers['content-encoding']).toBe('gzip');
  });

  it('shows the library to whoever asks: it is documentation', async () => {
    const library = (await (await gateway.fetch('/explore/operations.json')).json()) as readonly {
      readonly name: string;
    }[];
    expect(library.map(({ name }) => name)).toContain('fee-defaulters');
  });
});

describe('a gateway whose portal is not as it should be', () => {
  /** A package with one example and no page. */
  async function createPackage(example: string): Promise<string> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'campus-portal-'));
    directories.push(directory);
    await mkdir(path.join(directory, 'schema', 'operations'), { recursive: true });
    await writeFile(path.join(directory, 'schema', 'operations', 'mine.graphql'), example);
    return directory;
  }
  const directories: string[] = [];
  afterEach(async () => {
    for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
  });
  const EXAMPLE = '# Mine\n# What is mine.\n#\n# Topic: Data\n# For: admin\nquery Mine { me { id } }\n';

  async function serve(packageDirectory: string) {
    const app = fastify();
    app.setErrorHandler((error, _request, reply) =>
      error instanceof ServiceError
        ? reply.code(error.status).send(error.message)
        : reply.code(500).send(error),
    );
    await usePortal(app, {
      packageDirectory,
      school: () => undefined,
      identityProvider: undefined,
      demo: { domainId: 'demo', userNames: [] },
    });
    return app;
  }

  it('says that the page was not built, and serves the rest', async () => {
    const app = await serve(await createPackage(EXAMPLE));
    const page = await app.inject('/explore');
    expect([page.statusCode, page.body]).toEqual([
      503,
      'The portal has not been built; `npm run build` makes it.',
    ]);
    expect((await app.inject('/explore/operations.json')).json()).toMatchObject([{ name: 'mine' }]);
    const school = { school: null, demoUsers: [], identityProvider: null };
    expect((await app.inject('/explore/school.json')).json()).toEqual(school);
  });

  it('says that the page was built anew under it', async () => {
    const directory = await createPackage(EXAMPLE);
    await mkdir(portalDirectory(directory), { recursive: true });
    const files = {
      key: 'k',
      script: '/portal/assets/a.js',
      style: '/portal/assets/a.css',
      preload: [],
      arrive: '/portal/assets/c.js',
      pages: [],
      restDocs: { script: '/portal/assets/b.js', style: '/portal/assets/b.css' },
      names: ['a.js'],
    };
    await writeFile(path.join(portalDirectory(directory), 'portal.json'), JSON.stringify(files));
    const script = path.join(portalDirectory(directory), 'a.js');
    await writeFile(script, '');
    const app = await serve(directory);
    expect((await app.inject('/explore')).statusCode).toBe(200);
    await rm(script);
    for (const address of ['/explore', '/portal/records']) {
      const page = await app.inject(address);
      expect([page.statusCode, page.headers['cache-control']]).toEqual([503, 'no-store']);
      expect(page.body).toContain('<h1>The portal has been updated</h1>\n<p>Reload this page in a moment.');
    }
    const gone = await app.inject('/portal/assets/a.js');
    expect([gone.statusCode, gone.body]).toEqual([
      404,
      'The portal was built again; restart the gateway, then reload the page.',
    ]);
  });

  it('does not start with an example that lacks something, and names it', async () => {
    await expect(serve(await createPackage('query Mine { me { id } }'))).rejects.toThrow(
      'schema/operations/mine.graphql: expected a title',
    );
  });
});
