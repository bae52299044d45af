import { describe, expect, it } from '@jest/globals';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  printExactJson,
} from '../../../src/base/json/json.js';
import type { AggregateQuery, Group } from '../../../src/base/model/aggregate-query.js';
import { dayOf } from '../../../src/base/model/calendar.js';
import { queryOf } from '../../../src/base/model/record-query.js';
import { sql } from '../../../src/store/sql.js';
import { runsOf } from '../../full-length.js';
import { ADMIN, SUB, scopeOf } from '../people.js';
import { data as anyData } from '../sql/arbitraries.js';
import { useTestStore } from '../store.js';

const test = useTestStore([
  {
    name: 'sample',
    plural: 'samples',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'amount', type: 'number', decimal: true },
      { name: 'active', type: 'boolean' },
      { name: 'created_on', type: 'datetime' },
      { name: 'day', type: 'datetime', format: 'date' },
      { name: 'month', type: 'text', format: 'month' },
      { name: 'person', type: 'reference', target: 'staff' },
      { name: 'roles', type: 'text', list: true },
    ],
    access: { clerk: { verbs: ['read'], hiddenFields: ['amount'] } },
  },
]);

const QUERY: AggregateQuery = { groupBy: [], measures: [], having: undefined, order: [], limit: 1000 };
const aggregate = (query: Partial<AggregateQuery>, scope = ADMIN) =>
  test.store.find(scope, queryOf('sample')).aggregate({ ...QUERY, ...query });

describe('groups', () => {
  it('are refused by a field that is a list, an object, or not declared', async () => {
    for (const field of ['roles', 'nothing', `x'; drop table records; --`]) {
      await expect(aggregate({ groupBy: [{ path: [field] }] })).rejects.toMatchObject({
        code: 'INVALID_VALUE',
      });
    }
  });

  it('are refused by a measure that the type has not', async () => {
    const wrong = [
      { kind: 'sum', path: ['name'] },
      { kind: 'avg', path: ['created_on'] },
      { kind: 'max', path: ['active'] },
    ] as const;
    for (const measure of wrong) {
      await expect(aggregate({ measures: [measure] })).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    }
    await expect(aggregate({ groupBy: [{ path: ['name'], period: 'day' }] })).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    });
  });

  it('are refused by an operand of another type', async () => {
    const wrong = [
      ['amount', 'ten'],
      ['created_on', 'soon'],
      ['day', '2026-02-30'],
      ['month', '2026-13'],
      ['name', 5],
    ] as const;
    for (const [field, value] of wrong) {
      const having = { kind: 'greaterThan', measure: { kind: 'max', path: [field] }, value } as const;
      await expect(aggregate({ having })).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    }
  });

  it('are refused by a hidden field, wherever it stands', async () => {
    const clerk = scopeOf({ roles: ['clerk'] });
    const path = ['amount'];
    const asked: readonly Partial<AggregateQuery>[] = [
      { groupBy: [{ path }] },
      { measures: [{ kind: 'count', path }] },
      { having: { kind: 'equals', measure: { kind: 'sum', path }, value: 1 } },
      { having: { kind: 'not', filter: { kind: 'hasKey', key: { path } } } },
      { order: [{ by: { measure: { kind: 'avg', path } }, direction: 'ascending' }] },
    ];
    for (const query of asked) {
      await expect(aggregate(query, clerk)).rejects.toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining('amount'),
      });
    }
  });

  it('are refused by a field of a record that the caller may not read', async () => {
    const clerk = scopeOf({ roles: ['clerk'] });
    const none = { path: ['person'], of: { collection: 'room', path: ['name'] } };
    await expect(aggregate({ groupBy: [none] }, clerk)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('are those of the records, computed in memory', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyData, { maxLength: 30 }), async (records) => {
        await test.database.query(sql`delete from records r where r.collection = 'sample'`);
        await insert('school', records);
        await insert('branch', records);
        for (const key of KEYS) {
          const read = await aggregate({ groupBy: [key.key], measures: MEASURES });
          const expected = groupsOf(records, key.valueOf);
          expect(read.map(comparable).sort()).toEqual(expected.map(comparable).sort());
        }
        const [whole] = await aggregate({ measures: MEASURES }, scopeOf({ roles: ['admin'], domain: SUB }));
        expect(comparable(whole)).toEqual(comparable({ keys: [], measures: measuresOf(records) }));
      }),
      runsOf(60),
    );
  });
});

describe('a period', () => {
  it('is that of any instant, however it was written, and of nothing else', async () => {
    await test.database.query(sql`delete from records r where r.collection = 'sample'`);
    await insert(
      'school',
      [
        '2026-03-31T18:29:59.999Z',
        '2026-03-31T18:30:00.000Z',
        '2026-03-31T18:30:00Z',
        '2026-03-31T18:30:00.000000Z',
        '2026-13-31T18:30:00.000Z',
        '2026-03-31T25:30:00.000Z',
        '2026-03-31T18:30:xx.000Z',
        'xxxx-xx-xxTxx:xx:xx.xxxZ',
        '2026-03-31',
      ].map((created_on) => ({ created_on })),
    );
    const groups = await aggregate({
      groupBy: [{ path: ['created_on'], period: 'day' }],
      measures: [{ kind: 'records' }],
    });
    expect(groups.map(comparable)).toEqual([
      '[["2026-03-31"],["1"]]',
      '[["2026-04-01"],["3"]]',
      '[["null"],["5"]]',
    ]);
  });

  it('that has no key is refused as a condition', async () => {
    const having = { kind: 'hasKey', key: { path: ['name'] } } as const;
    await expect(aggregate({ having })).rejects.toMatchObject({ code: 'INVALID_VALUE' });
  });
});

