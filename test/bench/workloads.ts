/**
 * The seven workloads: what is asked, in which way it is measured, and how an answer is known to be right.
 */
import type { HttpRequest } from './load/http-request.js';
import {
  classesAndDays,
  type Dialect,
  FOUND_RECORDS,
  idsOfRecords,
  LISTED_RECORDS,
  MARK_PLACE,
  type Mark,
  monthsOfDays,
  newMarks,
  piecesOfNames,
  RECORDS_AT_ONCE,
  STREAMED_RECORDS,
} from './questions.js';
import { FIRST_CREATED_DAY } from './school.js';
import type { MarkedAttendance } from './school-records.js';

interface WorkloadBase {
  readonly name: string;
  readonly title: string;
  readonly creates: boolean;
  /**
   * What an answer is about: ids, or amounts. The answer of every server has at least what that of the bare
   * server has. @throws Error when it is not as much as was asked for
   */
  readonly contentOf: (answer: string) => ReadonlySet<string>;
}

/** Asked by many connections at once, a different request each time. */
export interface LoadWorkload extends WorkloadBase {
  readonly kind: 'load';
  readonly requests: (dialect: Dialect) => readonly HttpRequest[];
  /** One of them that can be sent as it stands. */
  readonly sample: (dialect: Dialect) => HttpRequest | undefined;
}

/** Asked once at a time; how long the answer takes is the figure. */
export interface SingleWorkload extends WorkloadBase {
  readonly kind: 'single';
  /** Of the records that a request reads or creates. */
  readonly records: number;
  /** The `turn`-th request; undefined where the server has no such answer. */
  readonly request: (dialect: Dialect, turn: number) => HttpRequest | undefined;
}

export type Workload = LoadWorkload | SingleWorkload;

export function listWorkloads(attendance: MarkedAttendance, names: readonly string[]): readonly Workload[] {
  const ids = idsOfRecords(attendance);
  const lists = classesAndDays(attendance);
  const pieces = piecesOfNames(names);
  const months = monthsOfDays();
  return [
    {
      name: 'w1',
      title: 'one record',
      kind: 'load',
      creates: false,
      requests: (dialect) => ids.map(dialect.one),
      sample: (dialect) => dialect.one(first(ids)),
      contentOf: (answer) => idsIn(answer, { atLeast: 1, atMost: 1 }),
    },
    {
      name: 'w2',
      title: 'list 100×6',
      kind: 'load',
      creates: false,
      requests: (dialect) => lists.map(dialect.list),
      sample: (dialect) => dialect.list(first(lists)),
      contentOf: (answer) => idsIn(answer, { atLeast: LISTED_RECORDS, atMost: LISTED_RECORDS }),
    },
    {
      name: 'w3',
      title: 'contains, any case',
      kind: 'load',
      creates: false,
      requests: (dialect) => pieces.map(dialect.contains),
      sample: (dialect) => dialect.contains(first(pieces)),
      contentOf: (answer) => studentsIn(answer, { atLeast: 1, atMost: FOUND_RECORDS }),
    },
    {
      name: 'w4',
      title: 'fee collection by day and head',
      kind: 'load',
      creates: false,
      requests: (dialect) => months.map(dialect.collection),
      sample: (dialect) => dialect.collection(first(months)),
      contentOf: amountsIn,
    },
    {
      name: 'w4j',
      title: 'the same with totals',
      kind: 'load',
      creates: false,
      requests: ({ collectionWithTotals: ask }) => (ask === undefined ? [] : months.map(ask)),
      sample: ({ collectionWithTotals: ask }) => ask?.(first(months)),
      contentOf: amountsIn,
    },
    {
      name: 'w5',
      title: 'create',
      kind: 'load',
      creates: true,
      requests: (dialect) => [dialect.create(MARK_PLACE)],
      sample: (dialect) => dialect.create(first(newMarks(FIRST_CREATED_DAY, 0, 1))),
      contentOf: (answer) => studentsIn(answer, { atLeast: 1, atMost: 1 }),
    },
    {
      name: 'w6',
      title: 'stream 100,000',
      kind: 'single',
      creates: false,
      records: STREAMED_RECORDS,
      request: (dialect) => dialect.stream?.(STREAMED_RECORDS),
      contentOf: (answer) => idsIn(answer, { atLeast: STREAMED_RECORDS, atMost: STREAMED_RECORDS }),
    },
    {
      name: 'w7',
      title: 'create 10,000',
      kind: 'single',
      creates: true,
      records: RECORDS_AT_ONCE,
      request: (dialect, turn) => dialect.createMany(marksOfTurn(turn)),
      // The records themselves are counted in the database: not every server gives them back.
      contentOf: () => new Set(),
    },
  ];
}

function marksOfTurn(turn: number): readonly Mark[] {
  return newMarks(FIRST_CREATED_DAY, turn * RECORDS_AT_ONCE, RECORDS_AT_ONCE);
}

interface Bounds {
  readonly atLeast: number;
  readonly atMost: number;
}

function idsIn(answer: string, bounds: Bounds): ReadonlySet<string> {
  return told(answer, /\batt-\d+-\d+/g, bounds);
}

function studentsIn(answer: string, bounds: Bounds): ReadonlySet<string> {
  return told(answer, /\bstu-\d{5}/g, bounds);
}

function told(answer: string, pattern: RegExp, { atLeast, atMost }: Bounds): ReadonlySet<string> {
  const found = new Set(answer.match(pattern));
  if (found.size >= atLeast && found.size <= atMost) return found;
  throw new Error(`${found.size} in place of ${atLeast} to ${atMost} records: ${answer.slice(0, 500)}`);
}

/** What was collected of a fee head on a day, without what is nothing. */
function amountsIn(answer: string): ReadonlySet<string> {
  const amounts = new Set<string>();
  for (const [, amount] of answer.matchAll(/"amount"\s*:\s*"?(\d+(?:\.\d+)?)/g))
    if (Number(amount) > 0) amounts.add(String(Number(amount)));
  if (amounts.size === 0) throw new Error(`no amounts: ${answer.slice(0, 500)}`);
  return amounts;
}

function first<T>(values: readonly T[]): T {
  const [value] = values;
  if (value === undefined) throw new Error('there is nothing to ask for');
  return value;
}
