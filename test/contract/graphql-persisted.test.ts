import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readRegisteredOperations } from '../../src/gateway/graphql/persisted/registered-operations.js';
import {
  createGatewayDatabase,
  type Gateway,
  type Role,
  type StartedGateway,
  startGateway,
  useGateway,
} from './gateway.js';
import type { Answered } from './graphql.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const persisted = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

async function post(
  gateway: Gateway,
  body: unknown,
  as: Role | undefined = 'viewer',
): Promise<{ readonly status: number; readonly body: Answered }> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function get(gateway: Gateway, parameters: Record<string, unknown>, headers = {}, as: Role = 'viewer') {
  const search = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
  return await gateway.fetch(`/graphql?${search}`, { as, headers });
}

describe('automatic persisted queries', () => {
  const gateway = useGateway({ PERSISTED_QUERIES_MAX_LENGTH: '2000', GRAPHQL_BATCHING: 'true' });

  it('asks for the text of a hash nobody knows, then answers the hash alone', async () => {
    const query = 'query Persisted($n: Int) { tasks(first: $n) { totalCount } }';
    const extensions = persisted(query);
    const unknown = await post(gateway, { extensions, variables: { n: 1 } });
    expect(unknown).toMatchObject({
      status: 200,
      body: {
        errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
      },
    });
    expect((await post(gateway, { query, extensions, variables: { n: 1 } })).body.errors).toBeUndefined();
    for (let time = 1; time <= 2; time += 1) {
      expect(await post(gateway, { extensions, variables: { n: 1 } })).toEqual({
        status: 200,
        body: { data: { tasks: { totalCount: 0 } } },
      });
    }
  });

  it('works by GET, with ETag and 304', async () => {
    const query = 'query ByGet { __typename }';
    const extensions = persisted(query);
    const unknown = await get(gateway, { extensions });
    expect(unknown.headers.get('cache-control')).toBe('no-store');
    expect(((await unknown.json()) as Answered).errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect((await get(gateway, { query, extensions })).status).toBe(200);
    const known = await get(gateway, { extensions });
    expect(await known.json()).toEqual({ data: { __typename: 'Query' } });
    const etag = known.headers.get('etag') ?? '';
    expect((await get(gateway, { extensions }, { 'if-none-match': etag })).status).toBe(304);
  });

  it('works in a batch', async () => {
    const query = 'query Batched { me { id } }';
    const extensions = persisted(query);
    await post(gateway, [{ query, extensions }]);
    expect(await post(gateway, [{ extensions }, { extensions }])).toEqual({
      status: 200,
      body: [{ data: { me: { id: 'usr-viewer' } } }, { data: { me: { id: 'usr-viewer' } } }],
    });
  });

  it('takes no text under the hash of another, known or not', async () => {
    const query = 'query Mine { me { id } }';
    await post(gateway, { query, extensions: persisted(query) });
    const other = await post(gateway, { query: '{ me { userName } }', extensions: persisted(query) });
    expect(other.status).toBe(400);
    expect(other.body.errors[0].message).toContain('sha');
    expect(
      (await post(gateway, { extensions: { persistedQuery: { version: 2, sha256Hash: 'x' } } })).status,
    ).toBe(400);
  });

  it('forgets the least used when it is full, and learns it anew', async () => {
    const first = 'query First { me { id } }';
    await post(gateway, { query: first, extensions: persisted(first) });
    for (let index = 0; index < 20; index += 1) {
      const query = `query Other${index} { me { id userName } ${'__typename '.repeat(5)} }`;
      await post(gateway, { query, extensions: persisted(query) });
    }
    expect((await post(gateway, { extensions: persisted(first) })).body.errors[0].extensions.code).toBe(
      'PERSISTED_QUERY_NOT_FOUND',
    );
    expect((await post(gateway, { query: first, extensions: persisted(first) })).body.errors).toBeUndefined();
    expect((await post(gateway, { extensions: persisted(first) })).body.errors).toBeUndefined();
  });
});

describe('registered operations', () => {
  const OPERATIONS = '# Tasks\n# How many there are.\nquery Tasks { tasks { totalCount } }\n';
  const TWO = 'query Me { me { ...F } } query Name { me { userName } } fragment F on Caller { id }';
  let directory = '';
  let gateway: StartedGateway;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'campus-operations-'));
    await writeFile(path.join(directory, 'tasks.graphql'), OPERATIONS);
    await writeFile(path.join(directory, 'two.graphql'), TWO);
    const database = await createGatewayDatabase();
    drop = database.drop;
    gateway = await startGateway(database.url, {
      REGISTERED_OPERATIONS_ONLY: 'true',
      REGISTERED_OPERATIONS: directory,
      GRAPHQL_BATCHING: 'true',
    });
  });
  afterAll(async () => {
    await gateway?.close();
    await drop?.();
    await rm(directory, { recursive: true, force: true });
  });
  const tasks = { data: { tasks: { totalCount: 0 } } };

  it.each([
    ['by the exact text', { query: OPERATIONS }],
    ['by the text without what is around it', { query: OPERATIONS.trim() }],
    [
      'by the text as clients print it',
      { query: '{\n  tasks {\n    totalCount\n  }\n}'.replace('{', 'query Tasks {') },
    ],
    ['by id', { extensions: persisted(OPERATIONS) }],
    ['by the name of the operation', { operationName: 'Tasks' }],
  ])('are answered %s', async (_, body) => {
    for (let time = 1; time <= 2; time += 1)
      expect(await post(gateway, body)).toEqual({ status: 200, body: tasks });
  });

  it('are answered by GET and in a batch', async () => {
    expect(await (await get(gateway, { operationName: 'Tasks' })).json()).toEqual(tasks);
    expect(await (await get(gateway, { extensions: persisted(OPERATIONS) })).json()).toEqual(tasks);
    expect((await post(gateway, [{ operationName: 'Tasks' }, { operationName: 'Me' }])).body).toEqual([
      tasks,
      { data: { me: { id: 'usr-viewer' } } },
    ]);
  });

  it.each([
    ['another document', { query: '{ tasks { totalCount } }' }, 'not one of them'],
    ['one that is longer', { query: `${OPERATIONS}fragment X on Query { __typename }` }, 'not one of them'],
    ['introspection', { query: '{ __schema { types { name } } }' }, 'not one of them'],
    ['an id nobody knows', { extensions: persisted('{ me { id } }') }, 'has the id'],
    ['a name nobody knows', { operationName: 'Taks' }, 'Did you mean "Tasks"?'],
    ['nothing', { variables: {} }, 'names none'],
  ])('refuse %s', async (_, body, reason) => {
    for (let time = 1; time <= 2; time += 1) {
      const { status, body: answer } = await post(gateway, body);
      expect([status, answer.errors[0].extensions.code]).toEqual([403, 'FORBIDDEN']);
      expect(answer.errors[0].message).toContain(reason);
    }
    expect((await post(gateway, [{ operationName: 'Tasks' }, body])).status).toBe(403);
  });

  it('are not guessed without a credential: whatever is sent, it is 401 in the same words', async () => {
    const sent = [
      { operationName: 'Tasks' },
      { operationName: 'Taks' },
      { query: '{ tasks { totalCount } }' },
      { extensions: persisted(OPERATIONS) },
      { extensions: persisted('{ me { id } }') },
      {},
    ];
    const message = 'Send an access token or an API key: Authorization: Bearer <token>.';
    for (const body of sent) {
      const response = await gateway.fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { errors }: Answered = await response.json();
      expect([response.status, errors[0].message]).toEqual([401, message]);
    }
    const byGet = await fetch(`${gateway.url}/graphql?operationName=Taks`);
    expect([byGet.status, await byGet.text()]).toEqual([401, expect.not.stringContaining('Tasks')]);
  });

  it('leave admins any document, introspection too', async () => {
    expect((await post(gateway, { query: '{ __schema { queryType { name } } }' }, 'admin')).body).toEqual({
      data: { __schema: { queryType: { name: 'Query' } } },
    });
    expect((await post(gateway, { query: '{ me { id } }' }, 'teacher')).status).toBe(403);
  });

  it('still show the page in a browser', async () => {
    const page = await gateway.fetch('/graphql', { headers: { accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html']);
  });

  it('are those that come with the gateway unless it is told others: all of them have names', async () => {
    const registered = await readRegisteredOperations('schema/operations');
    expect(registered.getText({ operationName: 'AttendanceByDay' })).toContain('query AttendanceByDay');
  });

  it.each([
    ['broken.graphql', 'query {', /broken\.graphql:1:8: Syntax Error/],
    ['nameless.graphql', '{ me { id } }', /without a name/],
    ['twice.graphql', 'query Tasks { me { id } }', /two operations called Tasks/],
    ['fragment.graphql', 'fragment Id on Caller { id }', /fragment\.graphql has no operation/],
  ])('are refused at the start with the place of what is wrong: %s', async (file, text, message) => {
    const place = path.join(directory, file);
    await writeFile(place, text);
    await expect(readRegisteredOperations(directory)).rejects.toThrow(message);
    await rm(place);
  });

  it('are refused at the start when there are none', async () => {
    await expect(readRegisteredOperations('/nowhere')).rejects.toThrow('there is no file or folder /nowhere');
    const empty = await mkdtemp(path.join(tmpdir(), 'campus-none-'));
    await expect(readRegisteredOperations(empty)).rejects.toThrow('no .graphql file');
    await rm(empty, { recursive: true });
  });
});
