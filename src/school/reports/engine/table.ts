/** Lays out a report's rows as lines and cells, for CSV, XLSX and the terminal. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import { localText } from '../../../base/model/calendar.js';
import type { CellType } from '../../../base/tables/cell.js';
import { isStoredInstant } from '../../../base/text/stored-instant.js';
import { type Column, type ColumnType, headingOf, type RowClass } from './columns.js';

/** The text and kind of a value. Money and numbers keep their digits. */
export interface Cell {
  readonly type: CellType;
  readonly value: string | null;
}

export interface Table {
  readonly headings: readonly string[];
  readonly types: readonly Cell['type'][];
  /** Headings of lists without columns. */
  readonly listsLeftOut: readonly string[];
  /** The cells of each line of a row. */
  linesOf(row: JsonObject): readonly (readonly Cell[])[];
  /** The cells of a row without its unfolded lists; of the totals, one for each column that they have too. */
  lineOf(row: JsonObject): readonly Cell[];
}

interface Place {
  readonly heading: string;
  readonly column: Column;
  /** The value in a row or in the totals. */
  value(row: JsonObject): JsonValue | undefined;
}

/** Whether a list without columns of its own has a cell with all its elements. */
export type NestedLists = 'with lists' | 'without lists';

/** Needs the totals before the first row, because they determine the columns of a spread list. */
export function tableOf(rowClass: RowClass, totals: JsonObject, lists: NestedLists = 'with lists'): Table {
  const isLeftOut = ({ type, spread }: Column) =>
    lists === 'without lists' && type === 'rows' && spread === undefined;
  const [columns, rowsOf] = unfold(rowClass);
  const places = (lists === 'with lists' ? columns : rowClass.columns)
    .filter((column) => !isLeftOut(column))
    .flatMap((column) => placesOf(column, totals));
  const lineOf = (row: JsonObject) => places.map(({ column, value }) => toCell(column, value(row)));
  return {
    headings: places.map(({ heading }) => heading),
    types: places.map(({ column }) => cellType(column.type)),
    listsLeftOut: rowClass.columns.filter(isLeftOut).map(({ name }) => headingOf(name)),
    linesOf: (row) => rowsOf(row).map(lineOf),
    lineOf,
  };
}

/**
 * The columns of the lines of a table, and the lines of a row. An unfolded list has a line per element, and
 * its columns in its place; those of the row with the same names are left out.
 */
function unfold({
  columns,
}: RowClass): readonly [readonly Column[], (row: JsonObject) => readonly JsonObject[]] {
  const list = columns.find(({ isUnfolded }) => isUnfolded);
  if (!list?.rowClass) return [columns, (row) => [row]];
  const [inner, rowsOf] = unfold(list.rowClass);
  const isOwn = ({ name }: Column) => !inner.some((one) => one.name === name);
  return [
    columns.flatMap((column) => (column === list ? inner : [column].filter(isOwn))),
    (row) => {
      const elements = elementsOf(row[list.name]);
      return elements.length === 0 ? [row] : elements.flatMap((one) => rowsOf({ ...row, ...one }));
    },
  ];
}

/** Prints the instants among the cells as days and times of the zone, if one is given. */
export function inZone(cells: readonly Cell[], timeZone: string | undefined): readonly Cell[] {
  if (timeZone === undefined) return cells;
  return cells.map((cell) =>
    cell.type === 'instant' && cell.value !== null && isStoredInstant(cell.value)
      ? { ...cell, value: localText(cell.value, timeZone) }
      : cell,
  );
}

function placesOf(column: Column, totals: JsonObject): Place[] {
  const { name, spread, type, rowClass } = column;
  if (spread) {
    const inner = rowClass?.columns.find((one) => one.name === spread.value);
    return elementsOf(totals[name]).flatMap((element): Place[] => {
      const label = String(element[spread.label] ?? '');
      const valueIn = (row: JsonObject) =>
        elementsOf(row[name]).find((one) => one[spread.label] === label)?.[spread.value];
      return inner ? [{ heading: label, column: inner, value: valueIn }] : [];
    });
  }
  if (type === 'row' && rowClass) {
    return rowClass.columns.map((inner) => ({
      heading: `${headingOf(name)}: ${headingOf(inner.name).toLowerCase()}`,
      column: inner,
      value: ({ [name]: outer }) => (isJsonObject(outer) ? outer[inner.name] : undefined),
    }));
  }
  return [{ heading: headingOf(name), column, value: (row) => row[name] }];
}

function toCell(column: Column, value: JsonValue | undefined): Cell {
  return {
    type: cellType(column.type),
    value: value === undefined || value === null ? null : printValue(value),
  };
}

/** Lists in one cell: `Tuition 100.00; Transport 50.00`. */
function printValue(value: JsonValue): string {
  if (Array.isArray(value)) return value.map((element: JsonValue) => printValue(element)).join('; ');
  if (isJsonObject(value)) {
    return Object.values(value)
      .filter((member) => member !== null)
      .map((member) => printValue(member))
      .join(' ');
  }
  return String(value);
}

function cellType(type: ColumnType): Cell['type'] {
  return type === 'row' || type === 'rows' || type === 'texts' ? 'text' : type;
}

function elementsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
