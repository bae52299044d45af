/** The history of a record: its earlier states and changes, as far as the caller may read them. */
import { faultAt, type ServiceError } from '../../base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  parseExactObject,
} from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { accessOf, isAdmin } from '../access/access.js';
import { compileKeyset, type KeysetPage, type KeysetRequest, toKeysetPage } from '../database/keyset.js';
import {
  type StoredRecord,
  type StoredRow,
  storedColumns,
  toStoredRecord,
} from '../reading/stored-record.js';
import { recordsOf } from '../sql/records-of.js';
import { nameLiteral, type Sql, sql } from '../sql.js';
import type { RecordEnvironment } from '../writing/record-environment.js';
import { gone, notFound } from '../writing/record-refusals.js';
import { staysIn } from '../writing/record-statements.js';

/** A changed field. Absent and null differ: `kind` distinguishes them. */
interface FieldChange {
  readonly kind: 'added' | 'changed' | 'removed';
  /** Names joined by dots; a list is a single value. */
  readonly path: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** One change of a record. */
interface RecordVersion {
  /** The version that it produced. */
  readonly version: number;
  readonly operation: 'created' | 'updated' | 'deleted';
  /** `undefined` for the first version; a restored record is `created` from a version. */
  readonly fromVersion: number | undefined;
  readonly at: Date;
  /** The author and credential, shown to admins, and to everybody for their own changes. */
  readonly by: ChangeAuthor | undefined;
  /** `undefined`: the values are no longer, or were not yet, kept. */
  readonly changes: readonly FieldChange[] | undefined;
}

interface ChangeAuthor {
  readonly principal: string;
  readonly credential: string;
  readonly requestId: string;
  readonly requestOperation: string | undefined;
}

/** The position is the version that a change produced. */
export interface HistoryQuery extends KeysetRequest<number> {
  readonly id: string;
}

/** The requested state: a version, or the one at an instant. */
export type Moment = { readonly version: number } | { readonly at: Date };

export class RecordHistory {
  readonly #environment: RecordEnvironment;

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
  }

