import { describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const gateway = useGateway();

const get = (
  query: string,
  options: { readonly as?: Role; readonly headers?: Record<string, string> } = { as: 'admin' },
) => gateway.fetch(`/graphql?query=${encodeURIComponent(query)}`, { as: 'admin', ...options });

describe('an answer to GET', () => {
  it('has an ETag that stays while the answer does, on the long way and on the short', async () => {
    const query = '{ tasks(first: 5, orderBy: [{field: NAME}]) { nodes { name } } }';
    const first = await get(query);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{20,}"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(first.headers.get('vary')).toContain('Authorization');
    expect(first.headers.get('vary')).toContain('X-Domain');
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(query, { headers: { 'if-none-match': header } });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    await ask(gateway, 'mutation { createTask(data: { name: "A new one" }) { id } }');
    const changed = await get(query, { headers: { 'if-none-match': etag } });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  it('has another ETag in another media type', async () => {
    const tags = new Set<string | null>();
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      tags.add((await get('{ __typename }', { headers: { accept } })).headers.get('etag'));
    }
    expect(tags.size).toBe(2);
  });

  it('may be kept for a while where the schema says so of all its fields', async () => {
    const report = 'rolledBackReceipts { totals { receipts } }';
    const policyOf = async (query: string) => (await get(query)).headers.get('cache-control');
    expect(await policyOf(`{ ${report} }`)).toBe('private, max-age=60');
    expect(await policyOf(`{ ${report} }`)).toBe('private, max-age=60');
    expect(await policyOf(`{ __typename a: ${report} ...F } fragment F on Query { ${report} }`)).toBe(
      'private, max-age=60',
    );
    expect(await policyOf(`{ ${report} me { id } }`)).toBe('private, no-cache');
    expect(await policyOf(`{ ${report} ...F } fragment F on Query { me { id } }`)).toBe('private, no-cache');
  });

  it('is not kept when it has errors', async () => {
    for (const [query, status] of [
      ['{ nothing }', 400],
      ['{ task(id: "nobody") { name } }', 200],
      ['{ rolledBackReceipts { totals { receipts } } fail: task(id: "nobody") { name } }', 200],
    ] as const) {
      for (let time = 1; time <= 2; time += 1) {
        const response = await get(query);
        expect([
          response.status,
          response.headers.get('cache-control'),
          response.headers.get('etag'),
        ]).toEqual([status, 'no-store', null]);
      }
    }
  });

  it('is for POST and mutations never', async () => {
    for (const query of [
      '{ rolledBackReceipts { totals { receipts } } }',
      'mutation { createTask(data: { name: "x" }) { id } }',
    ]) {
      const { headers } = await send(gateway, { as: 'admin', query });
      expect([headers.get('cache-control'), headers.get('etag')]).toEqual([null, null]);
    }
  });
});

describe('Server-Timing', () => {
  it('tells how long each part took; a document sent again is neither parsed nor validated', async () => {
    const query = 'query Timed { tasks(first: 2) { nodes { id } } }';
    const first = (await send(gateway, { as: 'admin', query })).headers.get('server-timing');
    expect(first).toMatch(
      /^parse;dur=\d+\.\d\d, validate;dur=\d+\.\d\d, execute;dur=\d+\.\d\d, db;dur=\d+\.\d\d;desc="1 statements"$/,
    );
    const again = (await send(gateway, { as: 'admin', query })).headers.get('server-timing');
    expect(again).toMatch(/^execute;dur=\d+\.\d\d, db;dur=(?!0\.00)\d+\.\d\d;desc="1 statements"$/);
  });
});
