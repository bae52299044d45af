import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  printExactJson,
} from '../../../src/base/json/json.js';
import type { Path } from '../../../src/base/model/path.js';
import { compileFields, compileProjection } from '../../../src/store/sql/compile-projection.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { runsOf } from '../../full-length.js';
import { data } from './arbitraries.js';
import { contextOf, expectSql } from './find.js';
import { SAMPLE } from './sample-collection.js';

const test = useTestDatabase();
const NONE: ReadonlySet<string> = new Set();

const RECORD: JsonObject = {
  name: 'Anil',
  month: null,
  person: { value: 'U1', label: 'Rao' },
  address: { city: 'Pune', pin: 411001, tags: [] },
  lines: [{ head: 'Tuition', amount: 100 }, { amount: 50 }, 'junk', null],
  extra: { a: { b: 1, c: 2 } },
};

describe('a projection', () => {
  it('is the whole record with its _id where none is asked for', async () => {
    expectSql(
      compileProjection(undefined, NONE, contextOf(SAMPLE)),
      `(r.data || jsonb_build_object('_id', r.id))::text`,
      [],
    );
    expect(await projected(undefined)).toEqual({ _id: 'x', ...RECORD });
  });

  it('leaves hidden fields out', async () => {
    const hidden = new Set(['name', 'lines']);
    const { name: _name, lines: _lines, ...rest } = RECORD;
    expect(await projected(undefined, hidden)).toEqual({ _id: 'x', ...rest });
    expect(await projected([['name'], ['month'], ['lines', 'head']], hidden)).toEqual({
      _id: 'x',
      month: null,
    });
  });

  it('takes declared names as literals and others as parameters', () => {
    const sql = compileProjection([['name'], ["x'"]], NONE, contextOf(SAMPLE));
    expect(sql.text).toContain(`', "name": ' || (r.data->'name')::text`);
    expect(sql.text).not.toContain("x'");
    expect(sql.values).toContain(`"x'": `);
  });

  it('is printed as jsonb prints it, whatever the names', async () => {
    const fields = { b: 1.5, zz: [1, { a: 'ä' }], ABC: null, abc: 'x"\n', 'né"': true, name: 'Anil' };
    const paths = ['name', 'né"', 'abc', 'ABC', 'zz', 'b', 'missing'].map((name) => [name]);
    const projection = compileProjection(paths, NONE, contextOf(SAMPLE));
    const [row] = await test.database.query<{ printed: string; asJsonb: string }>(sql`
      select ${projection} as printed, (${projection})::jsonb::text as "asJsonb"
      from (select 'x' as id, ${printExactJson(fields)}::jsonb as data) r`);
    expect(row?.printed).toBe(
      '{"b": 1.5, "zz": [1, {"a": "ä"}], "ABC": null, "_id": "x", "abc": "x\\"\\n", "name": "Anil", ' +
        '"né\\"": true}',
    );
    expect(row?.printed).toBe(row?.asJsonb);
  });

  it('returns the fields asked for, a missing one not and null as null', async () => {
    expect(await projected([['name'], ['month'], ['missing']])).toEqual({
      _id: 'x',
      name: 'Anil',
      month: null,
    });
    expect(await projected([['name'], ['month']])).toEqual({ _id: 'x', name: 'Anil', month: null });
    expect(await projected([])).toEqual({ _id: 'x' });
    expect(await projected([['_id']])).toEqual({ _id: 'x' });
    expect(await projected([['_id', 'x']])).toEqual({ _id: 'x' });
  });

  it('keeps nested paths nested', async () => {
    expect(
      await projected([
        ['address', 'city'],
        ['address', 'nothing'],
        ['extra', 'a', 'b'],
      ]),
    ).toEqual({
      _id: 'x',
      address: { city: 'Pune' },
      extra: { a: { b: 1 } },
    });
  });

  it('looks into the elements of a list', async () => {
    expect(await projected([['lines', 'head']])).toEqual({ _id: 'x', lines: [{ head: 'Tuition' }, {}] });
    expect(await projected([['address', 'tags', 'x']])).toEqual({ _id: 'x', address: { tags: [] } });
  });

  it('has nothing of what has no members', async () => {
    expect(
      await projected([
        ['name', 'first'],
        ['month', 'x'],
      ]),
    ).toEqual({ _id: 'x' });
  });

  it('keeps a field whole that is asked for whole', async () => {
    const whole = { _id: 'x', address: RECORD.address };
    expect(await projected([['address'], ['address', 'city']])).toEqual(whole);
    expect(await projected([['address', 'city'], ['address']])).toEqual(whole);
  });

  it('can have many fields', async () => {
    const many = Array.from({ length: 150 }, (_, index) => [`f${index}`]);
    expect(await projected([...many, ['name']])).toEqual({ _id: 'x', name: 'Anil' });
  });

  it('goes without _id for those who show it otherwise', async () => {
    expect(await evaluated(compileFields(undefined, NONE, contextOf(SAMPLE)), RECORD)).toEqual(RECORD);
    expect(await evaluated(compileFields([['name']], NONE, contextOf(SAMPLE)), RECORD)).toEqual({
      name: 'Anil',
    });
    expect(await evaluated(compileFields([], NONE, contextOf(SAMPLE)), RECORD)).toEqual({});
  });

  it('is the part of the record that the paths lead to', async () => {
    const path = fc.constantFrom<Path>(
      ...[
        ['name'],
        ['amount'],
        ['person', 'label'],
        ['address'],
        ['address', 'tags'],
        ['lines', 'head'],
        ['lines', 'parts', 'name'],
        ['extra', 'a'],
        ['extra', 'a', 'b'],
        ['extra'],
        ['x-y', '$k'],
        ['none'],
      ],
    );
    const check = fc.asyncProperty(
      fc.array(data, { minLength: 1, maxLength: 10 }),
      fc.array(path, { maxLength: 5 }),
      fc.uniqueArray(fc.constantFrom<string>('name', 'extra', 'lines'), { maxLength: 2 }),
      async (list, paths, hidden) => {
        const sql = compileProjection(paths, new Set(hidden), contextOf(SAMPLE));
        const visible = paths.filter(([first = '']) => !hidden.includes(first));
        const found = await Promise.all(list.map((fields) => evaluated(sql, fields)));
        expect(found.map(canonical)).toEqual(
          list.map((fields) => canonical({ _id: 'x', ...partOf(fields, visible) })),
        );
      },
    );
    await fc.assert(check, runsOf(60));
  });
});

