/** `EXPLAIN` of every form a declared field compiles to: it reaches the index made for the field. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseOquery } from '../../../src/base/languages/oquery.js';
import type { Collection } from '../../../src/base/model/collection.js';
import type { Filter } from '../../../src/base/model/filter.js';
import type { SortKey } from '../../../src/base/model/record-query.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { compileFilter } from '../../../src/store/sql/compile-filter.js';
import { compileSort, cursorExpression } from '../../../src/store/sql/compile-sort.js';
import {
  compileRecordSource,
  compileRecordSources,
  partsOfOrder,
} from '../../../src/store/sql/record-source.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { contextOf } from './find.js';
import { SAMPLE } from './sample-collection.js';

const test = useTestDatabase();
const ROWS = 8_000;
const LIVE = sql`r.domain = 'school' and r.collection = 'sample' and r.deleted_at is null`;

beforeAll(async () => {
  await ensurePartition(test.database, SAMPLE);
  await test.database.query(sql`
    insert into records (domain, collection, id, data)
    select 'school', 'sample', lpad(i::text, 6, '0'), jsonb_build_object(
      'name', 'name ' || md5(i::text),
      'amount', i,
      'active', i % 100 = 0,
      'created_on', to_char(timestamp '2024-01-01' + i * interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'day', to_char(timestamp '2024-01-01' + i * interval '1 hour', 'YYYY-MM-DD'),
      'month', to_char(timestamp '2024-01-01' + i * interval '1 hour', 'YYYY-MM'),
      'person', jsonb_build_object('value', 'U' || i, 'label', 'label ' || md5(i::text)),
      'roles', jsonb_build_array('r' || i, 'all'),
      'lines', jsonb_build_array(jsonb_build_object('head', 'h' || i)),
      'extra', 'e' || i)
    from generate_series(1, ${ROWS}::int) i`);
  // Absent in one half, null in the other.
  await test.database.query(sql`
    insert into records (domain, collection, id, data)
    select 'school', 'sample', lpad((i * 130)::text, 6, '0') || 'x', case when i % 2 = 0 then '{}'::jsonb
      else '{"created_on": null, "name": null}' end
    from generate_series(1, 60) i`);
  await test.database.query(sql`vacuum analyze records`);
});

describe('the b-tree of a declared field serves', () => {
  it('equality of every type', async () => {
    await expectIndex('name=name 5', 'name_idx');
    await expectIndex('amount=5', 'amount_idx');
    await expectIndex('amount===5', 'amount_idx');
    await expectIndex('active=true', 'active_idx');
    await expectIndex('day=2024-05-01', 'day_idx');
    await expectIndex('created_on=2024-05-01T00:00:00Z', 'created_on_idx');
  });

  it('one of many', async () => {
    await expectFilterIndex({ kind: 'in', path: ['amount'], values: [5, 6, 7] }, 'amount_idx');
    await expectFilterIndex({ kind: 'in', path: ['name'], values: ['a', 'b'] }, 'name_idx');
  });

  it('ranges', async () => {
    await expectIndex(`amount=>${ROWS - 20}`, 'amount_idx');
    await expectIndex('amount=<20', 'amount_idx');
    await expectIndex('created_on=>2024-11-25', 'created_on_idx');
    await expectIndex('created_on=<2024-01-02T10:00:00Z', 'created_on_idx');
    await expectIndex('day=>2024-11-28', 'day_idx');
  });

  it('days and months', async () => {
    await expectIndex('created_on=on2024-05-01', 'created_on_idx');
    await expectIndex('created_on=today', 'created_on_idx');
    await expectIndex('created_on=#in2024-11', 'created_on_idx');
    await expectIndex('day=on2024-05-01', 'day_idx');
    await expectIndex('day=#in2024-11', 'day_idx');
    await expectIndex('month=#in2024-11', 'month_idx');
  });

  it('what a text starts with', async () => {
    await expectIndex('name==name abc', 'name_idx');
  });

  it('the value of a reference', async () => {
    await expectIndex('person=U5', 'person_idx');
    await expectIndex('person.value=U5', 'person_idx');
    await expectFilterIndex({ kind: 'in', path: ['person'], values: ['U5', 'U6'] }, 'person_idx');
  });

  it('the first page of an order, and any after it', async () => {
    for (const direction of ['ascending', 'descending'] as const) {
      for (const name of ['created_on', 'amount', 'person']) {
        const sort: SortKey[] = [{ path: [name], direction }];
        await expectPage({ sort, index: `${name}_idx` });
        await expectPage({ sort, index: `${name}_idx`, from: ROWS / 2 });
        await expectPage({ sort, index: `${name}_idx`, from: ROWS / 2, fromEnd: true });
      }
    }
  });

  it('the first and the last page of an order, up and down', async () => {
    for (const direction of ['ascending', 'descending'] as const) {
      const sort = [{ path: ['created_on'], direction }];
      await expectPage({ sort, index: 'created_on_idx' });
      await expectPage({ sort, index: 'created_on_idx', fromEnd: true });
    }
  });

  it('the page on which the records without the value begin', async () => {
    for (const [direction, from] of [
      ['ascending', ROWS],
      ['descending', 1],
    ] as const) {
      const sort = [{ path: ['created_on'], direction }];
      await expectPage({ sort, index: 'created_on_idx', from });
    }
  });

  it('the first records of an order, for a write', async () => {
    for (const direction of ['ascending', 'descending'] as const) {
      const order = compileSort([{ path: ['name'], direction }], { collection: SAMPLE });
      const [present, missing] = partsOfOrder(order).map(
        ({ where, orderBy }) =>
          sql`select r.id from records r where ${LIVE} and ${where} order by ${orderBy}
            limit 1 for update of r`,
      );
      if (present === undefined || missing === undefined) throw new Error('an indexed order has two parts');
      await expectUsed(present, ['name_idx']);
      expect(await scannedRows(present)).toBeLessThan(100);
      expect(await scannedRows(missing)).toBeLessThan(1000);
    }
  });

  it('all records in an order, without a sort of all before the first', async () => {
    for (const direction of ['ascending', 'descending'] as const) {
      const order = compileSort([{ path: ['created_on'], direction }], { collection: SAMPLE });
      const sources = compileRecordSources({
        where: LIVE,
        order,
        after: undefined,
        before: undefined,
        fromEnd: false,
      });
      const [present, missing] = sources.map(
        ({ from, where, orderBy }) => sql`select r.data from ${from} where ${where} order by ${orderBy}`,
      );
      if (present === undefined || missing === undefined) throw new Error('an indexed order has two parts');
      await expectUsed(present, ['created_on_idx']);
      expect(
        nodesOf(await explain(present, 'explain (format json)')).map((node) => node['Node Type']),
      ).not.toContain('Sort');
      expect(await scannedRows(missing)).toBeLessThan(1000);
    }
  });

  it('the pages of an order in mixed directions', async () => {
    const sort: SortKey[] = [
      { path: ['created_on'], direction: 'descending' },
      { path: ['name'], direction: 'ascending' },
    ];
    await expectPage({ sort, index: 'created_on_idx', from: ROWS / 2 });
    await expectPage({ sort, index: 'created_on_idx', from: ROWS / 2, fromEnd: true });
  });
});

describe('the trigrams of a searchable field serve', () => {
  it('what a text contains', async () => {
    await expectIndex('name=*abcdef', 'name_trgm');
    await expectIndex('person=*abcdef', 'person_value_trgm', 'person_label_trgm');
  });

  it('text in upper or lower case', async () => {
    const options = { isInsensitive: true };
    await expectFilterIndex(parseOquery('name=*ABCDEF', options), 'name_trgm');
    await expectFilterIndex(parseOquery('name==NAME ABCD', options), 'name_trgm');
    await expectFilterIndex(parseOquery('name=NAME ABCDEF', options), 'name_trgm');
  });
});

describe('the index of the whole record serves', () => {
  it('equality in lists and of undeclared fields', async () => {
    await expectIndex('roles=r5', 'data_gin');
    await expectIndex('lines.head=h5', 'data_gin');
    await expectIndex('extra=e5', 'data_gin');
    await expectIndex('nothing.at.all=true', 'data_gin');
    await expectFilterIndex(
      { kind: 'element', path: ['lines'], filter: { kind: 'equals', path: ['head'], value: 'h5' } },
      'data_gin',
    );
  });
});

describe('the primary key serves', () => {
  it('records by their _id', async () => {
    await expectIndex('_id=000005', 'pkey');
    await expectIndex('_id==00000', 'pkey');
    await expectFilterIndex({ kind: 'in', path: ['_id'], values: ['000005', '000006'] }, 'pkey');
    await expectPage({ sort: [], index: 'pkey', from: ROWS / 2 });
  });
});

describe('a generic plan', () => {
  it('reaches the same indexes, as a prepared statement does', async () => {
    for (const [oquery, index] of [
      ['name=x', 'name_idx'],
      ['amount=>7990', 'amount_idx'],
      ['created_on=today', 'created_on_idx'],
      ['name==name abc', 'name_idx'],
      ['person=U5', 'person_idx'],
      ['name=*abcdef', 'name_trgm'],
      // The edge of a word makes a trigram of one letter behind it, or of two before it.
      ['name=*e x', 'name_trgm'],
      ['name=*xy ', 'name_trgm'],
      ['roles=r5', 'data_gin'],
    ] as const) {
      const filter = compileFilter(parseOquery(oquery), contextOf(SAMPLE));
      const plan = await genericPlan(sql`select r.id from records r where ${LIVE} and ${filter}`);
      expect(plan).toEqual(expect.arrayContaining([expect.stringContaining(`_${index}_`)]));
    }
  });

  it('serves every day that an index leads to by the equalities beside it', () => {
    const indexed: Collection = { ...SAMPLE, indexes: [[['name'], ['created_on']]] };
    const bounds = (oquery: string, collection = indexed) =>
      compileFilter(parseOquery(oquery), contextOf(collection)).text.match(/\(select \$\d::jsonb\)/g) ?? [];
    expect(bounds('name=x,created_on=on2024-05-01')).toHaveLength(2);
    expect(bounds('created_on=#in2024-05,name=x')).toHaveLength(2);
    // What PostgreSQL expects of other spans may be wrong by so much that another plan is better.
    for (const other of ['created_on=today', 'name=*x,created_on=today', 'name=x,created_on=>2024-05-01'])
      expect(bounds(other)).toEqual([]);
    expect(bounds('name=x,created_on=on2024-05-01', SAMPLE)).toEqual([]);
  });

  it('goes through no trigrams for a text too short to have any', async () => {
    for (const oquery of ['name=*ar', 'name=*a']) {
      const plan = (await genericPlan(firstOf(oquery))).join('\n');
      expect(plan).toContain('_pkey');
      expect(plan).not.toMatch(/trgm|Sort|Seq Scan/);
    }
  });

  it('is not kept to where a text may be in many records', async () => {
    const [rare, common] = [firstOf('name=*abcdef'), firstOf('name=*nam')];
    expect(common.text).toBe(rare.text);
    const client = await test.database.pool.connect();
    try {
      await client.query(`prepare first_of as ${rare.text}`);
      for (let run = 0; run < 10; run++) await client.query(executed(rare));
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${executed(common)}`);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain('_pkey');
      expect(plan).not.toMatch(/trgm|Sort/);
    } finally {
      await client.query('deallocate all');
      client.release();
    }
  });
});

/** A page that is short beside the records. */
function firstOf(oquery: string): Sql {
  const filter = compileFilter(parseOquery(oquery), contextOf(SAMPLE));
  return sql`select r.id from records r where ${LIVE} and ${filter} order by r.id limit 20`;
}

