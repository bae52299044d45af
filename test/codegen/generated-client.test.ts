/**
 * What `campus codegen` writes is compiled and run against the gateway it was made by, a collection that was
 * registered at run time included; the caches of urql and Apollo Client keep what they are told of its types.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createClient, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { generateClient } from '../../src/codegen/generate-client.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';

jest.setTimeout(60_000);

const gateway = useDemoGateway({ students: 60 });
const TSC = 'node_modules/typescript/lib/tsc.js';
const STRICT = [
  ...['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--noImplicitOverride'],
  ...['--noUnusedLocals', '--noUnusedParameters', '--noPropertyAccessFromIndexSignature'],
  ...['--verbatimModuleSyntax', '--isolatedModules'],
  ...['--target', 'es2023', '--module', 'nodenext', '--ignoreConfig'],
  ...['--types', 'node', '--typeRoots', path.resolve('node_modules/@types')],
];

let directory = '';
let files: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'campus-codegen-'));
  await ask(gateway, 'mutation($d: JSON!) { registerCollection(definition: $d) { name } }', {
    variables: {
      d: {
        name: 'visit',
        fields: [
          { name: 'visitor', type: 'text', required: true },
          { name: 'purpose', type: 'text', enum: ['meeting', 'delivery'] },
          { name: 'student', type: 'reference', target: 'registration' },
        ],
        access: { clerk: { verbs: ['read', 'create'] } },
      },
    },
  });
  files = await generateClient({ address: gateway.url, token: gateway.tokenOf('admin') });
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(directory, name), content);
});
afterAll(async () => await rm(directory, { recursive: true, force: true }));

/** The complaints of the compiler about the client and a program that uses it; what is right is emitted. */
async function compile(program: string): Promise<string> {
  await writeFile(path.join(directory, 'program.ts'), program);
  const sources = ['index.ts', 'program.ts'].map((file) => path.join(directory, file));
  return await outputOf([TSC, ...STRICT, ...sources]);
}

async function outputOf(parameters: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, parameters, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'close');
  const output = await text(child.stdout);
  await ended;
  return output;
}

const PROGRAM = `
import { CampusClient, CampusError, operations } from './index.js';

const client = new CampusClient({
  address: process.env['ADDRESS'] ?? '',
  token: async () => process.env['TOKEN'] ?? '',
});
const { record, etag } = await client.create('visit', { visitor: 'A parent', purpose: 'meeting' });
const changed = await client.change('visit', record._id, { purpose: 'delivery' }, { ifMatch: etag });
const visits = await client.list('visit', { oquery: 'purpose=delivery', project: 'visitor' });
const stale = await client
  .change('visit', record._id, { purpose: null }, { ifMatch: etag })
  .catch((error: unknown) => (error instanceof CampusError ? error.code : String(error)));
await client.remove('visit', record._id);
const gone = await client
  .get('visit', record._id)
  .catch((error: unknown) => (error instanceof CampusError ? [error.status, error.code] : String(error)));
let students = 0;
let sizes: number[] = [];
for await (const page of client.pages('registration', { sort: 'name' }, 25)) {
  students += page.length;
  sizes = [...sizes, page.length];
}
const strength = await client.report('strength', {});
const girls: number = strength.totals.girls;
const { strength: byGraphql } = await client.graphql(operations.Strength, { first: 2 });
const ids: readonly string[] = byGraphql.rows.map(({ class: name, section }) => name + section);
const wrong = await client
  .graphql(operations.Strength, { first: -1 })
  .catch((error: unknown) => (error instanceof CampusError ? error.code : String(error)));
console.log(
  JSON.stringify({
    purpose: changed.record.purpose,
    visitors: visits.map(({ visitor }) => visitor),
    ...{ stale, gone, students, sizes, ids: ids.length, wrong },
    isWhole: girls === byGraphql.totals.girls,
  }),
);
`;

