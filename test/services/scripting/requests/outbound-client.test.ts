import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  OutboundClient,
  type OutboundRequest,
  type ResolveName,
} from '../../../../src/services/scripting/requests/outbound-client.js';
import { useHttpServer } from './http-server.js';

const MAX_BYTES = 100_000;

const secret = useHttpServer((_request, response) => response.end('the secret of the inside'));

const outside = useHttpServer((request, response) => {
  const url = new URL(request.url ?? '/', outside.url);
  const to = url.searchParams.get('to');
  switch (url.pathname) {
    case '/redirect':
      response.writeHead(Number(url.searchParams.get('status') ?? 302), { location: to ?? '' }).end();
      return;
    case '/again':
      response.writeHead(302, { location: '/again' }).end();
      return;
    case '/large':
      response.end('x'.repeat(MAX_BYTES + 1));
      return;
    case '/endless': {
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 5);
      response.on('close', () => clearInterval(timer));
      return;
    }
    case '/bomb':
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(5_000_000)));
      return;
    case '/brotli':
      response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync('packed'));
      return;
    case '/broken':
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip');
      return;
    case '/silent':
      return;
    case '/slow': {
      const timer = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(timer));
      return;
    }
    default:
      response.writeHead(200, { 'content-type': 'text/plain', 'x-a': ['1', '2'] }).end('hello');
  }
});

