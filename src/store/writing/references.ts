/**
 * References must point to existing records. A write that would create a reference to nothing, to a removed
 * record or to another domain is refused, unless the field is declared with `"mustExist": false`.
 * References stored earlier may stay. A reference sent without a label gets the one of its target.
 *
 * If the removal of a target is refused while a record points to it (`onDelete`), the check is part of the
 * statement or transaction of the write and holds the target with a key-share lock. A removal locks it for
 * update before it counts the records that point to it, so one of the two waits and sees the other.
 *
 * @see decisions 2, 11
 */

import type { ErrorDetail } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import type { Collection, Field } from '../../base/model/collection.js';
import { pointerStep } from '../../base/model/path.js';
import type { Scope } from '../../base/model/scope.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { type EffectiveAccess, findAccess } from '../access/access.js';
import type { Queryable } from '../database/queryable.js';
import { liveRecordsById } from '../sql/records-of.js';
import { statementName } from '../sql/statement-name.js';
import { nameLiteral, type Sql, sql } from '../sql.js';
import { USER_COLLECTION } from './record-statements.js';

export interface UnlabelledReference {
  readonly targets: readonly string[];
  /** The object inside `data`. */
  readonly reference: { readonly value: string; label?: string };
}

/** A reference within a record. */
export interface HeldReference {
  /** JSON pointer within the record. */
  readonly pointer: string;
  /** The path of its field, without list positions. */
  readonly field: string;
  readonly targets: readonly string[];
  readonly value: string;
  /** Whether the write holds the target until its commit, because a removal of it is refused afterwards. */
  readonly holds: boolean;
}

/**
 * The references in stored data whose targets must exist according to the declaration. With `changes` only
 * those of the changed fields, and those whose target depends on one of them.
 */
export function listReferences(
  collection: Collection,
  data: JsonObject,
  changes = data,
): readonly HeldReference[] {
  const references: HeldReference[] = [];
  const names = new Set(Object.keys(changes));
  const narrowed = new Map<string, string>();
  for (const check of collection.checks) {
    if (check.kind !== 'when' || check.holds.target === undefined) continue;
    const { field, target } = check.holds;
    if (names.has(check.field)) names.add(field);
    if (check.is.some((state) => state === data[check.field])) narrowed.set(field, target);
  }
  for (const name of names) {
    const field = collection.fieldsByName.get(name);
    const value = data[name];
    if (field === undefined || value === undefined || !HOLDS_REFERENCES.has(field.type)) continue;
    const target = narrowed.get(name);
    const held = target === undefined ? field : { ...field, targets: [target] };
    references.push(...referencesIn(value, held, { pointer: `/${pointerStep(name)}`, path: name }));
  }
  return references;
}

const HOLDS_REFERENCES: ReadonlySet<Field['type']> = new Set<Field['type']>(['reference', 'object']);

interface Place {
  readonly pointer: string;
  readonly path: string;
}

function referencesIn(value: JsonValue, field: Field, place: Place): readonly HeldReference[] {
  if (field.isList && Array.isArray(value)) {
    const element = { ...field, isList: false };
    return value.flatMap((one: JsonValue, index) =>
      referencesIn(one, element, { ...place, pointer: `${place.pointer}/${index}` }),
    );
  }
  if (!isJsonObject(value)) return [];
  if (field.type === 'reference') {
    const { value: id } = value;
    if (!field.mustExist || typeof id !== 'string') return [];
    const { targets, onDelete } = field;
    return [{ pointer: place.pointer, field: place.path, targets, value: id, holds: onDelete === 'refuse' }];
  }
  if (field.type !== 'object') return [];
  return field.fields.flatMap((member) => {
    const held = value[member.name];
    if (held === undefined) return [];
    const inner = {
      pointer: `${place.pointer}/${pointerStep(member.name)}`,
      path: `${place.path}.${member.name}`,
    };
    return referencesIn(held, member, inner);
  });
}

/**
 * Leaves out references that the record already had in the same field: an old dangling reference does not
 * block other changes.
 */
export function withoutHeld(
  references: readonly HeldReference[],
  before: readonly HeldReference[],
): readonly HeldReference[] {
  const keyOf = ({ field, targets, value }: HeldReference) => `${field} ${targets.join()} ${value}`;
  const held = new Set(before.map(keyOf));
  return references.filter((reference) => !held.has(keyOf(reference)));
}

/** The error for a dangling reference. */
export function deadReferenceDetail({ pointer, targets, value }: HeldReference): ErrorDetail {
  const expected = `the _id of a record of ${targets.join(' or ')}`;
  const detail = `${pointer}: ${expected} is expected, and "${value}" does not exist`;
  return { pointer, detail, expected, sent: value };
}

