/** Holds the rows that follow from records against what they come to when they are made anew. */
import { expect } from '@jest/globals';
import type pg from 'pg';

/** Empty rows count for no report, and wait for `sweepDerivedRows`. */
const ROWS = {
  fee_months: `select to_jsonb(m)::text as row from fee_months m where dues <> '{}' or payments <> '{}'
    order by domain, student, month`,
  attendance_months: `select to_jsonb(m)::text as row from attendance_months m
    where present | absent | late | half_day | leave | other <> 0
    order by domain, student, month, class, section`,
  collected_receipts: `select to_jsonb(c)::text as row from collected_receipts c
    where total is not null or fault is not null order by domain, id`,
};

/** Takes the triggers away, which would do what a statement has left undone. */
export async function dropDerivingTriggers(sql: pg.Pool): Promise<void> {
  const { rows } = await sql.query<{ name: string }>(`
    select tgname as name from pg_trigger
    where tgrelid = 'records'::regclass and not tgisinternal and tgname like 'keep%'`);
  for (const { name } of rows) await sql.query(`drop trigger ${name} on records`);
  expect(rows.length).toBeGreaterThan(0);
}

/** Gives how many rows there are. */
export async function expectDerived(sql: pg.Pool): Promise<number> {
  const client = await sql.connect();
  const read = async () => {
    const tables: (readonly [string, readonly string[]])[] = [];
    for (const [table, statement] of Object.entries(ROWS)) {
      const { rows } = await client.query<{ row: string }>(statement);
      tables.push([table, rows.map(({ row }) => row)]);
    }
    return tables;
  };
  try {
    await client.query('begin');
    const kept = await read();
    await client.query('select derive_rows_anew(null)');
    expect(kept).toEqual(await read());
    return kept.flatMap(([, rows]) => rows).length;
  } finally {
    await client.query('rollback');
    client.release();
  }
}
