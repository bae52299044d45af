import { describe, expect, it } from '@jest/globals';
import { auditServer } from 'graphql-http';
import { type Role, useGateway } from '../contract/gateway.js';
import { send } from '../contract/graphql.js';

const gateway = useGateway();

describe('GraphQL over HTTP', () => {
  it('passes every audit of graphql-http: what a server MUST, SHOULD and MAY do', async () => {
    const results = await auditServer({
      url: `${gateway.url}/graphql`,
      fetchFn: (url: string, init: RequestInit = {}) =>
        fetch(url, {
          ...init,
          headers: { ...init.headers, authorization: `Bearer ${gateway.tokenOf('admin')}` },
        }),
    });
    expect(results.length).toBeGreaterThan(55);
    expect(
      results.flatMap((result) =>
        result.status === 'ok' ? [] : [`${result.status} ${result.name}: ${result.reason}`],
      ),
    ).toEqual([]);
  });

  it.each([
    ['application/json', 200],
    ['application/graphql-response+json', 400],
    ['application/graphql-response+json, application/json;q=0.9', 400],
    ['*/*', 400],
  ])('answers a document that is not valid, to Accept: %s, with %i', async (accept, expected) => {
    const { status, errors } = await send(gateway, {
      as: 'admin',
      query: '{ nothing }',
      headers: { accept },
    });
    expect({ status, code: errors[0]?.extensions.code }).toEqual({
      status: expected,
      code: 'GRAPHQL_VALIDATION_FAILED',
    });
  });

  it('keeps the status of what is wrong with the caller, whatever is accepted', async () => {
    const headers = { accept: 'application/json' };
    for (let time = 1; time <= 2; time += 1) {
      const { status } = await send(gateway, { query: '{ tasks { totalCount } }', headers });
      expect(status).toBe(401);
    }
  });

  it('refuses a query that cannot be decoded', async () => {
    const query = encodeURIComponent(
      'query($q: String!) { records(collection: "task", oquery: $q) { totalCount } }',
    );
    const variables = '%7B%22q%22:%22name=!*%E9%22%7D';
    const response = await gateway.fetch(`/graphql?query=${query}&variables=${variables}`, {
      as: 'admin',
      headers: { 'apollo-require-preflight': 'true' },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [
        { message: expect.stringContaining('"%E9%22%7D"'), extensions: { code: 'MALFORMED_REQUEST' } },
      ],
    });
  });

  it('refuses to answer in a media type it has not', async () => {
    for (let time = 1; time <= 2; time += 1) {
      const response = await gateway.fetch('/graphql', {
        method: 'POST',
        as: 'admin',
        headers: { 'content-type': 'application/json', accept: 'text/csv' },
        body: '{"query":"{ __typename }"}',
      });
      expect(response.status).toBe(406);
      expect(await response.json()).toMatchObject({
        errors: [{ extensions: { code: 'NOT_ACCEPTABLE', status: 406 } }],
      });
    }
  });

  it('answers HEAD as GET, without the body', async () => {
    const path = `/graphql?query=${encodeURIComponent('{ tasks(first: 1) { nodes { id } } }')}`;
    const whole = await gateway.fetch(path, { as: 'admin' });
    const head = await gateway.fetch(path, { as: 'admin', method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('etag')).toBe(whole.headers.get('etag'));
    expect(await head.text()).toBe('');
    const etag = String(whole.headers.get('etag'));
    const same = await gateway.fetch(path, {
      as: 'admin',
      method: 'HEAD',
      headers: { 'if-none-match': etag },
    });
    expect(same.status).toBe(304);
    expect((await gateway.fetch(path, { method: 'HEAD' })).status).toBe(401);
  });

  it('says to OPTIONS which methods there are', async () => {
    const response = await gateway.fetch('/graphql', { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });

  it.each(['PUT', 'PATCH', 'DELETE', 'PROPFIND'])('refuses %s', async (method) => {
    const response = await gateway.fetch('/graphql', { method, as: 'admin' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED', status: 405 } }],
    });
  });
});

describe('a document that is sent again', () => {
  const query =
    'query One($n: Int!, $skip: Boolean = false) { tasks(first: $n) { totalCount nodes { name } } me ' +
    '@skip(if: $skip) { id } } query Two { me { userName } }';
  const ask = (body: Record<string, unknown>, as: Role | 'nobody' = 'admin') =>
    gateway.fetch('/graphql', {
      method: 'POST',
      as: as === 'nobody' ? undefined : as,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, ...body }),
    });

  it.each([
    ['is answered as the first time', { operationName: 'One', variables: { n: 2 } }],
    ['is answered by the name of its operation', { operationName: 'Two' }],
    ['takes null for what is left out', { operationName: 'Two', variables: null, extensions: null }],
    ['is refused without a name it needs', {}],
    ['is refused with a name it has not', { operationName: 'Three' }],
    ['is refused with a variable that does not fit', { operationName: 'One', variables: { n: 'two' } }],
    ['is refused without a variable it needs', { operationName: 'One' }],
    ['is refused when it costs too much', { operationName: 'One', variables: { n: -1 } }],
    ['is refused with variables that are none', { operationName: 'One', variables: [1] }],
  ])('%s', async (_, body) => {
    const answers = [];
    for (let time = 1; time <= 3; time += 1) {
      const response = await ask(body);
      answers.push({
        status: response.status,
        type: response.headers.get('content-type'),
        text: (await response.text()).replace(/"requestId":"[^"]*"/g, ''),
      });
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('asks each time who is asking', async () => {
    expect((await ask({ operationName: 'Two' })).status).toBe(200);
    expect((await ask({ operationName: 'Two' }, 'nobody')).status).toBe(401);
    const { data } = (await (await ask({ operationName: 'Two' }, 'viewer')).json()) as {
      data: { me: { userName: string } };
    };
    expect(data.me.userName).toBe('viewer');
  });

  it('runs mutations once each, and none by GET', async () => {
    const create = 'mutation Make { createTask(data: { name: "again" }) { id } }';
    const ids = new Set<string>();
    for (let time = 1; time <= 3; time += 1) {
      const { data } = await send(gateway, { as: 'admin', query: create });
      ids.add(data.createTask.id);
    }
    expect(ids.size).toBe(3);
    const response = await gateway.fetch(`/graphql?query=${encodeURIComponent(create)}`, { as: 'admin' });
    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED', status: 405 } }],
    });
  });
});
