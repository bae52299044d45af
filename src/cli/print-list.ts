/** Lists on standard output: a table for people, or one line of JSON for programs. */
import { type JsonObject, printExactJson } from '../base/json/json.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';

export interface ListOutput<Row> {
  readonly rows: readonly Row[];
  /** The columns of the table by their headings, each with what gives the text of a cell. */
  readonly columns: Readonly<Record<string, (row: Row) => string>>;
  /** A member that does not apply is `null`, so that every object has the same members. */
  readonly toJson: (row: Row) => JsonObject;
}

/** An empty list is `[]`, or the headings alone. */
export function printList<Row>(
  { rows, columns, toJson }: ListOutput<Row>,
  { json = false }: { readonly json?: boolean },
): void {
  if (json) {
    printLine(printExactJson(rows.map(toJson)));
    return;
  }
  const cells = Object.values(columns);
  printTable(
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => cell(row))),
  );
}

/** The instant as in every answer of the gateway; `null` if there is none. */
export function instantOrNull(instant: Date | undefined): string | null {
  return instant?.toISOString() ?? null;
}
