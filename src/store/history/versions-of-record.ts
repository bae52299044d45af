/**
 * Parts of statements that reconstruct a record's history: its latest document, and the changes that led to
 * it, each with what it replaced. If an `_id` was purged and used again, the history begins with the second
 * record.
 */

import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { nameLiteral, recordsOf } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';

/**
 * `present`, the record or its tombstone, and `steps`, its changes. `delta` is what a change replaced; null
 * if it is not kept, or if a version between two changes is missing. `rows` is a condition over `r`: a record
 * that does not satisfy it now has no steps.
 */
export function versionsOfRecord(
  scope: Scope,
  collection: Collection,
  { id, rows }: { readonly id: string; readonly rows: Sql | undefined },
): Sql {
  const entries = sql`e.domain = ${scope.domain.id} and e.collection = ${nameLiteral(collection.name)}
      and e.record_id = ${id} and ${IS_CHANGE}`;
  return sql`present as (
  select r.domain, r.collection, r.id, r.data, r.version, r.created_at, r.updated_at, r.deleted_at
  from records r
  where ${recordsOf(scope, collection)} and r.id = ${id}
    ${rows === undefined ? sql.empty : sql`and (${rows})`}
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

/**
 * The entries `e` of changes in a domain, or in a collection of it, found by their request. Domain and
 * collection are written so that no index has them: while the statistics do not contain the domain,
 * PostgreSQL would expect few entries in it and read all of them. Where Citus plans the statement it needs
 * the domain: `isRouted`.
 */
export function changesOfRequest(
  { domain }: Pick<Scope, 'domain'>,
  {
    collection,
    isOfRequest,
    isRouted,
  }: { readonly collection?: Collection; readonly isOfRequest: Sql; readonly isRouted: boolean },
): Sql {
  const column = sql.raw(isRouted ? 'e.domain' : `e.domain || ''`);
  const inCollection =
    collection === undefined ? sql.empty : sql`and e.collection || '' = ${nameLiteral(collection.name)}`;
  return sql`${column} = ${domain.id} ${inCollection} and ${isOfRequest} and ${IS_CHANGE}`;
}

/** The entries `e` of changes of one record, by the index that contains their order. */
export function changesOfRecord(
  { domain }: Pick<Scope, 'domain'>,
  collection: Collection,
  { id, isRouted }: { readonly id: Sql; readonly isRouted: boolean },
): Sql {
  const isOfDomain = isRouted ? sql`= ${domain.id}` : sql`= any(array(select ${domain.id}::text))`;
  return sql`e.domain ${isOfDomain} and e.collection = ${nameLiteral(collection.name)}
    and e.record_id = ${id} and ${IS_CHANGE}`;
}

/** The entries `e` of changes, without those about the export or erasure of a person's data. */
const IS_CHANGE = sql`e.operation in ('created', 'updated', 'deleted')`;

/** The JSON null that `data_before` returns for an unknown document. See the migration 0018_history. */
export const UNKNOWN = sql`'null'::jsonb`;

/**
 * Whether a record `r` is again what an audit entry left: `operation` is that of the entry, and `data` the
 * document after it.
 */
export function isAgain({ operation, data }: { readonly operation: Sql; readonly data: Sql }): Sql {
  return sql`(${data} = r.data and (${operation} = 'deleted') = (r.deleted_at is not null))`;
}

/**
 * `state`, the record after the latest of the requested steps `s`. `data` may be `UNKNOWN`. The present state
 * is known even without steps, e.g. for a record loaded past the gateway, and so is the state before the
 * first step, though its time only for the first version.
 */
export function stateOf(asked: Sql): Sql {
  return sql`known as (
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
