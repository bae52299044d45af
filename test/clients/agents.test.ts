/**
 * Agents at `/mcp` and by `campus mcp`, asked by the clients of the protocol's own SDK: the one of today's
 * programs (1.x), and the one of the newest revision (2.x).
 */
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as NewestClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as usual from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { campus } from '../cli/campus.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import type { Role } from '../contract/gateway.js';
import { ask, send } from '../contract/graphql.js';

const gateway = useDemoGateway({ students: 120 }, { AGENT_MAX_ROWS: '40', AGENT_MAX_BYTES: '8000' });
const clients: Client[] = [];
/** Keys of the admin: one that only reads, one that may also create tasks. */
let readingKey: string;
let writingKey: string;

beforeAll(async () => {
  readingKey = await keyWith({ collections: { registration: ['read'] }, reports: ['strength'] });
  writingKey = await keyWith({ collections: { task: ['read', 'create'], pltf_user: ['read'] } });
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

async function keyWith(scopes: object): Promise<string> {
  const { createApiKey } = await ask(
    gateway,
    'mutation ($scopes: JSON!) { createApiKey(data: {name: "agent", scopes: $scopes}) { key } }',
    { variables: { scopes } },
  );
  return createApiKey.key;
}

async function connectAs(bearer: string, headers: Readonly<Record<string, string>> = {}): Promise<Client> {
  const client = new Client({ name: 'tests', version: '1.0.0' });
  await client.connect(
    new usual.StreamableHTTPClientTransport(new URL('/mcp', gateway.url), {
      requestInit: { headers: { authorization: `Bearer ${bearer}`, ...headers } },
    }),
  );
  clients.push(client);
  return client;
}

interface Called {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: what comes back differs with each tool
  readonly value: any;
  readonly note: string | undefined;
}

async function call(
  client: Pick<Client, 'callTool'>,
  name: string,
  sent: Record<string, unknown> = {},
): Promise<Called> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: sent });
  const [first, second] = content as readonly { readonly text: string }[];
  const value = JSON.parse(first?.text ?? 'null');
  expect(structuredContent).toEqual(isError === true ? undefined : value);
  return { isError: isError === true, value, note: second?.text };
}

/** The members of an answer that its schema does not describe. */
// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema of any tool
function undescribed(schema: any, value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => undescribed(schema.items, one, at));
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const described = schema.properties[name];
    return described === undefined ? [`${at}/${name}`] : undescribed(described, member, `${at}/${name}`);
  });
}

async function toolsOf(bearer: string): Promise<readonly Tool[]> {
  return (await (await connectAs(bearer)).listTools()).tools;
}

const namesOf = (tools: readonly Tool[]) => tools.map(({ name }) => name);

