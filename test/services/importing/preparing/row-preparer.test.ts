import { describe, expect, it } from '@jest/globals';
import {
  type ReferenceLookups,
  RowPreparer,
} from '../../../../src/services/importing/preparing/row-preparer.js';
import { parseCollection } from '../../../../src/store/catalog/parse-collection.js';

const MARKS = parseCollection(
  {
    name: 'marks',
    title: 'Marks',
    description: 'Marks of students.',
    singular: 'mark',
    plural: 'marks',
    labelField: 'number',
    fields: [
      { name: 'number', type: 'text', unique: true, description: 'Its number.' },
      { name: 'student', type: 'reference', target: 'students', description: 'The student.' },
    ],
  },
  { source: 'a test', isDeclared: true, version: 0 },
);

/** As many rows as several questions take. */
const ROWS = 1_201;

function rowsWith(changed: Readonly<Record<number, object>>) {
  return Array.from({ length: ROWS }, (_, index) => {
    const number = index + 1;
    return { number, values: { number: `M-${number}`, student: `s-${number}`, ...changed[number] } };
  });
}

/** Answers a while later, when the next rows were looked at; each hundredth target is not there. */
const lookups: ReferenceLookups = {
  findTargets: async (sought) => {
    await new Promise((resolve) => setImmediate(resolve));
    return sought.map(({ id }) => ({ label: `Student ${id}`, isDead: id.endsWith('00') }));
  },
  judgeLinks: async () => new Map(),
  findByField: async () => new Map(),
};

function prepare(rows: ReturnType<typeof rowsWith>, position = 0) {
  const columns = ['number', 'student'].map((one) => ({ column: one, field: one }));
  const plan = {
    collection: MARKS,
    timeZone: 'UTC',
    now: new Date('2026-07-01T03:00:00.000Z'),
    mapping: { columns, fixed: {} },
    key: { kind: 'field', name: 'number' },
    seed: '0123456789abcdef0123456789abcdef',
    of: 'table',
    position,
  } as const;
  return new RowPreparer(plan, ['number', 'student'], lookups).prepare(rows);
}

describe('a batch of rows', () => {
  it('has a line of each in their order, with the label and the fault of its own target', async () => {
    const { lines, ...told } = await prepare(rowsWith({}));
    const cells = Buffer.from(lines)
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split('\t'));
    expect(told).toEqual({
      count: ROWS,
      fields: ['number', 'student'],
      refused: [],
      rows: ROWS,
      position: ROWS,
      staged: [[1, ROWS]],
      labels: new Map(Array.from({ length: 100 }, (_, index) => [index + 1, `M-${index + 1}`])),
    });
    expect(cells.map(([number]) => Number(number))).toEqual(rowsWith({}).map(({ number }) => number));
    const data = JSON.parse(cells[999]?.[3] ?? '');
    expect(data.student).toEqual({ value: 's-1000', label: 'Student s-1000' });
    const lacking = cells.filter(([, , , , , , , , missing]) => missing !== '').map(([number]) => number);
    expect(lacking).toEqual(rowsWith({}).flatMap(({ number }) => (number % 100 === 0 ? [`${number}`] : [])));
  });

  it('leaves out a repeat of a row far above it, and rows that are done', async () => {
    const rows = rowsWith({ 1100: { number: 'M-7' }, 3: { number: 'M-2' } });
    const { count, refused, rows: read, staged } = await prepare(rows, 600);
    expect([count, read, staged]).toEqual([
      600,
      601,
      [
        [601, 1_099],
        [1_101, ROWS],
      ],
    ]);
    expect(refused).toEqual([
      {
        number: 1_100,
        errors: [
          expect.objectContaining({ detail: 'row 7 of the file has the same number' }),
          expect.objectContaining({ column: 'student', sent: 's-1100' }),
        ],
        source: ['M-7', 's-1100'],
      },
    ]);
  });

  it('tells a row that is refused of its dangling reference, too', async () => {
    const rows = rowsWith({
      5: { student: 's-900', number: undefined },
      9: { student: 's-900', number: 'M-8' },
    });
    const { refused } = await prepare(rows);
    expect(refused.map(({ number, errors }) => [number, errors.map(({ column }) => column)])).toEqual([
      [5, ['number', 'student']],
      [9, ['number', 'student']],
    ]);
    expect(refused[0]?.errors[1]?.detail).toMatch(/^student: the _id of a record of students is expected/);
  });
});
