/** What is computed of the records of one collection, group by group, as a plain value. */

import type { JsonValue } from '../json.js';
import type { Operand } from './operand.js';
import type { Path } from './path.js';

/** Days, weeks (from Monday), months and years of the domain's time zone. */
export type Period = 'day' | 'week' | 'month' | 'year';

/**
 * What records are grouped by: the value of a declared field that is no list, of a reference its `value` or
 * `label`.
 *
 * With `period`, the one its instant or day falls in; with `of`, a field of the record that the reference at
 * `path` points to.
 */
export interface GroupKey {
  readonly path: Path;
  readonly period?: Period;
  readonly of?: { readonly collection: string; readonly path: Path };
}

/**
 * `records` counts the records of a group; the others take the values of a field and leave out what is
 * missing or of a wrong type.
 */
export type Measure =
  | { readonly kind: 'records' }
  | { readonly kind: 'count' | 'countDistinct' | 'sum' | 'avg' | 'min' | 'max'; readonly path: Path };

/** A condition on groups. One on a measure that has no value does not hold. */
export type GroupFilter =
  | { readonly kind: 'all' | 'any'; readonly filters: readonly GroupFilter[] }
  | { readonly kind: 'not'; readonly filter: GroupFilter }
  | { readonly kind: 'hasKey'; readonly key: GroupKey }
  | {
      readonly kind: GroupComparison;
      readonly measure: Measure;
      readonly value: Operand;
    };

export type GroupComparison =
  | 'equals'
  | 'notEquals'
  | 'greaterThan'
  | 'greaterOrEqual'
  | 'lessThan'
  | 'lessOrEqual';

/** What has no value comes last in both directions. */
export interface GroupOrder {
  readonly by: { readonly key: GroupKey } | { readonly measure: Measure };
  readonly direction: 'ascending' | 'descending';
}

export interface AggregateQuery {
  /** Empty: one group of all records, also of none. */
  readonly groupBy: readonly GroupKey[];
  readonly measures: readonly Measure[];
  readonly having: GroupFilter | undefined;
  /** Ties are broken by the keys, so the order is total. */
  readonly order: readonly GroupOrder[];
  readonly limit: number;
}

/**
 * One group: its keys and measures in the order of the query. Numbers are exact; an instant is UTC text, a
 * day and a week (its Monday) `YYYY-MM-DD`, a month `YYYY-MM`, a year a number. Null: no value.
 */
export interface Group {
  readonly keys: readonly JsonValue[];
  readonly measures: readonly JsonValue[];
}
