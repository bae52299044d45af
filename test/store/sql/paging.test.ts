/** Orders and cursors: the pages of any order, put together, are the whole order. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  isExactNumber,
  type JsonObject,
  type JsonValue,
  printExactJson,
} from '../../../src/base/json/json.js';
import type { Collection } from '../../../src/base/model/collection.js';
import type { SortKey } from '../../../src/base/model/record-query.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import {
  compileSort,
  cursorExpression,
  parseCursor,
  type RecordOrder,
} from '../../../src/store/sql/compile-sort.js';
import {
  compileRecordSource,
  compileRecordSources,
  partsOfOrder,
} from '../../../src/store/sql/record-source.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { runsOf } from '../../full-length.js';
import { data, text } from './arbitraries.js';
import { expectSql } from './find.js';
import { SAMPLE, UNDECLARED } from './sample-collection.js';

const test = useTestDatabase();

beforeAll(async () => {
  await ensurePartition(test.database, SAMPLE);
});

describe('an order', () => {
  it('is by jsonb, missing values last, ties by _id in the direction of the last key', () => {
    const order = compileSort([down('created_on'), up('person')], { collection: SAMPLE });
    const createdOn = `case when (r.data->'created_on') > 'null'::jsonb then (r.data->'created_on') end`;
    const person = `case when (r.data->'person'->'value') > 'null'::jsonb then (r.data->'person'->'value') end`;
    expectSql(order.orderBy, `${createdOn} desc nulls last, ${person} asc nulls last, r.id asc`, []);
    expectSql(
      order.reversedOrderBy,
      `${createdOn} asc nulls first, ${person} desc nulls first, r.id desc`,
      [],
    );
    expectSql(
      compileSort([down('name')], { collection: SAMPLE }).orderBy,
      `case when (r.data->'name') > 'null'::jsonb then (r.data->'name') end desc nulls last, r.id desc`,
      [],
    );
    expectSql(compileSort([], { collection: SAMPLE }).orderBy, 'r.id asc', []);
  });

  it('needs no key twice, and none after _id', () => {
    const keys = [up('name'), down('name'), down('_id'), up('code')];
    expectSql(
      compileSort(keys, { collection: SAMPLE }).orderBy,
      `case when (r.data->'name') > 'null'::jsonb then (r.data->'name') end asc nulls last, r.id desc`,
      [],
    );
  });

  it('takes undeclared names as parameters', () => {
    const order = compileSort([{ path: ["x'--", 'y'], direction: 'ascending' }], { collection: SAMPLE });
    expectSql(
      order.orderBy,
      "case when (r.data #> $1::text[]) > 'null'::jsonb then (r.data #> $2::text[]) end asc nulls " +
        'last, r.id asc',
      [
        ["x'--", 'y'],
        ["x'--", 'y'],
      ],
    );
  });

  it('has no place for a list', () => {
    for (const path of [['roles'], ['lines'], ['lines', 'head'], ['address', 'tags']]) {
      expect(() => compileSort([{ path, direction: 'ascending' }], { collection: SAMPLE })).toThrow(
        expect.objectContaining({ code: 'INVALID_VALUE', message: expect.stringContaining('list') }),
      );
    }
  });

  it(
    'is texts, numbers, false, true, lists, objects; the other way round descending; no value last in ' +
      'both',
    async () => {
      const values: Record<string, JsonObject> = {
        a: { v: null },
        b: { v: '' },
        c: { v: 'B' },
        d: { v: 'a' },
        e: { v: 'é' },
        f: { v: -1 },
        g: { v: 5 },
        h: { v: false },
        i: { v: true },
        j: { v: [1] },
        k: { v: { a: 1 } },
        l: {},
        m: { v: [] },
      };
      const domain = await stored(
        Object.entries(values).map(([id, fields]) => ({ id, data: fields })),
        UNDECLARED,
      );
      const ascending = await wholeOrder(
        domain,
        UNDECLARED,
        compileSort([up('v')], { collection: UNDECLARED }),
      );
      expect(ascending.join('')).toBe('bcdefghijkalm');
      const descending = await wholeOrder(
        domain,
        UNDECLARED,
        compileSort([down('v')], { collection: UNDECLARED }),
      );
      expect(descending.join('')).toBe('kjihgfedcbmla');
    },
  );
});

describe('pages', () => {
  it('put together are the whole order, forwards and backwards, in every order', async () => {
    const check = fc.asyncProperty(
      records,
      sort,
      fc.integer({ min: 1, max: 7 }),
      async (list, keys, size) => {
        const domain = await stored(list, SAMPLE);
        const order = compileSort(keys, { collection: SAMPLE });
        const whole = await wholeOrder(domain, SAMPLE, order);
        expect(whole).toHaveLength(list.length);
        expect(await allPages({ domain, order, size, fromEnd: false })).toEqual(whole);
        expect(await allPages({ domain, order, size, fromEnd: true })).toEqual([...whole].reverse());
      },
    );
    await fc.assert(check, runsOf(60));
  });

  it('are in the order that the keys say, missing values last in every direction', async () => {
    const size = fc.integer({ min: 1, max: 7 });
    const check = fc.asyncProperty(plainRecords, plainSort, size, async (list, keys, pageSize) => {
      const domain = await stored(list, SAMPLE);
      const order = compileSort(keys, { collection: SAMPLE });
      const sorted = [...list].sort((one, other) => compareRecords(one, other, keys)).map(({ id }) => id);
      expect(await wholeOrder(domain, SAMPLE, order)).toEqual(sorted);
      expect(await allPages({ domain, order, size: pageSize, fromEnd: false })).toEqual(sorted);
      expect(await allPages({ domain, order, size: pageSize, fromEnd: true })).toEqual(sorted.reverse());
      expect(await byParts(domain, order)).toEqual(sorted.reverse());
    });
    await fc.assert(check, runsOf(100));
  });

  it('lie between two cursors', async () => {
    const check = fc.asyncProperty(
      records,
      sort,
      fc.nat(),
      fc.nat(),
      fc.boolean(),
      async (list, keys, one, other, fromEnd) => {
        const domain = await stored(list, SAMPLE);
        const order = compileSort(keys, { collection: SAMPLE });
        const rows = await read({ domain, order, fromEnd: false, limit: undefined });
        const [first, last] = [one % rows.length, other % rows.length].sort((a, b) => a - b) as [
          number,
          number,
        ];
        const between = rows.slice(first + 1, last).map(({ id }) => id);
        const after = rows[first]?.cursor;
        const before = rows[last]?.cursor;
        for (const limit of [undefined, 100, 2]) {
          const found = await read({ domain, order, after, before, fromEnd, limit });
          const expected = fromEnd ? [...between].reverse() : between;
          expect(found.map(({ id }) => id)).toEqual(expected.slice(0, limit));
        }
        const whole = await readInTurn({ domain, order, after, before, fromEnd });
        expect(whole).toEqual(fromEnd ? [...between].reverse() : between);
      },
    );
    await fc.assert(check, runsOf(60));
  });

  it('go on where a cursor was, also when its record has gone', async () => {
    const domain = await stored(
      ['a', 'b', 'c'].map((id, index) => ({ id, data: { amount: index } })),
      SAMPLE,
    );
    const order = compileSort([up('amount')], { collection: SAMPLE });
    const [, second] = await read({ domain, order, fromEnd: false, limit: undefined });
    await test.database.query(sql`delete from records where domain = ${domain} and id = 'b'`);
    const rest = await read({ domain, order, after: second?.cursor, fromEnd: false, limit: 5 });
    expect(rest.map(({ id }) => id)).toEqual(['c']);
  });
});

describe('a cursor', () => {
  const order = compileSort([up('name')], { collection: SAMPLE });

  it('is opaque, and safe in a URL', async () => {
    const domain = await stored([{ id: 'x', data: { name: 'शिक्षक?>~"\\'.repeat(30) } }], SAMPLE);
    const [row] = await read({ domain, order, fromEnd: false, limit: 1 });
    expect(row?.cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(parseCursor(row?.cursor ?? '', order)).toEqual([JSON.stringify('शिक्षक?>~"\\'.repeat(30)), 'x']);
  });

  it('is refused by another order or collection', async () => {
    const domain = await stored([{ id: 'x', data: { name: 'a' } }], SAMPLE);
    const [row] = await read({ domain, order, fromEnd: false, limit: 1 });
    const others = [
      compileSort([down('name')], { collection: SAMPLE }),
      compileSort([up('code')], { collection: SAMPLE }),
      compileSort([up('name'), up('code')], { collection: SAMPLE }),
      compileSort([], { collection: SAMPLE }),
      compileSort([up('name')], { collection: UNDECLARED }),
    ];
    for (const other of others) expectStrange(row?.cursor ?? '', other);
  });

  it('is refused when it was not made here', () => {
    const made = JSON.parse(decoded(forge(order, ['"a"', 'x']))) as [string, ...unknown[]];
    expect(parseCursor(forge(order, ['"a"', 'x']), order)).toEqual(['"a"', 'x']);
    const forged: unknown[] = [
      [made[0], '"a"'],
      [made[0], '"a"', 'x', 'y'],
      [made[0], '"a"', null],
      [made[0], '"a"', 5],
      [made[0], 5, 'x'],
      [made[0], 'a', 'x'],
      [made[0], '"\\u0000"', 'x'],
      [made[0], '"\\ud800"', 'x'],
      [made[0], '{"\\u0000":1}', 'x'],
      [made[0], '[["\\u0000"]]', 'x'],
      [made[0], '1e999999', 'x'],
      [made[0], '"a"', 'x\0'],
      [made[0], '"a"); drop table records; --', 'x'],
      {},
      null,
      'x',
    ];
    for (const parts of forged)
      expectStrange(Buffer.from(JSON.stringify(parts)).toString('base64url'), order);
    for (const cursor of ['', '!', 'abc', 'a'.repeat(70_000), '[]', Buffer.from('[').toString('base64url')]) {
      expectStrange(cursor, order);
    }
  });

  it('is refused on any input in no way but its own', () => {
    const check = fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json()), (input) =>
      expectStrange(input, order),
    );
    fc.assert(check, runsOf(500));
  });
});

function up(name: string): SortKey {
  return { path: [name], direction: 'ascending' };
}

function down(name: string): SortKey {
  return { path: [name], direction: 'descending' };
}

interface TestRecord {
  readonly id: string;
  readonly data: JsonObject;
}

const records = fc.array(data, { minLength: 1, maxLength: 20, size: 'max' }).map(withIds);
const direction = fc.constantFrom('ascending' as const, 'descending' as const);
const sort: fc.Arbitrary<SortKey[]> = fc.array(
  fc.record({
    path: fc.constantFrom(
      ...[
        ['name'],
        ['amount'],
        ['active'],
        ['created_on'],
        ['person'],
        ['person', 'label'],
        ['extra'],
        ['extra', 'a'],
        ['address', 'city'],
        ['blob'],
        ['_id'],
        ['missing'],
      ],
    ),
    direction,
  }),
  { maxLength: 3 },
);

const plainRecords = fc
  .array(
    fc.record(
      {
        name: fc.oneof(text, fc.constant(null)),
        amount: fc.constantFrom(1, 2, 2.5, null),
        active: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    { minLength: 1, maxLength: 15, size: 'max' },
  )
  .map(withIds);
const plainSort = fc.uniqueArray(
  fc.record({ path: fc.constantFrom(['name'], ['amount'], ['active']), direction }),
  {
    selector: ({ path }) => path[0],
  },
);

function withIds(list: readonly JsonObject[]): TestRecord[] {
  return list.map((fields, index) => ({ id: `${'abc'[index % 3]}${index}`, data: fields }));
}

function compareRecords(one: TestRecord, other: TestRecord, keys: readonly SortKey[]): number {
  for (const { path, direction: way } of keys) {
    const [name = ''] = path;
    const [value, otherValue] = [one.data[name] ?? null, other.data[name] ?? null];
    if (value === null && otherValue === null) continue;
    if (value === null || otherValue === null) return value === null ? 1 : -1;
    const order = compareValues(value, otherValue);
    if (order !== 0) return way === 'ascending' ? order : -order;
  }
  const order = Buffer.compare(Buffer.from(one.id), Buffer.from(other.id));
  return keys.at(-1)?.direction === 'descending' ? -order : order;
}

function compareValues(one: JsonValue, other: JsonValue): number {
  const ranks = rankOf(one) - rankOf(other);
  if (ranks !== 0) return ranks;
  if (typeof one === 'string' && typeof other === 'string')
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}

function rankOf(value: JsonValue): number {
  if (typeof value === 'string') return 1;
  return typeof value === 'number' || isExactNumber(value) ? 2 : 3;
}

let domains = 0;

async function stored(list: readonly TestRecord[], collection: Collection): Promise<string> {
  const domain = `p${++domains}`;
  await test.database.query(sql`
    insert into records (domain, collection, id, data)
    select ${domain}, ${collection.name}, e.id, e.data::jsonb
    from unnest(${list.map(({ id }) => id)}::text[],
      ${list.map((one) => printExactJson(one.data))}::text[]) as e(id, data)`);
  return domain;
}

async function wholeOrder(domain: string, collection: Collection, order: RecordOrder): Promise<string[]> {
  const rows = await test.database.query<{ id: string }>(sql`
    select r.id from records r where r.domain = ${domain} and r.collection = ${collection.name}
      order by ${order.orderBy}`);
  return rows.map(({ id }) => id);
}

/** The parts of an order, one after the other. */
async function byParts(domain: string, order: RecordOrder): Promise<string[]> {
  const ids: string[] = [];
  for (const { where, orderBy } of partsOfOrder(order)) {
    const rows = await test.database.query<{ id: string }>(sql`
      select r.id
      from records r
      where r.domain = ${domain} and r.collection = 'sample' and ${where}
      order by ${orderBy}`);
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
}

interface Reading {
  readonly domain: string;
  readonly order: RecordOrder;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly fromEnd: boolean;
  readonly limit: number | undefined;
}

async function read({ domain, ...reading }: Reading): Promise<{ id: string; cursor: string }[]> {
  const source = compileRecordSource({
    ...reading,
    where: sql`r.domain = ${domain} and r.collection = 'sample' and r.deleted_at is null`,
  });
  const limit = reading.limit === undefined ? sql.empty : sql`limit ${reading.limit}`;
  return await test.database.query(sql`
    select r.id, ${cursorExpression(reading.order)} as cursor
    from ${source.from} where ${source.where} order by ${source.orderBy} ${limit}`);
}

/** The ids of all that a stream reads, one source after the other. */
async function readInTurn({ domain, ...reading }: Omit<Reading, 'limit'>): Promise<string[]> {
  const ids: string[] = [];
  const inDomain = sql`r.domain = ${domain} and r.collection = 'sample' and r.deleted_at is null`;
  for (const { from, where, orderBy } of compileRecordSources({ ...reading, where: inDomain })) {
    const rows = await test.database.query<{ id: string }>(
      sql`select r.id from ${from} where ${where} order by ${orderBy}`,
    );
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
}

/** The ids of all pages, one page after another from its last cursor on, as they were read. */
async function allPages(options: {
  readonly domain: string;
  readonly order: RecordOrder;
  readonly size: number;
  readonly fromEnd: boolean;
}): Promise<string[]> {
  const { domain, order, size, fromEnd } = options;
  const ids: string[] = [];
  let cursor: string | undefined;
  for (;;) {
    const position = fromEnd ? { before: cursor } : { after: cursor };
    const page = await read({ domain, order, ...position, fromEnd, limit: size });
    ids.push(...page.map(({ id }) => id));
    cursor = page.at(-1)?.cursor;
    if (page.length < size) return ids;
  }
}

function forge(order: RecordOrder, values: readonly unknown[]): string {
  const fingerprint = cursorExpression(order).values.find((value) => typeof value === 'string');
  return Buffer.from(JSON.stringify([fingerprint, ...values])).toString('base64url');
}

function decoded(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString('utf8');
}

function expectStrange(cursor: string, order: RecordOrder): void {
  expect(() => parseCursor(cursor, order)).toThrow(
    expect.objectContaining({ code: 'MALFORMED_REQUEST', status: 400 }),
  );
}
