/** Selects what a tile shows of an answer: one of its tables, and a number or the points of a chart. */
import {
  type ChartPoints,
  chooseChart,
  measuresOf,
  partsOfWhole,
  pointsOf,
} from '../../explore/chart-choice.js';
import type { FieldShape, ResultCell, ResultColumn, ResultTable } from '../../explore/result-tables.js';
import type { ListedShape, TileOperation } from './tile-operation.js';

export const PICTURES = ['TABLE', 'NUMBER', 'BAR', 'LINE', 'DOUGHNUT'] as const;
export type TilePicture = (typeof PICTURES)[number];

/** The choices of a tile. Choices that are left out default to the most informative ones. */
export interface TileChoice {
  readonly picture: TilePicture;
  readonly list?: string | null | undefined;
  readonly measure?: string | null | undefined;
  readonly by?: string | null | undefined;
}

export function toFieldShape({ type, isList, fields }: ListedShape): FieldShape {
  return { type, isList, fields: new Map(fields.map(([name, inner]) => [name, toFieldShape(inner)])) };
}

/** `undefined` if the answer has no such table. */
export function tableOfTile(tables: readonly ResultTable[], choice: TileChoice): ResultTable | undefined {
  if (choice.list) return tables.find(({ name }) => name === choice.list);
  // For a number, the totals are best. They are the only row of their table.
  const totals = tables.find(({ name, rows }) => name.endsWith('.totals') && rows.length === 1);
  return (choice.picture === 'NUMBER' ? totals : undefined) ?? tables[0];
}

export interface TileNumber {
  readonly value: number;
  readonly column: ResultColumn;
}

/** The sum of a column over the rows, or its value if there is one row. */
export function numberOfTile(table: ResultTable, measure: TileChoice['measure']): TileNumber | undefined {
  const measures = measuresOf(table);
  const chosen = measure ? measures.find(({ path }) => path === measure) : undefined;
  const column = chosen ?? measures.find(({ path }) => path === chooseChart(table)?.y) ?? measures[0];
  if (!column || table.rows.length === 0) return undefined;
  const at = table.columns.indexOf(column);
  return { column, value: table.rows.reduce((sum, row) => sum + Number(row[at] ?? 0), 0) };
}

export interface TilePoints extends ChartPoints {
  readonly by: ResultColumn;
  readonly measure: ResultColumn;
  /** The column that distinguishes the series; absent if there is one series. */
  readonly split: ResultColumn | undefined;
  /** Whether the series are columns that add up to the measure, named by their paths. */
  readonly areParts: boolean;
  /** Whether the last point of a doughnut sums up all slices that are too small. */
  readonly hasRest: boolean;
}

const MOST_SLICES = 7;

/** `undefined` without a number to draw, or without a label for it. */
export function pointsOfTile(table: ResultTable, choice: TileChoice): TilePoints | undefined {
  const first = chooseChart(table);
  if (!first) return undefined;
  const columnOf = (path: TileChoice['by']) => table.columns.find((one) => one.path === path);
  const by = columnOf(choice.by) ?? columnOf(first.x);
  const measure = columnOf(choice.measure) ?? columnOf(first.y);
  if (!by || !measure) return undefined;
  const isRound = choice.picture === 'DOUGHNUT';
  const parts = isRound ? [] : partsOfWhole(table, measure.path);
  if (parts.length > 0) {
    const ofParts = parts.map(({ path }) =>
      pointsOf(table, { type: 'bar', x: by.path, y: path, series: '' }),
    );
    const series = ofParts.flatMap((points) => points.series);
    const form = { by, measure, split: undefined, hasRest: false, areParts: true };
    return {
      ...inOrder({ ...pointsOf(table, { type: 'bar', x: by.path, y: measure.path, series: '' }), series }),
      ...form,
    };
  }
  const series = isRound || by.path !== first.x ? '' : first.series;
  const points = inOrder(pointsOf(table, { type: 'bar', x: by.path, y: measure.path, series }));
  const form = { by, measure, split: columnOf(series), hasRest: false, areParts: false };
  return isRound ? withRest({ ...points, ...form }) : { ...points, ...form };
}

/** The rows of a table. Classes are sorted as numbers, because as texts 10 comes before 2. */
export function rowsInOrder({ rows }: ResultTable): ResultTable['rows'] {
  const areNumbers = rows.every(([first]) => typeof first === 'string' && /^\d+$/.test(first));
  const comeAsTexts = rows.every(
    (row, index) => index === 0 || String(rows[index - 1]?.[0]) <= String(row[0]),
  );
  if (!areNumbers || !comeAsTexts) return rows;
  return rows.toSorted(([one], [other]) => Number(one) - Number(other));
}

/** Classes are texts, in whose order 10 comes before 2. */
function inOrder(points: ChartPoints): ChartPoints {
  if (!points.labels.every((label) => typeof label === 'string' && /^\d+$/.test(label))) return points;
  const order = points.labels.map((_, index) => index);
  order.sort((one, other) => Number(points.labels[one]) - Number(points.labels[other]));
  return {
    ...points,
    labels: order.map((index) => points.labels[index] ?? null),
    series: points.series.map(({ name, values }) => ({
      name,
      values: order.map((index) => values[index] ?? null),
    })),
  };
}

/** The largest slices, and one for all the others. */
function withRest(points: TilePoints): TilePoints {
  const values = points.series[0]?.values ?? [];
  if (values.length <= MOST_SLICES + 1) return points;
  const slices = points.labels
    .map((label, index): readonly [ResultCell, number] => [label, values[index] ?? 0])
    .toSorted(([, one], [, other]) => other - one);
  const rest = slices.slice(MOST_SLICES).reduce((sum, [, value]) => sum + value, 0);
  const kept = slices.slice(0, MOST_SLICES);
  return {
    ...points,
    labels: [...kept.map(([label]) => label), null],
    series: [{ name: points.series[0]?.name ?? null, values: [...kept.map(([, value]) => value), rest] }],
    hasRest: true,
  };
}

/** The unit of a column. Money is known from the schema, a percentage from the name of the field. */
export function unitOf(operation: TileOperation, { path }: ResultColumn): 'money' | 'percent' | 'number' {
  if (operation.moneyPaths.some((money) => money.endsWith(`.${path}`))) return 'money';
  return /percent$/i.test(path) ? 'percent' : 'number';
}

/** Whether its texts are enum values, which the schema writes in capitals. */
export function isEnumColumn(operation: TileOperation, { path }: ResultColumn): boolean {
  return operation.enumPaths.some((one) => one.endsWith(`.${path}`));
}
