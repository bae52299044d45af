import { describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { eventuallyPasses } from '../expect-eventually.js';
import { PASSWORD, type Role, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, type GraphqlAnswer, send } from './graphql.js';

const gateway = useGateway();

describe('credentials', () => {
  it('answers who has none with 401 and says how to get one', async () => {
    const { status, headers, errors } = await send(gateway, { query: '{ tasks { nodes { id } } }' });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain('Bearer');
    expect(errors[0]?.extensions).toEqual({
      code: 'UNAUTHENTICATED',
      status: 401,
      requestId: headers.get('x-request-id'),
    });
  });

  it('lets nobody in by a wrong token', async () => {
    const { status, errors } = await send(gateway, {
      query: '{ me { id } }',
      headers: { authorization: 'Bearer nonsense' },
    });
    expect(status).toBe(401);
    expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
  });

  it('gives tokens for a password, renews them once, and ends them at a logout', async () => {
    const login =
      `mutation { login(userName: "viewer", password: "${PASSWORD}") { accessToken refreshToken ` +
      'expiresInSeconds user { id roles domain } } }';
    const { data } = await send(gateway, { query: login });
    expect(data.login).toMatchObject({
      expiresInSeconds: 3600,
      user: { id: 'usr-viewer', roles: ['viewer'], domain: 'top' },
    });
    const refresh = 'mutation($t: String!) { refresh(refreshToken: $t) { accessToken refreshToken } }';
    const renewed = await send(gateway, { query: refresh, variables: { t: data.login.refreshToken } });
    const headers = { authorization: `Bearer ${renewed.data.refresh.accessToken}` };
    expect((await send(gateway, { query: '{ me { userName } }', headers })).data).toEqual({
      me: { userName: 'viewer' },
    });
    expect((await send(gateway, { query: 'mutation { logout }', headers })).data).toEqual({ logout: true });
    expect((await send(gateway, { query: '{ me { userName } }', headers })).status).toBe(401);
  });

  it('says the same of a wrong password and of nobody', async () => {
    const of = async (userName: string) => {
      const { status, errors } = await send(gateway, {
        query: `mutation { login(userName: "${userName}", password: "wrong") { accessToken } }`,
      });
      return { status, message: errors[0]?.message, code: errors[0]?.extensions.code };
    };
    expect(await of('admin')).toEqual(await of('nobody'));
    expect(await of('admin')).toMatchObject({ status: 401, code: 'WRONG_LOGIN' });
  });

  it('makes, lists and revokes API keys that stay within their scopes', async () => {
    const { createApiKey } = await ask(
      gateway,
      'mutation { createApiKey(data: {name: "dashboard", scopes: {collections: {task: ["read"]}, ' +
        'reports: [], scripts: []}}) { id key } }',
    );
    const headers = { authorization: `Bearer ${createApiKey.key}` };
    expect(
      (await send(gateway, { query: '{ tasks { totalCount } me { credential } }', headers })).data,
    ).toMatchObject({ me: { credential: 'key' } });
    expect(await codesOf(gateway, { query: '{ registrations { nodes { id } } }', headers })).toEqual([
      'FORBIDDEN',
    ]);
    expect(await codesOf(gateway, { query: 'mutation { deleteTask(id: "x") { id } }', headers })).toEqual([
      'FORBIDDEN',
    ]);
    const { apiKeys } = await ask(gateway, '{ apiKeys { id name prefix scopes revokedAt } }');
    expect(apiKeys[0]).toMatchObject({ id: createApiKey.id, name: 'dashboard', revokedAt: null });
    await ask(gateway, 'mutation($id: ID!) { revokeApiKey(id: $id) }', {
      variables: { id: createApiKey.id },
    });
    expect((await send(gateway, { query: '{ me { id } }', headers })).status).toBe(401);
  });

  it('shows the audit trail to admins alone', async () => {
    await ask(gateway, 'mutation AddTask { createTask(data: {id: "audited", name: "x"}) { id } }');
    const { auditTrail } = await ask(
      gateway,
      '{ auditTrail(collection: "task", recordId: "audited") { operation toVersion principal ' +
        'credential fromVersion requestOperation } }',
    );
    expect(auditTrail).toEqual([
      {
        operation: 'created',
        toVersion: 1,
        principal: 'usr-admin',
        credential: expect.stringMatching(/^token:/),
        fromVersion: null,
        requestOperation: 'AddTask',
      },
    ]);
    expect(await codesOf(gateway, { as: 'clerk', query: '{ auditTrail { id } }' })).toEqual(['FORBIDDEN']);
  });

  it('finds changes by who made them, how, when and by which request', async () => {
    const add = 'mutation Find($id: ID) { createTask(data: {id: $id, name: "x"}) { id } }';
    await ask(gateway, add, { variables: { id: 'found-1' } });
    await ask(gateway, add, { variables: { id: 'found-2' }, as: 'clerk' });
    await ask(gateway, 'mutation { deleteTask(id: "found-1") { id } }');
    const query = `query Trail(
      $operation: String, $principal: ID, $credential: String, $requestId: String
      $from: DateTime, $until: DateTime
    ) {
      auditTrail(
        collection: "task", operation: $operation, principal: $principal, credential: $credential
        requestId: $requestId, from: $from, until: $until
      ) { recordId operation requestId at }
    }`;
    const trail = async (variables: Record<string, unknown>): Promise<Answered[]> =>
      (await ask(gateway, query, { variables })).auditTrail.filter(({ recordId }: Answered) =>
        String(recordId).startsWith('found-'),
      );
    const ids = async (variables: Record<string, unknown>) =>
      (await trail(variables)).map(({ recordId, operation }) => `${operation} ${recordId}`);
    const all = ['deleted found-1', 'created found-2', 'created found-1'];
    expect(await ids({})).toEqual(all);
    expect(await ids({ operation: 'deleted' })).toEqual(['deleted found-1']);
    expect(await ids({ principal: 'usr-clerk' })).toEqual(['created found-2']);
    expect(await ids({ credential: 'token' })).toEqual(all);
    expect(await ids({ credential: 'key' })).toEqual([]);
    expect(await ids({ credential: 'tok' })).toEqual([]);
    const [, second] = await trail({});
    expect(await ids({ requestId: second?.requestId })).toEqual(['created found-2']);
    expect(await ids({ from: '2000-01-01', until: '2000-01-02' })).toEqual([]);
    expect(await ids({ from: '2000-01-01' })).toEqual(all);
    expect(await ids({ until: second?.at })).not.toContain('deleted found-1');
    const refused = async (variables: Record<string, unknown>) =>
      await codesOf(gateway, { query, variables, as: 'admin' });
    expect(await refused({ operation: 'read' })).toEqual(['INVALID_VALUE']);
    expect(await refused({ from: 'yesterday' })).toEqual(['BAD_USER_INPUT']);
  });
});

describe('introspection', () => {
  it('is a right of who is signed in', async () => {
    expect(await codesOf(gateway, { query: getIntrospectionQuery() })).toEqual(['UNAUTHENTICATED']);
    const { types } = (await ask(gateway, getIntrospectionQuery(), { as: 'viewer' })).__schema;
    expect(types.length).toBeGreaterThan(100);
    // Those of a subgraph, which FEDERATION makes.
    expect(types.filter(({ name }: { name: string }) => /^_[A-Z]/.test(name))).toEqual([]);
    expect(await codesOf(gateway, { query: '{ _service { sdl } }', as: 'admin' })).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
  });

  it('costs the objects that it prints, and the whole schema once is always allowed', async () => {
    const costOf = async (query: string): Promise<number> => {
      const response = await gateway.fetch('/graphql', {
        method: 'POST',
        as: 'viewer',
        headers: { 'content-type': 'application/json', 'x-include-extensions': 'cost' },
        body: JSON.stringify({ query }),
      });
      return ((await response.json()) as Answered).extensions.cost.requested;
    };
    const types = 'types { fields { args { name } } }';
    const [all, named, one] = [
      await costOf(getIntrospectionQuery()),
      await costOf(`{ __schema { ${types} } }`),
      await costOf('query ($name: String = "Task") { __type(name: $name) { fields { args { name } } } }'),
    ];
    expect(all).toBeLessThanOrEqual(8000);
    expect(all).toBeGreaterThan(2 * named);
    expect(named).toBeGreaterThan(20 * one);
    const often = Array.from({ length: 10 }, (_, n) => `a${n}: __schema { ${types} }`);
    expect(await codesOf(gateway, { as: 'viewer', query: `{ ${often.join(' ')} }` })).toEqual([
      'LIMIT_EXCEEDED',
    ]);
  });

  it('is answered from the text that was kept as it is executed', async () => {
    const query = 'query Again { __typename __type(name: "Task") { name fields { name } } }';
    const first = await ask(gateway, query, { as: 'viewer' });
    expect(await ask(gateway, query, { as: 'admin' })).toEqual(first);
    expect(first.__type.fields.length).toBeGreaterThan(5);
    expect(await codesOf(gateway, { query })).toEqual(['UNAUTHENTICATED']);
  });

  it('does not go round in circles', async () => {
    const query =
      '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } ' +
      '} } } } }';
    expect(await codesOf(gateway, { as: 'admin', query })).not.toEqual([]);
  });

  it('suggests no names to who may not introspect', async () => {
    const { errors } = await send(gateway, { query: '{ taskz { id } }' });
    expect(errors[0]?.message).not.toContain('Did you mean');
    const { errors: signedIn } = await send(gateway, { as: 'viewer', query: '{ taskz { id } }' });
    expect(signedIn[0]?.message).toContain('Did you mean');
  });

  it('shows a page of links in a browser, which runs no script', async () => {
    const response = await gateway.fetch('/graphql', { headers: { accept: 'text/html' } });
    expect(response.status).toBe(200);
    const page = await response.text();
    expect(page).toContain('<a href="/explore">');
    expect(page).toContain('<a href="https://studio.apollographql.com/sandbox/explorer?');
    expect(page).not.toContain('<script');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';style-src/);
  });
});

describe('limits', () => {
  const refused = async (query: string, variables?: unknown) => {
    const { status, errors, data } = await send(gateway, { as: 'admin', query, variables });
    expect({ status, data }).toEqual({ status: 400, data: undefined });
    return errors.map((error) => `${error.extensions.code}: ${error.message}`).join();
  };

  it('refuses a document nested deeper than 12', async () => {
    const nested =
      '{ tasks { edges { node { manager { record { ' +
      `${'... on PltfUser { '.repeat(3)} id ${'} '.repeat(3)} } } } } } }`;
    expect((await send(gateway, { as: 'admin', query: nested })).errors).toEqual([]);
    const deep = `{ a: __typename ${'b { '.repeat(13)} c ${'} '.repeat(13)} }`;
    expect(await refused(deep)).toContain(
      'LIMIT_EXCEEDED: The document has 14 levels of nesting; at most 12',
    );
  });

  it('measures nested fragments by what they expand to', async () => {
    const fragments = Array.from(
      { length: 14 },
      (_, index) => `fragment F${index} on Query { x { ...F${index + 1} } }`,
    );
    expect(await refused(`{ ...F0 } ${fragments.join(' ')} fragment F14 on Query { y }`)).toContain(
      'levels of nesting',
    );
  });

  it('refuses more than 15 root fields, aliases or not', async () => {
    const fields = Array.from({ length: 16 }, (_, index) => `a${index}: __typename`).join(' ');
    expect(await refused(`{ ${fields} }`)).toContain('16 root fields');
    expect(
      await refused(
        `{ ${'...F '.repeat(4)} } fragment F on Query { me { id } c: me { id } d: me { id } e: me { id } }`,
      ),
    ).toContain('16 root fields');
    expect(await refused(`{ me { ${fields.replaceAll('__typename', 'id')} } }`)).toContain('16 aliases');
  });

  it('refuses more than a page of pages may cost, by variables too', async () => {
    expect(
      await refused(
        '{ tasks(first: 1000) { edges { node { manager { record { id } } } } nodes { manager { ' +
          'record { id } } } } a: tasks(first: 1000) { edges { node { manager { record { id } } } } } ' +
          '}',
      ),
    ).toContain('LIMIT_EXCEEDED: The operation costs');
    const query =
      'query($n: Int) { a: tasks(first: $n) { nodes { manager { record { id } } } } b: tasks(first: ' +
      '$n) { nodes { manager { record { id } } } } c: tasks(first: $n) { nodes { manager { record { ' +
      'id } } } } d: tasks(first: $n) { nodes { manager { record { id } } } } }';
    expect(await refused(query, { n: 1000 })).toContain('at most 10000');
    expect((await send(gateway, { as: 'admin', query, variables: { n: 10 } })).errors).toEqual([]);
  });

  it('allows the largest page of a typed list', async () => {
    expect(
      (
        await send(gateway, {
          as: 'admin',
          query: '{ tasks(first: 1000) { nodes { id name amount createdOn version manager { label } } } }',
        })
      ).errors,
    ).toEqual([]);
  });

  it('refuses a document of too many tokens, and of too many directives', async () => {
    expect(await refused(`{ me { ${'id '.repeat(6000)} } }`)).toContain('tokens');
    expect(await refused(`{ me { id ${'@skip(if: false) '.repeat(60)} } }`)).toContain('directives');
  });

  it('refuses what is nested so deeply that no stack would hold it', async () => {
    for (const levels of [600, 1200, 2400]) {
      const query = `{ ${'a { '.repeat(levels)} b ${'} '.repeat(levels)} }`;
      expect((await send(gateway, { as: 'admin', query })).status).toBe(400);
    }
    const query = 'query($w: TaskWhereInput) { tasks(where: $w) { totalCount } }';
    for (const levels of [50, 400, 2000, 100_000]) {
      const where = `${'{"not":'.repeat(levels)}{}${'}'.repeat(levels)}`;
      const { status, errors } = await send(gateway, { as: 'admin', query, variables: `{"w":${where}}` });
      expect([200, 400]).toContain(status);
      expect(errors[0]?.extensions.status).toBe(400);
    }
  });

  it('refuses batches', async () => {
    const response = await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ query: '{ me { id } }' }, { query: '{ me { id } }' }]),
    });
    expect(response.status).toBe(400);
  });
});

