/** Nothing a caller sends becomes SQL: not a value, not a name, not a cursor, by whichever door it comes. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../src/base/errors.js';
import { parseOquery } from '../../../src/base/languages/oquery.js';
import { parseProjectParameter, parseSortParameter } from '../../../src/base/languages/sort-parameter.js';
import { parseWhere } from '../../../src/base/languages/where.js';
import type { Collection, Field } from '../../../src/base/model/collection.js';
import type { Filter } from '../../../src/base/model/filter.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { compileFilter } from '../../../src/store/sql/compile-filter.js';
import { compileProjection } from '../../../src/store/sql/compile-projection.js';
import { compileSort } from '../../../src/store/sql/compile-sort.js';
import { fieldJson } from '../../../src/store/sql/names.js';
import { compileRecordSource } from '../../../src/store/sql/record-source.js';
import { namedStatements } from '../../../src/store/sql/statement-name.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { runsOf } from '../../full-length.js';
import { fittingFilter } from './arbitraries.js';
import { contextOf, store } from './find.js';
import { SAMPLE } from './sample-collection.js';

const test = useTestDatabase();

/** Ends a string, an expression, a statement, a jsonpath, a regular expression, a pattern, a parameter. */
const ATTACKS = [
  `'; drop table records; --`,
  `' or '1'='1`,
  `'') or true --`,
  `x' || pg_sleep(10) || '`,
  `"; drop table records; --`,
  `" || true || "`,
  `")) || (1 == 1) || (@ == "`,
  `\\" || true || \\"`,
  `\\'; select 1; --`,
  `$1`,
  `$$; drop table records; $$`,
  `$."x" ? (true)`,
  `a" ? (1 == 1) . "b`,
  `.*) || (1 == 1) || (.*`,
  `%' or data::text like '%`,
  `/* */ union select password_hash from credentials /*`,
  `\${process.exit()}`,
  `{"$ne": null}`,
  `]::text[]) or (true`,
  `\u2019; drop table records`,
  `\ufe68'; --`,
] as const;

beforeAll(async () => {
  await ensurePartition(test.database, SAMPLE);
  await store(test.database, SAMPLE, { a: { name: 'x', extra: 'x' }, b: { name: 'y' } });
});

describe('a value', () => {
  it('of oquery is a parameter', async () => {
    for (const attack of ATTACKS) {
      const escaped = attack.replace(/[\\,]/g, '\\$&');
      const oqueries = ['name', 'roles', 'extra', 'person', '_id', 'lines.head', 'address.city'].flatMap(
        (field) => ['=\\', '==\\', '=*', '=!*', '=!='].map((operator) => `${field}${operator}${escaped}`),
      );
      await expectHarmless(
        oqueries.flatMap((text) => [parseOquery(text), parseOquery(text, { isInsensitive: true })]),
        attack,
      );
    }
  });

  it('of where is a parameter', async () => {
    for (const attack of ATTACKS) {
      const wheres = [
        { name: { equals: attack, mode: 'insensitive' } },
        { name: { in: [attack, attack] } },
        { roles: { any: { contains: attack } } },
        { person: { label: { startsWith: attack } } },
        { lines: { any: { head: { notContains: attack } } } },
        { id: { in: [attack] } },
      ];
      await expectHarmless(
        wheres.map((where) => parseWhere(where, { collection: SAMPLE })),
        attack,
      );
    }
  });

  it('that is no number, day or boolean is refused', () => {
    for (const attack of ATTACKS) {
      for (const field of ['amount', 'active', 'created_on', 'day']) {
        const filter: Filter = { kind: 'looseEquals', path: [field], text: attack };
        expect(() => compileFilter(filter, contextOf(SAMPLE))).toThrow(ServiceError);
      }
      for (const operator of ['===', '=>', '=<']) {
        expect(() => parseOquery(`amount${operator}${attack.replace(/[\\,]/g, '\\$&')}`)).toThrow(
          ServiceError,
        );
      }
    }
  });
});

describe('a name', () => {
  it('with anything but letters, digits, _, $ and - is refused in every text', () => {
    for (const attack of ATTACKS.filter((one) => /[^A-Za-z0-9_$.-]/.test(one))) {
      expect(() => parseOquery(`${attack.replace(/[=,]/g, '')}=1`)).toThrow(ServiceError);
      expect(() => parseSortParameter(attack)).toThrow(ServiceError);
      expect(() => parseProjectParameter(attack)).toThrow(ServiceError);
      expect(() => parseWhere({ [attack]: { equals: 'x' } }, { collection: SAMPLE })).toThrow(ServiceError);
      expect(() => parseWhere({ name: { [attack]: 'x' } }, { collection: SAMPLE })).toThrow(ServiceError);
    }
  });

  it('of an undeclared field is a parameter, whatever it is', async () => {
    for (const attack of ATTACKS) {
      const paths = [
        [attack],
        ['extra', attack],
        ['name', attack],
        ['person', attack],
        ['lines', attack, attack],
      ];
      await expectHarmless(
        paths.flatMap((path): Filter[] => [
          { kind: 'looseEquals', path, text: 'x' },
          { kind: 'contains', path, text: 'x' },
          { kind: 'isNull', path },
          { kind: 'exists', path },
          { kind: 'element', path, filter: { kind: 'exists', path } },
        ]),
        attack,
      );
      const order = compileSort([{ path: [attack, attack], direction: 'ascending' }], { collection: SAMPLE });
      await expectRuns(attack, sql`select r.id from records r order by ${order.orderBy}`);
      for (const hidden of [new Set<string>(), new Set([attack])]) {
        await expectRuns(attack, selectWith(compileProjection(paths, hidden, contextOf(SAMPLE))));
        await expectRuns(attack, selectWith(compileProjection(undefined, hidden, contextOf(SAMPLE))));
      }
    }
  });

  it('of a declaration is a literal only when its letters are on the list', () => {
    // In quotes, `$1` is two letters like any others.
    for (const attack of ATTACKS.filter((one) => one !== '$1')) {
      const hostile = withField(attack);
      const sql = fieldJson(hostile, [attack]);
      expect(sql.text).toBe('(r.data #> $1::text[])');
      const filter: Filter = { kind: 'equals', path: [attack], value: 'x' };
      expect(compileFilter(filter, contextOf(hostile)).text).not.toContain(attack);
      expect(compileProjection([[attack]], new Set(), contextOf(hostile)).text).not.toContain(attack);
      expect(
        compileSort([{ path: [attack], direction: 'ascending' }], { collection: hostile }).orderBy.text,
      ).toBe(
        "case when (r.data #> $1::text[]) > 'null'::jsonb then (r.data #> $2::text[]) end asc nulls " +
          'last, r.id asc',
      );
    }
  });

  it('is not mistaken for another that is spelled like it', () => {
    expect(fieldJson(SAMPLE, ['address', 'city']).text).toBe(`(r.data->'address'->'city')`);
    for (const path of [['address.city'], ['address"', '"city'], ['address","city'], ['address\\', 'city']]) {
      expect(fieldJson(SAMPLE, path)).toMatchObject({ text: '(r.data #> $1::text[])', values: [path] });
    }
  });
});

