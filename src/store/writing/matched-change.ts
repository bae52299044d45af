/**
 * The statements of writes to matching records: lock the records, then change or remove them in batches, one
 * statement each.
 */

import { type JsonObject, type JsonValue, printExactJson } from '../../base/json/json.js';
import { storedColumns } from '../reading/stored-record.js';
import { liveRecordsById, liveRecordsIn } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import {
  announcement,
  audit,
  derivedOf,
  IN_INPUT,
  REPLACED_RECORDS,
  WRITTEN,
  type WriteContext,
} from './record-statements.js';

export interface Selected {
  /** Conditions over `r` beside domain, collection and "not removed". */
  readonly conditions: readonly Sql[];
  readonly orderBy: Sql;
  readonly limit: number;
  /** A query of the ids of the records, if they are known. */
  readonly ids?: Sql | undefined;
}

/** A row of `lockRecords`. */
export interface LockedRow {
  readonly id: string;
  readonly version: number;
  readonly data: string;
}

/**
 * Locks the records in their order and returns their current state; a record changed concurrently is tested
 * again.
 */
export function lockRecords(context: WriteContext, selected: Selected): Sql {
  return sql`
select ${storedColumns(context.projection)}, r.data::text as data
from records r
where ${whereOf(context, selected)}
order by ${selected.orderBy}
limit ${selected.limit}
for update of r`;
}

/** How many records match, up to the limit. */
export function countRecords(context: WriteContext, selected: Selected): Sql {
  return sql`
select count(*)::int as count
from (select 1 from records r where ${whereOf(context, selected)} limit ${selected.limit}) as matching`;
}

/** The change of a locked record: top-level members set and removed, and its keys. */
export interface MatchedChange {
  readonly id: string;
  readonly set: JsonObject;
  readonly removed: readonly string[];
  readonly keys: JsonObject | undefined;
}

/**
 * A row for each changed record; `is_in_rows` says whether it satisfies `rows`, a condition over `r`, after
 * the change.
 */
export function updateRecords(
  context: WriteContext,
  changes: readonly MatchedChange[],
  rows: Sql | undefined,
): Sql {
  const { scope, collection, now } = context;
  const input: JsonValue = changes.map(({ id, set, removed, keys }) => ({
    id,
    set,
    removed,
    keys: keys ?? null,
  }));
  const derived = derivedOf(context, { was: REPLACED_RECORDS, is: WRITTEN });
  return sql`
with ${derived.first}input as (
  select e->>'id' as id, e->'set' as set, array(select jsonb_array_elements_text(e->'removed')) as removed,
    array(select jsonb_object_keys(e->'set')) as names,
    nullif(e->'keys', 'null') as keys
  from jsonb_array_elements(${printExactJson(input)}::jsonb) as e
),
written as (
  update records r
  set data = (r.data - i.removed) || i.set,
    keys = i.keys,
    version = r.version + 1,
    updated_at = ${now.toISOString()}::timestamptz
  from input i ${derived.join} cross join records o
  where ${liveRecordsById(scope.domain.id, collection.name, IN_INPUT)} and r.id = i.id
    and ${liveRecordsById(scope.domain.id, collection.name, IN_INPUT, 'o')} and o.id = i.id
  returning r.id, r.data, r.keys, r.version, r.created_at, r.updated_at, o.data as was, o.keys as was_keys,
    i.removed || i.names as changed
),
${audit(context, 'updated', { before: sql`reverse_delta(w.was, w.data, w.changed)` })}${derived.last}
select ${storedColumns(context.projection)},
  (${rows ?? sql`true`}) is true as is_in_rows${announcement(context, 'update')}
from written r`;
}

/**
 * The domain is hidden from the planner, which otherwise, when the statistics do not contain it, expects one
 * record in each index and may read all records of the domain through any of them.
 */
function whereOf({ scope, collection, isRouted }: WriteContext, { conditions, ids }: Selected): Sql {
  const { id: domain } = scope.domain;
  const live =
    ids === undefined
      ? liveRecordsIn(isRouted ? domain : sql`(select ${domain}::text)`, collection.name)
      : liveRecordsById(domain, collection.name, sql`= any(array(${ids}))`);
  return sql.join([live, ...conditions.map((condition) => sql`(${condition})`)], ' and ');
}
