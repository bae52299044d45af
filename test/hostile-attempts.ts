/**
 * Names and values that strangers try, and every door that takes a name or a value: an attempt is one of
 * each.
 */
import type { Gateway } from './contract/gateway.js';
import { send } from './contract/graphql.js';

/** An import that is there. */
const TAKEN_IMPORT = '01995f6e-6f0a-7c3e-9d5c-2f6a7b8c9d0e';
const CHANGED_IMPORT = `mutation ($v: JSON!) { changeImport(id: "${TAKEN_IMPORT}", mapping: $v) { id } }`;

export const HOSTILE_TEXTS = [
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00y',
  '\uffff',
  '\u202e',
  "'; drop table records; --",
  '"; select 1; --',
  '\\',
  '\\u0000',
  '$1',
  '$$',
  '%',
  '..',
  '.',
  '',
  ' ',
  '{}',
  '[',
  '__proto__',
  'constructor',
  '2026-02-30',
  '0001-01-01',
  '-0001-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '1e400',
  '1e999999',
  '-1e401',
  '5e-324',
  'NaN',
  'Infinity',
  '9'.repeat(250),
  'a'.repeat(3000),
  '('.repeat(300),
  '(?=a)*[',
  '\u{1f600}',
] as const;

export interface Attempt {
  readonly door: string;
  /** The status of the answer; of GraphQL the highest of its errors. */
  send(gateway: Gateway, text: string): Promise<number>;
}

/** Every door with each of the places where a caller's text goes in. */
export const ATTEMPTS: readonly Attempt[] = [
  ...restReads(),
  ...restWrites(),
  ...restRestores(),
  ...graphqlOperations(),
  ...agentCalls(),
  ...headers(),
  ...importedFiles(),
  ...uploadsByPieces(),
  {
    door: 'POST /auth',
    send: async (gateway, text) =>
      await status(gateway, `/auth?user_name=${encoded(text)}&password=x`, { method: 'POST' }),
  },
];

