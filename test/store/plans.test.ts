/**
 * What Postgres does with the statements of the store: only a wrong plan tells that an index is there and not
 * used.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseOquery } from '../../src/base/languages/oquery.js';
import type { EndedStatement } from '../../src/base/model/call.js';
import { queryOf, type RecordQuery } from '../../src/base/model/record-query.js';
import type { CollectionDefinition } from '../../src/store/catalog/collection-definition.js';
import { sql } from '../../src/store/sql.js';
import { ADMIN } from './people.js';
import { useTestStore } from './store.js';

const MARK: CollectionDefinition = {
  name: 'mark',
  fields: [
    { name: 'class', type: 'text', index: true },
    { name: 'created', type: 'datetime', index: true },
  ],
};

/** The same with an index of class and day together. */
const ROLL: CollectionDefinition = { ...MARK, name: 'roll', indexes: [['class', 'created']] };

const test = useTestStore([MARK, ROLL]);

beforeAll(async () => {
  await test.database.query(sql`
    insert into records (domain, collection, id, data)
    select 'school', collection, 'm-' || n,
      jsonb_build_object(
        'class', (n % 12)::text,
        'created', to_char(timestamp '2026-01-01' + n / 100 * interval '1 day', 'YYYY-MM-DD"T"04:00:00.000Z"')
      )
    from generate_series(0, 19999) n, unnest('{mark,roll}'::text[]) collection`);
  await test.database.query(sql`analyze records`);
});

async function planOf(query: Partial<RecordQuery>): Promise<string> {
  const { statements } = test.store.find(ADMIN, { ...queryOf('mark'), limit: 100, ...query });
  const rows = await test.database.query<{ 'QUERY PLAN': string }>(
    sql`explain ${statements.page(statements.where)}`,
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('a list', () => {
  it('of a class and a day is read by the index of the day, which finds less', async () => {
    const plan = await planOf({ filter: parseOquery('class=5,created=on2026-03-01') });
    expect(plan).toMatch(/mark_created_idx/);
    expect(plan).not.toMatch(/mark_class_idx|Seq Scan/);
  });

  it('of a class and a day is read by the index of both, where one is declared', async () => {
    const plan = await planOf({ collection: 'roll', filter: parseOquery('class=5,created=on2026-03-01') });
    expect(plan).toMatch(/roll_class_created_idx/);
  });

  it('of a class that is a twelfth of all is read in its order until the page is full', async () => {
    expect(await planOf({ filter: parseOquery('class=5') })).toMatch(/records_mark_pkey/);
  });

  it('reads one partition', async () => {
    expect(await planOf({ filter: parseOquery('created=on2026-03-01') })).not.toMatch(
      /Append|records_default/,
    );
  });

  it('by _id reads its primary key', async () => {
    expect(await planOf({ filter: { kind: 'equals', path: ['_id'], value: 'm-7' } })).toMatch(
      /records_mark_pkey.*\n.*Index Cond:.*\(id = 'm-7'::text\)/,
    );
  });
});

describe('records that are read together by their ids', () => {
  it('are read by the primary key under a plan for any ids', async () => {
    let joined: EndedStatement['sql'] | undefined;
    test.database.watchSlow({
      thresholdMs: 0,
      onSlow: ({ sql }) => {
        if (sql.text.includes('any(array[')) joined ??= sql;
      },
    });
    // Two credentials with the same rights.
    const other = { ...ADMIN, principal: { ...ADMIN.principal } };
    for (const scope of [ADMIN, other]) await test.store.get(scope, 'mark', 'm-3');
    await Promise.all([test.store.get(ADMIN, 'mark', 'm-1'), test.store.get(other, 'mark', 'm-2')]);
    if (joined === undefined) throw new Error('no statement was heard of');
    const types = joined.values.map(() => 'text').join();
    const lines = await test.database.withConnection('plan', async (connection) => {
      const run = (text: string) => connection.query<{ 'QUERY PLAN': string }>(sql.raw(text));
      await run('set plan_cache_mode = force_generic_plan');
      await run(`prepare joined (${types}) as ${joined?.text}`);
      return await run(`explain execute joined (${types.replaceAll('text', "''")})`);
    });
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan using records_mark_pkey/);
    expect(plan).toMatch(/Index Cond: .*id = ANY/);
  });
});
