/** The effect of undoing the changes of some requests, and what prevents it. */

import type { Scope } from '../../base/model/scope.js';
import { accessOf } from '../access/access.js';
import { sql } from '../sql.js';
import type { RecordEnvironment } from '../writing/record-environment.js';
import { countReferrers, describeReferrers } from '../writing/referring-records.js';
import { changesOfRecord, isAgain, touchedBy } from './record-history.js';
import type { Undone } from './reverts.js';

/** A record that was changed later, which prevents undoing an earlier change. */
export interface UndoConflict {
  readonly id: string;
  /** The version of the later change; `undefined`: the record was purged. */
  readonly version: number | undefined;
  readonly at: Date | undefined;
}

export interface UndoPreview extends Undone {
  readonly conflictCount: number;
  /** The first conflicts, by id. */
  readonly conflicts: readonly UndoConflict[];
  /** References to the records that would be removed; they prevent the undo, too. */
  readonly usedBy: readonly string[];
}

const MOST_CONFLICTS = 100;

/**
 * For requests that changed each record of a collection once: how many records undoing would remove, change
 * and restore. An admin may undo anybody's requests, others their own.
 *
 * @throws FORBIDDEN if the caller lacks the right to these operations on any record of the collection
 */
export async function previewUndo(
  environment: RecordEnvironment,
  scope: Scope,
  request: { readonly collection: string; readonly requestIds: readonly string[] },
): Promise<UndoPreview> {
  const collection = environment.catalog.get(request.collection, scope);
  accessOf(scope, collection, 'read');
  const { isRouted } = environment;
  const requests = sql`= any(${[...request.requestIds]}::text[])`;
  const ofRecord = changesOfRecord(scope, collection, { id: sql`t.record_id`, isRouted });
  // Two imports changed the same record, and the later one was undone.
  const isLeft = isAgain({ operation: sql`t.last_operation`, data: sql`later.became` });
  const touched = sql`with ${touchedBy(scope, { collection, request: requests, isRouted })}`;
  const rows = await environment.run<PreviewRow>(
    environment.database,
    sql`${touched},
judged as (
  select t.record_id, t.first_operation as operation, later.to_version, later.at,
    r.id is null or (later.to_version is not null and not ${isLeft}) as is_late
  from touched t
  left join found r on r.id = t.record_id
  left join lateral (
    select (array_agg(e.to_version order by e.id))[1] as to_version,
      (array_agg(e.at order by e.id))[1] as at,
      data_before(r.data, e.before order by e.to_version desc) as became
    from audit_entries e
    where ${ofRecord} and e.id > t.last_entry
  ) as later on true
)
select count(*) filter (where operation = 'created')::int as removed,
  count(*) filter (where operation = 'updated')::int as changed,
  count(*) filter (where operation = 'deleted')::int as brought_back,
  count(*) filter (where is_late)::int as conflict_count,
  (select coalesce(jsonb_agg(to_jsonb(c) order by c.record_id), '[]')
   from (
     select record_id, to_version, at
     from judged
     where is_late
     order by record_id
     limit ${MOST_CONFLICTS}
   ) as c) as conflicts
from judged`,
    scope.call,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a count has one row');
  if (row.removed > 0) accessOf(scope, collection, 'delete');
  if (row.changed > 0) accessOf(scope, collection, 'update');
  if (row.brought_back > 0) accessOf(scope, collection, 'create');
  const created = sql`select record_id from touched where first_operation = 'created'`;
  const referrers =
    row.removed === 0
      ? { counts: [], hasOthers: false }
      : await countReferrers(environment, environment.database, {
          ...{ scope, collection, first: touched, ids: created, removed: created },
        });
  return {
    usedBy: describeReferrers(referrers).map(({ detail }) => detail),
    ...{ removed: row.removed, changed: row.changed, broughtBack: row.brought_back },
    conflictCount: row.conflict_count,
    conflicts: row.conflicts.map(({ record_id: id, to_version: version, at }) => ({
      ...{ id, version: version ?? undefined },
      at: at === null ? undefined : new Date(at),
    })),
  };
}

interface PreviewRow {
  readonly removed: number;
  readonly changed: number;
  readonly brought_back: number;
  readonly conflict_count: number;
  readonly conflicts: readonly {
    readonly record_id: string;
    readonly to_version: number | null;
    readonly at: string | null;
  }[];
}
