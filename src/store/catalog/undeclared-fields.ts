/** Finds fields in a sample of records that their collection does not declare. */

import { type Collection, CREATED_ON } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import type { Database } from '../database/database.js';
import { sql } from '../sql.js';

export interface UndeclaredFields {
  /** The number of records in the sample. */
  readonly sampledCount: number;
  readonly fields: readonly UndeclaredField[];
}

interface UndeclaredField {
  readonly name: string;
  /** The JSON types of its values, e.g. `string` and `null`. */
  readonly types: readonly string[];
  /** In how many records of the sample it occurs. */
  readonly recordCount: number;
}

/** Records from each end of the ids, because imported records are often adjacent. */
const SAMPLED_AT_EACH_END = 500;
const MOST_FIELDS = 100;
/** Names come from callers, and may have any length. */
const LONGEST_NAME = 200;

/**
 * Examines at most a thousand live records of the caller's domain; a field that occurs only in others is not
 * found.
 */
export async function findUndeclaredFields(
  database: Database,
  scope: Scope,
  collection: Collection,
): Promise<UndeclaredFields> {
  const expected = ['_id', CREATED_ON, ...collection.fieldsByName.keys()];
  const live = sql`
    from records r
    where r.domain = ${scope.domain.id} and r.collection = ${collection.name} and r.deleted_at is null`;
  const rows = await database.reading(scope).query<{
    sampled: number;
    name: string | null;
    types: readonly string[];
    found: number;
  }>(sql`
    with sampled as (
      (select r.id ${live} order by r.id limit ${SAMPLED_AT_EACH_END}::int)
      union
      (select r.id ${live} order by r.id desc limit ${SAMPLED_AT_EACH_END}::int)
    ), found as (
      select left(member.key, ${LONGEST_NAME}::int) as name,
        array_agg(distinct jsonb_typeof(member.value)) as types,
        count(*)::int as found
      from sampled
      join records r
        on r.domain = ${scope.domain.id} and r.collection = ${collection.name} and r.id = sampled.id
      cross join jsonb_each(r.data) as member
      where member.key <> all(${expected}::text[])
      group by 1
      order by 3 desc, 1
      limit ${MOST_FIELDS}::int
    )
    select (select count(*)::int from sampled) as sampled, found.name, found.types, found.found
    from (select 1) as one
    left join found on true
    order by found.found desc, found.name`);
  return {
    sampledCount: rows[0]?.sampled ?? 0,
    fields: rows.flatMap(({ name, types, found }) =>
      name === null ? [] : [{ name, types, recordCount: found }],
    ),
  };
}
