/** The requested parts of a report. Other parts are left out of the statement, and so are not computed. */

import type { Format } from '../../../base/tables/format.js';
import type { RowClass } from './columns.js';

export interface ShownParts {
  /** The requested columns of the rows; `undefined`: no rows. */
  readonly rows: ReadonlySet<string> | undefined;
  /** The requested columns of the totals; `undefined`: no totals. */
  readonly totals: ReadonlySet<string> | undefined;
  readonly warnings: boolean;
  /** The columns must not depend on the data, because readers append a table to that of the day before. */
  readonly isTable?: boolean;
}

export interface ShownClasses {
  readonly row: RowClass;
  readonly totals: RowClass;
}

/** Whether one of these columns is requested, of the rows or of the totals. */
export function asksFor({ rows, totals }: ShownParts, ...names: readonly string[]): boolean {
  return names.some((name) => rows?.has(name) || totals?.has(name));
}

export function everyPart({ row, totals }: ShownClasses): ShownParts {
  return { rows: columnNames(row), totals: columnNames(totals), warnings: true };
}

export function columnNames(rowClass: RowClass): ReadonlySet<string> {
  return new Set(rowClass.columns.map(({ name }) => name));
}

export function partsOfFormat(report: ShownClasses, format: Format): ShownParts {
  const every = everyPart(report);
  switch (format) {
    case 'json':
      return every;
    case 'ndjson':
      return { ...every, totals: undefined, warnings: false };
    case 'csv':
    case 'parquet':
      return { ...every, totals: columnsOfBoth(report, 'spread'), warnings: false, isTable: true };
    case 'xlsx':
      return { ...every, totals: columnsOfBoth(report, 'all'), isTable: true };
  }
}

/**
 * The columns of the rows that the totals have too: a line of totals has a cell for each. Spread lists in the
 * totals determine the columns of the same lists in the rows.
 */
function columnsOfBoth({ row, totals }: ShownClasses, which: 'all' | 'spread'): ReadonlySet<string> {
  const known = columnNames(totals);
  const both = row.columns.filter(({ spread, name }) => known.has(name) && (which === 'all' || spread));
  return new Set(both.map(({ name }) => name));
}
