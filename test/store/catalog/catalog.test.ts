import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../../src/base/model/scope.js';
import { Catalog } from '../../../src/store/catalog/catalog.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { eventually } from '../../eventually.js';
import { ADMIN, SUB, scopeOf, TOP } from '../people.js';

const test = useTestDatabase();
const open: Catalog[] = [];
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'campus-catalog-'));
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((catalog) => catalog.close()));
  await rm(directory, { recursive: true });
  await test.database.query(sql`delete from records`);
  await test.database.query(sql`delete from collections`);
});

async function load(files: Readonly<Record<string, unknown>> = {}): Promise<Catalog> {
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(path.join(directory, `${name}.json`), text);
  }
  const catalog = await Catalog.load({ database: test.database, directory, domains: () => [TOP] });
  open.push(catalog);
  return catalog;
}

async function insertRecord(collection: string, id: string, data: string): Promise<void> {
  await test.database.query(
    sql`insert into records (domain, collection, id, data) values ('school', ${collection}, ${id},
      ${data}::jsonb)`,
  );
}

describe('an index', () => {
  const field = { name: 'label', type: 'text' };

  it('is added to a collection that holds records at the next start', async () => {
    await load({ gadget: { name: 'gadget', fields: [field] } });
    await insertRecord('gadget', 'g-1', '{"label": "one"}');
    await load({ gadget: { name: 'gadget', fields: [{ ...field, index: true }] } });
    expect(await indexesOf('records_gadget')).toContainEqual(expect.stringMatching(/^gadget_label_idx_/));
  });

  it('is added to a registered collection that holds records when it is altered', async () => {
    const catalog = await load();
    await catalog.register(ADMIN, { name: 'widget', fields: [field] });
    await insertRecord('widget', 'w-1', '{"label": "one"}');
    await catalog.alter(ADMIN, { name: 'widget', fields: [{ ...field, index: true }] });
    expect(await indexesOf('records_widget')).toContainEqual(expect.stringMatching(/^widget_label_idx_/));
  });
});

async function indexesOf(table: string): Promise<string[]> {
  const rows = await test.database.query<{ name: string }>(
    sql`select indexname as name from pg_indexes where tablename = ${table}`,
  );
  return rows.map((row) => row.name);
}

describe('a start is refused', () => {
  it('by a file that is no JSON, named', async () => {
    await expect(load({ task: '{"name": "task",}' })).rejects.toMatchObject({
      message: expect.stringMatching(/^task\.json: it is not JSON/),
    });
  });

  it('by a wrong declaration, with file and pointer, and nothing is stored of the others', async () => {
    const files = { a: { name: 'a' }, task: { name: 'task', fields: [{ name: 'x', type: 'string' }] } };
    await expect(load(files)).rejects.toMatchObject({
      message: expect.stringMatching(/^task\.json: \/fields\/0\/type: /),
    });
    expect(await test.database.query(sql`select 1 from collections`)).toEqual([]);
  });

  it('by a file called otherwise than its collection', async () => {
    await expect(load({ tasks: { name: 'task' } })).rejects.toThrow('call it task.json');
  });

  it('by two collections with one GraphQL name', async () => {
    const files = { fee_head: { name: 'fee_head' }, fees: { name: 'fees', singular: 'feeHead' } };
    await expect(load(files)).rejects.toThrow('"feeHead" is that of the collection');
  });
});