async function projected(paths: readonly Path[] | undefined, hidden = NONE): Promise<JsonValue> {
  return await evaluated(compileProjection(paths, hidden, contextOf(SAMPLE)), RECORD);
}

async function evaluated(expression: Sql, fields: JsonObject): Promise<JsonValue> {
  const [row] = await test.database.query<{ json: string }>(sql`
    select (${expression})::text as json from (select 'x' as id, ${printExactJson(fields)}::jsonb as data) r`);
  return JSON.parse(row?.json ?? 'null') as JsonValue;
}

/** What a projection is, said plainly. */
function partOf(fields: JsonObject, paths: readonly Path[]): JsonObject {
  const part: Record<string, JsonValue> = {};
  for (const name of new Set(paths.map(([first = '']) => first))) {
    const value = fields[name];
    const rests = paths.filter(([first]) => first === name).map((path) => path.slice(1));
    const shown =
      value === undefined || rests.some((rest) => rest.length === 0) ? value : partOfValue(value, rests);
    if (shown !== undefined) part[name] = shown;
  }
  return part;
}

function partOfValue(value: JsonValue, paths: readonly Path[]): JsonValue | undefined {
  if (isJsonObject(value)) return partOf(value, paths);
  if (!Array.isArray(value)) return undefined;
  return (value as readonly JsonValue[]).filter(isJsonObject).map((element) => partOf(element, paths));
}

/** Numbers by value and members by name. */
function canonical(value: JsonValue): unknown {
  return JSON.parse(printExactJson(parseExactJson(printExactJson(value))));
}