describe('the client of `campus codegen`', () => {
  it('compiles under strict, and does what its types say', async () => {
    expect(await compile(PROGRAM)).toBe('');
    const env = { ADDRESS: `${gateway.url}/`, TOKEN: gateway.tokenOf('admin') };
    const printed = JSON.parse(await outputOf([path.join(directory, 'program.js')], env));
    expect(printed).toEqual({
      purpose: 'delivery',
      visitors: ['A parent'],
      stale: 'VERSION_CONFLICT',
      gone: [410, 'GONE'],
      students: expect.any(Number),
      sizes: expect.arrayContaining([25]),
      ids: 2,
      wrong: 'LIMIT_EXCEEDED',
      isWhole: true,
    });
    expect(printed.students).toBeGreaterThanOrEqual(60);
  });

  it('refuses what the collections, reports and operations do not have', async () => {
    const complaints = await compile(`
      import { CampusClient, operations } from './index.js';
      const client = new CampusClient({ address: '' });
      await client.list('vist');
      await client.create('visit', { purpose: 'meeting' });
      await client.create('visit', { visitor: 'A', purpose: 'party' });
      (await client.list('registration'))[0]?.nmae;
      await client.report('grade-book', { session: '2026-27' });
      (await client.graphql(operations.Strength, {})).strength.rows[0]?.id;
      await client.graphql(operations.Strength, { session: 5 });
    `);
    const lines = complaints
      .split('\\n')
      .join('\n')
      .match(/program\.ts\((\d+),/g);
    expect(lines?.map((line) => Number(/\d+/.exec(line)?.[0]))).toEqual([4, 5, 6, 7, 8, 9, 10]);
  });

  it('has for another caller what that may do', async () => {
    const own = await generateClient({ address: gateway.url, token: gateway.tokenOf('clerk') });
    const [visit = ''] = /readonly visit: \{[\s\S]*?\n {2}\};/.exec(own['contract.ts'] ?? '') ?? [];
    expect(visit).toContain('readonly record: VisitRecord;');
    expect(visit).toContain('readonly create: NewVisitRecord;');
    expect(visit).toContain('readonly change: never;');
    expect(visit).toContain('readonly remove: never;');
    const teacher = await generateClient({ address: gateway.url, token: gateway.tokenOf('teacher') });
    expect(teacher['contract.ts']).not.toContain('visit');
    expect(teacher['contract.ts']).not.toContain("'fee-defaulters'");
  });

  it('types operations of the own program, fragments, unions and what a directive leaves out', async () => {
    const documents = [
      {
        source: 'mine.graphql',
        text: `query Mine($no: Boolean! = false, $where: TaskWhereInput) {
          __typename
          tasks(first: 1, where: $where) { nodes { ...Named amount @include(if: $no) manager { label } } }
        }
        fragment Named on Task { id called: name }`,
      },
    ];
    const { 'operations.ts': printed = '' } = await generateClient({
      address: gateway.url,
      token: gateway.tokenOf('admin'),
      documents,
    });
    expect(printed).toContain(`export type MineResult = {
  readonly __typename: "Query";
  readonly tasks: {
    readonly nodes: readonly {
      readonly id: string;
      readonly called: string | null;
      readonly amount?: string | null;
      readonly manager: {
        readonly label: string | null;
      } | null;
    }[];
  };
};`);
    expect(printed).toContain('readonly no?: boolean;');
    expect(printed).toContain('export interface TaskWhereInput {');
  });

  it.each([
    ['query Wrong { tasks { nodes { nmae } } }', 'mine.graphql: Cannot query field "nmae"'],
    ['query Wrong {', 'mine.graphql: Syntax Error'],
    ['{ tasks { totalCount } }', 'mine.graphql: an operation needs a name'],
  ])('is not written where an operation is wrong: %s', async (text, message) => {
    const made = generateClient({
      address: gateway.url,
      token: gateway.tokenOf('admin'),
      documents: [{ source: 'mine.graphql', text }],
    });
    await expect(made).rejects.toThrow(message);
  });

  it('is not written where the gateway refuses, or is none', async () => {
    const of = (address: string, token = gateway.tokenOf('admin')) => generateClient({ address, token });
    await expect(of(gateway.url, 'none')).rejects.toThrow(/answered 401/);
    await expect(of(`${gateway.url}/docs`)).rejects.toThrow(/answered 404/);
    await expect(of('http://127.0.0.1:9')).rejects.toThrow(/127\.0\.0\.1:9 answered/);
  });

  it('is written by the command, which asks for what is missing', async () => {
    const out = path.join(directory, 'by', 'command');
    const ran = async (parameters: readonly string[], env: NodeJS.ProcessEnv = {}) => {
      const child = spawn(process.execPath, ['dist/main.js', 'codegen', ...parameters], {
        env: { ...process.env, CAMPUS_TOKEN: '', ...env },
      });
      const [output, fault, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      return { output, fault, code };
    };
    const token = { CAMPUS_TOKEN: gateway.tokenOf('admin') };
    expect(await ran([gateway.url, '--out', out], token)).toMatchObject({ code: 0, fault: '' });
    expect(await readFile(path.join(out, 'contract.ts'), 'utf8')).toBe(files['contract.ts']);
    expect(await ran([gateway.url, '--out', out])).toMatchObject({
      code: 1,
      fault: expect.stringContaining('CAMPUS_TOKEN'),
    });
    expect(await ran(['ftp://x', '--out', out], token)).toMatchObject({
      code: 1,
      fault: expect.stringContaining('https://school.example'),
    });
    expect(await ran([gateway.url, '--out', out, '--documents', out], token)).toMatchObject({
      code: 1,
      fault: expect.stringContaining('.graphql'),
    });
  });
});

const DASHBOARD = `query Dashboard($session: String!) {
  strength(session: $session) {
    rows { id class section strength }
    totals { strength boys }
    warnings { reason count }
    parameters
  }
  studentAttendance(class: "5", start: "2026-11-02", end: "2026-11-06") {
    rows { id name days { day status } }
  }
  tasks(first: 3) { totalCount nodes { id name manager { id label } } pageInfo { hasNextPage endCursor } }
  tasksAggregate { count amount { sum } }
}`;
/** Other fields of the same objects. */
const OTHER = `query Other($session: String!) {
  strength(session: $session) { rows { id boys } totals { girls } warnings { ids } currency }
  tasks(first: 3) { nodes { id amount } pageInfo { hasNextPage } }
}`;
/** What both have told, of the same objects. */
const BOTH = `query Both($session: String!) {
  strength(session: $session) { rows { id class boys strength } totals { strength girls } currency }
  tasks(first: 3) { totalCount nodes { id name amount } }
}`;
const WITHOUT_IDS = `query Without($session: String!) {
  strength(session: $session) { rows { class boys } totals { girls } }
  tasks(first: 3) { nodes { name } }
}`;
const SESSION = { session: '2026-27' };

describe('the cache of urql', () => {
  const warned: string[] = [];
  let keys: Readonly<Record<string, (data: object) => string | null>>;

  beforeAll(async () => {
    await compile(PROGRAM);
    keys = (await import(pathToFileURL(path.join(directory, 'cache.js')).href)).cacheKeys;
  });
  afterEach(() => {
    warned.length = 0;
  });

  // What is not known yet is told, too, as what it is good to know when one looks for a fault.
  const noteWarning = (severity: string, message: string) => {
    if (severity !== 'debug') warned.push(message);
  };
  const clientWith = (known: typeof keys) =>
    createClient({
      url: `${gateway.url}/graphql`,
      fetchOptions: () => ({ headers: { authorization: `Bearer ${gateway.tokenOf('admin')}` } }),
      exchanges: [cacheExchange({ keys: known, logger: noteWarning }), fetchExchange],
      preferGetMethod: false,
    });

  it('warns of nothing, and finds again what it was told in parts', async () => {
    const client = clientWith(keys);
    const first = await client.query(DASHBOARD, SESSION).toPromise();
    expect(first.error).toBeUndefined();
    expect((await client.query(OTHER, SESSION).toPromise()).error).toBeUndefined();
    const kept = { requestPolicy: 'cache-only' } as const;
    expect((await client.query(DASHBOARD, SESSION, kept).toPromise()).data).toEqual(first.data);
    const both = await client.query(BOTH, SESSION, kept).toPromise();
    expect(both.data).toEqual(await ask(gateway, BOTH, { variables: SESSION }));
    expect((await client.query(WITHOUT_IDS, SESSION).toPromise()).error).toBeUndefined();
    expect(warned).toEqual([]);
  });

  it('keeps rows of other parameters apart', async () => {
    const client = clientWith(keys);
    const query = `query Of($start: String!) {
      studentAttendance(class: "5", start: $start, end: "2026-11-06") { rows { id present } }
    }`;
    const week = await client.query(query, { start: '2026-11-02' }).toPromise();
    const day = await client.query(query, { start: '2026-11-06' }).toPromise();
    expect(week.data.studentAttendance.rows.length).toBeGreaterThan(0);
    expect(day.data).not.toEqual(week.data);
    const again = await client
      .query(query, { start: '2026-11-02' }, { requestPolicy: 'cache-only' })
      .toPromise();
    expect(again.data).toEqual(week.data);
  });

  it('warns where it is told nothing of the types, so that the silence above says something', async () => {
    await clientWith({}).query(DASHBOARD, SESSION).toPromise();
    expect(warned.join('\n')).toContain('Invalid key');
  });
});

/** A program of its own: the build of Apollo Client that warns is loaded by a condition. */
const APOLLO = `
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { possibleTypes, typePolicies } from './cache.js';

const warned = [];
const note = (...said) => warned.push(said.map(String).join(' '));
Object.assign(console, { warn: note, error: note });
const [dashboard, other, both, without, isTold] = JSON.parse(process.env.ASKED);
const cache = new InMemoryCache(isTold ? { possibleTypes, typePolicies } : {});
const headers = { authorization: 'Bearer ' + process.env.TOKEN };
const link = new HttpLink({ uri: process.env.ADDRESS + '/graphql', headers });
const client = new ApolloClient({ cache, link });
const variables = { session: '2026-27' };
const first = await client.query({ query: gql(dashboard), variables });
await client.query({ query: gql(other), variables });
const again = cache.readQuery({ query: gql(dashboard), variables });
const merged = cache.readQuery({ query: gql(both), variables });
await client.query({ query: gql(without), variables });
const isSame = JSON.stringify(again) === JSON.stringify(first.data);
console.log(JSON.stringify({ warned, isSame, merged }));
`;

describe('the cache of Apollo Client', () => {
  let beside = '';
  beforeAll(async () => {
    await compile(PROGRAM);
    // Beside the packages that it imports.
    beside = await mkdtemp(path.resolve('node_modules/.cache', 'campus-codegen-'));
    await writeFile(path.join(beside, 'package.json'), '{"type":"module"}');
    await writeFile(path.join(beside, 'apollo.js'), APOLLO);
    await writeFile(path.join(beside, 'cache.js'), await readFile(path.join(directory, 'cache.js')));
  });
  afterAll(async () => await rm(beside, { recursive: true, force: true }));

  const run = async (isTold: boolean) =>
    JSON.parse(
      await outputOf(['--conditions=development', path.join(beside, 'apollo.js')], {
        ADDRESS: gateway.url,
        TOKEN: gateway.tokenOf('admin'),
        ASKED: JSON.stringify([DASHBOARD, OTHER, BOTH, WITHOUT_IDS, isTold]),
      }),
    );

  it('warns of nothing, and merges what it is told in parts', async () => {
    const { warned, isSame, merged } = await run(true);
    expect({ warned, isSame }).toEqual({ warned: [], isSame: true });
    expect(JSON.parse(JSON.stringify(merged, withoutTypename))).toEqual(
      await ask(gateway, BOTH, { variables: SESSION }),
    );
  });

  it('warns where it is told nothing of the types', async () => {
    const { warned } = await run(false);
    expect(warned.join('\n')).toContain('Cache data may be lost');
  });
});

function withoutTypename(key: string, value: unknown): unknown {
  return key === '__typename' ? undefined : value;
}
