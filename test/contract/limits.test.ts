import { describe, expect, it } from '@jest/globals';
import { expectEventually } from '../expect-eventually.js';
import { expectProblem, useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway({ RATE_LIMIT_PER_MINUTE: '20', GRAPHQL_MAX_COST: '100' });

/** Waits where the minute is about to change, in the middle of which the counts begin anew. */
async function awaitQuietMinute(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 5000) await new Promise((resolve) => setTimeout(resolve, left + 50));
}

describe('the rate of a user', () => {
  it('is told with every answer, and 429 says when to go on', async () => {
    await awaitQuietMinute();
    const statuses: number[] = [];
    let refused: Response | undefined;
    for (let index = 0; index < 25; index++) {
      const response = await gateway.fetch('/o/recs/task', { as: 'viewer' });
      statuses.push(response.status);
      if (index === 0) {
        expect(response.headers.get('ratelimit-limit')).toBe('20');
        expect(response.headers.get('ratelimit-remaining')).toBe('19');
        expect(Number(response.headers.get('ratelimit-reset'))).toBeGreaterThan(0);
      }
      if (response.status === 429) refused = response;
      else await response.text();
    }
    expect(statuses).toEqual([...Array(20).fill(200), ...Array(5).fill(429)]);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused?.headers.get('retry-after')).toBe(refused?.headers.get('ratelimit-reset'));
    expect(refused?.headers.get('ratelimit-remaining')).toBe('0');
    if (refused) expectProblem(refused, await refused.text());
  });

  it('is its own, and does not count what health is asked', async () => {
    expect((await gateway.fetch('/o/recs/task', { as: 'clerk' })).status).toBe(200);
    for (let index = 0; index < 30; index++) expect((await gateway.fetch('/healthz')).status).toBe(200);
  });

  it('is seen in the usage of a key where it was passed', async () => {
    await awaitQuietMinute();
    const { createApiKey } = await ask(
      gateway,
      'mutation ($s: JSON!) { createApiKey(data: {name: "k", scopes: $s}) { id key } }',
      { variables: { s: { collections: { task: ['read'] } } }, as: 'clerk' },
    );
    // The request that created the key counts too: they share the rate of their user.
    const headers = { authorization: `Bearer ${createApiKey.key}` };
    for (let index = 0; index < 20; index++)
      await (await gateway.fetch('/o/recs/task?limit=1', { headers })).text();
    expect((await gateway.fetch('/o/recs/task?limit=1', { as: 'clerk' })).status).toBe(429);
    const latest = async () => {
      const { rows } = await gateway.sql.query(
        'select operation, status from key_requests where key_id = $1 order by place desc limit 1',
        [createApiKey.id],
      );
      return rows;
    };
    await expectEventually(latest, [{ operation: '/o/recs/:collection', status: 429 }]);
    const { apiKeyUsage } = await ask(
      gateway,
      'query ($id: ID!) { apiKeyUsage(id: $id) { total { refused } requests(first: 1) { status } } }',
      { variables: { id: createApiKey.id }, as: 'admin' },
    );
    expect(apiKeyUsage).toMatchObject({
      total: { refused: expect.any(Number) },
      requests: [{ status: 429 }],
    });
  });

  it('counts wrong credentials by address, so that guessing is not free', async () => {
    await awaitQuietMinute();
    const statuses = new Set<number>();
    for (let index = 0; index < 25; index++) {
      const headers = { authorization: `Bearer guess-${index}` };
      statuses.add((await gateway.fetch('/o/recs/task', { headers })).status);
    }
    expect([...statuses]).toEqual([401, 429]);
    expect((await gateway.fetch('/o/recs/task', { as: 'teacher' })).status).toBe(200);
  });

  it('holds for GraphQL too, in its own form', async () => {
    await awaitQuietMinute();
    const ask = () =>
      gateway.fetch('/graphql', {
        method: 'POST',
        as: 'accountant',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"{ __typename }"}',
      });
    for (let index = 0; index < 20; index++) await (await ask()).text();
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      errors: [
        {
          extensions: {
            code: 'TOO_MANY_REQUESTS',
            status: 429,
            requestId: refused.headers.get('x-request-id'),
          },
        },
      ],
    });
  });
});

describe('agents', () => {
  const call = (name: string, sent: object) =>
    gateway.fetch('/mcp', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: sent },
      }),
    });

  it('are held to the cost of a document, and to the rate of their user', async () => {
    await awaitQuietMinute();
    const dear = await call('search-records', { collection: 'task', first: 200 });
    const remaining = Number(dear.headers.get('ratelimit-remaining'));
    expect(remaining).toBeGreaterThan(0);
    const { result } = (await dear.json()) as { result: { isError: boolean; content: { text: string }[] } };
    expect(result.isError).toBe(true);
    expect(JSON.parse(result.content[0]?.text ?? '')).toMatchObject({
      errors: [{ message: expect.stringMatching(/cost.*100/), extensions: { code: 'LIMIT_EXCEEDED' } }],
    });
    for (let left = remaining; left > 0; left--) await (await call('what-there-is', {})).text();
    const refused = await call('what-there-is', {});
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expectProblem(refused, await refused.text());
  });
});

describe('logins', () => {
  const strict = useGateway({ LOGIN_LIMIT_PER_MINUTE: '5' });

  it('of one user are refused with 429 and Retry-After over their limit, right or wrong', async () => {
    await awaitQuietMinute();
    const statuses: number[] = [];
    for (let index = 0; index < 7; index++) {
      const answer = await fetch(`${strict.url}/auth?user_name=somebody&password=wrong-${index}`, {
        method: 'POST',
      });
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });
});