/** The facts about targets beyond the stored records. */
export interface ReferenceContext {
  readonly scope: Scope;
  readonly findCollection: (name: string) => Collection | undefined;
  /** The rows of a collection that the caller may read, as a condition over `r`; `undefined`: all. */
  readonly rowsOf: (collection: Collection, access: EffectiveAccess) => Sql | undefined;
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
  for (const { targets, value, holds } of references.filter((one) => !isKnown(one, context))) {
    const key = `${targets.join()} ${holds}`;
    getOrMake(soughtByTargets, key, () => ({ targets, holds, ids: new Set() })).ids.add(value);
  }
  if (soughtByTargets.size === 0) return undefined;
  const selects = inOrderOfNames(soughtByTargets).map(([, { targets, holds, ids }]) => {
    const found = targets.flatMap((target) => {
      const collection = context.findCollection(target);
      if (collection === undefined) return [];
      const isThere = liveRecordsById(context.scope.domain.id, collection.name, sql`= sought.id`);
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

/**
 * Gives every reference without a label the one of its target, and returns those among `held` whose target
 * does not exist. One round trip; none if there is nothing to look up.
 *
 * A label contains only what the caller may read: for a record the caller may not see, one of another domain,
 * or a hidden field, the reference stays without a label, exactly as for an `_id` that does not exist.
 */
export async function settleReferences(
  queryable: Queryable,
  {
    unlabelled,
    held,
  }: { readonly unlabelled: readonly UnlabelledReference[]; readonly held: readonly HeldReference[] },
  context: ReferenceContext,
): Promise<readonly HeldReference[]> {
  const unsure = held.filter((one) => !isKnown(one, context));
  const soughtByTarget = new Map<string, SoughtIds>();
  const seek = (targets: readonly string[], id: string, by: Omit<SoughtIds, 'ids'>) => {
    for (const target of targets) {
      const sought = getOrMake(soughtByTarget, target, () => {
        return { ids: new Set(), holds: false, labels: false };
      });
      sought.ids.add(id);
      sought.holds ||= by.holds;
      sought.labels ||= by.labels;
    }
  };
  for (const { targets, reference } of unlabelled)
    seek(targets, reference.value, { holds: false, labels: true });
  for (const { targets, value, holds } of unsure) seek(targets, value, { holds, labels: false });
  const selects = inOrderOfNames(soughtByTarget).flatMap(([target, sought]) => {
    const collection = context.findCollection(target);
    return collection === undefined ? [] : [selectTargets(collection, sought, context)];
  });
  if (selects.length === 0) return unsure;
  const statement = sql.join(selects, ' union all ');
  const rows = await queryable.query<{ collection: string; id: string; label: string | null }>(statement, {
    name: statementName(statement.text),
  });
  const labels = new Map(rows.map(({ collection, id, label }) => [`${collection} ${id}`, label]));
  for (const { targets, reference } of unlabelled) {
    const [label] = targets.flatMap((target) => labels.get(`${target} ${reference.value}`) ?? []);
    if (label !== undefined) reference.label = label;
  }
  return unsure.filter(({ targets, value }) => !targets.some((target) => labels.has(`${target} ${value}`)));
}

interface SoughtIds {
  readonly ids: Set<string>;
  holds: boolean;
  labels: boolean;
}

function selectTargets(
  target: Collection,
  { ids, holds, labels }: SoughtIds,
  context: ReferenceContext,
): Sql {
  const label = labels ? labelOf(target, context) : undefined;
  const isAsked = sql`= any(${[...ids]}::text[])`;
  // A subquery, because Postgres locks no rows in a branch of a union.
  return sql`
      select * from (
        select ${nameLiteral(target.name)} as collection, r.id, ${label ?? sql`null::text`} as label
        from records r
        where ${liveRecordsById(context.scope.domain.id, target.name, isAsked)}
        ${holds ? HOLD : sql.empty}
      ) as found`;
}

/** The label of the record `r`, null where the caller may not read it; `undefined`: it may read none. */
function labelOf(target: Collection, { scope, rowsOf }: ReferenceContext): Sql | undefined {
  const { labelField } = target;
  const access = findAccess(scope, target, 'read');
  if (labelField === undefined || access === undefined || access.hiddenFields.has(labelField))
    return undefined;
  const label = sql`r.data->${nameLiteral(labelField)}`;
  const rows = rowsOf(target, access);
  const isShown = rows === undefined ? sql.empty : sql`and (${rows})`;
  return sql`case when jsonb_typeof(${label}) = 'string' ${isShown} then ${label} #>> '{}' end`;
}

/** Sorted, so that records with fields in another order use the same statement text. */
function inOrderOfNames<T>(byName: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The caller exists, whatever its domain; so does what this write creates. */
function isKnown({ targets, value }: HeldReference, { scope, made }: ReferenceContext): boolean {
  if (value === scope.principal.id && targets.includes(USER_COLLECTION)) return true;
  return made !== undefined && targets.includes(made.collection) && made.ids.has(value);
}
