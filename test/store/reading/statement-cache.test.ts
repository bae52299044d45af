import { describe, expect, it } from '@jest/globals';
import { queryOf, type RecordQuery } from '../../../src/base/model/record-query.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import { QueryPlans } from '../../../src/store/reading/query-plans.js';
import { StatementCache } from '../../../src/store/reading/statement-cache.js';
import { Sql, sql } from '../../../src/store/sql.js';
import { ADMIN, scopeOf } from '../people.js';

describe('what is kept of a read', () => {
  it('is put together once for all values of a condition, each of which gets its own', () => {
    const { read, compiled } = counted();
    expect(read({ value: 'a' }).values).toEqual(['before', 'a', 10, 'a']);
    expect(read({ value: 'b' }).values).toEqual(['before', 'b', 10, 'b']);
    expect(read({ value: ['c', 'd'] }).values).toEqual(['before', ['c', 'd'], 10, ['c', 'd']]);
    expect(compiled()).toBe(1);
  });

  it('has the text and the name of what was put together', () => {
    const { read } = counted();
    const first = read({ value: 'a' });
    const second = read({ value: 'b' });
    expect(second.text).toBe('select $1 from records r where x = $2 limit $3 union x = $4');
    expect(second.text).toBe(first.text);
    expect(second.sql).toBeInstanceOf(Sql);
    expect(sql`explain ${second.sql}`.text).toBe(`explain ${first.text}`);
    expect(sql`explain ${second.sql}`.values).toEqual(['before', 'b', 10, 'b']);
  });

  it.each<[string, Asked]>([
    ['condition', { condition: sql`y = ${'a'}` }],
    ['order', { query: { sort: [{ path: ['x'], direction: 'ascending' }] } }],
    ['projection', { query: { projection: [['x']] } }],
    ['limit', { query: { limit: 5 } }],
    ['cursor', { query: { after: 'c' } }],
    ['collection', { query: { collection: 'other' } }],
    ['principal', { scope: scopeOf({ id: 'usr-other', roles: ['admin'] }) }],
    ['catalog', { revision: {} }],
    ['minute', { now: new Date('2026-05-01T10:01:00Z') }],
  ])('is that of one %s', (_what, other) => {
    const { read, compiled } = counted();
    read({ value: 'a' });
    read({ value: 'a', ...other });
    expect(compiled()).toBe(2);
  });
});

describe('the fields that paths name', () => {
  const plans = new QueryPlans();
  const fields = ['a', 'b'].map((name) => ({ name, type: 'text' }));
  const collection = parseCollection(
    { name: 'note', fields },
    { source: 'test', isDeclared: false, version: 1 },
  );

  it('are one list for the same names, which is known again', () => {
    const first = plans.namedFields(collection, [['a'], ['b', 'x'], ['unknown'], []]);
    expect(first).toEqual([
      { collection: 'note', field: 'a' },
      { collection: 'note', field: 'b' },
    ]);
    expect(plans.namedFields(collection, [['a'], ['b', 'y'], ['unknown'], []])).toBe(first);
  });

  it('are told from one name that looks like several', () => {
    expect(plans.namedFields(collection, [['a'], ['b']])).toHaveLength(2);
    expect(plans.namedFields(collection, [['a1:b']])).toEqual([]);
  });
});

interface Asked {
  readonly value?: unknown;
  readonly condition?: Sql;
  readonly query?: Partial<RecordQuery>;
  readonly scope?: typeof ADMIN;
  readonly revision?: object;
  readonly now?: Date;
}

function counted() {
  const statementCache = new StatementCache();
  const catalog = {};
  let count = 0;
  const read = ({ value, condition, query, scope, revision, now }: Asked) => {
    const where = condition ?? sql`x = ${value}`;
    const kept = statementCache.find(
      {
        scope: scope ?? ADMIN,
        query: { ...queryOf('note'), ...query },
        revision: revision ?? catalog,
        now: now ?? new Date('2026-05-01T10:00:30Z'),
      },
      where,
    );
    const { sql: statement } = kept.statement('page', where, (slotted) => {
      count += 1;
      return sql`select ${'before'} from records r where ${slotted} limit ${10} union ${slotted}`;
    });
    return { sql: statement, text: statement.text, values: statement.values };
  };
  return { read, compiled: () => count };
}
