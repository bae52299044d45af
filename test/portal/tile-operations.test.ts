/** What tiles of a dashboard know of the operations of the library, and show of their answers. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  fromFormValues,
  isComplete,
  moveTile,
  placeBehind,
  readVariables,
  type TileOperation,
  wordsFor,
} from '../../src/portal/browser/dashboards/tile-operation.js';
import {
  isEnumColumn,
  numberOfTile,
  pointsOfTile,
  rowsInOrder,
  tableOfTile,
  unitOf,
} from '../../src/portal/browser/dashboards/tile-picture.js';
import { fillVariables } from '../../src/portal/explore/example-operation.js';
import type { ResultTable } from '../../src/portal/explore/result-tables.js';
import { loadTileOperations } from './load-tile-operations.js';

const TODAY = '2026-11-20';
const VIEWER = { reports: [{ field: 'feeDefaulters', name: 'fee-defaulters' }] };
let operations: readonly TileOperation[];

beforeAll(async () => {
  operations = await loadTileOperations();
});

function operation(name: string): TileOperation {
  const found = operations.find((one) => one.name === name);
  if (!found) throw new Error(`${name} is no operation of a tile`);
  return found;
}

describe('the operations of tiles', () => {
  it('are the queries with one report or collection behind them', () => {
    const names = operations.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['fee-defaulters', 'ways-of-paying', 'students-by-name']));
    for (const none of [
      'create-a-task',
      'task-changes',
      'what-there-is',
      'student-with-all-that-points-to-it',
    ])
      expect(names).not.toContain(none);
  });

  it('know the filter of records by stored names and values', () => {
    expect(operation('receipts-of-a-day').source).toEqual({
      kind: 'collection',
      name: 'fee_receipt',
      where: { date: { on: { $variable: 'day' } } },
      oquery: null,
    });
    expect(operation('students-by-class-and-gender').source).toMatchObject({
      name: 'registration',
      where: { status: { equals: 'active' } },
    });
  });

  it('know what is money, a percentage, and a word of an enum', () => {
    const defaulters = operation('fee-defaulters');
    expect(unitOf(defaulters, { path: 'balance', kind: 'decimal' })).toBe('money');
    expect(unitOf(defaulters, { path: 'daysOverdue', kind: 'number' })).toBe('number');
    expect(isEnumColumn(operation('receipts-of-a-day'), { path: 'paymentType', kind: 'text' })).toBe(true);
    expect(isEnumColumn(operation('receipts-of-a-day'), { path: 'receiptNo', kind: 'text' })).toBe(false);
    expect(isEnumColumn(operation('ways-of-paying'), { path: 'value', kind: 'text' })).toBe(true);
    expect(unitOf(operation('class-attendance'), { path: 'percent', kind: 'decimal' })).toBe('percent');
  });
});

describe('the variables of a tile', () => {
  it('are those of the library where it has none, and none where they are no object', () => {
    const defaulters = operation('fee-defaulters');
    expect(readVariables(null, defaulters)).toEqual(defaulters.variables);
    expect(readVariables('{"endMonth": "{month}"}', defaulters)).toEqual({ endMonth: '{month}' });
    for (const text of ['{ no JSON', '[]', '"text"', 'null'])
      expect(readVariables(text, defaulters)).toBeUndefined();
  });

  it('are complete when all that is required is said', () => {
    expect(isComplete(operation('fee-defaulters'), { startMonth: '{month}' })).toBe(false);
    expect(isComplete(operation('fee-defaulters'), { startMonth: 'a', endMonth: 'b' })).toBe(true);
    expect(isComplete(operation('students-by-name'), {})).toBe(false);
  });

  it('are read of a form by their types, and may be words', () => {
    const { parameters } = operation('fee-defaulters');
    expect(fromFormValues(parameters, { startMonth: '{month}', first: '20', class: '' })).toEqual({
      startMonth: '{month}',
      first: 20,
    });
    const month = parameters.find(({ name }) => name === 'startMonth');
    expect(month && wordsFor(month, operation('fee-defaulters'))).toContain('{month}');
    const amount = parameters.find(({ name }) => name === 'minimum');
    expect(amount && wordsFor(amount, operation('fee-defaulters'))).toBeUndefined();
  });

  it('lead to the report or the records by the same filter', () => {
    const asked = (name: string) => fillVariables(operation(name).variables, TODAY);
    const place = (name: string) => placeBehind(operation(name), asked(name), VIEWER);
    expect(place('fee-defaulters')).toEqual({
      to: '/portal/reports/fee-defaulters',
      search: { startMonth: '2026-04', endMonth: '2026-11', run: '1' },
    });
    expect(place('receipts-of-a-day')).toEqual({
      to: '/portal/records/fee_receipt',
      search: { where: '{"date":{"on":"2026-11-20"}}' },
    });
    expect(place('students-by-name').search).toEqual({ oquery: 'name=*sharma,status=active' });
    expect(place('ways-of-paying').search).toEqual({});
    expect(placeBehind(operation('receipts-of-a-day'), {}, VIEWER).search).toEqual({});
  });
});

describe('the picture of a tile', () => {
  const ROWS: ResultTable = {
    name: 'a.rows',
    columns: [
      { path: 'class', kind: 'text' },
      { path: 'students', kind: 'number' },
      { path: 'balance', kind: 'decimal' },
    ],
    rows: [
      ['10', 2, '30.50'],
      ['2', 3, '10.00'],
    ],
  };
  const TOTALS: ResultTable = {
    name: 'a.totals',
    columns: [{ path: 'balance', kind: 'decimal' }],
    rows: [['40.50']],
  };

  it('is of the part that is named, else of what tells most', () => {
    expect(tableOfTile([ROWS, TOTALS], { picture: 'TABLE' })).toBe(ROWS);
    expect(tableOfTile([ROWS, TOTALS], { picture: 'NUMBER' })).toBe(TOTALS);
    expect(tableOfTile([ROWS, TOTALS], { picture: 'NUMBER', list: 'a.rows' })).toBe(ROWS);
    expect(tableOfTile([ROWS], { picture: 'TABLE', list: 'a.totals' })).toBeUndefined();
  });

  it('adds a column up to a number', () => {
    expect(numberOfTile(ROWS, 'students')?.value).toBe(5);
    expect(numberOfTile(ROWS, null)).toMatchObject({ value: 40.5, column: { path: 'balance' } });
    expect(numberOfTile({ ...ROWS, columns: ROWS.columns.slice(0, 1) }, null)).toBeUndefined();
  });

  it.each([
    ['classes in their order', ['1', '1', '10', '2'], ['1', '1', '2', '10']],
    ['numbers that were put into another order as they are', ['10', '2', '1'], ['10', '2', '1']],
    ['words as they come', ['10', '2', 'A'], ['10', '2', 'A']],
  ])('lists %s', (_, from, to) => {
    const rows = from.map((name, index) => [name, index]);
    const listed = rowsInOrder({ name: 'groups', columns: [], rows } as ResultTable);
    expect(listed.map(([name]) => name)).toEqual(to);
  });

  it('draws classes in their order, and says when there is nothing to draw', () => {
    expect(pointsOfTile(ROWS, { picture: 'BAR', by: 'class', measure: 'students' })).toMatchObject({
      labels: ['2', '10'],
      series: [{ values: [3, 2] }],
    });
    expect(pointsOfTile(TOTALS, { picture: 'BAR' })).toBeUndefined();
  });

  it('puts small slices together', () => {
    const rows = Array.from({ length: 10 }, (_, index) => [`s${index}`, index, '0'] as const);
    const points = pointsOfTile({ ...ROWS, rows }, { picture: 'DOUGHNUT', by: 'class', measure: 'students' });
    expect(points?.hasRest).toBe(true);
    expect(points?.labels).toEqual(['s9', 's8', 's7', 's6', 's5', 's4', 's3', null]);
    expect(points?.series[0]?.values.at(-1)).toBe(3);
  });
});

it('a tile is moved past those between', () => {
  expect(moveTile(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
  expect(moveTile(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
  expect(moveTile(['a'], 3, 0)).toEqual(['a']);
});
