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
  /** A single line, or one per element of an expanded list. */
  linesOf(row: JsonObject): readonly (readonly Cell[])[];
  /** The line of totals: a cell for each column the totals have too. */
  totalsLine(totals: JsonObject): readonly Cell[];
}

interface Place {
  readonly heading: string;
  readonly type: Cell['type'];
  /** The value in a row; `element` is that of an expanded list. */
  cell(row: JsonObject, element: JsonObject | undefined): Cell;
  total(totals: JsonObject): Cell;
}

/** Whether a list without columns of its own has a cell with all its elements. */
export type NestedLists = 'with lists' | 'without lists';

/** Needs the totals before the first row, because they determine the columns of a spread list. */
export function tableOf(rowClass: RowClass, totals: JsonObject, lists: NestedLists = 'with lists'): Table {
  const isLeftOut = ({ type, layout }: Column) =>
    lists === 'without lists' && type === 'rows' && layout === undefined;
  const all = rowClass.columns;
  const columns = all.filter((column) => !isLeftOut(column));
  const expanded = columns.find(({ layout }) => layout?.kind === 'expand');
  const places = columns.flatMap((column): Place[] => placesOf(column, totals));
  return {
    headings: places.map(({ heading }) => heading),
    types: places.map(({ type }) => type),
    listsLeftOut: all.filter(isLeftOut).map(({ name }) => headingOf(name)),
    linesOf(row) {
      if (!expanded) return [places.map((place) => place.cell(row, undefined))];
      return elementsOf(row[expanded.name]).map((element) => places.map((place) => place.cell(row, element)));
    },
    totalsLine: (line) => places.map((place) => place.total(line)),
  };
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
  const { name, layout, type, rowClass } = column;
  if (layout?.kind === 'expand' && rowClass) {
    return rowClass.columns.map((inner) => ({
      ...plainPlace(inner),
      cell: (_row, element) => toCell(inner, element?.[inner.name]),
      total: () => empty(inner),
    }));
  }
  if (layout?.kind === 'spread') return distributedPlaces(column, layout, totals);
  if (type === 'row' && rowClass) {
    return rowClass.columns.map((inner) => ({
      heading: `${headingOf(name)}: ${headingOf(inner.name).toLowerCase()}`,
      type: cellType(inner.type),
      cell: (row) => toCell(inner, memberOf(row[name], inner.name)),
      total: (line) => toCell(inner, memberOf(line[name], inner.name)),
    }));
  }
  return [plainPlace(column)];
}

function plainPlace(column: Column): Place {
  return {
    heading: headingOf(column.name),
    type: cellType(column.type),
    cell: (row) => toCell(column, row[column.name]),
    total: (totals) => toCell(column, totals[column.name]),
  };
}

function distributedPlaces(
  { name, rowClass }: Column,
  layout: { readonly label: string; readonly value: string },
  totals: JsonObject,
): Place[] {
  const valueColumn = rowClass?.columns.find((column) => column.name === layout.value);
  if (!valueColumn) return [];
  const labels = elementsOf(totals[name]).map((element) => String(element[layout.label] ?? ''));
  return labels.map((label) => {
    const find = (row: JsonObject) =>
      toCell(
        valueColumn,
        elementsOf(row[name]).find((element) => element[layout.label] === label)?.[layout.value],
      );
    return { heading: label, type: cellType(valueColumn.type), cell: find, total: find };
  });
}

function toCell(column: Column, value: JsonValue | undefined): Cell {
  return {
    type: cellType(column.type),
    value: value === undefined || value === null ? null : printValue(value),
  };
}

function empty(column: Column): Cell {
  return { type: cellType(column.type), value: null };
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

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}
