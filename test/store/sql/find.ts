/** The words the hand-written tests of this room are written in. */
import { expect } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import type { Collection } from '../../../src/base/model/collection.js';
import type { Filter } from '../../../src/base/model/filter.js';
import type { Database } from '../../../src/store/database/database.js';
import { type CompileContext, compileFilter } from '../../../src/store/sql/compile-filter.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { NOW } from './arbitraries.js';

export const DOMAIN = 'school';

export function contextOf(collection: Collection): CompileContext {
  return { collection, timeZone: 'Asia/Kolkata', now: NOW, isByteOrdered: true };
}

/** Stores records by their id. */
export async function store(
  database: Database,
  collection: Collection,
  dataById: Readonly<Record<string, JsonObject>>,
): Promise<void> {
  await database.query(sql`
    insert into records (domain, collection, id, data)
    select ${DOMAIN}, ${collection.name}, e.key, e.value
      from jsonb_each(${JSON.stringify(dataById)}::jsonb) e`);
}

/** The ids of the live records that satisfy the filter, in order. */
export async function find(
  database: Database,
  filter: Filter,
  context: CompileContext,
): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(sql`
    select r.id from records r
    where r.domain = ${DOMAIN} and r.collection = ${context.collection.name} and r.deleted_at is null
      and ${compileFilter(filter, context)}
    order by r.id collate "C"`);
  return rows.map(({ id }) => id);
}

/** The text as Postgres gets it, on one line. */
function sqlOf(sql: Sql): string {
  return sql.text.replace(/\s+/g, ' ').trim();
}

export function expectSql(sql: Sql, text: string, parameters: readonly unknown[]): void {
  expect(sqlOf(sql)).toBe(text);
  expect(sql.values).toEqual(parameters);
}
