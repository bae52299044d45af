/** A Relay application against a real gateway: compiled by relay-compiler, shown by React in a document. */

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { Window } from 'happy-dom';
import { useGateway } from '../contract/gateway.js';
import { send, statementsOf } from '../contract/graphql.js';
import { eventually } from '../eventually.js';

const gateway = useGateway();
const window = new Window({ url: 'http://localhost/' });
let folder = '';
let app: { stop(): void } | undefined;
/** What the application has asked for, in order: the name of each operation and its variables. */
const asked: (readonly [string | undefined, object])[] = [];

interface Sent {
  readonly query: string;
  readonly variables: object;
}

/** Puts the artifacts of relay-compiler in place of the `graphql` tags, as babel-plugin-relay does. */
async function insertArtifacts(file: string): Promise<void> {
  const imports: string[] = [];
  const text = await readFile(file, 'utf8');
  const replaced = text.replaceAll(/graphql`[^`]*?(?:query|fragment) (\w+)[^`]*`/g, (_tag, name) => {
    imports.push(`import ${name}_artifact from './__generated__/${name}.graphql.js';`);
    return `${name}_artifact`;
  });
  await writeFile(file, [...imports, replaced].join('\n'));
}

async function compileApp(): Promise<string> {
  folder = await mkdtemp(path.join(tmpdir(), 'relay-app-'));
  const source = path.join(folder, 'app');
  await cp('test/clients/relay-app', source, { recursive: true });
  await mkdir(path.join(source, '__generated__'));
  await cp('schema/schema.graphql', path.join(folder, 'schema.graphql'));
  const compiler = createRequire(import.meta.url).resolve('relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: source });
  await insertArtifacts(path.join(source, 'app.jsx'));
  const bundle = path.join(folder, 'app.mjs');
  await build({
    entryPoints: [path.join(source, 'main.jsx')],
    outfile: bundle,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    nodePaths: [path.resolve('test/clients/node_modules')],
    define: { 'process.env.NODE_ENV': '"production"' },
    // Relay keeps for five minutes what it has read; the process need not wait for that.
    banner: { js: 'const setTimeout = (...args) => globalThis.setTimeout(...args).unref();' },
    logLevel: 'error',
  });
  return bundle;
}

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', 'task-' || n, jsonb_build_object('name', 'Task ' || n, 'manager',
       '{"value": "usr-clerk", "label": "C"}'::jsonb)
     from generate_series(1, 5) n`,
  );
  Object.assign(globalThis, { window, document: window.document });
  const { start } = await import(await compileApp());
  const root = window.document.createElement('main');
  window.document.body.append(root);
  app = start({
    root,
    ask: async ({ query, variables }: Sent) => {
      asked.push([/query (\w+)/.exec(query)?.[1], variables]);
      const { data, errors } = await send(gateway, { query, variables, as: 'admin' });
      return errors.length > 0 ? { data, errors } : { data };
    },
  });
});

afterAll(async () => {
  app?.stop();
  await window.happyDOM.close();
  await rm(folder, { recursive: true, force: true });
});

const textOf = (id: string) => window.document.getElementById(id)?.textContent;
const click = (id: string) =>
  window.document.getElementById(id)?.dispatchEvent(new window.MouseEvent('click', { bubbles: true }));

async function shows(id: string, text: string): Promise<void> {
  await eventually(() => textOf(id) === text).catch(() => undefined);
  expect(textOf(id)).toBe(text);
}

it('shows what the first query gives', async () => {
  await shows('clerk', 'The clerk, version 1');
  await shows('tasks', 'Task 1, Task 2');
  await shows('latest', 'Task 4, Task 5');
  expect(asked).toEqual([['appDeskQuery', { user: 'usr-clerk' }]]);
});

it('reads a record again by its nodeId', async () => {
  await gateway.sql.query(
    `update records set data = data || '{"name": "Another name"}', version = 2
     where collection = 'pltf_user' and id = 'usr-clerk'`,
  );
  const statements = await statementsOf(async () => {
    click('clerk');
    await shows('clerk', 'Another name, version 2');
  });
  expect(asked.at(-1)).toEqual(['appClerkRefetchQuery', { nodeId: 'pltf_user:usr-clerk' }]);
  expect(statements).toHaveLength(1);
});

it('goes on with a list in a record, a statement a page', async () => {
  const statements = await statementsOf(async () => {
    click('more');
    await shows('tasks', 'Task 1, Task 2, Task 3, Task 4');
  });
  expect(statements).toHaveLength(1);
  expect(asked.at(-1)).toEqual([
    'appClerkTasksPaginationQuery',
    { count: 2, cursor: expect.any(String), nodeId: 'pltf_user:usr-clerk' },
  ]);
  click('more');
  await shows('tasks', 'Task 1, Task 2, Task 3, Task 4, Task 5');
  expect(window.document.getElementById('more')?.getAttribute('disabled')).not.toBeNull();
});

it('reads a list anew with other arguments', async () => {
  click('anew');
  await shows('tasks', 'Task 1');
});

it('goes back through a list at the root', async () => {
  click('earlier');
  await shows('latest', 'Task 2, Task 3, Task 4, Task 5');
  click('earlier');
  await shows('latest', 'Task 1, Task 2, Task 3, Task 4, Task 5');
  expect(window.document.getElementById('earlier')?.getAttribute('disabled')).not.toBeNull();
});
