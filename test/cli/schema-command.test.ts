/** `campus schema check`: which change of a schema breaks the clients of the one before. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { buildSchema, introspectionFromSchema } from 'graphql';
import type { Ended } from './campus.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();

const OLD = `type Query { tasks(first: Int): [Task!]! }
type Task { id: ID! name: String remarks: String @deprecated(reason: "Say it in the name.") state: State }
enum State { OPEN DONE }`;
const SAFE = OLD.replace('name: String', 'name: String amount: Int');
/** The field that was deprecated is gone, the enum has a new value. */
const DANGEROUS = OLD.replace(/ remarks: String @deprecated\([^)]*\)/, '').replace('DONE', 'DONE LATE');
const BREAKING = OLD.replace('name: String ', '').replace('first: Int', 'first: Int!');

let folder = '';
const fileOf = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'campus-schema-'));
  const schemas = { old: OLD, safe: SAFE, dangerous: DANGEROUS, breaking: BREAKING };
  for (const [name, text] of Object.entries(schemas)) await writeFile(fileOf(`${name}.graphql`), text);
  const introspection = { data: introspectionFromSchema(buildSchema(BREAKING)) };
  await writeFile(fileOf('breaking.json'), JSON.stringify(introspection));
  await writeFile(fileOf('none.graphql'), 'type Query {');
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const check = (older: string, newer: string, ...options: readonly string[]): Promise<Ended> =>
  campus(['schema', 'check', fileOf(older), fileOf(newer), ...options]);

it('says that nothing has changed', async () => {
  expect(await check('old.graphql', 'old.graphql')).toEqual({ code: 0, output: 'no change\n', errors: '' });
});

it('lets pass what breaks no client: new fields, and the end of deprecated ones', async () => {
  const safe = await check('old.graphql', 'safe.graphql');
  expect([safe.code, safe.output]).toEqual([0, expect.stringMatching(/safe.*Task\.amount/)]);
  const { code, output } = await check('old.graphql', 'dangerous.graphql');
  expect(code).toBe(0);
  expect(output).toMatch(/dangerous.*Task\.remarks/);
  expect(output).toMatch(/dangerous.*State\.LATE/);
});

it.each(['breaking.graphql', 'breaking.json'])(
  'ends with 1 where %s breaks clients, and says by what',
  async (file) => {
    const { code, output, errors } = await check('old.graphql', file, '--json');
    expect([code, errors]).toEqual([1, expect.stringContaining('2 changes break clients')]);
    const told: { effect: string; path: string; message: string }[] = JSON.parse(output);
    expect(told.filter(({ effect }) => effect === 'breaking').map((one) => one.path)).toEqual(
      expect.arrayContaining(['Task.name', 'Query.tasks.first']),
    );
  },
);

it('refuses what is no schema', async () => {
  for (const file of ['none.graphql', 'absent.graphql']) {
    const { code, output, errors } = await check('old.graphql', file);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toContain(`${file} is no schema`);
    expect(errors).not.toMatch(/\n\s+at /);
  }
});

it('finds the schema of this version as it is printed', async () => {
  const printed = path.resolve('schema/schema.graphql');
  expect(await readFile(printed, 'utf8')).toContain('type Query');
  expect((await campus(['schema', 'check', printed, printed])).output).toBe('no change\n');
});
