/**
 * References must point to existing records. A write that would create a reference to nothing, to a removed
 * record or to another domain is refused, unless the declaration of the field says `"mustExist": false`.
 * References stored earlier may stay.
 *
 * If the removal of a target is refused while a record points to it (`onDelete`), the check is part of the
 * statement or transaction of the write and holds the target with a key-share lock. A removal locks it for
 * update before it counts the records that point to it, so one of the two waits and sees the other.
 *
 * @see decisions 2, 11
 */

import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import type { Queryable } from '../database/queryable.js';
import { liveRecordsById, nameLiteral } from '../sql/records-of.js';
import { statementName } from '../sql/statement-name.js';
import { type Sql, sql } from '../sql.js';
import type { HeldReference } from './held-references.js';
import { USER_COLLECTION } from './record-statements.js';

/** What is known about targets beyond the stored records. */
export interface ReferenceContext {
  readonly scope: Scope;
  readonly findCollection: (name: string) => Collection | undefined;
  /** The records that this write creates, by collection. */
  readonly made?: { readonly collection: string; readonly ids: ReadonlySet<string> } | undefined;
}

/**
 * A query with a row for each id that no target has, for a statement that checks while it writes; `undefined`
 * if all are known to exist. The text depends only on the fields, not on the values.
 */
export function selectDead(references: readonly HeldReference[], context: ReferenceContext): Sql | undefined {
  const soughtByTargets = new Map<
    string,
    { readonly targets: readonly string[]; readonly holds: boolean; readonly ids: Set<string> }
  >();
  for (const { targets, value, holds } of listUnsure(references, context)) {
    const key = `${targets.join()} ${holds}`;
    const sought = soughtByTargets.get(key) ?? { targets, holds, ids: new Set() };
    sought.ids.add(value);
    soughtByTargets.set(key, sought);
  }
  if (soughtByTargets.size === 0) return undefined;
  const selects = inOrderOfNames(soughtByTargets).map(([, { targets, holds, ids }]) => {
    const found = targets.flatMap((target) => {
      const collection = context.findCollection(target);
      if (collection === undefined) return [];
      const isThere = sql`${liveRecordsById(context.scope.domain.id, collection.name, IS_SOUGHT)}`;
      return [sql`(select true from records r where ${isThere} ${holds ? HOLD : sql.empty})`];
    });
    // A subquery instead of a join: the plan of `not exists` read all users to find one.
    const where = found.length === 0 ? sql.empty : sql`where coalesce(${sql.join(found)}) is null`;
    return sql`select sought.id from unnest(${[...ids]}::text[]) as sought(id) ${where}`;
  });
  return sql.join(selects, ' union all ');
}

/** Continues a query over `r`: the records are not removed before the transaction ends. */
export const HOLD = sql`for key share of r`;

/** The references whose target does not exist, in one round trip; none if there are no references. */
export async function findDeadReferences(
  queryable: Queryable,
  references: readonly HeldReference[],
  context: ReferenceContext,
): Promise<readonly HeldReference[]> {
  const asked = listUnsure(references, context);
  const soughtByTarget = new Map<string, { readonly ids: Set<string>; holds: boolean }>();
  for (const { targets, value, holds } of asked) {
    for (const target of targets) {
      const sought = soughtByTarget.get(target) ?? { ids: new Set(), holds: false };
      soughtByTarget.set(target, sought);
      sought.ids.add(value);
      sought.holds ||= holds;
    }
  }
  const selects = inOrderOfNames(soughtByTarget).flatMap(([target, { ids, holds }]) => {
    const collection = context.findCollection(target);
    if (collection === undefined) return [];
    const isAsked = sql`= any(${[...ids]}::text[])`;
    // A subquery, because Postgres locks no rows in a branch of a union.
    return [
      sql`
      select * from (
        select ${nameLiteral(collection.name)} as collection, r.id
        from records r
        where ${liveRecordsById(context.scope.domain.id, collection.name, isAsked)}
        ${holds ? HOLD : sql.empty}
      ) as found`,
    ];
  });
  if (selects.length === 0) return asked;
  const statement = sql.join(selects, ' union all ');
  const rows = await queryable.query<{ collection: string; id: string }>(statement, {
    name: statementName(statement.text),
  });
  const found = new Set(rows.map(({ collection, id }) => `${collection} ${id}`));
  return asked.filter(({ targets, value }) => !targets.some((target) => found.has(`${target} ${value}`)));
}

/** Leaves out references whose targets are known to exist. */
function listUnsure(
  references: readonly HeldReference[],
  context: ReferenceContext,
): readonly HeldReference[] {
  return references.filter((reference) => !isKnown(reference, context));
}

/** Sorted, so that records with fields in another order use the same statement text. */
export function inOrderOfNames<T>(byName: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1));
}

const IS_SOUGHT = sql`= sought.id`;

/** The caller exists, whatever its domain; so does what this write creates. */
function isKnown({ targets, value }: HeldReference, { scope, made }: ReferenceContext): boolean {
  if (value === scope.principal.id && targets.includes(USER_COLLECTION)) return true;
  return made !== undefined && targets.includes(made.collection) && made.ids.has(value);
}
