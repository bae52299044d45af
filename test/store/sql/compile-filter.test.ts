/**
 * Each test shows the oquery text, the SQL it becomes with its parameters, and the records that come back.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseOquery } from '../../../src/base/languages/oquery.js';
import { parseWhere } from '../../../src/base/languages/where.js';
import type { Collection } from '../../../src/base/model/collection.js';
import type { Filter } from '../../../src/base/model/filter.js';
import { resolveFilter } from '../../../src/store/access/resolve-filter.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { compileFilter } from '../../../src/store/sql/compile-filter.js';
import { useTestDatabase } from '../../database.js';
import { contextOf, expectSql, find, store } from './find.js';
import { SAMPLE, UNDECLARED } from './sample-collection.js';

const test = useTestDatabase();

beforeAll(async () => {
  await ensurePartition(test.database, SAMPLE);
  await store(test.database, SAMPLE, {
    anil: {
      name: 'Anil Rao',
      code: '100%',
      amount: 5,
      active: true,
      created_on: '2024-05-01T18:29:59.999Z',
      day: '2024-05-01',
      month: '2024-05',
      person: { value: 'U1', label: 'Anil Kumar' },
      roles: ['teacher', 'clerk'],
      address: { city: 'Pune', tags: ['home'] },
      lines: [
        { head: 'Tuition', amount: 100, marks: [1, 2] },
        { head: 'Bus', amount: 50 },
      ],
      extra: 'true',
    },
    bina: {
      name: 'anil bose',
      code: '100_',
      amount: 5.5,
      active: false,
      created_on: '2024-05-01T18:30:00.000Z',
      day: '2024-05-02',
      month: '2024-06',
      person: { value: 'U2', label: 'U1' },
      roles: ['head teacher'],
      address: { city: 'Delhi', tags: [] },
      lines: [{ head: 'Tuition', amount: 50 }],
      extra: true,
    },
    junk: {
      name: 100,
      code: ['100%'],
      amount: '5',
      active: 'true',
      created_on: 'N/A',
      day: 20240501,
      month: null,
      person: 'U1',
      roles: 'teacher',
      address: 'Pune',
      lines: { head: 'Tuition', amount: 100 },
      extra: [['true']],
    },
    none: {},
    हिन्दी: { name: 'शिक्षक', code: "'; drop table records; --", extra: 5 },
  });
  await store(test.database, UNDECLARED, {
    a: { amount: 5, at: '2024-05-01T18:30:00.000Z', name: { value: 'U1' } },
    b: { amount: '5', at: '2024-05-02', name: 'U1' },
    c: { amount: [5, 7], at: ['2024-04-01', '2024-05-31T18:29:59.999Z'] },
    d: { amount: true, at: null },
  });
});

describe('a filter on a field declared text', () => {
  it('equals', async () => {
    await expectFound('code=100%', {
      sql: `(r.data->'code') = $1::jsonb`,
      parameters: ['"100%"'],
      ids: ['anil'],
    });
  });

  it('starts with', async () => {
    await expectFound('name==Anil', {
      sql: `((r.data->'name') >= $1::jsonb and (r.data->'name') < $2::jsonb)`,
      parameters: ['"Anil"', '"Anim"'],
      ids: ['anil'],
    });
  });

  it('does not start with, also where the field is missing or no text', async () => {
    await expectFound('name=!=Anil', {
      sql: `not coalesce(((r.data->'name') >= $1::jsonb and (r.data->'name') < $2::jsonb), false)`,
      parameters: ['"Anil"', '"Anim"'],
      ids: ['bina', 'junk', 'none', 'हिन्दी'],
    });
  });

  it('contains, a % or _ as itself; a number is no text', async () => {
    await expectFound('code=*0%', {
      sql:
        `((r.data->>'code') like $1 and jsonb_typeof((r.data->'code')) <> all ` +
        `('{number,boolean,array,object}'))`,
      parameters: ['%0\\%%'],
      ids: ['anil'],
    });
    await expectIds(parseOquery('name=*100'), []);
    await expectIds(parseOquery('code=*_'), ['bina']);
    await expectIds(parseOquery('name=*शिक्'), ['हिन्दी']);
  });

  it('does not contain', async () => {
    await expectFound('code=!*0', {
      sql:
        `not coalesce(((r.data->>'code') like $1 and jsonb_typeof((r.data->'code')) <> all ` +
        `('{number,boolean,array,object}')), false)`,
      parameters: ['%0%'],
      ids: ['junk', 'none', 'हिन्दी'],
    });
  });

  it('ignores case', async () => {
    await expectFound(
      'name==ANIL',
      {
        sql:
          `((r.data->>'name') ilike $1::text and jsonb_typeof((r.data->'name')) <> all ` +
          `('{number,boolean,array,object}'))`,
        parameters: ['ANIL%'],
        ids: ['anil', 'bina'],
      },
      { isInsensitive: true },
    );
    await expectIds(parseOquery('name=anil rao', { isInsensitive: true }), ['anil']);
  });

  it('takes date words for text', async () => {
    await expectFound('name=today', {
      sql: `(r.data->'name') = $1::jsonb`,
      parameters: ['"today"'],
      ids: [],
    });
    await expectFound('name=on2024-05-01', {
      sql: `(r.data->'name') = $1::jsonb`,
      parameters: ['"on2024-05-01"'],
      ids: [],
    });
  });

  it('is one of many, in one parameter', async () => {
    const filter: Filter = { kind: 'in', path: ['code'], values: ['100%', '100_', '"'] };
    await expectCompiled(filter, {
      sql: `(r.data->'code') = any($1::jsonb[])`,
      parameters: [['"100%"', '"100_"', '"\\""']],
      ids: ['anil', 'bina'],
    });
    await expectIds({ kind: 'in', path: ['code'], values: [] }, []);
  });

  it('compares text by code points', async () => {
    await expectCompiled(
      { kind: 'greaterThan', path: ['name'], value: 'B' },
      {
        sql: `((r.data->'name') > $1::jsonb and (r.data->'name') < '-1e1000'::jsonb)`,
        parameters: ['"B"'],
        ids: ['bina', 'हिन्दी'],
      },
    );
  });

  it('trusts no other order of text than that of bytes', async () => {
    const context = { ...contextOf(SAMPLE), isByteOrdered: false };
    const filter = parseOquery('name==Anil');
    expectSql(compileFilter(filter, context), 'r.data @? $1::jsonpath', [
      'strict $."name" ? (@.type() == "string" && @ starts with "Anil")',
    ]);
    expect(await find(test.database, filter, context)).toEqual(['anil']);
  });

  it('of format month is within a month', async () => {
    await expectFound('month=#in2024-05', {
      sql: `(r.data->'month') = $1::jsonb`,
      parameters: ['"2024-05"'],
      ids: ['anil'],
    });
    await expectIds(parseOquery('month=>2024-05'), ['bina']);
  });
});

describe('a filter on a field declared number', () => {
  it('equals, by = and by ===', async () => {
    const expected = { sql: `(r.data->'amount') = $1::jsonb`, parameters: ['5.0'], ids: ['anil'] };
    await expectFound('amount=5.0', expected);
    await expectFound('amount===5.0', expected);
  });

  it('is greater or less, strictly, and never of another type', async () => {
    await expectFound('amount=>5', {
      sql: `((r.data->'amount') > $1::jsonb and (r.data->'amount') < 'false'::jsonb)`,
      parameters: ['5'],
      ids: ['bina'],
    });
    await expectFound('amount=<5.5', {
      sql: `((r.data->'amount') > '-1e1000'::jsonb and (r.data->'amount') < $1::jsonb)`,
      parameters: ['5.5'],
      ids: ['anil'],
    });
  });
});

describe('a filter on a field declared boolean', () => {
  it('equals true or false, not the text', async () => {
    await expectFound('active=true', {
      sql: `(r.data->'active') = $1::jsonb`,
      parameters: ['true'],
      ids: ['anil'],
    });
  });
});

describe('a filter on a field declared datetime', () => {
  it("is on a day of the domain's time zone", async () => {
    const sql = `((r.data->'created_on') >= $1::jsonb and (r.data->'created_on') < $2::jsonb)`;
    const first = {
      sql,
      parameters: ['"2024-04-30T18:30:00.000Z"', '"2024-05-01T18:30:00.000Z"'],
      ids: ['anil'],
    };
    const second = {
      sql,
      parameters: ['"2024-05-01T18:30:00.000Z"', '"2024-05-02T18:30:00.000Z"'],
      ids: ['bina'],
    };
    await expectFound('created_on=yesterday', first);
    await expectFound('created_on=on2024-05-01', first);
    await expectFound('created_on=2024-05-01', first);
    await expectFound('created_on=today', second);
  });

  it('is within a month', async () => {
    await expectFound('created_on=#in2024-05', {
      sql: `((r.data->'created_on') >= $1::jsonb and (r.data->'created_on') < $2::jsonb)`,
      parameters: ['"2024-04-30T18:30:00.000Z"', '"2024-05-31T18:30:00.000Z"'],
      ids: ['anil', 'bina'],
    });
  });

  it('equals an instant in any writing', async () => {
    await expectFound('created_on=2024-05-02T00:00:00+05:30', {
      sql: `(r.data->'created_on') = $1::jsonb`,
      parameters: ['"2024-05-01T18:30:00.000Z"'],
      ids: ['bina'],
    });
  });

  it('is after a whole day or before it', async () => {
    await expectFound('created_on=>2024-05-01', {
      sql: `((r.data->'created_on') >= $1::jsonb and (r.data->'created_on') < '"A"'::jsonb)`,
      parameters: ['"2024-05-01T18:30:00.000Z"'],
      ids: ['bina'],
    });
    await expectFound('created_on=<2024-05-02', {
      sql: `((r.data->'created_on') >= '"0"'::jsonb and (r.data->'created_on') < $1::jsonb)`,
      parameters: ['"2024-05-01T18:30:00.000Z"'],
      ids: ['anil'],
    });
  });

  it('is after an instant, strictly', async () => {
    await expectFound('created_on=>2024-05-01T18:29:59.999Z', {
      sql: `((r.data->'created_on') > $1::jsonb and (r.data->'created_on') < '"A"'::jsonb)`,
      parameters: ['"2024-05-01T18:29:59.999Z"'],
      ids: ['bina'],
    });
  });

  it('of format date is a day, without a time zone', async () => {
    await expectFound('day=yesterday', {
      sql: `(r.data->'day') = $1::jsonb`,
      parameters: ['"2024-05-01"'],
      ids: ['anil'],
    });
    await expectFound('day=#in2024-05', {
      sql: `((r.data->'day') >= $1::jsonb and (r.data->'day') < $2::jsonb)`,
      parameters: ['"2024-05-01"', '"2024-06-01"'],
      ids: ['anil', 'bina'],
    });
    await expectIds(parseOquery('day=>2024-05-01'), ['bina']);
  });
});

describe('a filter on a reference', () => {
  it('equals by its value', async () => {
    await expectFound('person=U1', {
      sql: `(r.data->'person'->'value') = $1::jsonb`,
      parameters: ['"U1"'],
      ids: ['anil'],
    });
    await expectFound('person.value=U1', {
      sql: `(r.data->'person'->'value') = $1::jsonb`,
      parameters: ['"U1"'],
      ids: ['anil'],
    });
  });

  it('looks at its label too, by the text operators', async () => {
    const guard = (member: string) =>
      `jsonb_typeof((r.data->'person'->'${member}')) <> all ('{number,boolean,array,object}')`;
    await expectFound('person=*U1', {
      sql:
        `((coalesce((r.data->'person'->>'value') like $1::text, false) and ${guard('value')}) or ` +
        `(coalesce((r.data->'person'->>'label') like $2::text, false) and ${guard('label')}))`,
      parameters: ['%U1%', '%U1%'],
      ids: ['anil', 'bina'],
    });
    await expectFound('person=*Anil', {
      sql:
        `(((r.data->'person'->>'value') like $1::text and ${guard('value')}) or ` +
        `((r.data->'person'->>'label') like $2::text and ${guard('label')}))`,
      parameters: ['%Anil%', '%Anil%'],
      ids: ['anil'],
    });
    await expectIds(parseOquery('person==Anil'), ['anil']);
  });
});

describe('a filter on a list', () => {
  it('holds when any element satisfies it', async () => {
    await expectFound('roles=teacher', {
      sql: `r.data @? $1::jsonpath`,
      parameters: ['$."roles" ? (@.type() == "string" && @ == "teacher")'],
      ids: ['anil', 'junk'],
    });
    await expectFound('roles=*teacher', {
      sql: `r.data @? $1::jsonpath`,
      parameters: ['$."roles" ? (@.type() == "string" && @ like_regex "teacher" flag "q")'],
      ids: ['anil', 'bina', 'junk'],
    });
  });

  it('holds negated when none does, and when the field is missing', async () => {
    await expectFound('roles=!*head', {
      sql: `not coalesce(r.data @? $1::jsonpath, false)`,
      parameters: ['$."roles" ? (@.type() == "string" && @ like_regex "head" flag "q")'],
      ids: ['anil', 'junk', 'none', 'हिन्दी'],
    });
  });

  it('is looked into on the way through a path', async () => {
    await expectFound('lines.head=Tuition', {
      sql: `r.data @? $1::jsonpath`,
      parameters: ['$."lines"."head" ? (@.type() == "string" && @ == "Tuition")'],
      ids: ['anil', 'bina', 'junk'],
    });
    await expectIds(parseOquery('lines.marks=>1'), ['anil']);
    await expectIds(parseOquery('address.tags=home'), ['anil']);
  });

  it('asks each condition of some element, not all of the same one', async () => {
    await expectIds(parseOquery('lines.head=Tuition,lines.amount=50'), ['anil', 'bina']);
  });

  it('asks all conditions of one and the same element where it is told to', async () => {
    const filter = parseWhere(
      { lines: { any: { head: { equals: 'Tuition' }, amount: { greaterThan: 60 } } } },
      { collection: SAMPLE },
    );
    await expectCompiled(filter, {
      sql: `r.data @? $1::jsonpath`,
      parameters: [
        '$."lines" ? (@.type() != "null" && ((exists(@."head" ? (@.type() == "string" && @ == ' +
          '"Tuition"))) && (exists(@."amount" ? (@.type() == "number" && @ > 60)))))',
      ],
      ids: ['anil', 'junk'],
    });
  });

  it('has all, none or no elements', async () => {
    const found = (where: unknown) =>
      find(test.database, parseWhere(where, { collection: SAMPLE }), contextOf(SAMPLE));
    expect(await found({ roles: { all: { contains: 'teacher' } } })).toEqual([
      'bina',
      'junk',
      'none',
      'हिन्दी',
    ]);
    expect(await found({ roles: { none: { contains: 'clerk' } } })).toEqual([
      'bina',
      'junk',
      'none',
      'हिन्दी',
    ]);
    expect(await found({ roles: { isEmpty: true } })).toEqual(['none', 'हिन्दी']);
    expect(await found({ address: { tags: { isEmpty: false } } })).toEqual(['anil']);
  });
});

describe('a filter on an undeclared field', () => {
  it('equals the text, or the boolean or number written the same way', async () => {
    await expectFound('extra=true', {
      sql: `r.data @? $1::jsonpath`,
      parameters: [
        '$."extra" ? ((@.type() == "string" && @ == "true") || (@.type() == "boolean" && @ == true))',
      ],
      ids: ['anil', 'bina'],
    });
    await expectFound('amount=5', {
      collection: UNDECLARED,
      sql: `r.data @? $1::jsonpath`,
      parameters: ['$."amount" ? ((@.type() == "string" && @ == "5") || (@.type() == "number" && @ == 5))'],
      ids: ['a', 'b', 'c'],
    });
  });

  it('compares numbers with numbers alone', async () => {
    await expectFound('amount===5', {
      collection: UNDECLARED,
      sql: `r.data @? $1::jsonpath`,
      parameters: ['$."amount" ? (@.type() == "number" && @ == 5)'],
      ids: ['a', 'c'],
    });
    await expectFound('amount=>5', {
      collection: UNDECLARED,
      sql: `r.data @? $1::jsonpath`,
      parameters: ['$."amount" ? (@.type() == "number" && @ > 5)'],
      ids: ['c'],
    });
  });

  it('is on a day as an instant or as the day', async () => {
    await expectIds(parseOquery('at=on2024-05-02'), ['a', 'b'], UNDECLARED);
    await expectIds(parseOquery('at=today'), ['a', 'b'], UNDECLARED);
    await expectIds(parseOquery('at=#in2024-05'), ['a', 'b', 'c'], UNDECLARED);
    await expectIds(parseOquery('at=#in2024-04'), ['c'], UNDECLARED);
    await expectIds(parseOquery('at=>2024-05-01'), ['a', 'b', 'c'], UNDECLARED);
    await expectIds(parseOquery('at=<2024-05-02'), ['c'], UNDECLARED);
  });

  it('is reached through objects', async () => {
    await expectIds(parseOquery('name.value=U1'), ['a'], UNDECLARED);
  });
});

describe('a filter on _id', () => {
  it('asks the column', async () => {
    await expectFound('_id=anil', { sql: 'r.id = $1', parameters: ['anil'], ids: ['anil'] });
    await expectFound('_id==b', { sql: '(r.id >= $1 and r.id < $2)', parameters: ['b', 'c'], ids: ['bina'] });
    await expectFound('_id=*n', {
      sql: 'r.id like $1',
      parameters: ['%n%'],
      ids: ['anil', 'bina', 'junk', 'none'],
    });
    await expectCompiled(
      { kind: 'in', path: ['_id'], values: ['none', 'junk'] },
      { sql: 'r.id = any($1::text[])', parameters: [['none', 'junk']], ids: ['junk', 'none'] },
    );
  });
});

describe('presence', () => {
  it('is null where it is missing or null', async () => {
    await expectCompiled(
      { kind: 'isNull', path: ['month'] },
      {
        sql: `((r.data->'month') is null or (r.data->'month') = 'null'::jsonb)`,
        parameters: [],
        ids: ['junk', 'none', 'हिन्दी'],
      },
    );
    await expectCompiled(
      { kind: 'isNull', path: ['lines', 'marks'] },
      {
        sql: `r.data @? $1::jsonpath`,
        parameters: ['$ ? (!(@."lines"."marks".type() != "null"))'],
        ids: ['bina', 'junk', 'none', 'हिन्दी'],
      },
    );
  });

  it('exists where it is present, null included', async () => {
    await expectCompiled(
      { kind: 'exists', path: ['month'] },
      { sql: `(r.data->'month') is not null`, parameters: [], ids: ['anil', 'bina', 'junk'] },
    );
  });
});

describe('combination', () => {
  it('joins with and, or and not', async () => {
    const filter: Filter = {
      kind: 'any',
      filters: [
        parseOquery('amount===5,active=true'),
        { kind: 'not', filter: { kind: 'exists', path: ['name'] } },
      ],
    };
    await expectCompiled(filter, {
      sql:
        `(((r.data->'amount') = $1::jsonb and (r.data->'active') = $2::jsonb) or not ` +
        `coalesce((r.data->'name') is not null, false))`,
      parameters: ['5', 'true'],
      ids: ['anil', 'none'],
    });
  });

  it('of nothing is everything, or nothing', async () => {
    await expectCompiled(
      { kind: 'all', filters: [] },
      { sql: 'true', parameters: [], ids: ['anil', 'bina', 'junk', 'none', 'हिन्दी'] },
    );
    await expectCompiled({ kind: 'any', filters: [] }, { sql: 'false', parameters: [], ids: [] });
  });
});

describe('a filter that does not fit a declared type', () => {
  it('has an operator the type has no use for', () => {
    expectRefusal('name===5', 'MALFORMED_FILTER', ['"name"', 'declared text', 'starts with']);
    expectRefusal('name=>5', 'MALFORMED_FILTER', ['"name"', 'declared text', '"greater than" (=>)']);
    expectRefusal('amount=*5', 'MALFORMED_FILTER', ['"amount"', 'declared number', 'greater than']);
    expectRefusal('amount==5', 'MALFORMED_FILTER', ['"amount"', 'declared number']);
    expectRefusal('active=*tru', 'MALFORMED_FILTER', ['"active"', 'declared boolean', 'true or false']);
    expectRefusal('active=>1', 'MALFORMED_FILTER', ['"active"', 'declared boolean']);
    expectRefusal('created_on==2024', 'MALFORMED_FILTER', ['"created_on"', 'declared datetime', '=#in']);
    expectRefusal('person=>2024-05-01', 'MALFORMED_FILTER', [
      '"person"',
      'declared reference',
      'id or label',
    ]);
    expectRefusal('address=Pune', 'MALFORMED_FILTER', [
      '"address"',
      'declared object',
      'city, pin, tags, owner',
    ]);
    expectRefusal('lines=*x', 'MALFORMED_FILTER', ['"lines"', 'declared object', 'head, amount']);
    expectRefusal('scores=*5', 'MALFORMED_FILTER', ['"scores"', 'declared number']);
  });

  it('has an operand that is no value of the type', () => {
    expectRefusal('amount=five', 'INVALID_VALUE', ['"amount"', 'declared number', 'a number', '"five"']);
    expectRefusal('amount=today', 'INVALID_VALUE', ['"amount"', '"today"']);
    expectRefusal('amount=>2024-05-01', 'INVALID_VALUE', ['"amount"', 'a number', '"2024-05-01"']);
    expectRefusal('active=yes', 'INVALID_VALUE', ['"active"', 'true or false', '"yes"']);
    expectRefusal('created_on=soon', 'INVALID_VALUE', [
      '"created_on"',
      'declared datetime',
      'a day YYYY-MM-DD or an instant',
    ]);
    expectRefusal('created_on===5', 'INVALID_VALUE', ['"created_on"', 'not with 5']);
    expectRefusal('day=2024-05-01T00:00Z', 'INVALID_VALUE', ['"day"', 'a day YYYY-MM-DD']);
    expectRefusal('lines.amount=x', 'INVALID_VALUE', ['"lines.amount"', 'declared number']);
  });

  it('has a number no record can hold', () => {
    expectRefusal('amount===1e999999', 'INVALID_VALUE', ['exponent within ±400']);
    expectRefusal('amount=>-1e601', 'INVALID_VALUE', ['exponent within ±400']);
    expectRefusal(`amount===${'9'.repeat(500)}`, 'INVALID_VALUE', ['200 digits']);
    expectRefusal('extra===1e-5000', 'INVALID_VALUE', ['exponent within ±400']);
  });

  it('has a character no record can hold', () => {
    for (const text of ['a\0b', '\ud800', 'x\udc00']) {
      for (const path of [['name'], ['roles'], ['extra'], ['_id']]) {
        for (const kind of ['startsWith', 'contains', 'equalsInsensitive'] as const) {
          expectError({ kind, path, text }, 'INVALID_VALUE', ['U+0000']);
        }
        expectError({ kind: 'equals', path, value: text }, 'INVALID_VALUE', ['U+0000']);
      }
      expectError({ kind: 'exists', path: ['extra', text] }, 'INVALID_VALUE', ['U+0000']);
    }
  });
});

describe('resolveFilter', () => {
  it('names every path a filter looks at, from the record on', () => {
    const filter = parseWhere(
      {
        name: { equals: 'x' },
        or: [
          { not: { amount: { isNull: true } } },
          { lines: { any: { parts: { any: { name: { equals: 'y' } } } } } },
        ],
        roles: { any: { equals: 'z' } },
      },
      { collection: SAMPLE },
    );
    expect(resolveFilter(filter, contextOf(SAMPLE)).paths).toEqual([
      ['name'],
      ['amount'],
      ['lines'],
      ['lines', 'parts'],
      ['lines', 'parts', 'name'],
      ['roles'],
      ['roles'],
    ]);
  });
});

interface Expected {
  readonly collection?: Collection;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly ids: readonly string[];
}

async function expectFound(oquery: string, expected: Expected, options = {}): Promise<void> {
  await expectCompiled(parseOquery(oquery, options), expected);
}

async function expectCompiled(filter: Filter, expected: Expected): Promise<void> {
  const collection = expected.collection ?? SAMPLE;
  expectSql(compileFilter(filter, contextOf(collection)), expected.sql, expected.parameters);
  await expectIds(filter, expected.ids, collection);
}

async function expectIds(filter: Filter, ids: readonly string[], collection = SAMPLE): Promise<void> {
  expect(await find(test.database, filter, contextOf(collection))).toEqual(ids);
}

function expectRefusal(oquery: string, code: string, words: readonly string[]): void {
  expectError(parseOquery(oquery), code, words);
}

function expectError(filter: Filter, code: string, words: readonly string[]): void {
  let thrown: unknown;
  try {
    compileFilter(filter, contextOf(SAMPLE));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code, status: 400 });
  for (const word of words) expect((thrown as Error).message).toContain(word);
}
