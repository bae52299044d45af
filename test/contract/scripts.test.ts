/**
 * Scripts as a school uses them: saved, called, started by writes, messages and the clock, and answering
 * requests.
 */

import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventuallyFound } from '../eventually.js';
import { itAnswers, useGateway } from './gateway.js';
import { type Answered, ask, send } from './graphql.js';

const gateway = useGateway({ SCRIPT_CPU_TIME_MS: '400', SCRIPT_BEFORE_TIMEOUT_MS: '1500' });

const SAVE = `mutation Save($script: SaveScriptInput!, $ifVersion: Int) {
  saveScript(script: $script, ifVersion: $ifVersion) { name version isEnabled code }
}`;
const RUN = `mutation Run($name: ID!, $args: JSON) {
  runScript(name: $name, arguments: $args) {
    id status value cause principal version hostCalls memoryBytes
    output { level text } error { name message code script line column limit }
  }
}`;
const RUNS = `query Runs($script: ID, $status: ScriptRunStatus) {
  scriptRuns(script: $script, status: $status) { id script cause principal status value error { message } output { text } }
}`;

async function save(script: Readonly<Record<string, unknown>>, ifVersion?: number): Promise<Answered> {
  return (await ask(gateway, SAVE, { variables: { script, ifVersion } })).saveScript;
}

async function run(name: string, args?: unknown, as: 'admin' | 'clerk' = 'admin'): Promise<Answered> {
  return (await ask(gateway, RUN, { variables: { name, args }, as })).runScript;
}

/** The runs of a script that jobs start, once there are as many as expected. */
async function runsOf(script: string, count = 1): Promise<readonly Answered[]> {
  return await eventuallyFound(async () => {
    const { scriptRuns } = await ask(gateway, RUNS, { variables: { script } });
    const ended = scriptRuns.filter((one: Answered) => one.status !== 'RUNNING');
    return ended.length >= count ? ended : undefined;
  });
}

async function codeOf(query: string, variables: unknown, as: 'admin' | 'clerk' | 'viewer' = 'admin') {
  const { errors } = await send(gateway, { query, variables, as });
  return errors[0]?.extensions.code;
}

const createTask = async (data: unknown, as: 'admin' | 'clerk' = 'admin') =>
  await gateway.fetch('/o/task', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(data),
    as,
  });

let count = 0;
let name: string;
beforeEach(() => {
  count += 1;
  name = `script-${count}`;
});

