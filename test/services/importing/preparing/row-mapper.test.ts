import { describe, expect, it } from '@jest/globals';
import { createRowMapper } from '../../../../src/services/importing/preparing/row-mapper.js';
import { parseCollection } from '../../../../src/store/catalog/parse-collection.js';
import { SAMPLE } from '../../../store/sql/sample-collection.js';

describe('a row of documents', () => {
  const map = createRowMapper(
    { columns: ['name', 'amount'].map((one) => ({ column: one, field: one })), fixed: {} },
    SAMPLE,
    {
      of: 'documents',
      timeZone: 'UTC',
    },
  );

  it('is told what stands where a text or a number is expected, as JSON that is cut', () => {
    const long = { rupees: 'ninety '.repeat(30) };
    const { faults } = map({ name: { first: 'Asha', marks: [12.5] }, amount: long });
    expect(faults).toEqual([
      expect.objectContaining({ column: 'name', sent: '{"first":"Asha","marks":[12.5]}' }),
      expect.objectContaining({ column: 'amount', sent: `${JSON.stringify(long).slice(0, 100)}…` }),
    ]);
  });
});

describe('a row of a table', () => {
  const marks = parseCollection(
    {
      name: 'marks',
      title: 'Marks',
      fields: [
        { name: 'at', type: 'datetime', default: 'now' },
        { name: 'share', type: 'number', unit: '% or INR', multipleOf: 0.01 },
        { name: 'mean', type: 'number' },
      ],
    },
    { source: 'test', isDeclared: true, version: 1 },
  );
  const mapperOf = (...names: readonly string[]) =>
    createRowMapper({ columns: names.map((one) => ({ column: one, field: one })), fixed: {} }, marks, {
      of: 'table',
      timeZone: 'UTC',
    });

  it('is refused where the time of the import would take the place of an empty cell', () => {
    const map = mapperOf('at', 'share');
    for (const at of [null, '', undefined]) {
      expect(map({ at, share: '10' }).faults).toMatchObject([
        {
          column: 'at',
          detail: 'at: a value (the time of the import would take its place) is expected, not ""',
        },
      ]);
    }
    expect(mapperOf('share')({ share: '10' }).faults).toEqual([]);
    // An empty cell leaves the value of the record that its _id names.
    expect(mapperOf('_id', 'at')({ _id: 'm1', at: null }).faults).toEqual([]);
  });

  it.each([
    [{ share: '10%' }, { share: 10 }],
    [{ share: ' 12.5 % ' }, { share: 12.5 }],
    [{ share: 0.1 + 0.2 }, { share: 0.3 }],
    [{ share: 3000.2999999999997 }, { share: 3000.3 }],
    [{ mean: 0.1 + 0.2 }, { mean: 0.30000000000000004 }],
  ])('reads what a spreadsheet shows: %j is %j', (cells, record) => {
    expect(mapperOf('share', 'mean')(cells)).toMatchObject({ record, faults: [] });
  });

  it('has a percentage only where the field is one', () => {
    expect(mapperOf('mean')({ mean: '10%' }).faults).toMatchObject([{ column: 'mean', sent: '10%' }]);
  });
});

describe('a cell in percent of a field in percent or another unit', () => {
  const either = parseCollection(
    {
      name: 'reduction',
      fields: [
        { name: 'kind', type: 'text' },
        { name: 'value', type: 'number', unit: '% or INR' },
      ],
      checks: [{ kind: 'when', field: 'kind', is: ['percent'], holds: { field: 'value', maximum: 100 } }],
    },
    { source: 'test', isDeclared: true, version: 1 },
  );
  const map = createRowMapper(
    {
      columns: [
        { column: 'How much', field: 'value' },
        { column: 'Kind', field: 'kind', values: { Rs: 'amount' } },
      ],
      fixed: {},
    },
    either,
    { of: 'table', timeZone: 'Asia/Kolkata' },
  );

  it.each([
    [{ 'How much': '10%', Kind: 'percent' }, []],
    [{ 'How much': '10%', Kind: null }, []],
    [{ 'How much': '10', Kind: 'Rs' }, []],
    [
      { 'How much': '10%', Kind: 'Rs' },
      ['How much: a number without % where kind is amount is expected, not "10%"'],
    ],
  ])('is held against the kind of the row: %j', (cells, details) => {
    expect(map(cells).faults.map(({ detail }) => detail)).toEqual(details);
  });
});

describe('a column that is mapped part by part', () => {
  const map = createRowMapper(
    {
      columns: [
        {
          ...{ column: 'What', field: 'name', part: { separator: '-', number: 1, of: 2 } },
          values: { X: 'Ten' },
        },
        { column: 'What', field: 'amount', part: { separator: '-', number: 2, of: 2 }, format: 'grouped' },
      ],
      fixed: {},
    },
    SAMPLE,
    { of: 'table', timeZone: 'UTC' },
  );

  it.each([
    ['10-1,200', { name: '10', amount: 1200 }],
    [' X - 5 ', { name: 'Ten', amount: 5 }],
    // A part in which nothing stands is as an empty cell, and so are both of one.
    ['10-', { name: '10' }],
    ['-10', { amount: 10 }],
    [null, {}],
    [undefined, {}],
  ])('has of %j the record %j', (cell, record) => {
    const made = map(cell === undefined ? {} : { What: cell });
    expect(made).toMatchObject({ faults: [] });
    expect(made.record).toEqual(record);
  });

  it.each([['10'], ['10-A-7'], [10]])('refuses %j once, and says what would be right', (cell) => {
    const { record, faults } = map({ What: cell });
    expect(record).toEqual({});
    expect(faults).toEqual([
      {
        column: 'What',
        detail: `What: a text of 2 parts with "-" between them is expected, not "${cell}"`,
        expected: 'a text of 2 parts with "-" between them',
        sent: String(cell),
      },
    ]);
  });

  it('tells what is wrong with a part by the part', () => {
    expect(map({ What: '10-many' }).faults).toMatchObject([{ column: 'What', sent: 'many' }]);
  });
});