  /**
   * The changes of a record, newest first, also of a removed one that is not purged. Hidden fields, and
   * states that were not among the caller's rows, are left out.
   *
   * @throws NOT_FOUND, FORBIDDEN as for reading the record; GONE for the collection
   */
  async read(scope: Scope, name: string, query: HistoryQuery): Promise<KeysetPage<RecordVersion>> {
    const collection = this.#environment.catalog.get(name, scope);
    const { rows, hidden } = this.#reach(scope, collection);
    const shown = (data: Sql) => sql`(${data} - ${hidden}::text[])`;
    const shownDelta = (from: Sql, to: Sql) =>
      sql`case when r.is_shown then reverse_delta(${shown(from)}, ${shown(to)})::text end`;
    const [old, became] = [sql`r.old_data`, sql`r.became`];
    const isReadable = (data: Sql) => (rows === undefined ? sql`true` : staysIn(rows, data));
    const { condition, tail } = compileKeyset(query, {
      keys: [sql`r.to_version`],
      direction: 'descending',
      toValues: (version) => [sql`${version}::int`],
    });
    const found = await this.#environment.run<HistoryRow>(
      this.#environment.database,
      sql`
with ${versionsOfRecord(scope, collection, { id: query.id, rows })},
reverted as (
  select s.*, data_before(s.latest, s.delta) over (order by s.to_version desc rows unbounded preceding) as was
  from steps s
),
versions as (
  select v.*, coalesce(lag(v.was) over (order by v.to_version desc), v.latest) as became
  from reverted v
),
readable as (
  select r.*,
    case when r.from_version is null and r.operation = 'created' then '{}' else r.was end as old_data,
    (r.from_version is null or r.was = ${UNKNOWN} or ${isReadable(sql`r.was`)})
      and (r.became = ${UNKNOWN} or ${isReadable(sql`r.became`)}) as is_readable
  from versions r
)
select r.at, r.operation, r.from_version, r.to_version, r.principal, r.credential, r.request_id,
  r.request_operation, r.is_readable,
  ${shownDelta(old, became)} as before,
  ${shownDelta(became, old)} as after
from (
  select r.*, r.is_readable and r.old_data <> ${UNKNOWN} and r.became <> ${UNKNOWN} as is_shown
  from readable r
) as r
where ${condition}
${tail}`,
      scope.call,
    );
    if (found.length === 0) await this.#assertReadable(scope, collection, query.id);
    const versions = found.map((row) => toRecordVersion(row, scope));
    return toKeysetPage(versions, query);
  }

  /**
   * The record as it was.
   *
   * @throws NOT_FOUND for an unknown version, an instant before the record existed, and a state that was not
   *   among the caller's rows; GONE if it was removed at that time, and for values that are no longer kept;
   *   FORBIDDEN
   */
  async at(scope: Scope, name: string, id: string, moment: Moment): Promise<StoredRecord> {
    const collection = this.#environment.catalog.get(name, scope);
    const { rows, hidden } = this.#reach(scope, collection);
    const projection = this.#environment.plans.projection(collection, undefined, new Set(hidden));
    const isAt =
      'version' in moment
        ? sql`s.to_version = ${moment.version}`
        : // The year 0 of JavaScript is none of PostgreSQL's.
          sql`s.at <= to_timestamp(${moment.at.getTime() / 1000}::float8)`;
    const [row] = await this.#environment.run<
      StoredRow & Record<'is_removed' | 'is_known' | 'is_in_rows', boolean>
    >(
      this.#environment.database,
      sql`
with ${versionsOfRecord(scope, collection, { id, rows })},
${stateOf(isAt)}
select ${storedColumns(projection)}, r.is_removed, r.is_known,
  ${this.#environment.isIn(scope, collection, accessOf(scope, collection, 'read'))} as is_in_rows
from (
  select s.domain, s.collection, s.id, s.version, s.created_at, s.updated_at, s.is_removed,
    s.data <> ${UNKNOWN} as is_known,
    case when s.data = ${UNKNOWN} then '{}' else s.data end as data
  from state s
) as r`,
      scope.call,
    );
    if (row === undefined) {
      await this.#assertReadable(scope, collection, id);
      throw noSuchState(collection, id, moment);
    }
    if (!row.is_known) throw noLongerKept(collection, id, row.version);
    if (!row.is_in_rows) throw noSuchState(collection, id, moment);
    if (row.is_removed) throw gone(collection, id);
    return toStoredRecord(row);
  }

  #reach(scope: Scope, collection: Collection) {
    const access = accessOf(scope, collection, 'read');
    return {
      rows: this.#environment.rowsOf(scope, collection, access),
      hidden: [...access.hiddenFields],
    };
  }

  /** @throws NOT_FOUND for a record that never existed, is purged, or is outside the caller's rows */
  async #assertReadable(scope: Scope, collection: Collection, id: string): Promise<void> {
    const { rows } = this.#reach(scope, collection);
    const found = await this.#environment.run(
      this.#environment.database,
      sql`with ${versionsOfRecord(scope, collection, { id, rows })} select 1 as found from present`,
      scope.call,
    );
    if (found.length === 0) throw notFound(collection, id);
  }
}

interface HistoryRow {
  readonly at: Date;
  readonly operation: RecordVersion['operation'];
  readonly from_version: number | null;
  readonly to_version: number;
  readonly principal: string;
  readonly credential: string;
  readonly request_id: string;
  readonly request_operation: string | null;
  readonly is_readable: boolean;
  readonly before: string | null;
  readonly after: string | null;
}

function toRecordVersion(row: HistoryRow, scope: Scope): RecordVersion {
  const isTold = isAdmin(scope.principal) || row.principal === scope.principal.id;
  return {
    version: row.to_version,
    operation: row.operation,
    fromVersion: row.from_version ?? undefined,
    at: row.at,
    by: isTold
      ? {
          principal: row.principal,
          credential: row.credential,
          requestId: row.request_id,
          requestOperation: row.request_operation ?? undefined,
        }
      : undefined,
    changes: changesOf(row),
  };
}