/** Runs the prepared statement `first_of` for the values of this one. */
function executed({ values }: Sql): string {
  return `execute first_of (${values.map((value) => `'${value}'`).join(', ')})`;
}

async function expectIndex(oquery: string, ...indexes: readonly string[]): Promise<void> {
  await expectFilterIndex(parseOquery(oquery), ...indexes);
}

async function expectFilterIndex(filter: Filter, ...indexes: readonly string[]): Promise<void> {
  const condition = compileFilter(filter, contextOf(SAMPLE));
  await expectUsed(sql`select r.id from records r where ${LIVE} and ${condition}`, indexes);
}

interface Page {
  readonly sort: readonly SortKey[];
  readonly index: string;
  /** The record whose cursor the page starts at. */
  readonly from?: number;
  readonly fromEnd?: boolean;
}

async function expectPage({ sort, index, from, fromEnd = false }: Page): Promise<void> {
  const order = compileSort(sort, { collection: SAMPLE });
  const [row] = await test.database.query<{ cursor: string }>(sql`
    select ${cursorExpression(order)} as cursor from records r where ${LIVE}
      and r.id = ${String(from).padStart(6, '0')}`);
  const position = fromEnd ? { before: row?.cursor } : { after: row?.cursor };
  const source = compileRecordSource({ where: LIVE, order, ...position, fromEnd, limit: 21 });
  const page = sql`
    select r.id from ${source.from} where ${source.where} order by ${source.orderBy} limit 21`;
  await expectUsed(page, [index]);
  expect(await scannedRows(page)).toBeLessThan(100);
}

