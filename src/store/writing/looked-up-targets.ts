/**
 * The look-ups that a statement makes while it stores a record: whether the targets of references exist, and
 * the labels of references sent without one.
 */

import type { Collection, Field } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { findAccess } from '../access/access.js';
import { liveRecordsById, nameLiteral } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import { USER_COLLECTION } from './record-statements.js';
import { HOLD } from './references.js';
import type { StoredChange } from './validation.js';

/** The target of a reference in a top-level field. */
export interface LookedUpTarget {
  /** The name of the field. */
  readonly field: string;
  readonly target: Collection;
  /** The target's field that provides the label, if the caller may read it. */
  readonly labelField: string | undefined;
  /** Whether a record without this target is refused. */
  readonly mustExist: boolean;
  /** @see HeldReference.holds */
  readonly holds: boolean;
}

/**
 * The look-ups for a record; `undefined` if a statement shared by many callers cannot make them: for
 * references in lists, in objects or to several collections, and for targets of which the caller may read
 * only some.
 */
export function listLookedUpTargets(
  { id, data, unlabelled }: StoredChange & { readonly id: string },
  context: {
    readonly scope: Scope;
    readonly collection: Collection;
    readonly findCollection: (name: string) => Collection | undefined;
  },
): readonly LookedUpTarget[] | undefined {
  const { scope, collection, findCollection } = context;
  const references = plainReferencesOf(collection);
  if (references === undefined) return undefined;
  const withoutLabel = new Set<unknown>(unlabelled.map(({ reference }) => reference));
  const sought: LookedUpTarget[] = [];
  for (const { name, targets, mustExist, onDelete } of references) {
    const reference = Object.hasOwn(data, name) ? data[name] : undefined;
    if (typeof reference !== 'object' || reference === null) continue;
    const [targetName = ''] = targets;
    const target = findCollection(targetName);
    if (target === undefined) return undefined;
    const value: unknown = 'value' in reference ? reference.value : undefined;
    // The caller exists, whatever its domain; so does the record itself.
    const isKnown =
      (targetName === USER_COLLECTION && value === scope.principal.id) ||
      (targetName === collection.name && value === id);
    const label = withoutLabel.has(reference) ? labelOf(scope, target) : NO_LABEL;
    if (label === undefined) return undefined;
    const isAsked = mustExist && !isKnown;
    if (!isAsked && label.field === undefined) continue;
    sought.push({
      field: name,
      target,
      labelField: label.field,
      mustExist: isAsked,
      holds: isAsked && onDelete === 'refuse',
    });
  }
  return sought;
}

interface Label {
  readonly field: string | undefined;
}

const NO_LABEL: Label = { field: undefined };

/** A label contains only what the caller may read; `undefined` if that depends on the target. */
function labelOf(scope: Scope, target: Collection): Label | undefined {
  const access = findAccess(scope, target, 'read');
  const { labelField } = target;
  if (access === undefined || labelField === undefined || access.hiddenFields.has(labelField))
    return NO_LABEL;
  return access.rows === undefined ? { field: labelField } : undefined;
}

/** The reference fields; `undefined` if some are within lists or objects, or point to several collections. */
function plainReferencesOf(collection: Collection): readonly Field[] | undefined {
  const holding = collection.fields.filter(holdsReferences);
  // The keys of `uniqueTogether` rules are computed before the labels are known.
  const isUniqueByLabel = collection.uniqueTogether.some(({ parts }) =>
    parts.some(({ path }) => path.at(-1) === 'label'),
  );
  const arePlain = holding.every(
    ({ type, isList, targets }) => type === 'reference' && !isList && targets.length === 1,
  );
  return arePlain && !isUniqueByLabel ? holding : undefined;
}

function holdsReferences({ type, fields }: Field): boolean {
  return type === 'reference' || (type === 'object' && fields.some(holdsReferences));
}

/** Records with the same key can share a statement. */
export function keyOfLookedUp(sought: readonly LookedUpTarget[]): string {
  return sought
    .map(({ field, labelField, mustExist }) => `${field}/${labelField ?? ''}/${mustExist ? 'must' : ''}`)
    .join();
}

/**
 * The results of the look-ups for `i.data`, one column per target: null if it does not exist, else its label
 * as JSON, or the JSON null.
 */
export function selectFound(scope: Scope, sought: readonly LookedUpTarget[]): Sql {
  const columns = sought.map(({ field, target, labelField, holds }, index) => {
    const value = sql`i.data->${nameLiteral(field)}->>'value'`;
    const label =
      labelField === undefined
        ? sql`'null'::jsonb`
        : sql`coalesce(r.data->${nameLiteral(labelField)}, 'null')`;
    // A subquery instead of a join: for one record, a plan that reads all targets would be wrong.
    return sql`, (
      select ${label} from records r
      where ${liveRecordsById(scope.domain.id, target.name, sql`= ${value}`)}
      ${holds ? HOLD : sql.empty}
    ) as ${foundName(index)}`;
  });
  return columns.length === 0 ? sql.empty : sql.join(columns, '');
}

/** `s.data` with the labels that were found. */
export function labelledData(sought: readonly LookedUpTarget[]): Sql {
  const labels = sought.flatMap(({ field, labelField }, index) => {
    if (labelField === undefined) return [];
    const name = nameLiteral(field);
    const found = sql`s.${foundName(index)}`;
    return [
      sql` || case when jsonb_typeof(${found}) = 'string'
      then jsonb_build_object(${name}, s.data->${name} || jsonb_build_object('label', ${found}))
      else '{}' end`,
    ];
  });
  return sql`s.data${labels.length === 0 ? sql.empty : sql.join(labels, '')}`;
}

/** True for `s` if all required targets exist. */
export function areThere(sought: readonly LookedUpTarget[]): Sql {
  const conditions = sought.flatMap(({ mustExist }, index) =>
    mustExist ? [sql`s.${foundName(index)} is not null`] : [],
  );
  return conditions.length === 0 ? sql`true` : sql.join(conditions, ' and ');
}

function foundName(index: number): Sql {
  return sql.raw(`found_${index}`);
}
