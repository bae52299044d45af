/**
 * What an API key, or a token with a part of its user's rights, sees of what the user's other credentials
 * did: nothing.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, ask, type GraphqlAnswer, send } from './graphql.js';

const gateway = useGateway();

const SAVE = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { name } }';
const RUN = 'mutation ($name: ID!, $args: JSON) { runScript(name: $name, arguments: $args) { id value } }';
const SEEN = '{ scriptRuns { id value output { text } } scriptLog { runId message data } }';

/** Narrow credentials of the clerk, by their kind. */
const bearers = new Map<string, string>();
let ownRun: string;

const by = (bearer: string, query: string, variables: object = {}): Promise<GraphqlAnswer> =>
  send(gateway, { query, variables, headers: { authorization: `Bearer ${bearer}` } });

async function dataBy(bearer: string, query: string, variables: object = {}): Promise<Answered> {
  const { data, errors } = await by(bearer, query, variables);
  expect(errors).toEqual([]);
  return data;
}

beforeAll(async () => {
  await ask(gateway, SAVE, {
    variables: {
      script: {
        name: 'salaries',
        roles: ['clerk'],
        code:
          `export default (args) => { console.log('printed ' + args); platform.log('logged', { data: ` +
          'args }); return args; }',
      },
    },
  });
  await ask(gateway, SAVE, {
    variables: {
      script: {
        name: 'sign',
        roles: ['clerk'],
        code: `export default (scopes) => platform.signToken({ scopes }).token`,
      },
    },
  });
  const scopes = { collections: { task: ['read', 'create'] }, reports: [], scripts: ['salaries'] };
  const run = async (name: string, args: unknown) =>
    (await ask(gateway, RUN, { variables: { name, args }, as: 'clerk' })).runScript;
  ownRun = (await run('salaries', 'the salary of the head')).id;
  bearers.set('a token', (await run('sign', scopes)).value);
  const { createApiKey } = await ask(
    gateway,
    'mutation ($scopes: JSON!) { createApiKey(data: {name: "till", scopes: $scopes}) { key } }',
    { variables: { scopes }, as: 'clerk' },
  );
  bearers.set('an API key', createApiKey.key);
  const exchanged = await gateway.fetch('/auth', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: createApiKey.key }),
  });
  bearers.set('a token of that key', ((await exchanged.json()) as Answered).access_token);
});

describe.each(['an API key', 'a token of that key', 'a token'])('%s', (kind) => {
  const bearer = () => bearers.get(kind) ?? '';

  it("sees neither result, output nor log of its user's runs", async () => {
    const seen = JSON.stringify(await dataBy(bearer(), SEEN));
    expect(seen).not.toContain('the head');
    const one = await by(bearer(), 'query ($id: ID!) { scriptRun(id: $id) { value } }', { id: ownRun });
    expect(one.errors.map(({ extensions }) => extensions.code)).toEqual(['NOT_FOUND']);
    const log = await dataBy(bearer(), 'query ($id: ID!) { scriptLog(runId: $id) { message } }', {
      id: ownRun,
    });
    expect(log.scriptLog).toEqual([]);
  });

  it('sees the runs it started', async () => {
    const { runScript } = await dataBy(bearer(), RUN, { name: 'salaries', args: kind });
    const { scriptRuns, scriptLog } = await dataBy(bearer(), SEEN);
    expect(scriptRuns[0]).toEqual({
      id: runScript.id,
      value: kind,
      output: [{ text: `printed ${kind}` }],
    });
    expect(scriptLog[0]).toEqual({ runId: runScript.id, message: 'logged', data: kind });
  });

  it('is given no answer that another credential was given under the same idempotency key', async () => {
    const create = async (authorization: string) => {
      const response = await gateway.fetch('/o/task', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': `same ${kind}`.replaceAll(' ', '-'),
          authorization,
        },
        body: JSON.stringify({ name: 'Count the chairs' }),
      });
      expect(response.status).toBe(201);
      return ((await response.json()) as Answered)._id;
    };
    const [mine, its] = [
      await create(`Bearer ${gateway.tokenOf('clerk')}`),
      await create(`Bearer ${bearer()}`),
    ];
    expect(its).not.toBe(mine);
    expect(await create(`Bearer ${bearer()}`)).toBe(its);
  });

  it.each([
    ['scripts', 'script(name: "salaries") { code }'],
    ['versions of scripts', 'scriptVersions(name: "salaries") { code }'],
    ['messages', 'messages { nodes { id } }'],
    ['API keys', 'apiKeys { id }'],
    ['the audit trail', 'auditTrail { recordId }'],
    ['uses of fields', 'fieldUses(collection: "task", field: "name") { operation }'],
    ['undeclared fields', 'undeclaredFields(collection: "task") { sampledCount }'],
    ['declarations', 'collectionDefinition(name: "task")'],
    ['trials of declarations', 'collectionTrial(definition: {name: "visit"}) { isNew }'],
  ])('reads no %s', async (_what, field) => {
    const { errors } = await by(bearer(), `{ ${field} }`);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
  });

  it("opens no upload of a file of its own, and goes on with none of its user's", async () => {
    const tus = { 'tus-resumable': '1.0.0', 'upload-length': '5' };
    const opened = await gateway.fetch('/files', { method: 'POST', as: 'clerk', headers: tus });
    const path = opened.headers.get('location') ?? '';
    const statuses: number[] = [];
    for (const [method, where] of Object.entries({ POST: '/files', HEAD: path, PATCH: path, DELETE: path })) {
      const headers = { ...tus, authorization: `Bearer ${bearer()}`, 'upload-offset': '0' };
      const piece = method === 'PATCH' && { 'content-type': 'application/offset+octet-stream' };
      statuses.push((await gateway.fetch(where, { method, headers: { ...headers, ...piece } })).status);
    }
    expect(statuses).toEqual([403, 404, 404, 404]);
  });

  it('sees no files but those of records, and listens to no topic', async () => {
    const { createFile } = await ask(
      gateway,
      'mutation { createFile(data: {name: "a.txt", content: "aGVsbG8="}) { id } }',
      { as: 'clerk' },
    );
    const found = await dataBy(bearer(), '{ files { nodes { id } } }');
    expect(found.files.nodes).toEqual([]);
    const one = await gateway.fetch(`/files/${createFile.id}`, {
      headers: { authorization: `Bearer ${bearer()}` },
    });
    expect(one.status).toBe(404);
  });
});

it("a user with all of its rights sees the runs of all of its credentials, and nobody else's", async () => {
  const { scriptRuns } = await ask(gateway, SEEN, { as: 'clerk' });
  expect(scriptRuns.map(({ value }: Answered) => value)).toEqual(
    expect.arrayContaining(['the salary of the head', 'an API key', 'a token']),
  );
  expect((await ask(gateway, SEEN, { as: 'viewer' })).scriptRuns).toEqual([]);
});