describe('saving a script', () => {
  it('keeps every version', async () => {
    await save({ name, code: 'export default 1' });
    const saved = await save({ name, code: 'export default 2', description: 'two' });
    expect(saved).toMatchObject({ version: 2, code: 'export default 2' });
    const { scriptVersions } = await ask(
      gateway,
      `query V($name: ID!) { scriptVersions(name: $name) { version code savedBy } }`,
      { variables: { name } },
    );
    expect(scriptVersions).toEqual([
      { version: 2, code: 'export default 2', savedBy: 'usr-admin' },
      { version: 1, code: 'export default 1', savedBy: 'usr-admin' },
    ]);
  });

  it('goes on counting after it was removed', async () => {
    await save({ name, code: 'export default 1' });
    await ask(gateway, `mutation R($name: ID!) { removeScript(name: $name) }`, { variables: { name } });
    expect(await codeOf(RUN, { name })).toBe('NOT_FOUND');
    expect((await save({ name, code: 'export default 2' })).version).toBe(2);
  });

  it('is refused over another version than the one read', async () => {
    await save({ name, code: 'export default 1' }, 0);
    const script = { name, code: 'export default 2' };
    expect(await codeOf(SAVE, { script, ifVersion: 0 })).toBe('VERSION_CONFLICT');
    expect(await codeOf(SAVE, { script, ifVersion: 7 })).toBe('VERSION_CONFLICT');
    expect((await save(script, 1)).version).toBe(2);
    expect(await codeOf(SAVE, { script: { name: `${name}-new`, code: '1' }, ifVersion: 3 })).toBe(
      'VERSION_CONFLICT',
    );
  });

  it('is refused where the code cannot be read, with its place', async () => {
    const { errors } = await send(gateway, {
      query: SAVE,
      variables: { script: { name, code: 'const a = 1;\nconst a = 2;' } },
      as: 'admin',
    });
    expect(errors[0]?.extensions.code).toBe('INVALID_VALUE');
    expect(errors[0]?.message).toMatch(new RegExp(`^${name}:2:\\d+: SyntaxError`));
  });

  it('is for admins', async () => {
    const script = { name, code: 'export default 1' };
    expect(await codeOf(SAVE, { script }, 'clerk')).toBe('FORBIDDEN');
    await save(script);
    expect(await codeOf(`query S($name: ID!) { script(name: $name) { code } }`, { name }, 'clerk')).toBe(
      'FORBIDDEN',
    );
  });

  it('by many at once gives each a version of its own', async () => {
    const versions = await Promise.all(
      Array.from(
        { length: 8 },
        async (_, index) => (await save({ name, code: `export default ${index}` })).version,
      ),
    );
    expect(versions.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('calling a script', () => {
  it('gives its result, what it printed and what it took', async () => {
    const code =
      `console.log('got', args.a); platform.print('two');\nexport default (args) => ({ sum: args.a + ` +
      'args.b })';
    await save({ name, code });
    expect(await run(name, { a: 1, b: 2 })).toMatchObject({
      status: 'SUCCEEDED',
      value: { sum: 3 },
      cause: 'call',
      principal: 'usr-admin',
      version: 1,
      output: [
        { level: 'info', text: 'got 1' },
        { level: 'info', text: 'two' },
      ],
      error: null,
    });
  });

  it('tells where it failed', async () => {
    await save({ name, code: 'const a = {};\n  a.b.c;' });
    expect(await run(name)).toMatchObject({
      status: 'FAILED',
      value: null,
      error: { name: 'TypeError', script: name, line: 2 },
    });
  });

  it('tells which limit it met, and the gateway goes on', async () => {
    await save({ name, code: 'for (;;) {}' });
    expect(await run(name)).toMatchObject({ status: 'FAILED', error: { limit: 'cpuTime' } });
    await save({ name, code: 'export default 1' });
    expect(await run(name)).toMatchObject({ status: 'SUCCEEDED' });
  });

  it('runs it as the caller, or with roles of its own', async () => {
    const code = 'export default () => platform.properties()';
    await save({ name, code, roles: ['clerk'] });
    expect((await run(name, null, 'clerk')).error).toMatchObject({ code: 'FORBIDDEN' });
    await save({ name, code, roles: ['clerk'], serviceRoles: ['admin'] });
    expect(await run(name, null, 'clerk')).toMatchObject({
      status: 'SUCCEEDED',
      principal: `script:${name}`,
    });
  });

  it('is for the roles it names, and not for others', async () => {
    await save({ name, code: 'export default 1', roles: ['clerk'] });
    expect((await run(name, null, 'clerk')).value).toBe(1);
    expect(await codeOf(RUN, { name }, 'viewer')).toBe('FORBIDDEN');
    await save({ name, code: 'export default 1', roles: ['clerk'], isEnabled: false });
    expect(await codeOf(RUN, { name }, 'clerk')).toBe('FORBIDDEN');
    expect(await codeOf(RUN, { name: `${name}x` })).toBe('NOT_FOUND');
  });

  it('keeps the run, for those who may see it', async () => {
    await save({ name, code: `console.log('half \\ud800'); export default '\\0'`, roles: ['clerk'] });
    await run(name, null, 'clerk');
    const mine = await ask(gateway, RUNS, { variables: { script: name }, as: 'clerk' });
    expect(mine.scriptRuns).toEqual([
      expect.objectContaining({
        principal: 'usr-clerk',
        value: '\ufffd',
        output: [{ text: expect.stringMatching(/^half \ufffd+$/) }],
      }),
    ]);
    const others = await ask(gateway, RUNS, { variables: { script: name }, as: 'viewer' });
    expect(others.scriptRuns).toEqual([]);
    const all = await ask(gateway, RUNS, { variables: { script: name } });
    expect(all.scriptRuns).toHaveLength(1);
  });

  it('by a script is the called one as the caller, one level deeper', async () => {
    await save({ name: `${name}-inner`, code: 'export default (args) => args * 2' });
    await save({ name, code: `export default async () => await platform.runScript('${name}-inner', 21)` });
    expect((await run(name)).value).toBe(42);
    const [inner] = await runsOf(`${name}-inner`);
    expect(inner).toMatchObject({ cause: 'script', value: 42 });
  });

  it('by itself ends at the limit of depth', async () => {
    await save({ name, code: `export default () => platform.runScript('${name}')` });
    const { error } = await run(name);
    expect(error.message).toMatch(/nested|deep/);
  });
});

it('what a script logs is kept, by level, for those who may see it', async () => {
  const code = `export default async () => {
    await platform.log('begun');
    await platform.log('late', { level: 'warn', data: { days: 3 } });
  }`;
  await save({ name, code, roles: ['clerk'] });
  const { id } = await run(name, null, 'clerk');
  const LOG = `query Log($script: ID, $level: ScriptLogLevel) {
    scriptLog(script: $script, level: $level) { level message data script runId principal }
  }`;
  const { scriptLog } = await ask(gateway, LOG, { variables: { script: name } });
  expect(scriptLog).toEqual([
    expect.objectContaining({ level: 'WARN', message: 'late', data: { days: 3 }, principal: 'usr-clerk' }),
    expect.objectContaining({ level: 'INFO', message: 'begun', data: null, script: name }),
  ]);
  expect(scriptLog[0].runId).toBe(id);
  const severe = await ask(gateway, LOG, { variables: { script: name, level: 'WARN' }, as: 'clerk' });
  expect(severe.scriptLog).toHaveLength(1);
  expect((await ask(gateway, LOG, { variables: { script: name }, as: 'viewer' })).scriptLog).toEqual([]);
});

describe('an API key', () => {
  async function keyFor(scripts: readonly string[]): Promise<string> {
    const { createApiKey } = await ask(
      gateway,
      `mutation K($input: CreateApiKeyInput!) { createApiKey(data: $input) { key } }`,
      { variables: { input: { name: 'k', scopes: { scripts } } } },
    );
    return createApiKey.key;
  }

  it('runs the scripts of its scopes and saves none', async () => {
    await save({ name, code: 'export default 1' });
    const headers = { authorization: `Bearer ${await keyFor([name])}` };
    const runIt = (path: string) => gateway.fetch(path, { method: 'POST', headers });
    expect((await runIt(`/scripts/${name}/run`)).status).toBe(200);
    await save({ name: `${name}-b`, code: 'export default 1' });
    expect((await runIt(`/scripts/${name}-b/run`)).status).toBe(403);
    const { errors } = await send(gateway, {
      query: SAVE,
      variables: { script: { name, code: '1' } },
      headers,
    });
    expect(errors[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('POST /scripts/<name>/run', () => {
  itAnswers(gateway, [
    { name: 'no credential', method: 'POST', path: '/scripts/a/run', status: 401 },
    { name: 'an unknown script', method: 'POST', path: '/scripts/nothing/run', as: 'admin', status: 404 },
    { name: 'another method', path: '/scripts/a/run', as: 'admin', status: 405 },
  ]);

  it('answers with the result and what was printed', async () => {
    await save({ name, code: `console.log('x'); export default (args) => args.a` });
    const answer = await gateway.fetch(`/scripts/${name}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":{"b":[1,2]}}',
      as: 'admin',
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      runId: expect.any(String),
      value: { b: [1, 2] },
      output: ['x'],
    });
  });

  it('takes no body for no arguments, also as curl sends it', async () => {
    await save({ name, code: 'export default (args) => ({ args })' });
    for (const init of [{}, { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '' }]) {
      const answer = await gateway.fetch(`/scripts/${name}/run`, { method: 'POST', as: 'admin', ...init });
      expect(await answer.json()).toMatchObject({ value: { args: {} } });
    }
    const form = await gateway.fetch(`/scripts/${name}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=1',
      as: 'admin',
    });
    expect(form.status).toBe(415);
  });

  it('answers 422 with the place where it failed', async () => {
    await save({ name, code: `\nthrow new Error('no dues');` });
    const answer = await gateway.fetch(`/scripts/${name}/run`, { method: 'POST', as: 'admin' });
    expect(answer.status).toBe(422);
    expect(((await answer.json()) as Answered).detail).toMatch(new RegExp(`^${name}:2:\\d+: no dues$`));
  });
});

describe('a script before a write', () => {
  const trigger = (operations: readonly string[]) => [{ collection: 'task', operations }];

  it('changes the record, or refuses it', async () => {
    const code = `export default ({ record }) => {
      if (!record.name) throw new Error('a task has a name');
      return { ...record, name: record.name.trim(), amount: 5 };
    }`;
    await save({ name, code, before: trigger(['CREATE']) });
    const created = await createTask({ name: '  Chalk ' });
    expect(created.status).toBe(201);
    expect(await created.json()).toMatchObject({ name: 'Chalk', amount: 5 });
    const refused = await createTask({ amount: 1 });
    expect(refused.status).toBe(422);
    expect(((await refused.json()) as Answered).detail).toContain('a task has a name');
    await ask(gateway, `mutation R($name: ID!) { removeScript(name: $name) }`, { variables: { name } });
    expect((await createTask({ name: ' as it is ' })).status).toBe(201);
  });

  it('is told the record as it was, and keeps a failed run for the admin', async () => {
    const { _id: id } = (await (await createTask({ name: 'Desk', amount: 10 })).json()) as Answered;
    const code = `export default ({ operation, record, previous }) => {
      if (record.amount > previous.amount * 2) throw new Error(operation + ' from ' + previous.amount);
    }`;
    await save({ name, code, before: trigger(['UPDATE']) });
    const patch = (amount: number) =>
      gateway.fetch(`/o/recs/task/${id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ amount }),
        as: 'admin',
      });
    expect((await patch(15)).status).toBe(200);
    expect((await patch(100)).status).toBe(422);
    const [failed] = (await ask(gateway, RUNS, { variables: { script: name, status: 'FAILED' } })).scriptRuns;
    expect(failed).toMatchObject({ cause: 'before', error: { message: 'update from 15' } });
    await ask(gateway, `mutation R($name: ID!) { removeScript(name: $name) }`, { variables: { name } });
  });

  it('holds a write up no longer than the setting says', async () => {
    await save({ name, code: 'export default async () => { for (;;) {} }', before: trigger(['CREATE']) });
    const refused = await createTask({ name: 'Chair' });
    expect(refused.status).toBe(422);
    expect(((await refused.json()) as Answered).detail).toMatch(
      /SCRIPT_(BEFORE_TIMEOUT|CPU_TIME|WALL_TIME)_MS/,
    );
    await ask(gateway, `mutation R($name: ID!) { removeScript(name: $name) }`, { variables: { name } });
  });
});

describe('a script after a write', () => {
  it('runs once the write is committed, with its own roles', async () => {
    const code = `export default (args) => args`;
    const after = [{ collection: 'task', operations: ['CREATE', 'DELETE'] }];
    await save({ name, code, after, serviceRoles: ['clerk'] });
    const { _id: id } = (await (await createTask({ name: 'Board' })).json()) as Answered;
    const [created] = await runsOf(name);
    expect(created).toMatchObject({
      cause: 'after',
      principal: `script:${name}`,
      value: { operation: 'create', collection: 'task', id, version: 1, record: { name: 'Board' } },
    });
    await gateway.fetch(`/o/recs/task/${id}`, { method: 'DELETE', as: 'admin' });
    const runs = await runsOf(name, 2);
    expect(runs[0]?.value).toMatchObject({ operation: 'delete', id, record: null });
  });

  it('does not run for a write that was refused', async () => {
    await save({
      name,
      code: 'export default 1',
      after: [{ collection: 'task', operations: ['CREATE'] }],
      serviceRoles: ['clerk'],
    });
    expect((await createTask({ name: 'X', amount: 'much' })).status).toBe(400);
    await createTask({ name: 'Y' });
    expect(await runsOf(name)).toHaveLength(1);
  });

  it('is tried again when it fails', async () => {
    await save({
      name,
      code: `throw new Error('down')`,
      after: [{ collection: 'task', operations: ['CREATE'] }],
      serviceRoles: ['clerk'],
    });
    await createTask({ name: 'Z' });
    expect((await runsOf(name, 2)).map(({ status }) => status)).toEqual(['FAILED', 'FAILED']);
    await ask(gateway, `mutation R($name: ID!) { removeScript(name: $name) }`, { variables: { name } });
  });
});

describe('a script on a topic', () => {
  it('runs with each message', async () => {
    const topic = `bus/${name}`;
    await save({ name, code: 'export default (args) => args', topics: [topic], serviceRoles: ['clerk'] });
    await save({
      name: `${name}-send`,
      code: `export default () => platform.publish('${topic}', { late: 10 })`,
    });
    expect(await run(`${name}-send`)).toMatchObject({ status: 'SUCCEEDED' });
    const [heard] = await runsOf(name);
    expect(heard).toMatchObject({ cause: 'topic', value: { topic, message: { late: 10 } } });
  });
});

describe('trying a script out', () => {
  const TRY = `mutation Try($name: ID!, $code: String, $dryRun: Boolean) {
    runScript(name: $name, code: $code, dryRun: $dryRun) { status value version error { message } }
  }`;
  const code = `const { _id } = await platform.db.create('task', { name: 'tried' });
    platform.sendEmail({ to: 'a@example.org', subject: 'x', text: 'y' });
    export default await platform.db.getCount('task', { _id });`;
  const counts = async () => {
    const query = `{
      tasks(where: { name: { equals: "tried" } }) { totalCount } messages { nodes { state } }
    }`;
    const { tasks, messages } = await ask(gateway, query);
    return [tasks.totalCount, messages.nodes.length];
  };

  it('rolls back what a dry run writes and sends, also of unsaved code', async () => {
    const before = await counts();
    const { runScript } = await ask(gateway, TRY, { variables: { name, code, dryRun: true } });
    expect(runScript).toMatchObject({ status: 'SUCCEEDED', value: 1, version: null, error: null });
    await save({ name, code });
    const { status } = await gateway.fetch(`/scripts/${name}/run?dry_run=true`, {
      method: 'POST',
      as: 'admin',
    });
    expect([status, await counts()]).toEqual([200, before]);
    expect((await ask(gateway, RUNS, { variables: { script: name } })).scriptRuns).toHaveLength(2);
    await run(name);
    expect(await counts()).not.toEqual(before);
  });

  it('is for admins where the code is not saved', async () => {
    expect(await codeOf(TRY, { name, code }, 'clerk')).toBe('FORBIDDEN');
  });
});

describe('/x/<name>', () => {
  const publicly = { serviceRoles: ['clerk'], endpoint: { access: 'PUBLIC', methods: ['GET', 'POST'] } };

  it('answers anybody where it is public', async () => {
    const code = `export default ({ headers, address, ...others }) => others`;
    await save({ name, code, ...publicly });
    const got = await gateway.fetch(`/x/${name}/sub/1?a=1&b=2`);
    const none = { body: null, rawBody: null, caller: null };
    expect(await got.json()).toEqual({ method: 'GET', path: 'sub/1', query: { a: '1', b: '2' }, ...none });
    expect((await gateway.fetch(`/x/${name}`, { method: 'HEAD' })).status).toBe(200);
    const form = new FormData();
    form.set('id', 'pay_1');
    form.set('proof', new Blob([new Uint8Array([0xff, 0xfe])], { type: 'image/png' }), 'a.png');
    const uploaded = await gateway.fetch(`/x/${name}`, { method: 'POST', body: form });
    expect(await uploaded.json()).toMatchObject({
      body: { id: 'pay_1', proof: { name: 'a.png', type: 'image/png', base64: '//4=' } },
      rawBody: null,
      bodyBase64: expect.any(String),
    });
    const signed = await gateway.fetch(`/x/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"amount": 1.0}',
    });
    expect(await signed.text()).toContain('"rawBody":"{\\"amount\\": 1.0}"');
    const posted = await gateway.fetch(`/x/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'hello',
    });
    expect(await posted.json()).toMatchObject({ method: 'POST', body: 'hello' });
    expect(got.headers.get('content-security-policy')).toContain('sandbox');
    const [first] = await runsOf(name, 2);
    expect(first).toMatchObject({ cause: 'endpoint', principal: `script:${name}` });
  });

  it('answers what the script says, headers and all', async () => {
    const code =
      `export default () => ({ status: 201, headers: { 'content-type': 'text/csv', 'x-rows': '1' }, ` +
      `body: 'a,b' })`;
    await save({ name, code, ...publicly });
    const answer = await gateway.fetch(`/x/${name}`);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('text/csv');
    expect(answer.headers.get('x-rows')).toBe('1');
    expect(await answer.text()).toBe('a,b');
  });

  it('refuses to be a source of scripts, which a page of ours would run', async () => {
    for (const type of ['text/javascript', 'application/x-javascript; charset=utf-8', 'Text/ECMAScript']) {
      const code = `export default { headers: { 'content-type': '${type}' }, body: 'alert(1)' }`;
      await save({ name, code, ...publicly });
      expect([type, (await gateway.fetch(`/x/${name}`)).status]).toEqual([type, 422]);
    }
  });

  it('is for callers where it says so', async () => {
    await save({
      name,
      code: `export default ({ caller, headers }) => ({ caller, secret: headers.authorization ?? null })`,
      roles: ['clerk'],
      endpoint: { access: 'CALLER' },
    });
    expect((await gateway.fetch(`/x/${name}`)).status).toBe(401);
    expect((await gateway.fetch(`/x/${name}`, { as: 'viewer' })).status).toBe(403);
    expect(await (await gateway.fetch(`/x/${name}`, { as: 'clerk' })).json()).toEqual({
      caller: { id: 'usr-clerk', userName: 'clerk' },
      secret: null,
    });
  });

  it.each([
    ['throws', `throw new Error('secret inside')`],
    ['dereferences null', 'export default ({ query }) => query.nothing.secret'],
    ['reads what its role may not', `export default () => platform.db.getCount('fee_receipt')`],
    ['writes an invalid record', `export default () => platform.db.create('fee_due', {})`],
    ['asks a private host', `export default () => platform.request('http://10.1.2.3/secret')`],
    ['loops', 'export default () => { for (;;); }'],
    ['returns no answer', `export default { status: 42, body: 'secret' }`],
    ['sets a header of ours', `export default { headers: { 'set-cookie': 'secret' }, body: '' }`],
  ])('tells nobody without a credential why a script fails that %s', async (_, code) => {
    await save({ name, code, ...publicly });
    const answer = await gateway.fetch(`/x/${name}`);
    const requestId = answer.headers.get('x-request-id');
    expect([answer.status, await answer.json()]).toEqual([
      422,
      {
        ...{ type: 'urn:campus:error:SCRIPT_FAILED', title: 'A script failed', status: 422 },
        ...{ detail: 'The script failed.', instance: requestId },
      },
    ]);
    const known = (await (await gateway.fetch(`/x/${name}`, { as: 'clerk' })).json()) as Answered;
    expect(known.detail).not.toBe('The script failed.');
    const { scriptRuns } = await ask(
      gateway,
      'query ($s: ID) { scriptRuns(script: $s) { requestId error { message } } }',
      { variables: { s: name } },
    );
    expect(scriptRuns).toContainEqual({ requestId, error: { message: expect.any(String) } });
  });

  it('refuses what it does not answer', async () => {
    expect((await gateway.fetch('/x/nothing')).status).toBe(404);
    await save({ name, code: 'export default 1', ...publicly });
    const wrong = await gateway.fetch(`/x/${name}`, { method: 'DELETE' });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('GET, POST');
    await save({ name, code: 'throw new Error("broken")', ...publicly });
    expect((await gateway.fetch(`/x/${name}`)).status).toBe(422);
    await save({ name, code: `export default { status: 42, body: '' }`, ...publicly });
    expect((await gateway.fetch(`/x/${name}`)).status).toBe(422);
    await save({ name, code: 'export default 1', ...publicly, isEnabled: false });
    expect((await gateway.fetch(`/x/${name}`)).status).toBe(404);
  });
});
