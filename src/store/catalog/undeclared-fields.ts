/** Fields that records have and their collection does not declare, found in a sample of them. */
import { Prisma } from '../../generated/prisma/client.js';
import { type Collection, CREATED_ON } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';
import type { Database } from '../database/database.js';

export interface UndeclaredFields {
  /** How many records were looked at. */
  readonly sampledCount: number;
  readonly fields: readonly UndeclaredField[];
}

interface UndeclaredField {
  readonly name: string;
  /** What JSON calls its values, e.g. `string` and `null`. */
  readonly types: readonly string[];
  /** In how many of the records that were looked at. */
  readonly recordCount: number;
}

/** From each end of the ids: what was imported at one time often stands together. */
const SAMPLED_AT_EACH_END = 500;
const MOST_FIELDS = 100;
/** A caller chose the names, which may be of any length. */
const LONGEST_NAME = 200;

/**
 * Looks at a thousand live records of the caller's domain at most, whatever the collection holds: a field of
 * others alone is not found.
 */
export async function findUndeclaredFields(
  database: Database,
  scope: Scope,
  collection: Collection,
): Promise<UndeclaredFields> {
  const expected = ['_id', CREATED_ON, ...collection.fieldsByName.keys()];
  const live = Prisma.sql`
    from records r
    where r.domain = ${scope.domain.id} and r.collection = ${collection.name} and r.deleted_at is null`;
  const rows = await database.reading(scope).query<{
    sampled: number;
    name: string | null;
    types: readonly string[];
    found: number;
  }>(Prisma.sql`
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