/** A message as it is, past every client. */
function post(body: unknown, init: RequestInit & { readonly as?: Role } = {}): Promise<Response> {
  return gateway.fetch('/mcp', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...Object(init.headers),
    },
  });
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('tools', () => {
  it('are the operations of the library that the caller may ask, and a search', async () => {
    const tools = await toolsOf(gateway.tokenOf('admin'));
    expect(namesOf(tools)).toEqual(
      expect.arrayContaining(['student-attendance', 'fee-defaulters', 'search-records', 'what-there-is']),
    );
    // Subscriptions have no end, and a token changes nothing.
    expect(namesOf(tools)).not.toContain('task-changes');
    expect(namesOf(tools)).not.toContain('create-a-task');
    expect(new Set(namesOf(tools)).size).toBe(tools.length);
    const schemas = new Ajv2020({ strict: false, validateFormats: false });
    for (const { name, description, annotations, inputSchema } of tools) {
      expect(name).toMatch(/^[a-z-]{1,64}$/);
      expect(description).toMatch(/\w/);
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      schemas.compile(inputSchema);
    }
  });

  it('have arguments with types, descriptions, defaults and examples of a day', async () => {
    const tools = await toolsOf(gateway.tokenOf('admin'));
    const search = tools.find(({ name }) => name === 'students-by-name');
    expect(search).toMatchObject({
      title: 'Students whose name contains a text',
      description: expect.stringContaining('An oquery filter as on REST'),
      inputSchema: {
        type: 'object',
        required: ['oquery'],
        additionalProperties: false,
        properties: {
          oquery: {
            type: 'string',
            description: expect.stringContaining('A filter as in the REST interface'),
            examples: ['name=*sharma,status=active'],
          },
          first: { type: 'integer', default: 40, maximum: 40 },
        },
      },
    });
    const attendance = tools.find(({ name }) => name === 'student-attendance');
    expect(attendance?.inputSchema.properties?.start).toMatchObject({
      examples: [expect.stringMatching(/^\d{4}-\d\d-\d\d$/)],
    });
  });

  it('of a change have the fields of its input, with the values that are allowed', async () => {
    const [tool] = (await toolsOf(writingKey)).filter(({ name }) => name === 'create-a-task');
    expect(tool).toMatchObject({
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      inputSchema: {
        required: ['data'],
        properties: { data: { $ref: '#/$defs/CreateTaskInput' } },
        $defs: { CreateTaskInput: { properties: { name: { type: 'string' }, amount: {} } } },
      },
    });
  });

  it('answer every example they give, for roles that see much and little, as GraphQL does', async () => {
    const library = (await gateway.fetch('/explore/operations.json')).json() as Promise<
      readonly { readonly name: string; readonly document: string }[]
    >;
    const documents = new Map((await library).map(({ name, document }) => [name, document]));
    const faults: string[] = [];
    for (const role of ['admin', 'teacher', 'viewer'] as const) {
      const client = await connectAs(gateway.tokenOf(role));
      const { tools } = await client.listTools();
      for (const { name, inputSchema, outputSchema } of tools) {
        const sent = Object.fromEntries(
          Object.entries(inputSchema.properties ?? {}).flatMap(([property, schema]) =>
            'examples' in schema ? [[property, (schema.examples as readonly unknown[])[0]]] : [],
          ),
        );
        if (typeof sent.first === 'number') sent.first = Math.min(sent.first, 40);
        const called = await call(client, name, sent);
        if (!called.isError)
          faults.push(...undescribed(outputSchema, called.value).map((at) => `${name} has ${at}`));
        const query = documents.get(name);
        if (query === undefined) continue;
        const plain = await send(gateway, { query, variables: sent, as: role });
        const isSame = called.isError
          ? called.value.errors[0].extensions.code === plain.errors[0]?.extensions.code
          : called.note !== undefined || JSON.stringify(called.value) === JSON.stringify(plain.data);
        if (!isSame) faults.push(`${role}, ${name}: ${JSON.stringify(called.value).slice(0, 300)}`);
      }
    }
    expect(faults).toEqual([]);
  });

  it('are listed by what a credential may do', async () => {
    const viewer = namesOf(await toolsOf(gateway.tokenOf('viewer')));
    expect(viewer).toContain('students-page-by-page');
    expect(viewer).not.toContain('fee-defaulters');
    const key = namesOf(await toolsOf(readingKey));
    expect(key).toEqual(expect.arrayContaining(['strength', 'students-by-name', 'search-records']));
    expect(key).not.toContain('fee-defaulters');
    expect(key).not.toContain('receipts-of-a-day');
    expect(key).not.toContain('create-a-task');
  });
});

