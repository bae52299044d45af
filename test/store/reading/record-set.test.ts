import { beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import { queryOf, type RecordQuery } from '../../../src/base/model/record-query.js';
import type { Member, PageShape } from '../../../src/store/sql/shape.js';
import { sql } from '../../../src/store/sql.js';
import { ADMIN, SUB, scopeOf } from '../people.js';
import { useTestStore } from '../store.js';

const test = useTestStore();
const VIEWER = scopeOf({ roles: ['viewer'] });
const BRANCH_ADMIN = scopeOf({ id: 'usr-branch', roles: ['admin'], domain: SUB });

function find(query: Partial<RecordQuery>, scope = ADMIN) {
  return test.store.find(scope, { ...queryOf('student'), ...query });
}

async function read(
  query: Partial<RecordQuery>,
  format: 'json' | 'ndjson' = 'json',
  scope = ADMIN,
): Promise<string[]> {
  const chunks: string[] = [];
  for await (const chunk of find(query, scope).stream(format)) chunks.push(chunk.toString());
  return chunks;
}

beforeAll(async () => {
  const names = ['Anu', 'Bala', 'Chitra', 'Dev', 'Esha'];
  const records = names.map(
    (name, index): JsonObject => ({
      _id: `s-${index + 1}`,
      number: String(index + 1),
      name,
      class: index < 3 ? '5' : '6',
      fee: 100 + index,
      phone: `98${index}`,
      created_on: '2026-04-01T00:00:00.000Z',
      tutor: { value: 'usr-1', label: 'Usha' },
      tags: ['x'],
    }),
  );
  await test.store.create(ADMIN, 'student', records);
  await test.store.create(BRANCH_ADMIN, 'student', [{ _id: 'b-1', number: '1', name: 'Far' }]);
  await test.store.create(ADMIN, 'staff', [{ _id: 'usr-1', name: 'Usha', department: 'Maths' }]);
});

describe('a stream', () => {
  it('throws, and never ends its list, when Postgres fails on the way', async () => {
    await test.database.query(sql`
      create function fail_at(id text) returns boolean language plpgsql as
        'begin if id = ''s-4'' then raise exception ''no''; end if; return true; end'`);
    const set = find({ sort: [{ path: ['name'], direction: 'ascending' }] });
    const statement = sql`select r.id from records r where ${set.statements.where} and fail_at(r.id)`;
    await expect(async () => {
      for await (const _batch of test.database.stream(statement)) {
        // read to the end
      }
    }).rejects.toThrow('no');
    const controller = new AbortController();
    let text = '';
    await expect(async () => {
      for await (const chunk of find({}).stream('json', controller.signal)) {
        text += chunk;
        controller.abort(new Error('gone'));
      }
      throw new Error('gone');
    }).rejects.toThrow('gone');
    expect(text.length).toBeGreaterThan(0);
  });

  it('is one list, in order, as Postgres printed it', async () => {
    const text = (
      await read({ projection: [['name']], sort: [{ path: ['name'], direction: 'descending' }] })
    ).join('');
    expect(text).toBe(
      '[{"_id": "s-5", "name": "Esha"},{"_id": "s-4", "name": "Dev"},{"_id": "s-3", "name": ' +
        '"Chitra"},{"_id": "s-2", "name": "Bala"},{"_id": "s-1", "name": "Anu"}]',
    );
  });

  it('is an empty list of nothing', async () => {
    const nothing = { kind: 'equals', path: ['name'], value: 'Nobody' } as const;
    expect(await read({ filter: nothing })).toEqual(['[]']);
    expect(await read({ filter: nothing }, 'ndjson')).toEqual([]);
  });

  it('is a record a line as ndjson', async () => {
    expect((await read({ projection: [['number']], limit: 2, skip: 1 }, 'ndjson')).join('')).toBe(
      '{"_id": "s-2", "number": "2"}\n{"_id": "s-3", "number": "3"}\n',
    );
  });

  it('comes in chunks of some size', async () => {
    const notes = Array.from({ length: 3000 }, (_, index) => ({ text: `note ${index} ${'x'.repeat(40)}` }));
    await test.store.create(ADMIN, 'note', notes);
    const chunks: string[] = [];
    for await (const chunk of test.store.find(ADMIN, queryOf('note')).stream('json'))
      chunks.push(chunk.toString());
    expect(JSON.parse(chunks.join(''))).toHaveLength(3000);
    expect(chunks.slice(0, -1).every((chunk) => chunk.length >= 16 * 1024)).toBe(true);
    expect(chunks.length).toBeGreaterThan(3);
  });

  it('leaves nothing open when its reader leaves', async () => {
    for await (const _chunk of test.store.find(ADMIN, queryOf('note')).stream('json')) break;
    // The helper fails the file for a connection left open.
  });
});

describe('a page', () => {
  it('is refused a cursor that is none, or of another order, at once', async () => {
    const { cursors } = await find({ limit: 1 }).page();
    expect(() => find({ after: 'nonsense' })).toThrow(expect.objectContaining({ status: 400 }));
    expect(() => find({ after: cursors[0], sort: [{ path: ['name'], direction: 'ascending' }] })).toThrow(
      expect.objectContaining({ status: 400 }),
    );
  });

  it('leads to the next until there is none', async () => {
    const seen: string[] = [];
    const sort = [{ path: ['class'], direction: 'descending' as const }];
    let after: string | undefined;
    for (;;) {
      const page = await find({ sort, limit: 2, after }).page();
      seen.push(...page.records.map((record) => record.id));
      expect(page.hasPreviousPage).toBe(after !== undefined);
      after = page.cursors.at(-1);
      if (!page.hasNextPage) break;
    }
    expect(seen).toEqual(['s-5', 's-4', 's-3', 's-2', 's-1']);
  });

  it('is read back from the end, in the order', async () => {
    const last = await find({ limit: 2, fromEnd: true }).page();
    expect(last.records.map((record) => record.id)).toEqual(['s-4', 's-5']);
    expect([last.hasPreviousPage, last.hasNextPage]).toEqual([true, false]);
    const before = await find({ limit: 3, fromEnd: true, before: last.cursors[0] }).page();
    expect(before.records.map((record) => record.id)).toEqual(['s-1', 's-2', 's-3']);
    expect([before.hasPreviousPage, before.hasNextPage]).toEqual([false, true]);
  });

  it('counts all that match, wherever it starts', async () => {
    const set = find({ filter: { kind: 'equals', path: ['class'], value: '5' }, limit: 1, skip: 1 });
    expect(await set.count()).toBe(3);
    expect((await set.page()).records.map((record) => record.id)).toEqual(['s-2']);
  });
});

describe('a printed page', () => {
  const nodes = (members: readonly Member[]): PageShape => ({
    members: [
      { key: 'nodes', kind: 'records', members },
      { key: 'totalCount', kind: 'count' },
    ],
  });
  const name: Member = { key: 'name', shape: { kind: 'text', path: ['name'] } };

  it('is refused a hidden field by name, whatever form it has', async () => {
    const hidden: Member[] = [
      { key: 'phone', shape: { kind: 'text', path: ['phone'] } },
      { key: 'phone', shape: { kind: 'json', path: ['phone', 'x'] } },
      { key: 'phone', shape: { kind: 'list', path: ['phone'], element: { kind: 'json', path: [] } } },
      { key: 'phone', shape: { kind: 'object', path: ['phone'], members: [] } },
      { key: 'phone', shape: { kind: 'target', path: ['phone'], targets: [] } },
    ];
    for (const member of hidden) {
      const refusal = { code: 'FORBIDDEN', message: expect.stringContaining('"phone"') };
      await expect(find({ limit: 5 }, VIEWER).print(nodes([name, member]))).rejects.toMatchObject(refusal);
      await expect(find({ limit: 5 }, VIEWER).printRecord('s-1', [member])).rejects.toMatchObject(refusal);
    }
  });

  it('is refused a hidden field of the record a reference points to', async () => {
    const targets = [{ collection: 'staff', members: [name] }];
    const tutor: Member = { key: 'tutor', shape: { kind: 'target', path: ['tutor'], targets } };
    await expect(find({ limit: 5 }, VIEWER).print(nodes([tutor]))).rejects.toThrow('"name" of staff');
  });

  it("shows no record of a target out of the caller's rows", async () => {
    const targets = [{ collection: 'staff', members: [name] }];
    const tutor: Member = { key: 'tutor', shape: { kind: 'target', path: ['tutor'], targets } };
    const roles = { roles: ['teacher', 'reader_of_all'] };
    const print = (id: string) => find({ limit: 1 }, scopeOf({ id, ...roles })).print(nodes([tutor]));
    expect(JSON.parse(String(await print('usr-9'))).nodes).toEqual([{ tutor: null }]);
    expect(JSON.parse(String(await print('usr-1'))).nodes).toEqual([{ tutor: { name: 'Usha' } }]);
  });

  it('is one statement for records and count', async () => {
    const filter = { kind: 'equals', path: ['class'], value: '5' } as const;
    expect(JSON.parse(String(await find({ limit: 2, filter }).print(nodes([name]))))).toEqual({
      nodes: [{ name: 'Anu' }, { name: 'Bala' }],
      totalCount: 3,
    });
  });

  it('of one record is that record, or nothing', async () => {
    const print = (id: string) => find({ limit: 1 }).printRecord(id, [name]);
    expect(JSON.parse((await print('s-2')) ?? '')).toEqual({ name: 'Bala' });
    expect(await print('s-9')).toBeUndefined();
    expect(await print('b-1')).toBeUndefined();
    await expect(print('s-\0')).rejects.toMatchObject({ code: 'INVALID_VALUE' });
  });

  it('of one record is of the own school, whoever asks at the same moment', async () => {
    const members = [name];
    const asked = [ADMIN, BRANCH_ADMIN].flatMap((scope) =>
      ['s-2', 'b-1'].map((id) => find({ limit: 1 }, scope).printRecord(id, members)),
    );
    const texts = await Promise.all(asked);
    const found = texts.map((text) => (text === undefined ? undefined : JSON.parse(text).name));
    expect(found).toEqual(['Bala', undefined, undefined, 'Far']);
  });
});