describe('a start', () => {
  it('stores what is declared, with partition and indexes', async () => {
    const fields = [{ name: 'name', type: 'text', index: true, unique: true }];
    const catalog = await load({ started: { name: 'started', fields } });
    expect(catalog.get('started')).toMatchObject({ version: 1, isDeclared: true });
    const indexes = await test.database.query<{ indexdef: string }>(
      sql`select indexdef from pg_indexes where tablename = 'records_started'`,
    );
    const unique = indexes.filter(({ indexdef }) => /UNIQUE.*data -> 'name'/.test(indexdef));
    expect(unique).toHaveLength(1);
  });

  it('changes the version only of what has changed', async () => {
    await load({ a: { name: 'a' }, b: { name: 'b' } });
    const catalog = await load({ b: { name: 'b', title: 'Bees' } });
    expect(catalog.list().map(({ name, version }) => [name, version])).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('reports what is no longer declared, and serves it still', async () => {
    await load({ a: { name: 'a' } });
    await rm(path.join(directory, 'a.json'));
    const catalog = await load({ b: { name: 'b' } });
    expect(catalog.report().undeclared).toEqual(['a']);
    expect(catalog.get('a').name).toBe('a');
  });

  it('reports the index of a rule that is no more', async () => {
    const field = { name: 'name', type: 'text' };
    await load({ ruled: { name: 'ruled', fields: [{ ...field, unique: true }] } });
    const catalog = await load({ ruled: { name: 'ruled', fields: [field] } });
    expect(catalog.report().undeclaredIndexes).toContainEqual(expect.stringMatching(/^ruled_name_key_/));
  });

  it('is done by two gateways at once', async () => {
    await writeFile(path.join(directory, 'twice.json'), JSON.stringify({ name: 'twice' }));
    const [one, other] = await Promise.all([load(), load()]);
    expect([one.get('twice').version, other.get('twice').version]).toEqual([1, 1]);
  });

  it('goes on without a stored definition that can no longer be read', async () => {
    await test.database.query(
      sql`insert into collections (name, definition, updated_at) values ('odd',
        '{"name":"odd","fields":7}', now())`,
    );
    const catalog = await load({ a: { name: 'a' } });
    expect(catalog.report().unreadable).toMatchObject([{ name: 'odd' }]);
    expect(catalog.list().map((collection) => collection.name)).toEqual(['a']);
  });
});

describe('an unknown collection', () => {
  it('is NOT_FOUND, with a suggestion', async () => {
    const catalog = await load({ attendance: { name: 'attendance' } });
    expect(() => catalog.get('atendance')).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND', message: expect.stringContaining('"attendance"') }),
    );
    expect(() => catalog.get('constructor')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});

describe('a change at run time is refused', () => {
  const strangers: [string, Scope][] = [
    ['a clerk', scopeOf({ roles: ['clerk'] })],
    ['an admin of a sub-domain', scopeOf({ roles: ['admin'], domain: SUB })],
    [
      'a key of an admin',
      scopeOf({
        roles: ['admin'],
        scopes: { collections: { '*': ['read', 'create', 'update', 'delete'] }, reports: [], scripts: [] },
      }),
    ],
  ];

  it.each(strangers)('to %s', async (_name, scope) => {
    const catalog = await load({ a: { name: 'a' } });
    await expect(catalog.register(scope, { name: 'mine' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(catalog.alter(scope, { name: 'a' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(catalog.drop(scope, 'a')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('for a wrong definition', async () => {
    const catalog = await load();
    await expect(catalog.register(ADMIN, { name: "x'; drop table records; --" })).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      errors: [{ pointer: '/name' }],
    });
  });

  it('for a name, or a GraphQL name, that is taken', async () => {
    const catalog = await load({ a: { name: 'a' } });
    await expect(catalog.register(ADMIN, { name: 'a' })).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(catalog.register(ADMIN, { name: 'b', singular: 'a' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  it('where it would break what a file declares', async () => {
    const catalog = await load({ a: { name: 'a' } });
    await expect(catalog.alter(ADMIN, { name: 'a', title: 'A' })).rejects.toThrow(
      'schema/collections/a.json',
    );
    await expect(catalog.drop(ADMIN, 'a')).rejects.toThrow('schema/collections/a.json');
  });

  it('where it would break records or callers, with the reason', async () => {
    const catalog = await load();
    const fields = [
      { name: 'number', type: 'number' },
      { name: 'name', type: 'text' },
      { name: 'kind', type: 'text', enum: ['x', 'y'] },
    ];
    await catalog.register(ADMIN, { name: 'held', fields });
    await insertRecord('held', '1', '{"number": 1, "name": "same", "kind": "x"}');
    await insertRecord('held', '2', '{"number": 2, "name": "same"}');
    const altered = catalog.alter(ADMIN, {
      name: 'held',
      plural: 'others',
      uniqueTogether: [{ name: 'both', parts: [{ path: 'kind' }, { path: 'name' }] }],
      fields: [
        { name: 'name', type: 'text', unique: true },
        { name: 'kind', type: 'text', enum: ['y'], required: true },
      ],
    });
    await expect(altered).rejects.toMatchObject({
      code: 'CONFLICT',
      errors: [
        { detail: expect.stringContaining('helds') },
        { detail: expect.stringContaining('this removes number') },
        { detail: expect.stringContaining('both is new') },
        { detail: expect.stringContaining('1 values of name occur more than once') },
        { detail: expect.stringContaining('1 records have no kind') },
        { detail: expect.stringContaining('1 records have another kind') },
      ],
    });
    const retyped = catalog.alter(ADMIN, {
      name: 'held',
      fields: [{ name: 'number', type: 'text' }, ...fields.slice(1)],
    });
    await expect(retyped).rejects.toThrow('number is a number in the existing records');
    expect(catalog.get('held').version).toBe(1);
  });
});

describe('a collection registered at run time', () => {
  it('is there on every gateway at once, altered and dropped too', async () => {
    const one = await load();
    const other = await load();
    let changes = 0;
    other.onChange(() => {
      changes += 1;
    });
    const registered = await one.register(ADMIN, { name: 'club', fields: [{ name: 'name', type: 'text' }] });
    expect(registered).toMatchObject({ name: 'club', isDeclared: false, version: 1 });
    await eventually(() => other.find('club') !== undefined);
    const fields = [
      { name: 'name', type: 'text' },
      { name: 'room', type: 'text' },
    ];
    expect(await one.alter(ADMIN, { name: 'club', fields }, { ifVersion: 1 })).toMatchObject({ version: 2 });
    const overUnseen = one.alter(ADMIN, { name: 'club', title: 'Clubs', fields }, { ifVersion: 1 });
    await expect(overUnseen).rejects.toMatchObject({ code: 'VERSION_CONFLICT', status: 412 });
    expect(one.get('club')).toMatchObject({ title: 'club', version: 2 });
    await eventually(() => other.get('club').fieldsByName.has('room'));
    await one.drop(ADMIN, 'club');
    expect(() => one.get('club')).toThrow(expect.objectContaining({ code: 'GONE', status: 410 }));
    await eventually(() => other.find('club') === undefined);
    expect(() => other.get('club')).toThrow(expect.objectContaining({ code: 'GONE' }));
    expect(changes).toBeGreaterThanOrEqual(3);
    await expect(one.register(ADMIN, { name: 'club' })).rejects.toThrow('dropped');
    await expect(one.drop(ADMIN, 'club')).rejects.toMatchObject({ code: 'GONE' });
    await expect(one.drop(ADMIN, 'clubs')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is registered once by two who try at once', async () => {
    const one = await load();
    const other = await load();
    const results = await Promise.allSettled([
      one.register(ADMIN, { name: 'raced' }),
      other.register(ADMIN, { name: 'raced' }),
    ]);
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
