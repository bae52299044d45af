import { describe, expect, it } from '@jest/globals';
import { chooseChart, partsOfWhole, pointsOf } from '../../../src/portal/explore/chart-choice.js';
import type { CellKind, ResultTable } from '../../../src/portal/explore/result-tables.js';

function table(columns: Readonly<Record<string, CellKind>>, rows: ResultTable['rows']): ResultTable {
  return { name: 't', columns: Object.entries(columns).map(([path, kind]) => ({ path, kind })), rows };
}

const BY_MONTH = table({ 'key.month': 'month', 'key.way': 'text', count: 'number', 'total.sum': 'decimal' }, [
  ['2026-05', 'CASH', 2, '20.50'],
  ['2026-04', 'CASH', 1, '10.00'],
  ['2026-04', 'CARD', 3, '30.00'],
  ['2026-06', 'CARD', 4, '5.25'],
]);

describe('the first chart of a table', () => {
  it('is lines over time, split by what tells points apart', () => {
    expect(chooseChart(BY_MONTH)).toEqual({
      type: 'line',
      x: 'key.month',
      y: 'total.sum',
      series: 'key.way',
    });
  });

  it('is a pie of a few parts of a whole', () => {
    const ways = table({ value: 'text', count: 'number' }, [
      ['CASH', 5],
      ['CARD', 3],
    ]);
    expect(chooseChart(ways)).toEqual({ type: 'pie', x: 'value', y: 'count', series: '' });
  });

  it('is bars where parts are negative, or many', () => {
    const changes = table({ name: 'text', n: 'number' }, [
      ['a', 5],
      ['b', -3],
    ]);
    expect(chooseChart(changes)?.type).toBe('bar');
    const many = table(
      { name: 'text', n: 'number' },
      Array.from({ length: 9 }, (_, i) => [`c${i}`, i]),
    );
    expect(chooseChart(many)?.type).toBe('bar');
  });

  it('is of people by their name, not by their number, a roll number or a day that is said of them', () => {
    const people = table(
      { admissionNo: 'text', name: 'text', rollNo: 'number', since: 'day', balance: 'decimal' },
      [
        ['A1', 'Asha', 1, '2026-04-01', '5'],
        ['A2', 'Bela', 2, '2026-05-01', '-6'],
      ],
    );
    expect(chooseChart(people)).toEqual({ type: 'bar', x: 'name', y: 'balance', series: '' });
  });

  it.each([
    ['a number', table({ name: 'text' }, [['a']])],
    ['a label', table({ n: 'number' }, [[1]])],
    ['a row', table({ name: 'text', n: 'number' }, [])],
  ])('is none without %s', (_, without) => {
    expect(chooseChart(without)).toBeUndefined();
  });
});

describe('the parts of a measure', () => {
  it('are the columns before it that add up to it in every row, and none else', () => {
    const strength = table(
      { class: 'text', roll: 'number', boys: 'number', girls: 'number', other: 'number', strength: 'number' },
      [
        ['1', 7, 10, 8, 1, 19],
        ['2', 9, 5, 5, 0, 10],
      ],
    );
    expect(partsOfWhole(strength, 'strength').map(({ path }) => path)).toEqual(['boys', 'girls', 'other']);
    expect(partsOfWhole(strength, 'other')).toEqual([]);
  });
});

describe('the points of a chart', () => {
  it('are in the order of time, one value a series, nothing where there is none', () => {
    expect(pointsOf(BY_MONTH, { type: 'line', x: 'key.month', y: 'total.sum', series: 'key.way' })).toEqual({
      labels: ['2026-04', '2026-05', '2026-06'],
      series: [
        { name: 'CASH', values: [10, 20.5, null] },
        { name: 'CARD', values: [30, null, 5.25] },
      ],
      isSummed: false,
      left: 0,
    });
  });

  it('are added up where several rows fall on one', () => {
    const points = pointsOf(BY_MONTH, { type: 'bar', x: 'key.way', y: 'count', series: '' });
    expect(points).toMatchObject({
      labels: ['CASH', 'CARD'],
      series: [{ name: 'count', values: [3, 7] }],
      isSummed: true,
    });
  });

  it('are as many as a reader can take', () => {
    const many = table(
      { name: 'text', n: 'number' },
      Array.from({ length: 200 }, (_, i) => [`c${i}`, i]),
    );
    const points = pointsOf(many, { type: 'bar', x: 'name', y: 'n', series: '' });
    expect(points.labels).toHaveLength(120);
    expect(points.left).toBe(80);
  });
});