let client: OutboundClient;
const lookups: string[] = [];
/** What the names of the tests resolve to. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'inside.example': ['127.0.0.1'],
  'both.example': ['93.184.216.34', '127.0.0.1'],
  'mapped.example': ['::ffff:10.0.0.1'],
  'public.example': ['203.0.113.7'],
};
const resolveName: ResolveName = async (hostname) => {
  lookups.push(hostname);
  return (NAMES[hostname] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

beforeAll(() => {
  client = new OutboundClient(
    {
      maxResponseBytes: MAX_BYTES,
      ports: [80, 443, secret.port],
      privateHosts: [`127.0.0.1:${outside.port}`, `allowed.example:${outside.port}`],
    },
    resolveName,
  );
});
afterAll(() => client.close());

async function send(url: string, more: Partial<OutboundRequest> = {}) {
  return await client.send({
    method: 'GET',
    url: new URL(url),
    headers: {},
    body: undefined,
    timeoutMs: 2_000,
    redirects: 'follow',
    signal: new AbortController().signal,
    ...more,
  });
}

async function expectRefused(url: string, message: RegExp | string, code = 'FORBIDDEN') {
  await expect(send(url)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
}

describe('a request to the outside', () => {
  it('gets status, headers and body', async () => {
    const answer = await send(`${outside.url}/x`);
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain', 'x-a': '1, 2' } });
    expect(answer.body.toString()).toBe('hello');
  });

  it('gets what is packed unpacked', async () => {
    expect((await send(`${outside.url}/brotli`)).body.toString()).toBe('packed');
  });

  it('takes a redirect for an answer when asked to', async () => {
    const answer = await send(`${outside.url}/redirect?to=/x`, { redirects: 'return' });
    expect(answer).toMatchObject({ status: 302, headers: { location: '/x' } });
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'PUT', 'PUT', 'body'],
    [302, 'DELETE', 'DELETE', 'body'],
  ] as const)('follows %i of a %s by a %s', async (status, method, expected, body) => {
    outside.seen.length = 0;
    await send(`${outside.url}/redirect?status=${status}&to=/x`, {
      method,
      body: 'body',
      headers: { 'content-type': 'text/plain' },
    });
    expect(outside.seen[1]).toMatchObject({ method: expected, url: '/x', body });
    expect(outside.seen[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/plain');
  });
});

describe('a request to the inside', () => {
  it.each([
    ['a private address', () => `http://127.0.0.1:${secret.port}/`],
    ['a private address in decimal', () => `http://2130706433:${secret.port}/`],
    ['a private address in IPv6', () => `http://[::ffff:127.0.0.1]:${secret.port}/`],
    ['a name with a private address', () => `http://inside.example:${secret.port}/`],
    ['a name with a public and a private address', () => `http://both.example:${secret.port}/`],
    ['a name with a mapped address', () => `http://mapped.example:${secret.port}/`],
    ['an address for documents', () => `http://public.example:${secret.port}/`],
  ])('is refused: %s', async (_name, url) => {
    await expectRefused(url(), 'may not reach .* SCRIPT_REQUEST_PRIVATE_HOSTS');
    expect(secret.seen).toEqual([]);
  });

  it("is refused for the system's own name", async () => {
    const own = new OutboundClient({ maxResponseBytes: MAX_BYTES, ports: [secret.port], privateHosts: [] });
    const request = {
      method: 'GET',
      url: new URL(`http://localhost:${secret.port}/`),
      headers: {},
      body: undefined,
      timeoutMs: 2_000,
      redirects: 'follow',
      signal: new AbortController().signal,
    } as const;
    await expect(own.send(request)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await own.close();
  });

  it('is refused when a redirect leads there', async () => {
    const inside = encodeURIComponent(`http://127.0.0.1:${secret.port}/`);
    await expectRefused(`${outside.url}/redirect?to=${inside}`, 'may not reach 127.0.0.1');
    const named = encodeURIComponent(`http://inside.example:${secret.port}/`);
    await expectRefused(`${outside.url}/redirect?status=307&to=${named}`, 'may not reach inside.example');
    expect(secret.seen).toEqual([]);
  });

  it.each([
    ['another scheme', 'file:///etc/passwd', /http and https, not file/],
    ['another scheme', 'ftp://example.org/', /not ftp/],
    ['another scheme', 'data:text/plain,x', /not data/],
    ['another port', 'http://example.org:5432/', /port 5432; allowed: 80, 443/],
    ['a password in the URL', 'http://user:secret@example.org/', /authorization header/],
  ])('is refused: %s %s', async (_name, url, message) => {
    await expectRefused(url, message);
  });

  it.each(['file:///etc/passwd', 'http://example.org:22/', 'http://u:p@example.org/'])(
    'is refused in a redirect: %s',
    async (url) => {
      await expect(send(`${outside.url}/redirect?to=${encodeURIComponent(url)}`)).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
    },
  );

  it('looks a name up once and connects to what was looked at', async () => {
    lookups.length = 0;
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const rebinding = new OutboundClient(
      { maxResponseBytes: MAX_BYTES, ports: [secret.port], privateHosts: [] },
      async () => {
        lookups.push('rebind');
        return (answers.shift() ?? ['127.0.0.1']).map((address) => ({ address, family: 4 }));
      },
    );
    const request = {
      method: 'GET',
      url: new URL(`http://rebind.example:${secret.port}/`),
      headers: {},
      body: undefined,
      timeoutMs: 500,
      redirects: 'follow',
      signal: new AbortController().signal,
    } as const;
    await expect(rebinding.send(request)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(lookups).toEqual(['rebind']);
    expect(secret.seen).toEqual([]);
    await rebinding.close();
  });
});

describe('what is carried through a redirect', () => {
  const headers = { authorization: 'Bearer x', cookie: 'a=1', 'x-mine': 'y' };

  it('stays with the host', async () => {
    outside.seen.length = 0;
    await send(`${outside.url}/redirect?to=/x`, { headers });
    expect(outside.seen[1]?.headers).toMatchObject(headers);
  });

  it('is not credentials when the host changes', async () => {
    const other = new OutboundClient({
      maxResponseBytes: MAX_BYTES,
      ports: [80],
      privateHosts: [`127.0.0.1:${outside.port}`, `localhost:${outside.port}`],
    });
    outside.seen.length = 0;
    const to = encodeURIComponent(`http://127.0.0.1:${outside.port}/x`);
    await other.send({
      method: 'GET',
      url: new URL(`http://LOCALHOST:${outside.port}/redirect?to=${to}`),
      headers,
      body: undefined,
      timeoutMs: 2_000,
      redirects: 'follow',
      signal: new AbortController().signal,
    });
    expect(outside.seen[1]?.headers).toMatchObject({ 'x-mine': 'y' });
    expect(outside.seen[1]?.headers).not.toHaveProperty('authorization');
    expect(outside.seen[1]?.headers).not.toHaveProperty('cookie');
    await other.close();
  });
});

describe('an answer without measure', () => {
  it.each([
    [
      'is cut when it is too large',
      '/large',
      'LIMIT_EXCEEDED',
      /larger than 100,000 bytes \(SCRIPT_REQUEST_MAX_RESPONSE_BYTES\)/,
    ],
    ['is cut when it does not end', '/endless', 'LIMIT_EXCEEDED', /larger than/],
    ['is cut when it unpacks to more', '/bomb', 'LIMIT_EXCEEDED', /larger than/],
    ['is refused when it cannot be unpacked', '/broken', 'UNAVAILABLE', /cannot be unpacked/],
    ['is not waited for', '/silent', 'UNAVAILABLE', /did not answer within 400 ms/],
    ['is not waited for drop by drop', '/slow', 'UNAVAILABLE', /did not answer within 400 ms/],
    ['is not followed for ever', '/again', 'LIMIT_EXCEEDED', /more than 5 redirects/],
  ])('%s', async (_name, path, code, message) => {
    const timeoutMs = path === '/silent' || path === '/slow' ? 400 : 5_000;
    await expect(send(outside.url + path, { timeoutMs })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('is not waited for when the script has ended', async () => {
    const run = new AbortController();
    setTimeout(() => run.abort(), 100);
    const startedAt = performance.now();
    await expect(send(`${outside.url}/silent`, { signal: run.signal })).rejects.toThrow();
    expect(performance.now() - startedAt).toBeLessThan(1_500);
  });

  it('that nobody gives is told', async () => {
    const closed = new OutboundClient({
      maxResponseBytes: MAX_BYTES,
      ports: [],
      privateHosts: ['127.0.0.1:1'],
    });
    const request = {
      method: 'GET',
      url: new URL('http://127.0.0.1:1/'),
      headers: {},
      body: undefined,
      timeoutMs: 2_000,
      redirects: 'follow',
      signal: new AbortController().signal,
    } as const;
    await expect(closed.send(request)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: '127.0.0.1:1 cannot be reached (ECONNREFUSED)',
    });
    await closed.close();
  });
});