describe('HTTP', () => {
  const post = (body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    gateway.fetch('/graphql', { method: 'POST', as: 'admin', headers, body });

  it('names a syntax error and an unknown field with 400, the code and the request', async () => {
    for (const [query, code, words = ''] of [
      ['{ tasks', 'GRAPHQL_PARSE_FAILED'],
      [`{ tasks(where: ${'{and:['.repeat(1_200)}`, 'GRAPHQL_PARSE_FAILED', 'nested too deeply'],
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      ['query($n: Int!) { tasks(first: $n) { totalCount } }', 'BAD_USER_INPUT'],
    ] as const) {
      const { status, errors, headers } = await send(gateway, { as: 'admin', query });
      expect(status).toBe(400);
      expect(errors[0]?.message).toContain(words);
      expect(errors[0]?.extensions).toEqual({ code, status: 400, requestId: headers.get('x-request-id') });
    }
  });

  it('says of a subscription where it belongs', async () => {
    const { errors } = await send(gateway, { as: 'admin', query: 'subscription { taskChanged { id } }' });
    expect(errors.map(({ message, extensions }) => [extensions.code, message])).toEqual([
      [
        'MALFORMED_REQUEST',
        'A subscription needs a WebSocket to /graphql with the subprotocol graphql-transport-ws, or ' +
          'Server-Sent Events: Accept: text/event-stream.',
      ],
    ]);
  });

  it('refuses bodies that are no JSON, no object or another type', async () => {
    expect((await post('{')).status).toBe(400);
    expect((await post('')).status).toBe(400);
    expect((await post('{"query":"{ me { id } }"}', { 'content-type': 'text/plain' })).status).toBe(415);
    const problem = (await (await post('{"query":5}')).json()) as Answered;
    expect(problem.errors[0].extensions).toMatchObject({
      code: 'BAD_REQUEST',
      status: 400,
      requestId: expect.any(String),
    });
  });

  it('answers a query by GET, but no simple request of a foreign page, and no mutation', async () => {
    const get = (query: string, options: { readonly as?: Role; readonly headers?: Record<string, string> }) =>
      gateway.fetch(`/graphql?query=${encodeURIComponent(query)}`, options);
    expect((await get('{ me { id } }', { as: 'admin' })).status).toBe(200);
    expect((await get('{ __typename }', {})).status).toBe(400);
    expect((await get('{ __typename }', { headers: { 'apollo-require-preflight': '1' } })).status).toBe(200);
    expect((await get('mutation { logout }', { as: 'admin' })).status).toBe(405);
  });

  it('masks faults of ours', async () => {
    await gateway.sql.query('alter table api_keys rename to api_keys_away');
    try {
      const { errors, data } = await send(gateway, { as: 'admin', query: '{ apiKeys { id } }' });
      expect(data).toEqual({ apiKeys: null });
      expect(errors).toEqual([
        expect.objectContaining({
          message: 'Internal server error',
          extensions: { code: 'INTERNAL', status: 500, requestId: expect.any(String) },
        }),
      ]);
    } finally {
      await gateway.sql.query('alter table api_keys_away rename to api_keys');
    }
  });
});

describe('collections', () => {
  it('lists those in reach, without hidden fields', async () => {
    const { collections } = await ask(gateway, '{ collections { name fields { name } } }', { as: 'viewer' });
    const names = collections.map((one: { name: string }) => one.name);
    expect(names).toContain('registration');
    expect(names).not.toContain('fee_receipt');
    const { collection } = await ask(gateway, '{ collection(name: "registration") { fields { name } } }', {
      as: 'viewer',
    });
    expect(JSON.stringify(collection)).not.toContain('guardian_phone');
    expect(await codesOf(gateway, { as: 'viewer', query: '{ collection(name: "nope") { name } }' })).toEqual([
      'NOT_FOUND',
    ]);
  });

  it('tell what a record gets that is made without a field', async () => {
    const asked = '{ collection(name: "fee_concession") { fields { name default } } }';
    const { collection } = await ask(gateway, asked, { as: 'accountant' });
    expect(collection.fields).toEqual(
      expect.arrayContaining([
        { name: 'created_on', default: 'now' },
        { name: 'name', default: null },
      ]),
    );
  });

  it('are registered, changed and dropped while it runs, the typed schema with them', async () => {
    const register = 'mutation($d: JSON!) { registerCollection(definition: $d) { name plural } }';
    const definition = {
      name: 'visit',
      description: 'A visit.',
      fields: [
        { name: 'visitor', type: 'text', required: true },
        { name: 'kind', type: 'text', enum: ['2 wheeler', 'walk-in', 'true'] },
        { name: 'host', type: 'reference', target: ['pltf_user', 'registration'] },
      ],
    };
    expect(await codesOf(gateway, { as: 'clerk', query: register, variables: { d: definition } })).toEqual([
      'FORBIDDEN',
    ]);
    expect(await ask(gateway, register, { variables: { d: definition } })).toEqual({
      registerCollection: { name: 'visit', plural: 'visits' },
    });
    await eventuallyPasses(async () => {
      const { createVisit } = await ask(
        gateway,
        'mutation { createVisit(data: {visitor: "Asha", kind: _2_WHEELER, host: {id: "usr-admin"}}) ' +
          '{ visitor kind host { record { __typename ... on PltfUser { userName } } } } }',
      );
      expect(createVisit).toEqual({
        visitor: 'Asha',
        kind: '_2_WHEELER',
        host: { record: { __typename: 'PltfUser', userName: 'admin' } },
      });
    });
    const altered = { ...definition, fields: [...definition.fields, { name: 'badge', type: 'number' }] };
    await ask(gateway, 'mutation($d: JSON!) { alterCollection(definition: $d) { name } }', {
      variables: { d: altered },
    });
    await eventuallyPasses(async () => {
      expect(await ask(gateway, '{ visits { nodes { visitor badge } } }')).toEqual({
        visits: { nodes: [{ visitor: 'Asha', badge: null }] },
      });
    });
    await ask(gateway, 'mutation { dropCollection(name: "visit") }');
    await eventuallyPasses(async () => {
      expect(await codesOf(gateway, { as: 'admin', query: '{ visits { totalCount } }' })).toEqual([
        'GRAPHQL_VALIDATION_FAILED',
      ]);
    });
    expect(
      await codesOf(gateway, { as: 'admin', query: '{ records(collection: "visit") { totalCount } }' }),
    ).toEqual(['GONE']);
  });
});

describe('the settings of the school', () => {
  const SET =
    'mutation ($n: String!, $v: JSON!) { setDomainProperty(name: $n, value: $v) { name value isSet } }';
  const REMOVE =
    'mutation ($n: String!) { removeDomainProperty(name: $n) { name value isSet defaultValue } }';
  const LIST = '{ domainProperties { name kind value isSet isSecret isSettable defaultValue } }';
  const set = (n: string, v: unknown, as: Role = 'admin') =>
    send(gateway, { query: SET, variables: { n, v }, as });

  const refusalsOf = ({ errors }: GraphqlAnswer) => errors.map(({ extensions }) => extensions.code);

  async function change(sql: string): Promise<void> {
    await gateway.sql.query(sql);
    await gateway.sql.query("select pg_notify(campus_channel('campus_domains'), 'top')");
  }

  it('are set and removed by an admin, and stand in the audit trail', async () => {
    expect((await set('passPercent', 40)).data).toEqual({
      setDomainProperty: { name: 'passPercent', value: 40, isSet: true },
    });
    const removed = await send(gateway, { query: REMOVE, variables: { n: 'passPercent' }, as: 'admin' });
    expect(removed.data).toEqual({
      removeDomainProperty: { name: 'passPercent', value: null, isSet: false, defaultValue: 33 },
    });
    const { auditTrail } = await ask(
      gateway,
      '{ auditTrail(collection: "$property", first: 2) { recordId operation } }',
    );
    expect(auditTrail).toEqual([
      { recordId: 'passPercent', operation: 'deleted' },
      { recordId: 'passPercent', operation: 'updated' },
    ]);
  });

  it('tell everybody when sessions begin', async () => {
    const firstMonth = async () =>
      (await ask(gateway, '{ me { sessionFirstMonth } }', { as: 'viewer' })).me.sessionFirstMonth;
    expect(await firstMonth()).toBe(4);
    await set('sessionFirstMonth', 1);
    expect(await firstMonth()).toBe(1);
    await send(gateway, { query: REMOVE, variables: { n: 'sessionFirstMonth' }, as: 'admin' });
    expect(await firstMonth()).toBe(4);
  });

  it('are not set, nor removed, over what another admin has set meanwhile', async () => {
    const OVER = `mutation ($v: JSON!, $over: String) {
      setDomainProperty(name: "passPercent", value: $v, ifMatch: $over) { value etag } }`;
    const REMOVE_OVER = `mutation ($over: String) {
      removeDomainProperty(name: "passPercent", ifMatch: $over) { isSet etag } }`;
    const setOver = (v: number, over: string) =>
      send(gateway, { query: OVER, variables: { v, over }, as: 'admin' });
    const removeOver = (over: string) =>
      send(gateway, { query: REMOVE_OVER, variables: { over }, as: 'admin' });
    const first = (await setOver(40, 'none')).data.setDomainProperty;
    expect(refusalsOf(await setOver(41, 'none'))).toEqual(['VERSION_CONFLICT']);
    const second = (await setOver(42, first.etag)).data.setDomainProperty;
    expect(second.value).toBe(42);
    expect(refusalsOf(await setOver(43, first.etag))).toEqual(['VERSION_CONFLICT']);
    expect(refusalsOf(await removeOver(first.etag))).toEqual(['VERSION_CONFLICT']);
    expect((await removeOver(second.etag)).data.removeDomainProperty).toEqual({ isSet: false, etag: 'none' });
    expect(refusalsOf(await setOver(44, second.etag))).toEqual(['VERSION_CONFLICT']);
    const { auditTrail } = await ask(
      gateway,
      '{ auditTrail(collection: "$property", first: 4) { operation } }',
    );
    const operations = auditTrail.map(({ operation }: { readonly operation: string }) => operation);
    expect(operations).toEqual(['deleted', 'updated', 'updated', 'deleted']);
  });

  it('list what the service reads and templates that are set, and nothing else', async () => {
    await change(
      `insert into properties (domain_id, name, value, is_secret, updated_at)
       values ('top', 'bankKey', '"s3cret"', false, now()),
          ('top', 'mailFrom', '"hidden@x.example"', true, now()),
         ('top', 'smsUrl', '"https://u:hunter2@sms.example"', false, now())`,
    );
    // Setting one reads all of them anew.
    await set('mailTemplate.dues', { subject: 'Dues', text: 'Pay' });
    const { domainProperties } = await ask(gateway, LIST);
    const found = new Map(domainProperties.map((one: { name: string }) => [one.name, one]));
    expect(found.has('bankKey')).toBe(false);
    expect(found.get('mailTemplate.dues')).toMatchObject({ kind: 'JSON', value: { subject: 'Dues' } });
    expect(found.get('smsUrl')).toMatchObject({
      value: null,
      isSet: true,
      isSecret: true,
      isSettable: false,
    });
    expect(found.get('currency')).toMatchObject({ value: null, isSet: false, defaultValue: 'INR' });

    const anew = await set('mailFrom', 'other@x.example');
    expect(anew.data.setDomainProperty).toEqual({ name: 'mailFrom', value: null, isSet: true });
    expect(JSON.stringify(await ask(gateway, LIST))).not.toMatch(/hidden@|other@|hunter2|s3cret/);
    await change("delete from properties where domain_id = 'top'");
  });

  it('are refused to others, and where they are not settings, the operator’s, or wrong', async () => {
    for (const as of ['clerk', 'teacher', 'viewer'] as const) {
      expect(refusalsOf(await set('passPercent', 40, as))).toEqual(['FORBIDDEN']);
      expect(refusalsOf(await send(gateway, { query: LIST, as }))).toEqual(['FORBIDDEN']);
      expect(refusalsOf(await send(gateway, { query: REMOVE, variables: { n: 'currency' }, as }))).toEqual([
        'FORBIDDEN',
      ]);
    }
    expect((await send(gateway, { query: LIST })).status).toBe(401);
    expect(refusalsOf(await set('smtpUrl', 'smtp://127.0.0.1'))).toEqual(['FORBIDDEN']);
    expect(refusalsOf(await set('smsUrl', 'http://127.0.0.1'))).toEqual(['FORBIDDEN']);
    expect(refusalsOf(await set('bankKey', 'x'))).toEqual(['NOT_FOUND']);
    expect(refusalsOf(await set('mailTemplate.', { text: 'x' }))).toEqual(['NOT_FOUND']);
    expect(refusalsOf(await set('mailTemplate.a b', { text: 'x' }))).toEqual(['INVALID_VALUE']);
    expect(refusalsOf(await set('passPercent', 'many'))).toEqual(['INVALID_VALUE']);
    expect(refusalsOf(await set('schoolName', 'a\u0000b'))).toEqual(['INVALID_VALUE']);
    expect(refusalsOf(await set('schoolName', 'x'.repeat(65_535)))).toEqual(['LIMIT_EXCEEDED']);
    expect(refusalsOf(await set('passPercent', null))).not.toEqual([]);
  });
});

describe('branches', () => {
  const MAKE = 'mutation ($data: NewBranchInput!) { createBranch(data: $data) { id name timeZone } }';
  const make = (data: Readonly<Record<string, unknown>>, as: Role = 'admin', headers = {}) =>
    send(gateway, { query: MAKE, variables: { data }, as, headers });
  const faultOf = ({ errors }: GraphqlAnswer) => errors.map(({ extensions }) => extensions.code).join();

  it('are worked in before this gateway was told that another one has made them', async () => {
    await gateway.sql.query(`insert into domains (id, name, parent_id) values ('untold', 'Untold', 'top')`);
    try {
      const { me } = await ask(gateway, '{ me { domain { name } } }', { headers: { 'x-domain': 'untold' } });
      expect(me.domain.name).toBe('Untold');
      const { errors } = await send(gateway, {
        query: '{ me { id } }',
        headers: { 'x-domain': 'nowhere', authorization: `Bearer ${gateway.tokenOf('admin')}` },
      });
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(['NOT_FOUND']);
    } finally {
      await gateway.sql.query(`delete from domains where id = 'untold'`);
      await gateway.sql.query(`select pg_notify(campus_channel('campus_domains'), 'untold')`);
    }
  });

  it('are made by an admin of the main school, who then works there', async () => {
    const made = await make({ id: 'hills', name: 'Hill branch', timeZone: 'Asia/Dubai' });
    expect(made.data.createBranch).toEqual({ id: 'hills', name: 'Hill branch', timeZone: 'Asia/Dubai' });
    expect((await make({ id: 'lakes', name: 'Lake branch' })).data.createBranch.timeZone).toBe(
      'Asia/Kolkata',
    );

    const { inviteUser } = await ask(
      gateway,
      'mutation { inviteUser(data: {userName: "head", name: "Head", roles: ["admin"]}) { userId } }',
      { headers: { 'x-domain': 'hills' } },
    );
    expect(inviteUser.userId).toEqual(expect.any(String));
    const { me } = await ask(gateway, '{ me { domain { name } duties branches { id } } }', {
      headers: { 'x-domain': 'hills' },
    });
    expect(me).toMatchObject({ domain: { name: 'Hill branch' } });
    expect(me.branches.map(({ id }: { id: string }) => id)).toEqual(['top', 'hills', 'lakes']);

    const { auditTrail } = await ask(
      gateway,
      '{ auditTrail(collection: "$domain", first: 2) { recordId operation } }',
    );
    expect(auditTrail).toEqual([
      { recordId: 'lakes', operation: 'created' },
      { recordId: 'hills', operation: 'created' },
    ]);
  });

  it('are not made by anybody else, twice, or with what cannot be kept', async () => {
    for (const as of ['accountant', 'clerk', 'teacher', 'viewer'] as const) {
      expect(faultOf(await make({ id: 'none', name: 'None' }, as))).toBe('FORBIDDEN');
    }
    expect((await send(gateway, { query: MAKE, variables: { data: { id: 'n', name: 'N' } } })).status).toBe(
      401,
    );
    expect(faultOf(await make({ id: 'hills', name: 'Hill branch' }))).toBe('CONFLICT');
    for (const wrong of [
      { id: '', name: 'X' },
      { id: '..', name: 'X' },
      { id: 'a b', name: 'X' },
      { id: 'x'.repeat(65), name: 'X' },
      { id: 'x', name: ' ' },
      { id: 'x', name: 'x'.repeat(201) },
      { id: 'x', name: 'a\u0000b' },
      { id: 'x', name: 'X', timeZone: 'Mars/Olympus' },
    ]) {
      expect([wrong, faultOf(await make(wrong))]).toEqual([wrong, 'INVALID_VALUE']);
    }
    const { me } = await ask(gateway, '{ me { branches { id } } }');
    expect(me.branches).toHaveLength(3);
  });
});