function changesOf({ before, after, is_readable }: HistoryRow): readonly FieldChange[] | undefined {
  if (!is_readable) return [];
  if (before === null || after === null) return undefined;
  return listChanges(parseExactObject(before), parseExactObject(after), []);
}

/** The two deltas of a change, from either side, have the same members. See the migration 0018_history. */
function listChanges(before: JsonObject, after: JsonObject, parent: readonly string[]): FieldChange[] {
  return Object.entries(before).flatMap(([name, old]): FieldChange[] => {
    const now = memberOf(after, name) ?? null;
    const path = [...parent, name];
    if (isJsonObject(old) && isJsonObject(now)) return listChanges(old, now, path);
    const values = { before: valueIn(old), after: valueIn(now) };
    return [{ kind: kindOf(values), path: path.join('.'), ...values }];
  });
}

function kindOf({ before, after }: Pick<FieldChange, 'before' | 'after'>): FieldChange['kind'] {
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'changed';
}

/** `[value]`, or `[]` for an absent value. */
function valueIn(member: JsonValue): JsonValue | undefined {
  return Array.isArray(member) ? (member[0] as JsonValue | undefined) : undefined;
}

export function noSuchState(collection: Collection, id: string, moment: Moment): ServiceError {
  const [parameter, state] =
    'version' in moment
      ? ['version', `has no version ${moment.version}`]
      : ['at', `was not there at ${moment.at.toISOString()}`];
  return faultAt('NOT_FOUND', `the record "${id}" of ${collection.name} ${state}`, { parameter });
}

export function noLongerKept(collection: Collection, id: string, version: number): ServiceError {
  const detail = `version ${version} of the record "${id}" of ${collection.name} is not kept`;
  return faultAt('GONE', detail, { expected: 'a version since which every change is kept with its values' });
}

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

interface ChangesOfRequest {
  /** Default: all of the domain. */
  readonly collection?: Collection;
  /** The request, or several: continues `e.request_id`. */
  readonly request: Sql;
  /** Whether Citus plans the statement, for which it needs the domain. */
  readonly isRouted: boolean;
}

/**
 * The entries `e` of changes, found by their request. Domain and collection are written so that no index has
 * them: while the statistics do not contain the domain, PostgreSQL would expect few entries in it and read
 * all of them.
 */
export function changesOfRequest(scope: Scope, { collection, request, isRouted }: ChangesOfRequest): Sql {
  const column = sql.raw(isRouted ? 'e.domain' : `e.domain || ''`);
  const inCollection =
    collection === undefined ? sql.empty : sql`and e.collection || '' = ${nameLiteral(collection.name)}`;
  return sql`${column} = ${scope.domain.id} ${inCollection}
    and ${isOfRequest(scope, request)} and ${IS_CHANGE}`;
}

/**
 * `touched`, the records of a collection that requests changed, and `found`, those that are still there,
 * tombstones included.
 */
export function touchedBy(
  scope: Scope,
  changes: ChangesOfRequest & { readonly collection: Collection },
): Sql {
  return sql`touched as (
  select e.record_id, min(e.id) as first_entry, max(e.id) as last_entry,
    (array_agg(e.operation order by e.id))[1] as first_operation,
    (array_agg(e.operation order by e.id desc))[1] as last_operation
  from audit_entries e
  where ${changesOfRequest(scope, changes)}
  group by e.record_id
),
-- The planner would look for each record with the whole list of ids.
found as materialized (
  select r.id, r.version, r.data, r.deleted_at
  from records r
  where ${recordsOf(scope, changes.collection)} and r.id = any(array(select record_id from touched))
)`;
}

/** The entries `e` of a request. Matched with the author too, because clients may choose the same id. */
export function isOfRequest({ principal }: Scope, request: Sql): Sql {
  const own = isAdmin(principal) ? sql.empty : sql`and e.principal = ${principal.id}`;
  return sql`(e.request_id ${request} ${own})`;
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
export function stateOf(isAt: Sql): Sql {
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
  where ${isAt}
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
