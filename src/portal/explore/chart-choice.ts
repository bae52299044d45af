/** Selects a sensible first chart for a table, and computes the points of any choice. Needs no browser. */

import { isNumericKind } from './cell-printer.js';
import type { ResultCell, ResultColumn, ResultTable } from './result-tables.js';

type ChartType = 'bar' | 'line' | 'pie';

/** Columns by their path. */
export interface ChartChoice {
  readonly type: ChartType;
  /** The column that labels the points. */
  readonly x: string;
  /** The measure. */
  readonly y: string;
  /** The column that splits the measure, e.g. the payment type; '' for one series, as in a pie. */
  readonly series: string;
}

export interface ChartPoints {
  readonly labels: readonly ResultCell[];
  readonly series: readonly { readonly name: ResultCell; readonly values: readonly (number | null)[] }[];
  /** Several rows fell on one point and were added up. */
  readonly isSummed: boolean;
  /** The number of points that did not fit. */
  readonly left: number;
}

/** A chart with more points is unreadable. */
const MOST_POINTS = 120;
const MOST_SERIES = 12;
const MOST_SLICES = 8;

export function measuresOf({ columns }: ResultTable): readonly ResultColumn[] {
  return columns.filter(({ kind }) => isNumericKind(kind));
}

export function labelsOf({ columns }: ResultTable): readonly ResultColumn[] {
  return columns.filter(({ kind }) => !isNumericKind(kind) && kind !== 'list');
}

/** `undefined` if the table has no measure, or no column to label it. */
export function chooseChart(table: ResultTable): ChartChoice | undefined {
  const labels = labelsOf(table);
  const y = measuresOf(table).toSorted((a, b) => weight(b) - weight(a))[0]?.path;
  const [first] = labels;
  // A table about time begins with it; a day in a later column is only one of many values of a row.
  const time = first && isTime(first.kind) && distinct(table, first.path) > 1 ? first : undefined;
  const telling = labels.filter(({ path }) => distinct(table, path) > 1);
  const x = (time ?? telling.toSorted((a, b) => clarity(b) - clarity(a))[0] ?? first)?.path;
  if (x === undefined || y === undefined || table.rows.length === 0) return undefined;
  const series = seriesFor(table, x)?.path ?? '';
  return { type: typeFor(table, { x, y, series, isTime: time !== undefined }), x, y, series };
}

/** Ranks columns by how well people recognize a row by them. */
function clarity({ path }: ResultColumn): number {
  if (/(name|label|person|student|subject|department|category)$/i.test(path)) return 1;
  return /(No|id|sequence|phone|to|cursor)$/.test(path) ? -1 : 0;
}

/** Ranks measures by what people look at first. */
function weight({ path, kind }: ResultColumn): number {
  if (/(^|\.)(sum|total|balance|outstanding)$/i.test(path)) return 4;
  if (/(^|\.)(amount|net|percent|strength)$/i.test(path)) return 3;
  if (/(^|\.)(count|students|messages)$/i.test(path)) return 2;
  if (/(roll_?no|order|version|year|receipts)$/i.test(path)) return -1;
  return kind === 'decimal' ? 1 : 0;
}

/** If values of `x` repeat, a column with few values distinguishes the points. */
function seriesFor(table: ResultTable, x: string): ResultColumn | undefined {
  const points = distinct(table, x);
  if (points === table.rows.length) return undefined;
  return labelsOf(table).find(({ path, kind }) => {
    const values = distinct(table, path);
    return (
      path !== x &&
      !isTime(kind) &&
      values > 1 &&
      values <= MOST_SERIES &&
      pairs(table, x, path) === table.rows.length
    );
  });
}

function typeFor(
  table: ResultTable,
  { x, y, series, isTime: isOverTime }: Omit<ChartChoice, 'type'> & { readonly isTime: boolean },
): ChartType {
  if (isOverTime) return distinct(table, x) > 2 ? 'line' : 'bar';
  const column = indexOf(table, y);
  const isPartOfWhole = table.rows.every((row) => Number(row[column] ?? 0) >= 0);
  return series === '' && isPartOfWhole && table.rows.length <= MOST_SLICES && table.rows.length > 1
    ? 'pie'
    : 'bar';
}

/**
 * The measures just before the given one whose sum it is in every row, such as boys, girls and others of a
 * strength; empty if there are none.
 */
export function partsOfWhole(table: ResultTable, whole: string): readonly ResultColumn[] {
  const { columns, rows } = table;
  const end = indexOf(table, whole);
  const isOfParts = (parts: readonly number[]) =>
    rows.some((row) => Number(row[end] ?? 0) !== 0) &&
    rows.every((row) => {
      const sum = parts.reduce((total, at) => total + Number(row[at] ?? 0), 0);
      return Math.abs(sum - Number(row[end] ?? 0)) < 0.005;
    });
  const before: number[] = [];
  for (let at = end - 1; at >= 0 && isNumericKind(columns[at]?.kind ?? 'text'); at -= 1) {
    before.unshift(at);
    if (before.length > 1 && isOfParts(before)) return before.flatMap((part) => columns[part] ?? []);
  }
  return [];
}

/**
 * The points of a choice: rows on the same point are added up, points in the order of the rows, time in
 * order.
 */
export function pointsOf(table: ResultTable, choice: ChartChoice): ChartPoints {
  const [x, y, by] = [choice.x, choice.y, choice.series].map((path) => indexOf(table, path));
  const sums = new Map<ResultCell, Map<ResultCell, number>>();
  const names = new Set<ResultCell>();
  let isSummed = false;
  for (const row of table.rows) {
    const label = row[x ?? -1] ?? null;
    const name = choice.series === '' ? choice.y : (row[by ?? -1] ?? null);
    const value = row[y ?? -1] ?? null;
    if (value === null) continue;
    names.add(name);
    const point = sums.get(label) ?? new Map<ResultCell, number>();
    isSummed ||= point.has(name);
    point.set(name, (point.get(name) ?? 0) + Number(value));
    sums.set(label, point);
  }
  const all = isTime(table.columns[x ?? -1]?.kind)
    ? [...sums.keys()].sort((a, b) => String(a).localeCompare(String(b)))
    : [...sums.keys()];
  const labels = all.slice(0, MOST_POINTS);
  return {
    labels,
    series: [...names].slice(0, MOST_SERIES).map((name) => ({
      name,
      values: labels.map((label) => sums.get(label)?.get(name) ?? null),
    })),
    isSummed,
    left: all.length - labels.length,
  };
}

function isTime(kind: ResultColumn['kind'] | undefined): boolean {
  return kind === 'day' || kind === 'month' || kind === 'instant';
}

function indexOf({ columns }: ResultTable, path: string): number {
  return columns.findIndex((column) => column.path === path);
}

function distinct(table: ResultTable, path: string): number {
  const column = indexOf(table, path);
  return new Set(table.rows.map((row) => row[column])).size;
}

function pairs(table: ResultTable, one: string, other: string): number {
  const [a, b] = [indexOf(table, one), indexOf(table, other)];
  return new Set(table.rows.map((row) => JSON.stringify([row[a], row[b]]))).size;
}
