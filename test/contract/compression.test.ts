import { once } from 'node:events';
import http from 'node:http';
import zlib from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';

const gateway = useGateway();

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'attendance', 'a' || n, jsonb_build_object('class', '5', 'section', 'A', 'remark',
       'r' || n || repeat('r', 400))
     from generate_series(1, 20000) as n`,
  );
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     values ('top', 'task', 'long', jsonb_build_object('name', 'a', 'remark', repeat('r', 4000)))`,
  );
});

interface Answered {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Without a library that would undo the encoding. */
async function ask(path: string, headers: http.OutgoingHttpHeaders, method = 'GET'): Promise<Answered> {
  const request = http.request(gateway.url + path, {
    method,
    agent: false,
    headers: { authorization: `Bearer ${gateway.tokenOf('admin')}`, ...headers },
  });
  request.end();
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('no response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

const LIST = '/o/recs/attendance?limit=100';
const STREAM = '/o/recs/attendance?stream=true';

describe('an answer', () => {
  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate', undefined],
    ['identity;q=0, *;q=0', undefined],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['gzip;q=0.2, identity', undefined],
  ])('to a caller that takes %s is compressed by %s', async (accepted, encoding) => {
    const { headers, body } = await ask(LIST, { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toContain('Accept-Encoding');
    expect(headers['content-length']).toBe(String(body.length));
  });

  it.each([
    ['br', zlib.brotliDecompressSync],
    ['gzip', zlib.gunzipSync],
  ] as const)('is the same uncompressed, whole or streamed: %s', async (encoding, decompress) => {
    for (const path of [LIST, STREAM]) {
      const plain = await ask(path, {});
      const compressed = await ask(path, { 'accept-encoding': encoding });
      expect(compressed.headers['content-encoding']).toBe(encoding);
      expect(compressed.body.length).toBeLessThan(plain.body.length / 5);
      expect(decompress(compressed.body).equals(plain.body)).toBe(true);
    }
  });

  it('that is short is as it is', async () => {
    const { headers } = await ask('/o/recs/attendance/a1', { 'accept-encoding': 'br' });
    expect(headers['content-encoding']).toBe(undefined);
    expect(headers.vary).toContain('Accept-Encoding');
  });

  it('that is compressed already is as it is', async () => {
    const { headers, status } = await ask('/?report=teachers&format=xlsx', { 'accept-encoding': 'br' });
    expect([status, headers['content-encoding']]).toEqual([200, undefined]);
  });

  it('of GraphQL is compressed too', async () => {
    const query = encodeURIComponent('{ collections { name description fields { name } } }');
    const { headers, body } = await ask(`/graphql?query=${query}`, { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(zlib.gunzipSync(body).toString())).toHaveProperty('data.collections');
  });
});

it.each([
  ['/openapi.json', 'gzip', 'gzip'],
  ['/openapi.json', 'gzip;q=0', undefined],
  ['/docs/room-theme.js', 'x-gzip', undefined],
])('the file %s to a caller that takes %s is compressed by %s', async (path, accepted, encoding) => {
  const { headers } = await ask(path, { 'accept-encoding': accepted });
  expect(headers['content-encoding']).toBe(encoding);
  expect(headers.vary).toContain('Accept-Encoding');
});

it.each([
  ['br;q=0, gzip', 'gzip'],
  ['BR', 'br'],
  ['br;q=0, gzip;q=0.0', undefined],
])('the script of the portal to a caller that takes %s is compressed by %s', async (accepted, encoding) => {
  const page = await ask('/', { accept: 'text/html' });
  const [script = 'none'] = /\/portal\/assets\/[^"']+\.js/.exec(String(page.body)) ?? [];
  const { status, headers } = await ask(script, { 'accept-encoding': accepted });
  expect(status).toBe(200);
  expect(headers['content-encoding']).toBe(encoding);
});

describe('the ETag of a compressed answer', () => {
  it('is one of its own, and guards a write all the same', async () => {
    const plain = await ask('/o/recs/task/long', {});
    const compressed = await ask('/o/recs/task/long', { 'accept-encoding': 'br' });
    expect([plain.headers.etag, compressed.headers.etag]).toEqual(['"1"', '"1-br"']);
    const unchanged = await ask('/o/recs/task/long', { 'accept-encoding': 'br', 'if-none-match': '"1-br"' });
    expect([unchanged.status, unchanged.headers.etag]).toEqual([304, '"1-br"']);
    const patch = (etag: string) =>
      gateway.fetch('/o/recs/task/long', {
        method: 'PATCH',
        as: 'admin',
        headers: { 'content-type': 'application/json', 'if-match': etag },
        body: '{"amount":1}',
      });
    expect((await patch('"1-br"')).status).toBe(200);
    expect((await patch('"1-br"')).status).toBe(412);
  });
});

describe('a compressed stream', () => {
  it('gives its first rows before its last are read', async () => {
    const request = http.get(gateway.url + STREAM, {
      agent: false,
      headers: { authorization: `Bearer ${gateway.tokenOf('admin')}`, 'accept-encoding': 'br' },
    });
    const [response]: http.IncomingMessage[] = await once(request, 'response');
    if (!response) throw new Error('no response');
    const decompressor = zlib.createBrotliDecompress();
    const [chunk]: Buffer[] = await once(response, 'data');
    decompressor.write(chunk);
    const [rows] = await once(decompressor, 'data');
    expect(String(rows).startsWith('[{"_id"')).toBe(true);
    expect(response.complete).toBe(false);
    request.destroy();
  });
});
