/** What of a report somebody asks for. What nobody asks for is left out of the statement,
  and so is not computed. */
import { columnsOf, type RowClass } from './columns.js';

export interface ShownParts {
  /** The columns of each row by their names; `undefined`: no rows at all. */
  readonly rows: ReadonlySet<string> | undefined;
  /** The columns of the totals by their names; `undefined`: no totals at all. */
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
