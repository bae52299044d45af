/** `campus run` and `campus script`, by the built program. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { declaredTemplate } from '../declared-template.js';
import type { Ended } from './campus.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();

let database: TestDatabase;
let directory: string;

function run(...words: readonly string[]): Promise<Ended> {
  return campus(words, { environment: { DATABASE_URL: database.url } });
}

async function file(name: string, code: string): Promise<string> {
  const written = path.join(directory, name);
  await writeFile(written, code);
  return written;
}

beforeAll(async () => {
  database = await createTestDatabase({ template: declaredTemplate });
  directory = await mkdtemp(path.join(tmpdir(), 'campus-scripts-'));
  expect((await run('domain', 'add', 'school', '--name', 'School')).code).toBe(0);
  const clerk = await campus(['user', 'add', 'asha', '--name', 'Asha Rao', '--role', 'clerk'], {
    environment: { DATABASE_URL: database.url },
    input: 'correct horse\n',
  });
  expect(clerk.code).toBe(0);
});

afterAll(async () => {
  await rm(directory, { recursive: true });
  await database.drop();
});

describe('campus run', () => {
  it('shows what a script prints and gives its result', async () => {
    const code =
      `console.log('found'); console.warn('few'); export default async ({ a }) => ({ a, count: await ` +
      `platform.db.getCount('task', {}) })`;
    const ended = await run('run', await file('count.js', code), '--args', '{"a":"ā"}');
    expect(ended).toEqual({ code: 0, output: '{"a":"ā","count":0}\n', errors: 'found\nwarn: few\n' });
  });

  it("runs as the user named, with that user's rights", async () => {
    const script = await file('properties.js', 'export default () => platform.properties()');
    expect(await run('run', script)).toMatchObject({ code: 0, output: '{}\n' });
    const refused = await run('run', script, '--as', 'asha');
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.errors).toMatch(/properties\.js:1:\d+: FORBIDDEN: /);
  });

  it.each([
    [
      'a failure with its place',
      `\n  throw new TypeError('no')`,
      [],
      /^campus: a\.js:2:\d+: TypeError: no\n$/,
    ],
    ['code that cannot be read', `const a = ;`, [], /^campus: a\.js:1:\d+: SyntaxError: /],
    ['arguments that are no JSON', '1', ['--args', '{a}'], /--args must be JSON/],
    ['a user there is not', '1', ['--as', 'nobody'], /no active user "nobody"/],
    ['a domain there is not', '1', ['--domain', 'nowhere'], /no domain "nowhere"/],
  ])('says in one line %s', async (_, code, options, message) => {
    const { code: exit, output, errors } = await run('run', await file('a.js', code), ...options);
    expect({ exit, output }).toEqual({ exit: 1, output: '' });
    expect(errors).toMatch(message);
  });

  it('lets a script request an address outside', async () => {
    const outside = createServer((request, response) => response.end(`${request.method} ${request.url}`));
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
    const { port } = outside.address() as AddressInfo;
    const host = `127.0.0.1:${port}`;
    const code = `export default () => platform.request('http://${host}/news').body`;
    const environment = { DATABASE_URL: database.url, SCRIPT_REQUEST_PRIVATE_HOSTS: host };
    const ended = await campus(['run', await file('request.js', code)], { environment });
    outside.closeAllConnections();
    outside.close();
    expect(ended).toEqual({ code: 0, output: '"GET /news"\n', errors: '' });
  });

  it('says that there is no such file', async () => {
    expect((await run('run', path.join(directory, 'none.js'))).errors).toMatch(/none\.js cannot be read/);
  });
});

describe('campus script', () => {
  it('refuses a field whose name the schema has', async () => {
    const code = await file('taken.js', '// @query strength: Int\nexport default 1');
    expect(await run('script', 'save', 'taken', code)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('taken:1: the schema has the name "strength" already'),
    });
  });

  it('saves, lists and removes scripts', async () => {
    const code = await file('evening.js', 'export default 1');
    const starts = ['--schedule', '0 20 * * *', '--service-role', 'clerk', '--after', 'task:create,update'];
    expect((await run('script', 'save', 'evening', code, ...starts)).output).toBe(
      'saved evening, version 1\n',
    );
    expect((await run('script', 'save', 'evening', code, ...starts)).output).toBe(
      'saved evening, version 2\n',
    );
    const { output } = await run('script', 'list');
    expect(output).toMatch(/evening +2 +yes +clerk +after create, update of task; schedule 0 20 \* \* \*/);
    expect(JSON.parse((await run('script', 'list', '--json')).output)).toEqual([
      {
        ...{ name: 'evening', version: 2, description: '', isEnabled: true, roles: [], topics: [] },
        ...{ serviceRoles: ['clerk'], schedule: '0 20 * * *', before: [], endpoint: null },
        after: [{ collection: 'task', operations: ['create', 'update'] }],
        updatedAt: expect.stringMatching(/Z$/),
        updatedBy: expect.any(String),
      },
    ]);
    expect((await run('script', 'remove', 'evening')).output).toBe('removed evening\n');
    expect((await run('script', 'remove', 'evening')).errors).toMatch(/no script "evening"/);
  });

  it('says what is wrong with one', async () => {
    const code = await file('evening.js', 'export default 1');
    const { code: exit, errors } = await run('script', 'save', 'evening', code, '--schedule', 'daily');
    expect(exit).toBe(1);
    expect(errors).toMatch(/\/schedule: five fields/);
    expect((await run('script', 'save', 'a', code, '--before', 'task')).errors).toMatch(
      /fee_receipt:create,update/,
    );
  });
});
