/** An aggregation over the records of one collection, by groups, as a plain value. */

import type { JsonValue } from '../json/json.js';
import type { Operand } from './operand.js';
import type { Path } from './path.js';

/** Days, weeks (from Monday), months and years of the domain's time zone. */
export type Period = 'day' | 'week' | 'month' | 'year';

/**
 * A group key: the value of a declared field that is not a list, or a reference's `value` or `label`.
 *
 * `period` groups by the period that contains the instant or day; `of` groups by a field of the record that
 * the reference at `path` points to.
 */
export interface GroupKey {
  readonly path: Path;
  readonly period?: Period;
  readonly of?: { readonly collection: string; readonly path: Path };
}

/**
 * `records` counts the records of a group; the others aggregate a field, ignoring missing values and values
 * of a wrong type.
 */
export type Measure =
  | { readonly kind: 'records' }
  | { readonly kind: 'count' | 'countDistinct' | 'sum' | 'avg' | 'min' | 'max'; readonly path: Path };

/** A condition on groups. A condition on a measure without a value does not hold. */
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

/** Groups without a value come last in both directions. */
export interface GroupOrder {
  readonly by: { readonly key: GroupKey } | { readonly measure: Measure };
  readonly direction: 'ascending' | 'descending';
}

export interface AggregateQuery {
  /** Empty: one group of all records, even if there are none. */
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
