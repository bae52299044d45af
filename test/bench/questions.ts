/**
 * What is asked, whoever is asked: the parameters of the seven workloads, the same in every run. A dialect
 * puts a question into the words of one server.
 */

import type { HttpRequest } from './load/http-request.js';
import { FIRST_DAY, type MarkedAttendance } from './school-records.js';

/** A mark that a request creates. A student has one a day, so no two requests may create the same. */
export interface Mark {
  readonly student: string;
  readonly day: string;
  /** The class and the section of the student, one character each. */
  readonly class: string;
  readonly section: string;
}

export interface DayRange {
  readonly from: string;
  readonly to: string;
}

export interface Dialect {
  /** W1: the attendance record of this id, whole. */
  readonly one: (id: string) => HttpRequest;
  /** W2: six fields of the first 100 attendance records of a class on a day, by id. */
  readonly list: (asked: { readonly class: string; readonly day: string }) => HttpRequest;
  /** W3: the first 20 students whose name contains the text, in any case, by id, whole. */
  readonly contains: (text: string) => HttpRequest;
  /** W4: what was collected on each day of a range, by fee head. */
  readonly collection: (range: DayRange) => HttpRequest;
  /** W4j: the same with totals and missing numbers. Absent where the server has no such answer. */
  readonly collectionWithTotals?: (range: DayRange) => HttpRequest;
  /** W5: a new attendance record. */
  readonly create: (mark: Mark) => HttpRequest;
  /**
   * W6: the first 100,000 attendance records, whole, as one answer. Absent where the server has no such
   * answer.
   */
  readonly stream?: (count: number) => HttpRequest;
  /** W7: so many new attendance records, all or none. */
  readonly createMany: (marks: readonly Mark[]) => HttpRequest;
}

/** Of the created marks, so that load generators can put in others of the same length. */
export const MARK_PLACE: Mark = { student: 'stu-00000', day: '0000-00-00', class: '~', section: '|' };

export const STREAMED_RECORDS = 100_000;
export const RECORDS_AT_ONCE = 10_000;
export const LISTED_RECORDS = 100;
export const FOUND_RECORDS = 20;
/** The students of the classes 1 to 9, but for the first eight: their marks are all of one length. */
const MARKED_STUDENTS = 3744;
const DAY_MS = 86_400_000;

export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

export function idsOfRecords({ students, days }: MarkedAttendance): readonly string[] {
  const next = randomNumbers();
  return Array.from({ length: 4000 }, () => `att-${1 + (next() % days)}-${1 + (next() % students)}`);
}

/** A class on a school day: with 200 days each of the 2,400 there are, with more as many of them. */
export function classesAndDays({ days }: MarkedAttendance): readonly { class: string; day: string }[] {
  const asked = [];
  let day = FIRST_DAY;
  for (let count = 0; count < days; day = addDays(day, 1)) {
    if (new Date(day).getUTCDay() === 0) continue;
    count += 1;
    for (let place = 1; place <= 12; place += 1) asked.push({ class: String(place), day });
  }
  return shuffled(asked).slice(0, 2400);
}

/** Pieces of the names of students, of three to six characters, each second in the other case. */
export function piecesOfNames(names: readonly string[]): readonly string[] {
  const pieces = new Set<string>();
  for (const name of names)
    for (let length = 3; length <= 6; length += 1)
      for (let start = 0; start + length <= name.length; start += 1)
        pieces.add(name.slice(start, start + length));
  const usual = [...pieces].filter((piece) => /^[A-Za-z]+( [A-Z][a-z]*)?$/.test(piece)).sort();
  return shuffled(usual)
    .slice(0, 4000)
    .map((piece, index) => (index % 2 === 0 ? piece : piece.toLowerCase()));
}

/** Ranges of about a month, each begun on any day of the session. */
export function monthsOfDays(): readonly DayRange[] {
  const asked = [];
  for (let start = 0; start < 330; start += 1)
    for (let length = 27; length <= 33; length += 1)
      asked.push({ from: addDays(FIRST_DAY, start), to: addDays(FIRST_DAY, start + length) });
  return shuffled(asked);
}

/** The marks from the `first` on, counted from a day on which nobody has one. */
export function newMarks(firstDay: string, first: number, count: number): readonly Mark[] {
  return Array.from({ length: count }, (_, index) => newMark(firstDay, first + index));
}

/** The mark of this number, in the class that `seedStatements` uses. wrk.lua counts in the same way. */
export function newMark(firstDay: string, number: number): Mark {
  const place = number % MARKED_STUDENTS;
  const twelve = 1 + Math.floor(place / 9);
  return {
    student: `stu-${String(12 * twelve + (place % 9)).padStart(5, '0')}`,
    day: addDays(firstDay, Math.floor(number / MARKED_STUDENTS)),
    class: String((place % 9) + 1),
    section: String.fromCharCode(65 + (twelve % 8)),
  };
}

function shuffled<T>(values: readonly T[]): readonly T[] {
  const next = randomNumbers();
  return values
    .map((value) => ({ value, order: next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}

/** Mulberry32 with a fixed seed: every run asks the same. */
function randomNumbers(): () => number {
  let state = 20261120;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