describe('calls', () => {
  it('search by label and by where', async () => {
    const client = await connectAs(gateway.tokenOf('admin'));
    const all = await call(client, 'search-records', { collection: 'registration', first: 40 });
    const [{ data }] = all.value.records.nodes;
    const part = String(data.name).slice(0, 4).toUpperCase();
    const found = await call(client, 'search-records', {
      collection: 'registration',
      label: part,
      where: { class: { equals: data.class } },
      project: ['name', 'class'],
    });
    expect(found.isError).toBe(false);
    expect(found.value.records.nodes.length).toBeGreaterThan(0);
    for (const node of found.value.records.nodes) {
      expect(node.data.class).toBe(data.class);
      expect(node.data.name.toUpperCase()).toContain(part);
    }
  });

  it('give a teacher the records of its sections alone, as GraphQL does', async () => {
    const client = await connectAs(gateway.tokenOf('teacher'));
    const { value } = await call(client, 'search-records', { collection: 'attendance', first: 1 });
    const plain = await send(gateway, {
      query: '{ attendanceRecords { totalCount } }',
      as: 'teacher',
    });
    expect(value.records.totalCount).toBe(plain.data.attendanceRecords.totalCount);
    const admin = await send(gateway, { query: '{ attendanceRecords { totalCount } }', as: 'admin' });
    expect(value.records.totalCount).toBeLessThan(admin.data.attendanceRecords.totalCount);
  });

  it('points out names that are not declared', async () => {
    const client = await connectAs(gateway.tokenOf('admin'));
    const { isError, note } = await call(client, 'search-records', {
      collection: 'attendance',
      orderBy: [{ field: 'clas' }],
    });
    expect([isError, note]).toEqual([
      false,
      'No field "clas" is declared on attendance. Did you mean "class"?',
    ]);
  });

  it.each([
    ['an unknown collection', { collection: 'registratoin' }, 'NOT_FOUND', 'registration'],
    [
      'a filter that cannot be read',
      { collection: 'task', where: { name: { like: 'a' } } },
      'MALFORMED_FILTER',
      '',
    ],
    ['a value of another type', { collection: 7 }, 'BAD_USER_INPUT', 'Argument "collection" got'],
    ['an argument that is none', { collection: 'task', limit: 5 }, 'INVALID_VALUE', 'one of collection'],
    ['a page that is too large', { collection: 'task', first: 41 }, 'LIMIT_EXCEEDED', 'at most 40'],
    ['a collection without a label', { collection: 'attendance', label: 'a' }, 'INVALID_VALUE', 'by where'],
    ['a missing argument', {}, 'BAD_USER_INPUT', 'Argument "collection" is missing'],
  ])('that are wrong by %s are refused as by GraphQL', async (_what, sent, code, words) => {
    const { isError, value } = await call(await connectAs(gateway.tokenOf('admin')), 'search-records', sent);
    expect({ isError, code: value.errors[0].extensions.code }).toEqual({ isError: true, code });
    expect(value.errors[0].message).toContain(words);
    expect(value.errors[0].extensions.requestId).toEqual(expect.any(String));
  });

  it('of what a credential may not read are refused', async () => {
    const { isError, value } = await call(await connectAs(readingKey), 'search-records', {
      collection: 'fee_receipt',
    });
    expect(isError).toBe(true);
    expect(value.errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', status: 403 });
  });

  it('change something with a key for it alone', async () => {
    const data = { name: 'Mend the gate', amount: '12.50', manager: { id: 'usr-teacher' } };
    for (const bearer of [gateway.tokenOf('admin'), readingKey]) {
      const refused = await call(await connectAs(bearer), 'create-a-task', { data });
      expect(refused).toMatchObject({
        isError: true,
        value: { errors: [{ extensions: { code: 'FORBIDDEN', status: 403 } }] },
      });
    }
    const { isError, value } = await call(await connectAs(writingKey), 'create-a-task', { data });
    expect(isError).toBe(false);
    expect(value.createTask).toMatchObject({ name: 'Mend the gate', amount: '12.50' });
    const { auditTrail } = await ask(
      gateway,
      'query ($id: ID) { auditTrail(collection: "task", recordId: $id) { principal requestOperation } }',
      { variables: { id: value.createTask.id } },
    );
    expect(auditTrail).toEqual([{ principal: 'usr-admin', requestOperation: 'CreateATask' }]);
  });

  it('are cut where there is more than fits, which is said', async () => {
    const client = await connectAs(gateway.tokenOf('admin'));
    const { value, note } = await call(client, 'search-records', { collection: 'registration', first: 40 });
    expect(value.records.nodes.length).toBeLessThan(40);
    expect(JSON.stringify(value).length).toBeLessThanOrEqual(8_000);
    expect(note).toContain(`records.nodes shows ${value.records.nodes.length} of the 40 rows that came`);
    expect(note).toContain('Narrow the question');
    const less = await call(client, 'search-records', { collection: 'registration', first: 3 });
    expect(less.note).toBeUndefined();
    expect(less.value.records.pageInfo.hasNextPage).toBe(true);
  });

  it('of a tool that is not there name one that is', async () => {
    const client = await connectAs(gateway.tokenOf('admin'));
    await expect(client.callTool({ name: 'fee-defaulter', arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Did you mean "fee-defaulters"?'),
      data: { code: 'NOT_FOUND', status: 404 },
    });
  });

  it('of another domain see that one', async () => {
    const here = await call(await connectAs(gateway.tokenOf('admin')), 'what-there-is');
    const there = await connectAs(gateway.tokenOf('admin'), { 'x-domain': 'demo-north' });
    const { value } = await call(there, 'what-there-is');
    expect(value.me.domain.id).not.toBe(here.value.me.domain.id);
    const counted = async (client: Client) =>
      (await call(client, 'search-records', { collection: 'registration', first: 1 })).value.records
        .totalCount;
    expect(await counted(there)).not.toBe(await counted(await connectAs(gateway.tokenOf('admin'))));
  });
});

describe('resources', () => {
  it('are the declarations the caller may know of', async () => {
    const client = await connectAs(readingKey);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
      'campus://collections',
      'campus://schema',
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2);
    const text = await read(client, 'campus://collections');
    expect(JSON.parse(text).collections.map(({ name }: { name: string }) => name)).toEqual(['registration']);
    expect(JSON.parse(await read(client, 'campus://collections/registration'))).toMatchObject({
      collection: { name: 'registration', fields: expect.arrayContaining([]) },
    });
    await expect(read(client, 'campus://collections/fee_receipt')).rejects.toMatchObject({
      data: { code: 'FORBIDDEN' },
    });
  });

  it('are the schema, and a type of it', async () => {
    const client = await connectAs(gateway.tokenOf('admin'));
    expect(await read(client, 'campus://schema')).toContain('feeDefaulters: FeeDefaultersReport\n');
    expect(await read(client, 'campus://schema/Task')).toMatch(
      /^"""[\s\S]*type Task[\s\S]* amount: Decimal/m,
    );
    expect(await read(client, 'campus://schema/Query')).toContain('This answer was cut');
    await expect(read(client, 'campus://schema/Tsak')).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } });
    await expect(read(client, 'campus://passwords')).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } });
  });

  async function read(client: Client, uri: string): Promise<string> {
    const { contents } = await client.readResource({ uri });
    const [content] = contents;
    return content !== undefined && 'text' in content ? content.text : '';
  }
});

describe('the newest client', () => {
  it('asks the same', async () => {
    const client = new NewestClient(
      { name: 'tests', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', gateway.url), {
        requestInit: { headers: { authorization: `Bearer ${readingKey}` } },
      }),
    );
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('strength');
      const { content } = await client.callTool({ name: 'strength', arguments: {} });
      expect(content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('"strength"') });
    } finally {
      await client.close();
    }
  });
});

describe('by standard input', () => {
  async function start(key: string, url = gateway.url): Promise<Client> {
    const client = new Client({ name: 'tests', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: ['dist/main.js', 'mcp', '--url', url],
        env: { PATH: process.env.PATH ?? '', AGENT_KEY: key },
        stderr: 'ignore',
      }),
    );
    clients.push(client);
    return client;
  }

  it('asks the gateway with the key', async () => {
    const client = await start(readingKey);
    const { tools } = await client.listTools();
    expect(namesOf(tools)).toEqual(namesOf(await toolsOf(readingKey)));
    const { value } = await call(client, 'search-records', { collection: 'registration', first: 2 });
    expect(value.records.nodes).toHaveLength(2);
    const refused = await call(client, 'search-records', { collection: 'fee_receipt' });
    expect(refused).toMatchObject({
      isError: true,
      value: { errors: [{ extensions: { code: 'FORBIDDEN' } }] },
    });
    expect(await client.readResource({ uri: 'campus://collections' })).toMatchObject({
      contents: [{ mimeType: 'application/json' }],
    });
    await expect(client.callTool({ name: 'no-such' })).rejects.toMatchObject({ data: { code: 'NOT_FOUND' } });
  });

  it('says that there is no key, and that no gateway is there', async () => {
    const without = await campus(['mcp']);
    expect(without).toMatchObject({ code: 1, errors: expect.stringContaining('AGENT_KEY is missing') });
    const client = await start(readingKey, 'http://127.0.0.1:1');
    await expect(client.listTools()).rejects.toMatchObject({
      message: expect.stringContaining('cannot be reached (AGENT_GATEWAY)'),
      data: { code: 'UNAVAILABLE', status: 503 },
    });
  });

  it('says that a key is wrong', async () => {
    const client = await start('cgk_wrong');
    await expect(client.listTools()).rejects.toMatchObject({
      message: expect.stringMatching(/key|credential|token/i),
      data: { code: 'UNAUTHENTICATED', status: 401 },
    });
  });
});

describe('requests', () => {
  it('need a credential', async () => {
    const response = await post(LIST);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await response.json()).toMatchObject({ type: 'urn:campus:error:UNAUTHENTICATED' });
  });

  it('of pages of other origins are refused, also those by a name that means us', async () => {
    const statusOf = async (origin: string) =>
      (await post(LIST, { as: 'admin', headers: { origin } })).status;
    expect(await statusOf('https://evil.example')).toBe(403);
    expect(await statusOf('http://localhost.evil.example:4000')).toBe(403);
    expect(await statusOf('http://localhost:3000')).toBe(200);
  });

  it.each([
    ['no JSON', '{', 400, 'MALFORMED_REQUEST'],
    ['several messages in one', [LIST, LIST], 400, 'MALFORMED_REQUEST'],
    ['no message', { hello: 1 }, 400, 'MALFORMED_REQUEST'],
  ])('that are %s are refused', async (_what, body, status, code) => {
    const response = await post(body, { as: 'admin' });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ type: `urn:campus:error:${code}` });
  });

  it('that are too large, of another type or another method are refused as anywhere', async () => {
    const large = JSON.stringify({ ...LIST, params: { x: 'a'.repeat(9_000_000) } });
    expect((await post(large, { as: 'admin' })).status).toBe(413);
    expect((await post(LIST, { as: 'admin', headers: { accept: '*/*' } })).status).toBe(200);
    expect((await post(LIST, { as: 'admin', headers: { accept: 'text/html' } })).status).toBe(406);
    const form = { 'content-type': 'text/plain' };
    expect((await post(LIST, { as: 'admin', headers: form })).status).toBe(415);
    const get = await gateway.fetch('/mcp', { as: 'admin' });
    expect({ status: get.status, allow: get.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'POST, OPTIONS',
    });
    expect((await gateway.fetch('/mcp', { method: 'DELETE', as: 'admin' })).status).toBe(405);
  });

  it('open no stream of notifications', async () => {
    const response = await post(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { notifications: { toolsListChanged: true } },
      },
      { as: 'admin' },
    );
    expect(await response.json()).toMatchObject({ error: { code: expect.any(Number) } });
  });

  it('are answered as JSON, without a session', async () => {
    const response = await post(LIST, { as: 'admin' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect(response.headers.get('ratelimit-remaining')).toEqual(expect.any(String));
  });

  it('are counted by their path, and listed among the others', async () => {
    expect(await (await gateway.fetch('/metrics')).text()).toMatch(/route="\/mcp"/);
    const index = (await (await gateway.fetch('/')).json()) as { routes: { path: string }[] };
    expect(index.routes.map(({ path }) => path)).toContain('/mcp');
  });
});