describe('a cursor', () => {
  it('is a parameter, whatever is in it', async () => {
    const order = compileSort([{ path: ['name'], direction: 'ascending' }], { collection: SAMPLE });
    const made = order.description;
    expect(made).not.toBe('');
    for (const attack of ATTACKS) {
      const forged = Buffer.from(JSON.stringify(['x', JSON.stringify(attack), attack])).toString('base64url');
      const where = sql`r.domain = 'school'`;
      for (const cursor of [attack, forged]) {
        expect(() => compileRecordSource({ where, order, after: cursor, fromEnd: false, limit: 1 })).toThrow(
          ServiceError,
        );
      }
    }
  });
});

describe('the text of a statement', () => {
  // Those of the process are shared with other files of tests, and are counted.
  const statementName = namedStatements();

  it('depends on the shape of a filter, and of its values on whether a pattern has trigrams alone', () => {
    const check = fc.property(fittingFilter, fc.constantFrom(...ATTACKS, 'x', 'हिन्दी'), (filter, other) => {
      const one = compileFilter(filter, contextOf(SAMPLE)).text;
      const another = compileFilter(withTexts(filter, other), contextOf(SAMPLE)).text;
      expect(withoutTrigrams(another)).toBe(withoutTrigrams(one));
    });
    fc.assert(check, runsOf(500));
  });

  it('is prepared under one name, which tells nothing of it', () => {
    const text = compileFilter(parseOquery('name=a'), contextOf(SAMPLE)).text;
    expect(statementName(text)).toMatch(/^q_[0-9a-f]{24}$/);
    expect(statementName(compileFilter(parseOquery('name=b'), contextOf(SAMPLE)).text)).toBe(
      statementName(text),
    );
    expect(statementName(`${text} `)).not.toBe(statementName(text));
  });

  it('is prepared for a bound number of shapes', () => {
    const names = Array.from({ length: 600 }, (_, index) => statementName(`select ${index}`));
    expect(names.filter((name) => name === undefined).length).toBeGreaterThan(0);
    expect(statementName('select 0')).toBe(names[0]);
  });
});

/** A statement as it is where nothing is known of its patterns. */
function withoutTrigrams(sqlText: string): string {
  return sqlText
    .replace(/coalesce\((\([^()]*\) i?like \$\d+)::text, false\)/g, '$1')
    .replace(/( i?like \$\d+)::text/g, '$1');
}

/**
 * None of the records has any of it: each filter finds nothing, or all where it is a negation; and nothing
 * else happens.
 */
async function expectHarmless(filters: readonly Filter[], attack: string): Promise<void> {
  const conditions = filters.map((filter) => compileFilter(filter, contextOf(SAMPLE)));
  for (const condition of conditions) expectNoTrace(condition, attack);
  const counts = conditions.map((condition) => sql`count(*) filter (where ${condition})::int`);
  const [row] = await test.database.query<{ found: readonly number[] }>(
    sql`select array[${sql.join(counts)}] as found from records r`,
  );
  expect(row?.found).toEqual(filters.map(({ kind }) => (kind === 'not' || kind === 'isNull' ? 2 : 0)));
}

async function expectRuns(attack: string, sql: Sql): Promise<void> {
  expectNoTrace(sql, attack);
  expect(await test.database.query(sql)).toHaveLength(2);
}

function expectNoTrace(sql: Sql, attack: string): void {
  // `$1` is in every statement.
  if (attack !== '$1') expect(sql.text).not.toContain(attack);
  expect(sql.text).not.toMatch(/drop|sleep|union|--|\/\*|1'='1/i);
}

function selectWith(expression: Sql): Sql {
  return sql`select ${expression} as json from records r`;
}

function withField(name: string): Collection {
  const [template] = SAMPLE.fields;
  if (template === undefined) throw new Error('the sample collection has fields');
  const field: Field = { ...template, name };
  return { ...SAMPLE, fields: [field], fieldsByName: new Map([[name, field]]) };
}

/** The same filter with other texts to look for. */
function withTexts(filter: Filter, text: string): Filter {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return { ...filter, filters: filter.filters.map((part) => withTexts(part, text)) };
    case 'not':
    case 'element':
      return { ...filter, filter: withTexts(filter.filter, text) };
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      return { ...filter, text };
    default:
      return filter;
  }
}
