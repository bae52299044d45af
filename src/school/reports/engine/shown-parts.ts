/** The requested parts of a report. Other parts are left out of the statement, and so are not computed. */
import { columnsOf, type RowClass } from './columns.js';

export interface ShownParts {
  /** The requested columns of the rows; `undefined`: no rows. */
  readonly rows: ReadonlySet<string> | undefined;
  /** The requested columns of the totals; `undefined`: no totals. */
  readonly totals: ReadonlySet<string> | undefined;
  readonly warnings: boolean;
}

export interface ShownClasses {
  readonly row: RowClass;
  readonly totals: RowClass;
}

export function everyPart({ row, totals }: ShownClasses): ShownParts {
  return { rows: columnNames(row), totals: columnNames(totals), warnings: true };
}

export function columnNames(rowClass: RowClass): ReadonlySet<string> {
  return new Set(columnsOf(rowClass).map(({ name }) => name));
}
