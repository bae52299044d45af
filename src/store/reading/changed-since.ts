/** What has changed of a collection since an instant, removals included: statements over the alias `r`. */
import { Prisma } from '../../generated/prisma/client.js';

type Sql = Prisma.Sql;

/** A removal is a change too, and is marked by the same time. */
export function changedSince(records: Sql, since: string): Sql {
  return Prisma.sql`${records} and r.updated_at >= ${since}::timestamptz`;
}

/** No field of a record begins with `$`, so a tombstone is mistaken for none. `record` is JSON text. */
export function selectChanges(record: Sql, where: Sql): Sql {
  return Prisma.sql`
select case when r.deleted_at is null then ${record} else jsonb_build_object(
    '_id', r.id,
    '$removed', to_char(r.deleted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  )::text end as json
from records r
where ${where}
order by r.id`;
}

export function selectCount(where: Sql): Sql {
  return Prisma.sql`select count(*)::int as found from records r where ${where}`;
}
