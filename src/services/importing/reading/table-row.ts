/** Finds the header of a table and names its columns. */

import { ServiceError } from '../../../base/errors.js';
import { type ExactNumber, type JsonValue, setMember } from '../../../base/json/json.js';
import { replaceUnstorable } from '../../../base/model/unstorable-text.js';
import { isBlankCell, textOfCell } from '../cells/plain-cells.js';
import { SOURCE_LIMITS, type SourceRow } from './row-source.js';

/** A row of a table as in the file. */
export interface TableRow {
  readonly number: number;
  readonly cells: readonly CellValue[];
}

/** `null` is an empty cell. */
export type CellValue = string | number | boolean | ExactNumber | null;

export interface TableHeader {
  readonly header: number | 'none';
  readonly columns: readonly string[];
  /** The texts above it. */
  readonly title: string;
  readonly warnings: readonly string[];
}

/** The number of first rows that may contain the header. */
const HEADER_ROWS = 20;

export async function headerRowsOf<Row extends TableRow>(
  batches: AsyncIterable<readonly Row[]>,
): Promise<readonly Row[]> {
  const first: Row[] = [];
  for await (const rows of batches) {
    first.push(...rows.slice(0, HEADER_ROWS - first.length));
    if (first.length === HEADER_ROWS) break;
  }
  return first;
}

/**
 * Finds the header among the first rows: the first row with most of the cells of the widest row. Rows above
 * it (the name of the school, a date) are skipped and reported in a warning.
 *
 * @throws MALFORMED_REQUEST if there is no such row, LIMIT_EXCEEDED if there are too many columns
 */
export function findHeader(rows: readonly TableRow[], wanted: number | 'none' | undefined): TableHeader {
  const widest = Math.max(0, ...rows.map(({ cells }) => cells.length));
  assertNotWider(widest, rows.find(({ cells }) => cells.length === widest)?.number ?? 1);
  if (wanted === 'none') {
    const columns = Array.from({ length: widest }, (_, index) => `column ${index + 1}`);
    return { header: 'none', columns, title: '', warnings: [] };
  }
  const row = wanted === undefined ? likelyHeader(rows) : rows.find(({ number }) => number === wanted);
  if (!row) {
    const where = wanted === undefined ? 'The file has no rows' : `Row ${wanted} holds no header`;
    throw new ServiceError('MALFORMED_REQUEST', `${where}; a table begins with the names of its columns.`);
  }
  const above = rows.filter(({ number }) => number < row.number);
  const warnings =
    above.length > 0 && wanted === undefined
      ? [`The header is row ${row.number}; rows above it are left out.`]
      : [];
  if (row.cells.some((cell) => typeof cell === 'number' || /^\d+([./-]\d+)*$/.test(String(cell ?? '')))) {
    warnings.push(
      `Row ${row.number} is read as the header, though numbers stand in it; give header=none if it is data.`,
    );
  }
  const { columns, warnings: ofNames } = nameColumns(withoutBlankEnd(row, rows));
  const title = above.flatMap(({ cells }) => cells.filter((cell) => !isBlankCell(cell))).join(' ');
  return { header: row.number, columns, title, warnings: [...warnings, ...ofNames] };
}

/** @throws LIMIT_EXCEEDED */
export function assertNotWider(columns: number, row: number): void {
  const { maxColumns } = SOURCE_LIMITS;
  if (columns <= maxColumns) return;
  throw new ServiceError(
    'LIMIT_EXCEEDED',
    `Row ${row} has ${columns} columns; at most ${maxColumns} are read. Leave out columns, ` +
      'or check that the delimiter is right.',
  );
}

function likelyHeader(rows: readonly TableRow[]): TableRow | undefined {
  const most = Math.max(0, ...rows.map(filledCells));
  return rows.find((row) => filledCells(row) > 0 && filledCells(row) * 2 > most);
}

function filledCells({ cells }: TableRow): number {
  return cells.filter((cell) => !isBlankCell(cell)).length;
}

function nameColumns(cells: readonly CellValue[]): { columns: string[]; warnings: string[] } {
  const warnings: string[] = [];
  const columns: string[] = [];
  const taken = new Set<string>();
  for (const [index, cell] of cells.entries()) {
    const written = replaceUnstorable(String(cell ?? ''))
      .trim()
      .replaceAll(/\s+/g, ' ');
    if (written === '') warnings.push(`Column ${index + 1} has no name in the header.`);
    const name = untaken(written === '' ? `column ${index + 1}` : written, taken);
    if (written !== '' && name !== written) {
      warnings.push(
        `The header has ${JSON.stringify(written)} more than once; ` +
          `column ${index + 1} is ${JSON.stringify(name)}.`,
      );
    }
    taken.add(name);
    columns.push(name);
  }
  return { columns, warnings };
}

/** Empty cells at the end of a header are no columns, unless there are values below them. */
function withoutBlankEnd(header: TableRow, rows: readonly TableRow[]): readonly CellValue[] {
  const below = rows.filter(({ number }) => number > header.number);
  const isUsed = (index: number) => [header, ...below].some(({ cells }) => !isBlankCell(cells[index]));
  let length = header.cells.length;
  while (length > 0 && !isUsed(length - 1)) length -= 1;
  return header.cells.slice(0, length);
}

function untaken(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let count = 2; ; count += 1) {
    const next = `${name} (${count})`;
    if (!taken.has(next)) return next;
  }
}

/**
 * The row by column name. A row with more or fewer cells than the header has a fault, and keeps the cells
 * that have a column.
 */
export function toSourceRow(
  { number, cells }: { readonly number: number; readonly cells: readonly JsonValue[] },
  columns: readonly string[],
): SourceRow {
  const values: Record<string, unknown> = {};
  // An iterator would take a fifth of the reading time.
  for (let index = 0; index < cells.length && index < columns.length; index += 1) {
    setMember(values, columns[index] ?? '', cells[index] ?? null);
  }
  return { number, values, source: textsOf(cells) };
}

/** Most cells are texts already. A copy would double the memory of a batch. */
function textsOf(cells: readonly JsonValue[]): readonly string[] {
  return cells.every((cell) => typeof cell === 'string')
    ? cells
    : cells.map((cell) => textOfCell(cell ?? null));
}

/** Whether all cells are empty. */
export function isBlankRow(cells: readonly CellValue[]): boolean {
  return cells.every(isBlankCell);
}