async function insert(domain: string, records: readonly JsonObject[]): Promise<void> {
  const json = printExactJson(records);
  await test.database.query(sql`
    insert into records (domain, collection, id, data)
    select ${domain}, 'sample', 'r-' || e.position, e.value
    from jsonb_array_elements(${json}::jsonb) with ordinality as e(value, position)`);
}

const at = (record: JsonObject, field: string): JsonValue =>
  Object.hasOwn(record, field) ? (record[field] ?? null) : null;
const textAt = (record: JsonObject, field: string) => {
  const value = at(record, field);
  return typeof value === 'string' ? value : null;
};
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const instantAt = (record: JsonObject) => {
  const text = textAt(record, 'created_on');
  return text !== null && INSTANT.test(text) ? text : null;
};
const dayAt = (record: JsonObject) => {
  const text = textAt(record, 'day');
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text) ? text : null;
};
const amountAt = (record: JsonObject) => {
  const value = at(record, 'amount');
  return typeof value === 'number' || isExactNumber(value) ? new Exact(String(value)) : null;
};
const Exact = Decimal.clone({ precision: 200, toExpPos: 400, toExpNeg: -400 });

const KEYS: readonly {
  readonly key: AggregateQuery['groupBy'][number];
  readonly valueOf: (record: JsonObject) => JsonValue;
}[] = [
  { key: { path: ['name'] }, valueOf: (record) => textAt(record, 'name') },
  { key: { path: ['amount'] }, valueOf: (record) => amountAt(record)?.toString() ?? null },
  {
    key: { path: ['active'] },
    valueOf: (record) => {
      const value = at(record, 'active');
      return typeof value === 'boolean' ? value : null;
    },
  },
  { key: { path: ['created_on'] }, valueOf: instantAt },
  {
    key: { path: ['created_on'], period: 'day' },
    valueOf: (record) => localDay(instantAt(record)),
  },
  {
    key: { path: ['created_on'], period: 'week' },
    valueOf: (record) => mondayOf(localDay(instantAt(record))),
  },
  {
    key: { path: ['created_on'], period: 'month' },
    valueOf: (record) => localDay(instantAt(record))?.slice(0, 7) ?? null,
  },
  {
    key: { path: ['day'], period: 'year' },
    valueOf: (record) => dayAt(record)?.slice(0, 4) ?? null,
  },
  {
    key: { path: ['month'] },
    valueOf: (record) => {
      const text = textAt(record, 'month');
      return text !== null && /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? text : null;
    },
  },
  {
    key: { path: ['person', 'value'] },
    valueOf: (record) => {
      const person = at(record, 'person');
      return isJsonObject(person) ? textAt(person, 'value') : null;
    },
  },
];

function localDay(instant: string | null): string | null {
  return instant === null ? null : dayOf(instant, 'Asia/Kolkata');
}

function mondayOf(day: string | null): string | null {
  if (day === null) return null;
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

const MEASURES: AggregateQuery['measures'] = [
  { kind: 'records' },
  { kind: 'count', path: ['amount'] },
  { kind: 'countDistinct', path: ['amount'] },
  { kind: 'sum', path: ['amount'] },
  { kind: 'min', path: ['amount'] },
  { kind: 'max', path: ['amount'] },
  { kind: 'countDistinct', path: ['name'] },
  { kind: 'min', path: ['name'] },
  { kind: 'max', path: ['name'] },
  { kind: 'min', path: ['created_on'] },
  { kind: 'max', path: ['day'] },
];

function measuresOf(records: readonly JsonObject[]): readonly JsonValue[] {
  const amounts = present(records.map(amountAt));
  const names = present(records.map((record) => textAt(record, 'name')));
  const instants = present(records.map(instantAt)).sort();
  const days = present(records.map(dayAt)).sort();
  const sorted = [...amounts].sort((a, b) => a.comparedTo(b));
  const byCodePoint = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return [
    records.length,
    amounts.length,
    new Set(amounts.map(String)).size,
    amounts.length === 0 ? null : Exact.sum(...amounts).toString(),
    sorted.at(0)?.toString() ?? null,
    sorted.at(-1)?.toString() ?? null,
    new Set(names).size,
    byCodePoint.at(0) ?? null,
    byCodePoint.at(-1) ?? null,
    instants.at(0) ?? null,
    days.at(-1) ?? null,
  ];
}

function present<T>(values: readonly (T | null)[]): readonly T[] & T[] {
  return values.filter((value): value is T & NonNullable<typeof value> => value !== null);
}

function groupsOf(
  records: readonly JsonObject[],
  keyOf: (record: JsonObject) => JsonValue,
): readonly Group[] {
  const groups = new Map<JsonValue, JsonObject[]>();
  for (const record of records) {
    const key = keyOf(record);
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups].map(([key, members]) => ({ keys: [key], measures: measuresOf(members) }));
}

/** Numbers by their digits, texts that are not numbers as they are. */
function comparable(group: Group | undefined): string {
  const written = (value: JsonValue) => (value === null ? 'null' : String(value));
  return JSON.stringify([group?.keys.map(written), group?.measures.map(written)]);
}
