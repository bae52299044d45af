/**
 * Finds references of stored records that point to nothing: stored before references were checked, written
 * past the gateway, or left behind by removals.
 */

import { type Collection, type Field, listReferenceFields } from '../../base/model/collection.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import { liveRecordsIn } from '../sql/records-of.js';
import { allHold, nameLiteral, type Sql, sql } from '../sql.js';

export interface DanglingReferences {
  readonly collection: string;
  /** The path of the field, e.g. `sections.class_teacher`. */
  readonly field: string;
  readonly targets: readonly string[];
  /** `keep`: the declaration allows it. */
  readonly onDelete: Field['onDelete'];
  /** How many references point to nothing, and how many of these to a removed record. */
  readonly count: number;
  readonly removed: number;
  /** The ids of the first such records. */
  readonly examples: readonly string[];
}

const MAX_EXAMPLES = 5;

/** A row for each declared reference with dangling values; one statement per collection with references. */
export async function listDanglingReferences(
  { database, catalog }: { readonly database: Pick<Database, 'query'>; readonly catalog: Catalog },
  domainId: string,
): Promise<readonly DanglingReferences[]> {
  const found: DanglingReferences[] = [];
  for (const collection of catalog.list()) {
    for (const { path, field } of listReferenceFields(collection.fields)) {
      const [row] = await database.query<{ count: number; removed: number; examples: string[] }>(
        compileDangling(domainId, collection, { path, field }),
      );
      if (row === undefined || row.count === 0) continue;
      const { targets, onDelete } = field;
      found.push({ collection: collection.name, field: path.join('.'), targets, onDelete, ...row });
    }
  }
  return found;
}

function compileDangling(
  domainId: string,
  collection: Collection,
  { path, field: { targets } }: ReturnType<typeof listReferenceFields>[number],
): Sql {
  // Declared names are quoted too; lax mode descends into lists.
  const jsonpath = `$${path.map((name) => `.${JSON.stringify(name)}`).join('')}.value`;
  const narrowed = collection.checks.flatMap((check) => {
    if (check.kind !== 'when' || check.holds.target === undefined || path.join('.') !== check.holds.field)
      return [];
    const state = sql`r.data->>${nameLiteral(check.field)} = any(${check.is.map(String)}::text[])`;
    return [sql`(t.collection = ${nameLiteral(check.holds.target)} or (${state}) is not true)`];
  });
  const isTarget = sql`t.domain = ${domainId}
    and t.collection in (${sql.join(targets.map(nameLiteral), ', ')})
      and t.id = h.value #>> '{}'
      and ${allHold([sql`true`, ...narrowed])}`;
  return sql`
with dangling as (
  select r.id, exists (select 1 from records t where ${isTarget}) as is_removed
  from records r
  cross join lateral jsonb_path_query(r.data, ${jsonpath}::jsonpath) as h(value)
  where ${liveRecordsIn(domainId, collection.name)}
    and jsonb_typeof(h.value) = 'string'
    and not exists (select 1 from records t where ${isTarget} and t.deleted_at is null)
    -- What pointed to a person who was erased points at nobody on purpose.
    and h.value #>> '{}' not in (select e.pseudonym from erasures e where e.domain = ${domainId})
)
select count(*)::int as count, (count(*) filter (where is_removed))::int as removed,
  coalesce((array_agg(distinct id order by id))[1:${sql.raw(String(MAX_EXAMPLES))}], '{}') as examples
from dangling`;
}