/** What describes an upload travels in base64: it may be any text. */
function uploadsByPieces(): readonly Attempt[] {
  const keys = ['filename', 'filetype', 'collection', 'recordId', 'roles', 'import'];
  const attempts: readonly [string, (text: string) => Record<string, string>][] = [
    ...keys.map((key): [string, (text: string) => Record<string, string>] => [
      key,
      (text) => ({ [key]: text, ...(key === 'collection' && { recordId: 'there' }) }),
    ]),
    ['record of a collection', (text) => ({ collection: 'task', recordId: text })],
  ];
  return attempts.map(([place, described]) => ({
    door: `POST /files by tus, ${place}`,
    send: async (gateway, text) => {
      const pairs = Object.entries(described(text)).map(
        ([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`,
      );
      const tus = { 'tus-resumable': '1.0.0', 'upload-length': '0', 'upload-metadata': pairs.join(',') };
      return await status(gateway, '/files', { method: 'POST', headers: tus });
    },
  }));
}

function restReads(): readonly Attempt[] {
  const paths: readonly [string, (text: string) => string][] = [
    ...['name', '_id', 'amount', 'created_on', 'manager', 'manager.label', 'extra', 'extra.a'].flatMap(
      (field) =>
        ['=', '==', '=!=', '=*', '=!*', '===', '=>', '=<', '=#in', '=on'].map(
          (operator): [string, (text: string) => string] => [
            `oquery ${field}${operator}`,
            (text) => `/o/recs/task?oquery=${encoded(`${field}${operator}${text}`)}`,
          ],
        ),
    ),
    ['oquery field', (text) => `/o/recs/task?oquery=${encoded(`${text}=1`)}`],
    ['ci oquery', (text) => `/o/recs/task?ci=true&oquery=${encoded(`name=${text}`)}`],
    ['sort', (text) => `/o/recs/task?sort=${encoded(text)}`],
    ['project', (text) => `/o/recs/task?project=${encoded(text)}`],
    ['after', (text) => `/o/recs/task?limit=1&after=${encoded(text)}`],
    [
      'after, forged',
      (text) =>
        `/o/recs/task?limit=1&after=${Buffer.from(JSON.stringify(['x', text])).toString('base64url')}`,
    ],
    ['since', (text) => `/o/recs/task?since=${encoded(text)}`],
    ['limit', (text) => `/o/recs/task?limit=${encoded(text)}`],
    ['parameter', (text) => `/o/recs/result?session=${encoded(text)}`],
    ['parameter name', (text) => `/o/recs/task?${encoded(text)}=1`],
    ['collection', (text) => `/o/recs/${encoded(text)}`],
    ['id', (text) => `/o/recs/task/${encoded(text)}`],
    ['report', (text) => `/?report=${encoded(text)}`],
    ['report by its path', (text) => `/reports/${encoded(text)}`],
    ['parameter of a report by its path', (text) => `/reports/class-attendance?class=${encoded(text)}`],
    ['report parameter', (text) => `/attendancebyclassbymonth/${encoded(text)}/2026-04-01/2026-04-30`],
    ['file', (text) => `/files/${encoded(text)}`],
    ['import', (text) => `/imports/${encoded(text)}`],
    ['refused rows of an import', (text) => `/imports/${encoded(text)}/errors.csv`],
    ['outcomes of an import', (text) => `/imports/${encoded(text)}/outcomes.csv`],
    ['page of imports', (text) => `/imports?after=${encoded(text)}`],
    ['mappings', (text) => `/import-mappings?collection=${encoded(text)}`],
    ['history', (text) => `/o/recs/task/${encoded(text)}/history`],
    ['page of a history', (text) => `/o/recs/task/there/history?after=${encoded(text)}`],
    ['format', (text) => `/o/recs/task?format=${encoded(text)}`],
    ['zone of a table', (text) => `/o/recs/task?format=xlsx&tz=${encoded(text)}`],
  ];
  return paths.map(([place, path]) => ({
    door: `GET ${place}`,
    send: async (gateway, text) => await status(gateway, path(text)),
  }));
}

function restWrites(): readonly Attempt[] {
  const bodies: readonly [string, (text: string) => unknown][] = [
    ['value', (text) => ({ name: text })],
    ['undeclared value', (text) => ({ name: 'N', extra: { a: [text] } })],
    ['name', (text) => ({ name: 'N', [text]: 1 })],
    ['name within', (text) => ({ name: 'N', extra: [{ [text]: { [text]: text } }] })],
    ['_id', (text) => ({ name: 'N', _id: text })],
    ['reference', (text) => ({ name: 'N', manager: text })],
    ['label', (text) => ({ name: 'N', manager: { value: 'usr-clerk', label: text } })],
    ['instant', (text) => ({ name: 'N', created_on: text })],
    ['collection', (text) => ({ name: 'N', _collection: text })],
  ];
  return bodies.flatMap(([place, body]) =>
    (['POST /o/task', 'PATCH /o/recs/task/there', 'PUT /o/recs/task/there'] as const).map(
      (route): Attempt => {
        const [method = '', path = ''] = route.split(' ');
        return {
          door: `${route} ${place}`,
          send: async (gateway, text) =>
            await status(gateway, path, { method, headers: JSON_TYPE, body: JSON.stringify(body(text)) }),
        };
      },
    ),
  );
}

/** Where it is said what is brought back, and which version of it. */
function restRestores(): readonly Attempt[] {
  const attempts: readonly [string, (text: string) => readonly [path: string, body: unknown]][] = [
    ['record', (text) => [`/o/recs/task/${encoded(text)}/restore`, { version: 1 }]],
    ['collection', (text) => [`/o/recs/${encoded(text)}/there/restore`, { version: 1 }]],
    ['version', (text) => ['/o/recs/task/there/restore', { version: text }]],
    ['member', (text) => ['/o/recs/task/there/restore', { version: 1, [text]: text }]],
    ['import', (text) => [`/imports/${encoded(text)}/undo`, {}]],
  ];
  return attempts.map(([place, made]) => ({
    door: `POST restored ${place}`,
    send: async (gateway, text) => {
      const [path, body] = made(text);
      return await status(gateway, path, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
    },
  }));
}

function agentCalls(): readonly Attempt[] {
  const search = (sent: object) => ['tools/call', { name: 'search-records', arguments: sent }] as const;
  const messages: readonly [string, (text: string) => readonly [method: string, params: object]][] = [
    ['method', (text) => [text, {}]],
    ['tool', (text) => ['tools/call', { name: text }]],
    ['argument name', (text) => search({ collection: 'task', [text]: 1 })],
    ['collection', (text) => search({ collection: text, label: 'a' })],
    ['label', (text) => search({ collection: 'task', label: text })],
    ['where', (text) => search({ collection: 'task', where: { [text]: { equals: text } } })],
    ['resource', (text) => ['resources/read', { uri: text }]],
    ['type', (text) => ['resources/read', { uri: `campus://schema/${text}` }]],
  ];
  return messages.map(([place, message]) => ({
    door: `POST /mcp ${place}`,
    send: async (gateway, text) => {
      const [method, params] = message(text);
      const answer = await gateway.fetch('/mcp', {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        as: 'admin',
      });
      const told = /\\?"status\\?":(\d+)/.exec(await answer.text())?.[1];
      return Math.max(answer.status, Number(told ?? 0));
    },
  }));
}

function graphqlOperations(): readonly Attempt[] {
  const records = 'query ($v: JSON!) { records(collection: "task", where: $v, first: 2) { nodes { id } } }';
  const operations: readonly [string, string, (text: string) => unknown][] = [
    ['where equals', records, (text) => ({ name: { equals: text } })],
    ['where in', records, (text) => ({ name: { in: [text, 'x'] } })],
    ['where contains', records, (text) => ({ name: { contains: text, mode: 'insensitive' } })],
    ['where field', records, (text) => ({ [text]: { equals: 1 } })],
    ['where operator', records, (text) => ({ name: { [text]: 1 } })],
    ['where of a reference', records, (text) => ({ manager: { record: { name: { startsWith: text } } } })],
    ['where id', records, (text) => ({ id: { equals: text } })],
    [
      'oquery',
      'query ($v: String!) { records(collection: "task", oquery: $v) { nodes { id } } }',
      (text) => `extra=${text}`,
    ],
    [
      'order',
      'query ($v: String!) { records(collection: "task", orderBy: [{field: $v}]) { nodes { id } } }',
      (text) => text,
    ],
    [
      'after',
      'query ($v: String!) { records(collection: "task", after: $v) { nodes { id } } }',
      (text) => text,
    ],
    ['id', 'query ($v: ID!) { task(id: $v) { id } }', (text) => text],
    ['global id', 'query ($v: ID!) { node(id: $v) { nodeId } }', (text) => `task:${text}`],
    ['global ids', 'query ($v: [ID!]!) { nodes(ids: $v) { nodeId } }', (text) => [text, `Record:${text}`]],
    [
      'entity',
      'query ($v: [_Any!]!) { _entities(representations: $v) { __typename } }',
      (text) => [{ __typename: 'Task', id: text, [text]: text }],
    ],
    [
      'type of an entity',
      'query ($v: [_Any!]!) { _entities(representations: $v) { __typename } }',
      (text) => [{ __typename: text, id: 'there' }],
    ],
    ['page before', 'query ($v: String!) { files(last: 1, before: $v) { nodes { id } } }', (text) => text],
    [
      'create',
      'mutation ($v: JSON!) { createRecord(collection: "task", data: $v) { id } }',
      (text) => ({ name: 'N', [text]: { [text]: text } }),
    ],
    [
      'upsert',
      'mutation ($v: [JSON!]!) { upsertRecords(collection: "task", data: $v) { count } }',
      (text) => [{ _id: 'there', [text]: text }],
    ],
    [
      'update',
      'mutation ($v: JSON!) { updateRecords(collection: "task", where: {name: {equals: "no"}}, set: ' +
        '$v) { count } }',
      (text) => ({ [text]: text }),
    ],
    [
      'key of a write',
      'mutation ($v: String!) { createRecord(collection: "task", data: {name: "N"}, idempotencyKey: ' +
        '$v) { id } }',
      (text) => text,
    ],
    ['login', 'mutation ($v: String!) { login(userName: $v, password: $v) { accessToken } }', (text) => text],
    ['user search', 'query ($v: String!) { accounts(search: $v, role: $v) { totalCount } }', (text) => text],
    ['user page', 'query ($v: String!) { accounts(after: $v) { nodes { id } } }', (text) => text],
    ['user', 'query ($v: ID!) { account(id: $v) { id } }', (text) => text],
    ['rights of a user', 'query ($v: ID!) { userRights(userId: $v) { duties } }', (text) => text],
    [
      'roles of a user',
      'mutation ($v: ID!) { setUserRoles(userId: $v, roles: ["clerk"]) { id } }',
      (text) => text,
    ],
    ['link to a user', 'mutation ($v: ID!) { sendAccountLink(userId: $v) { link } }', (text) => text],
    ['link', 'query ($v: String!) { accountLink(token: $v) { userName } }', (text) => text],
    [
      'password by a link',
      'mutation ($v: String!) { useAccountLink(token: $v, password: $v) }',
      (text) => text,
    ],
    ['sessions of a user', 'query ($v: ID!) { sessions(userId: $v) { id } }', (text) => text],
    ['session', 'mutation ($v: ID!) { endSession(id: $v) }', (text) => text],
    [
      'webhook',
      'mutation ($v: String!) { createWebhook(data: {name: $v, url: $v, events: [{collection: $v, ' +
        'operations: [$v], oquery: $v}]}) { secret } }',
      (text) => text,
    ],
    [
      'filter of a webhook',
      'mutation ($v: String!) { createWebhook(data: {name: "x", url: "https://hook.invalid/", events: ' +
        '[{collection: "task", operations: ["deleted"], oquery: $v}]}) { secret } }',
      (text) => `extra=${text}`,
    ],
    [
      'deliveries of a webhook',
      'query ($v: ID!) { webhookDeliveries(id: $v) { nodes { id } } }',
      (text) => text,
    ],
    ['delivery of a webhook', 'mutation ($v: ID!) { replayWebhookDelivery(id: $v) { id } }', (text) => text],
    ['webhook of deliveries', 'mutation ($v: ID!) { replayWebhookDeliveries(id: $v) }', (text) => text],
    [
      'code',
      'mutation ($v: String!) { login(userName: "clerk", password: "correct horse", code: $v) ' +
        '{ accessToken } }',
      (text) => text,
    ],
    ['code of a second factor', 'mutation ($v: String!) { confirmSecondFactor(code: $v) }', (text) => text],
    ['usage of a key', 'query ($v: ID!) { apiKeyUsage(id: $v) { total { requests } } }', (text) => text],
    [
      'uses of a field',
      'query ($v: String!) { fieldUses(collection: "task", field: $v) { operation } }',
      (text) => text,
    ],
    [
      'uses of a field of a collection',
      'query ($v: String!) { fieldUses(collection: $v, field: "name") { operation } }',
      (text) => text,
    ],
    [
      'undeclared fields of a collection',
      'query ($v: String!) { undeclaredFields(collection: $v) { sampledCount } }',
      (text) => text,
    ],
    ['declaration', 'query ($v: String!) { collectionDefinition(name: $v) }', (text) => text],
    [
      'trial of a declaration',
      'query ($v: JSON!) { collectionTrial(definition: $v) { isNew } }',
      (text) => ({ name: 'task', title: text, fields: [{ name: text, type: 'text', enum: [text] }] }),
    ],
    [
      'name of a setting',
      'mutation ($v: String!) { setDomainProperty(name: $v, value: "x") { name } }',
      (text) => text,
    ],
    [
      'value of a setting',
      'mutation ($v: JSON!) { setDomainProperty(name: "schoolName", value: $v) { name } }',
      (text) => text,
    ],
    [
      'template of a setting',
      'mutation ($v: JSON!) { setDomainProperty(name: "mailTemplate.x", value: $v) { name } }',
      (text) => ({ subject: text, text }),
    ],
    [
      'setting that is removed',
      'mutation ($v: String!) { removeDomainProperty(name: $v) { name } }',
      (text) => text,
    ],
    [
      'id of a branch',
      'mutation ($v: ID!) { createBranch(data: {id: $v, name: "x", timeZone: "nowhere"}) { id } }',
      (text) => text,
    ],
    [
      'name of a branch',
      'mutation ($v: String!) { createBranch(data: {id: "top", name: $v}) { id } }',
      (text) => text,
    ],
    ['rotation of a key', 'mutation ($v: ID!) { rotateApiKey(id: $v) { id } }', (text) => text],
    [
      'addresses of a key',
      'mutation ($v: String!) { createApiKey(data: {name: "x", allowedAddresses: [$v], scopes: ' +
        '{collections: {}, reports: [], scripts: []}}) { id } }',
      (text) => text,
    ],
    ['import', 'query ($v: ID!) { import(id: $v) { id } }', (text) => text],
    ['refused rows of an import', 'query ($v: ID!) { importErrors(id: $v) { source } }', (text) => text],
    ['page of imports', 'query ($v: String!) { imports(after: $v) { nodes { id } } }', (text) => text],
    ['mappings', 'query ($v: String!) { importMappings(collection: $v) { name } }', (text) => text],
    [
      'file of an import',
      'mutation ($v: ID!) { createImport(collection: "task", fileId: $v) { id } }',
      (text) => text,
    ],
    [
      'source of an import',
      'mutation ($v: JSON!) { createImport(collection: "task", fileId: ' +
        '"01995f6e-6f0a-7c3e-9d5c-2f6a7b8c9d0e", source: $v) { id } }',
      (text) => ({ format: text, encoding: text, delimiter: text, sheet: text, header: text }),
    ],
    ['mapping of an import', CHANGED_IMPORT, (text) => ({ columns: [{ column: text, field: text }] })],
    ['fixed value of an import', CHANGED_IMPORT, (text) => ({ columns: [], fixed: { [text]: text } })],
    ['run of an import', 'mutation ($v: ID!) { runImport(id: $v) { id } }', (text) => text],
    ['undone request', 'mutation ($v: String!) { undoChange(requestId: $v) { changed } }', (text) => text],
    [
      'history',
      'query ($v: String!) { recordHistory(collection: "task", id: "there", after: $v) ' +
        '{ nodes { version } } }',
      (text) => text,
    ],
    [
      'moment of a record',
      'query ($v: ID!) { recordAt(collection: "task", id: $v, version: 1) { id } }',
      (text) => text,
    ],
    [
      'restored record',
      'mutation ($v: ID!) { restoreRecord(collection: "task", id: $v, version: 1) { id } }',
      (text) => text,
    ],
    [
      'collection of what is restored',
      'mutation ($v: String!) { restoreRecord(collection: $v, id: "there", version: 1) { id } }',
      (text) => text,
    ],
    [
      'collection of a history',
      'query ($v: String!) { recordHistory(collection: $v, id: "there") { nodes { version } } }',
      (text) => text,
    ],
    ['undone import', 'mutation ($v: ID!) { undoImport(id: $v) { id } }', (text) => text],
    ['language', 'mutation ($v: String!) { setLanguage(language: $v) }', (text) => text],
    ['script', 'query ($v: ID!) { script(name: $v) { name } }', (text) => text],
    [
      'script code',
      'mutation ($v: String!) { saveScript(script: {name: "hostile", code: $v}) { name } }',
      (text) => `export default ${JSON.stringify(text)}`,
    ],
    [
      'script name',
      'mutation ($v: ID!) { saveScript(script: {name: $v, code: "1"}) { name } }',
      (text) => text,
    ],
    [
      'arguments of a script',
      'mutation ($v: JSON!) { runScript(name: "asks", arguments: $v) { status } }',
      (text) => ({ [text]: text, text }),
    ],
    [
      'definition',
      'mutation ($v: JSON!) { registerCollection(definition: $v) { name } }',
      (text) => ({ name: 'hostile', title: text, fields: [{ name: text, type: 'text' }] }),
    ],
    [
      'name of a key',
      'mutation ($v: String!) { createApiKey(data: {name: $v, scopes: {collections: {}, reports: [], ' +
        'scripts: []}}) { key } }',
      (text) => text,
    ],
  ];
  return operations.map(([place, query, variable]) => ({
    door: `GraphQL ${place}`,
    send: async (gateway, text) => {
      const answer = await send(gateway, { query, variables: { v: variable(text) }, as: 'admin' });
      return Math.max(answer.status, ...answer.errors.map(({ extensions }) => extensions.status));
    },
  }));
}

/** Where an import is told what its file is, and in the file. */
function importedFiles(): readonly Attempt[] {
  const parameters = [
    ...['collection', 'name', 'fileId', 'mapping', 'format', 'encoding', 'delimiter', 'sheet', 'header'],
    ...['mode', 'by', 'missing', 'triggers'],
  ];
  const take = async (gateway: Gateway, sent: Record<string, string>, body: string) => {
    const query = Object.entries({ collection: 'task', name: 'a.csv', ...sent })
      .map(([name, value]) => `${name}=${encoded(value)}`)
      .join('&');
    return await status(gateway, `/imports?${query}`, { method: 'POST', body });
  };
  return [
    ...parameters.map((name) => ({
      door: `POST /imports ${name}`,
      send: (gateway: Gateway, text: string) => take(gateway, { [name]: text }, 'name\nN\n'),
    })),
    { door: 'POST /imports cell', send: (gateway, text) => take(gateway, {}, `name,${text}\n${text},x\n`) },
    {
      door: 'POST /imports document',
      send: (gateway, text) =>
        take(gateway, { format: 'ndjson' }, `${JSON.stringify({ name: text, [text]: { [text]: text } })}\n`),
    },
  ];
}

/** Header values are bytes of Latin-1 without control characters: the client itself refuses the others. */
function headers(): readonly Attempt[] {
  return ['idempotency-key', 'if-match', 'x-domain', 'x-request-id', 'accept', 'authorization'].map(
    (name) => ({
      door: `header ${name}`,
      send: async (gateway, text) => {
        const value = text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '?').trim();
        const credential =
          name === 'authorization' ? {} : { authorization: `Bearer ${gateway.tokenOf('admin')}` };
        const response = await fetch(`${gateway.url}/o/task`, {
          method: 'POST',
          headers: { ...JSON_TYPE, ...credential, [name]: value },
          body: '{"name":"N"}',
        });
        await response.arrayBuffer();
        return response.status;
      },
    }),
  );
}

/**
 * What `prepare` makes for the attempts: a record, and a script that asks `platform.db` with its arguments.
 */
export async function prepareForAttempts(gateway: Gateway): Promise<void> {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data) values ('top', 'task', 'there',
      '{"name": "T", "extra": {"a": "b"}}')
     on conflict do nothing`,
  );
  await gateway.sql.query(
    `insert into imports (id, domain, collection, state, name, file_id, owns_file, source, options,
       principal, created_by)
     values ($1, 'top', 'task', 'ready', 'a', $1, false, '{}',
       '{"mode": "rows", "by": "", "missing": "keep", "triggers": []}', '{}', 'usr-admin')
     on conflict do nothing`,
    [TAKEN_IMPORT],
  );
  const code = `export default async ({ text }) => {
    const works = [
      () => platform.db.getCount('task', { name: text }),
      () => platform.db.getCount('task', { extra: { $in: [text] }, [text]: { $ne: text } }),
      () => platform.db.getCount('task', { name: { $regex: text } }),
      () => platform.db.findDistinct('task', text, {}),
      () => platform.db.agg('task', [{ $project: { x: { $literal: { [text]: text } } } }, { $sort: { [text]: 1 } }], () => {}),
      () => platform.db.agg('task', [{ $group: { _id: '$' + text, n: { $sum: '$' + text } } }], () => {}),
      () => platform.db.update('task', { name: text }, { $set: { [text]: text }, $push: { list: text } }),
      () => platform.db.findAndModify('task', { _id: text }, { [text]: -1 }, { $set: { name: text } }),
      () => platform.db.create('task', { name: 'N', [text]: { [text]: text } }),
      () => platform.publish(text, { [text]: text }),
      () => platform.log(text),
      () => platform.property(text),
    ];
    for (const work of works) { try { await work(); } catch { continue; } }
    return { [text]: text };
  }`;
  const query = 'mutation ($code: String!) { saveScript(script: {name: "asks", code: $code}) { name } }';
  await send(gateway, { query, variables: { code }, as: 'admin' });
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function status(gateway: Gateway, path: string, init: RequestInit = {}): Promise<number> {
  const response = await gateway.fetch(path, { ...init, as: 'admin' });
  await response.arrayBuffer();
  return response.status;
}

/** As an address spells the text; halves of pairs, which UTF-8 has not, as the bytes they would be. */
function encoded(text: string): string {
  return [...text]
    .map((character) => {
      const code = character.codePointAt(0) ?? 0;
      if (code < 0xd800 || code > 0xdfff) return encodeURIComponent(character);
      const bytes = [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
      return bytes.map((byte) => `%${byte.toString(16).toUpperCase()}`).join('');
    })
    .join('');
}
