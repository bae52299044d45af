/**
 * The parts of statements that give what a record was: its latest document, and the changes that led there,
 * each with what it replaced. An `_id` that was purged and taken anew is another record: what the first one
 * was is not told of the second.
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Collection } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';
import { nameLiteral, recordsOf } from '../sql/records-of.js';

type Sql = Prisma.Sql;

/**
 * `present`, the record with its tombstone counted in, and `steps`, its changes. `delta` is what a change
 * replaced; null where it is not kept, and where a version is missing between two changes. `rows` is a
 * condition over `r`: a record that does not satisfy it now has no steps.
 */
export function versionsOfRecord(
  scope: Scope,
  collection: Collection,
  { id, rows }: { readonly id: string; readonly rows: Sql | undefined },
): Sql {
  const entries = Prisma.sql`e.domain = ${scope.domain.id} and e.collection = ${nameLiteral(collection.name)}
      and e.record_id = ${id} and ${IS_CHANGE}`;
  return Prisma.sql`present as (
  select r.domain, r.collection, r.id, r.data, r.version, r.created_at, r.updated_at, r.deleted_at
  from records r
  where ${recordsOf(scope, collection)} and r.id = ${id}
    ${rows === undefined ? Prisma.empty : Prisma.sql`and (${rows})`}
),
life as (
  select max(e.id) as first_entry
  from audit_entries e
  where ${entries} and e.operation = 'created' and e.from_version is null
),
steps as (
  select p.domain, p.collection, p.id, p.created_at, p.data as latest, p.version as latest_version,
    e.at, e.operation, e.from_version, e.to_version, e.principal, e.credential, e.request_id,
    e.request_operation,
    case
      when e.to_version = p.version + 1 - row_number() over (order by e.to_version desc) then e.before
    end as delta
  from present p, life l, audit_entries e
  where ${entries} and e.id >= coalesce(l.first_entry, 0) and e.to_version <= p.version
)`;
}

/** The entries `e` of changes: the audit trail also notes what was done with the data of persons. */
export const IS_CHANGE = Prisma.sql`e.operation in ('created', 'updated', 'deleted')`;

/**
 * The JSON null that `data_before` gives for a document that is not known. See the migration 0018_history.
 */
export const UNKNOWN = Prisma.sql`'null'::jsonb`;

/**
 * Whether a record `r` is again what an entry of its audit trail left: `operation` is that of the entry, and
 * `data` the document after it.
 */
export function isAgain({ operation, data }: { readonly operation: Sql; readonly data: Sql }): Sql {
  return Prisma.sql`(${data} = r.data and (${operation} = 'deleted') = (r.deleted_at is not null))`;
}

/**
 * `state`, the record as the latest of the steps `s` that are asked for left it. `data` may be `UNKNOWN`.
 * What it is now is known of a record without steps too, e.g. one that was loaded past the gateway, and so is
 * what it was before the first of them: since when, of the first version alone.
 */
export function stateOf(asked: Sql): Sql {
  return Prisma.sql`known as (
  select s.domain, s.collection, s.id, s.to_version, s.created_at, s.at,
    s.operation = 'deleted' as is_removed, s.latest
  from steps s
  union all
  select p.domain, p.collection, p.id, p.version, p.created_at, p.updated_at, p.deleted_at is not null, p.data
  from present p
  where not exists (select 1 from steps s where s.to_version = p.version)
  union all
  (
    select s.domain, s.collection, s.id, s.from_version, s.created_at,
      case when s.from_version = 1 then s.created_at end, s.operation = 'created', s.latest
    from steps s
    where s.from_version is not null
    order by s.to_version
    limit 1
  )
),
wanted as (
  select s.*
  from known s
  where ${asked}
  order by s.to_version desc
  limit 1
),
state as (
  select w.domain, w.collection, w.id, w.to_version as version, w.created_at, w.at as updated_at,
    w.is_removed,
    coalesce(
      (
        select data_before(s.latest, s.delta order by s.to_version desc)
        from steps s
        where s.to_version > w.to_version
      ),
      w.latest
    ) as data
  from wanted w
)`;
}