async function expectUsed(sql: Sql, indexes: readonly string[]): Promise<void> {
  const used = usedIndexes(await explain(sql, 'explain (format json)'));
  for (const index of indexes) {
    expect(used).toEqual(expect.arrayContaining([expect.stringMatching(new RegExp(`_${index}(_|$)`))]));
  }
  expect(used).not.toContain('a table, read from end to end');
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

async function explain(statement: Sql, command: string): Promise<Plan> {
  const rows = await test.database.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
    sql`${sql.raw(command)} ${statement}`,
  );
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (plan === undefined) throw new Error('Postgres explained nothing');
  return plan;
}

function nodesOf(plan: Plan): readonly Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function usedIndexes(plan: Plan): string[] {
  return nodesOf(plan).flatMap((node) => {
    if (node['Node Type'] === 'Seq Scan') return ['a table, read from end to end'];
    return node['Index Name'] === undefined ? [] : [node['Index Name']];
  });
}

/** The most rows any step of the plan took in. */
async function scannedRows(sql: Sql): Promise<number> {
  const plan = await explain(sql, 'explain (analyze, format json)');
  const rows = nodesOf(plan).map(
    (node) => (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0),
  );
  return Math.max(...rows);
}

/** As a prepared statement is planned for any values, on every version of PostgreSQL. */
async function genericPlan(sql: Sql): Promise<string[]> {
  const client = await test.database.pool.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare planned_once as ${sql.text}`);
    const nulls = sql.values.map(() => 'null').join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute planned_once (${nulls})`);
    return rows.map((row) => row['QUERY PLAN']);
  } finally {
    client.release(true);
  }
}
