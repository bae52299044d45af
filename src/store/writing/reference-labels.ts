/** Fills missing labels of references from their targets. */

import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { findAccess } from '../access/access.js';
import type { Queryable } from '../database/queryable.js';
import { type CompileContext, compileFilter } from '../sql/compile-filter.js';
import { liveRecordsById, nameLiteral } from '../sql/records-of.js';
import { statementName } from '../sql/statement-name.js';
import { type Sql, sql } from '../sql.js';
import { inOrderOfNames } from './references.js';
import type { UnlabelledReference } from './validation.js';

/**
 * Sets the label of every reference without one to the value of the target collection's label field. One
 * round trip; none if no label is missing.
 *
 * A label contains only what the caller may read: for a record the caller may not see, one of another domain,
 * or a hidden field, the reference stays without a label, exactly as for an `_id` that does not exist.
 */
export async function fillReferenceLabels(
  queryable: Queryable,
  references: readonly UnlabelledReference[],
  context: {
    readonly scope: Scope;
    readonly findCollection: (name: string) => Collection | undefined;
    readonly compileContextOf: (collection: Collection) => CompileContext;
  },
): Promise<void> {
  const idsByTarget = new Map<string, Set<string>>();
  for (const { targets, reference } of references) {
    for (const target of targets) {
      const ids = idsByTarget.get(target) ?? new Set();
      idsByTarget.set(target, ids.add(reference.value));
    }
  }
  const selects = inOrderOfNames(idsByTarget).flatMap(([target, ids]) => {
    const collection = context.findCollection(target);
    return collection === undefined ? [] : selectLabels(collection, [...ids], context);
  });
  if (selects.length === 0) return;
  const statement = sql.join(selects, ' union all ');
  const rows = await queryable.query<{ collection: string; id: string; label: string }>(statement, {
    name: statementName(statement.text),
  });
  const labelsByTarget = new Map<string, Map<string, string>>();
  for (const { collection, id, label } of rows) {
    const labels = labelsByTarget.get(collection) ?? new Map();
    labelsByTarget.set(collection, labels.set(id, label));
  }
  for (const { targets, reference } of references) {
    for (const target of targets) {
      const label = labelsByTarget.get(target)?.get(reference.value);
      if (label === undefined) continue;
      reference.label = label;
      break;
    }
  }
}

function selectLabels(
  target: Collection,
  ids: readonly string[],
  context: {
    readonly scope: Scope;
    readonly compileContextOf: (collection: Collection) => CompileContext;
  },
): Sql[] {
  const { labelField } = target;
  const access = findAccess(context.scope, target, 'read');
  if (labelField === undefined || access === undefined || access.hiddenFields.has(labelField)) return [];
  const rows =
    access.rows === undefined
      ? sql.empty
      : sql`and (${compileFilter(access.rows, context.compileContextOf(target))})`;
  const label = sql`r.data->${nameLiteral(labelField)}`;
  return [
    sql`
      select ${nameLiteral(target.name)} as collection, r.id, ${label} #>> '{}' as label
      from records r
      where ${liveRecordsById(context.scope.domain.id, target.name, sql`= any(${[...ids]}::text[])`)}
        and jsonb_typeof(${label}) = 'string'
        ${rows}`,
  ];
}
