/** Reads a register with a column for each day as a table with a row for each day that has a value. */

import { dayWritten, monthNumber, parseMonthCell } from '../cells/day-cell.js';
import type { DayFormat } from '../cells/day-formats.js';
import { CellFault, isBlankCell, textOfCell } from '../cells/plain-cells.js';
import { inBatches, type RowSource, type SourceRow, type UnfoldedDays } from './row-source.js';

/** Fewer columns with days may be fields of a record. */
const FEWEST_DAYS = 3;
/** Fewer numbered columns may be questions of an examination, unless their cells are words. */
const FEWEST_NUMBERED = 28;
const FEWEST_WITH_WORDS = 5;

/**
 * The columns of a table whose headings are days (`16/11/2026`), days of a month (`1` to `30`, `Mon 2`) or
 * months (`Apr-26`), if there are enough of them.
 */
export async function findUnfoldedDays(source: RowSource, name = ''): Promise<UnfoldedDays | undefined> {
  const { columns = [], title = '', sheet = '' } = source;
  const order = columns.some((one) => /^\d{1,2}[-/. ](?:1[3-9]|2\d|3[01])[-/. ]/.test(one))
    ? 'MM/DD'
    : 'DD/MM';
  const days = new Map(columns.flatMap((one) => entryOf(one, dayOrMonth(one, order))));
  const numbered = new Map(columns.flatMap((one) => entryOf(one, numberOfDay(one))));
  const isNumbered = days.size < FEWEST_DAYS && (await areDays(source, [...numbered.keys()]));
  if (days.size < FEWEST_DAYS && !isNumbered) return undefined;
  const month = [title, sheet, name].map(monthIn).find((one) => one !== undefined);
  const dayOf = ([heading, number]: readonly [string, string]): readonly [string, string] => {
    return [heading, isNumbered && month !== undefined ? `${month}-${number.padStart(2, '0')}` : number];
  };
  const found = [...(isNumbered ? numbered : days)].map(dayOf);
  const kept = columns.filter((one) => !found.some(([heading]) => heading === one));
  const untaken = (heading: string) => (kept.includes(heading) ? `${heading} of the register` : heading);
  return { days: found, day: untaken('day'), value: untaken('value') };
}

function entryOf(heading: string, day: string | undefined): [string, string][] {
  return day === undefined ? [] : [[heading, day]];
}

function dayOrMonth(heading: string, order: 'DD/MM' | 'MM/DD'): string | undefined {
  const formats: readonly DayFormat[] = [`${order}/YYYY`, `${order}/YY`];
  const text = heading.replace(WEEKDAY_BEFORE, '').replace(WEEKDAY_BEHIND, '');
  const day = formats.map((format) => dayWritten(text, format)).find((one) => one !== undefined);
  if (day !== undefined || !/\d/.test(text)) return day;
  const month = parseMonthCell(text);
  return month instanceof CellFault ? undefined : month;
}

const WEEKDAY = '(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|सोम|मंगल|बुध|गुरु|शुक्र|शनि|रवि';
const WEEKDAY_BEFORE = new RegExp(`^(?:${WEEKDAY})[\\s.,:/-]+`, 'i');
const WEEKDAY_BEHIND = new RegExp(`(?<![\\s.,:/-])[\\s.,:/-]*\\(?(?<![a-z])(?:${WEEKDAY})\\)?$`, 'i');

/** `2` of `2`, `02`, `2nd`, `Mon 2` and `2 (Mon)`. */
function numberOfDay(heading: string): string | undefined {
  const text = heading.replace(WEEKDAY_BEFORE, '').replace(WEEKDAY_BEHIND, '');
  const [, number] = /^(\d{1,2})(?:st|nd|rd|th)?$/i.exec(text) ?? [];
  return number !== undefined && Number(number) >= 1 && Number(number) <= 31 ? number : undefined;
}

/** Whether numbered columns are days of a month: nearly all days are there, or the cells are words. */
async function areDays(source: RowSource, columns: readonly string[]): Promise<boolean> {
  if (columns.length >= FEWEST_NUMBERED) return true;
  if (columns.length < FEWEST_WITH_WORDS) return false;
  for await (const rows of source.rows()) {
    const cells = rows
      .flatMap(({ values }) => columns.map((one) => values[one]))
      .filter((one) => !isBlankCell(one));
    return cells.filter((one) => /\p{L}/u.test(textOfCell(one))).length * 2 > cells.length;
  }
  return false;
}

/** The month in a title such as "Attendance, November 2026". */
function monthIn(text: string): string | undefined {
  for (const [, name = '', year = ''] of text.matchAll(
    /(?<![\p{L}\p{M}])(\p{L}[\p{L}\p{M}]{2,})[^\p{L}\p{M}\d]*(?:year\D{0,3})?(\d{4})/giu,
  )) {
    const number = monthNumber(name);
    if (number > 0) return `${year}-${String(number).padStart(2, '0')}`;
  }
  const [written = ''] = /(?<!\d)(?:\d{4}[-_]\d{2}|\d{1,2}[-/]\d{4})(?![-\d])/.exec(text) ?? [];
  const month = parseMonthCell(written.replace('_', '-'));
  return month instanceof CellFault ? undefined : month;
}

/** The table with a row for each filled cell of a day. Its rows are numbered one by one. */
export function unfoldDays(source: RowSource, unfold: UnfoldedDays): RowSource {
  const { days } = unfold;
  const headings = new Set(days.map(([heading]) => heading));
  const kept = (source.columns ?? []).filter((one) => !headings.has(one));
  return {
    ...source,
    columns: [...kept, unfold.day, unfold.value],
    warnings: [...source.warnings, ...warningsOf(unfold)],
    rows: (signal, batchRows) => inBatches(unfolded(source.rows(signal)), (row) => row, signal, batchRows),
  };

  async function* unfolded(batches: AsyncIterable<readonly SourceRow[]>): AsyncGenerator<SourceRow[]> {
    let number = 0;
    for await (const rows of batches) {
      yield rows.flatMap(({ source: _, ...row }) => {
        const filled = days.filter(([column]) => !isBlankCell(row.values[column]));
        const keys = Object.fromEntries(kept.map((column) => [column, row.values[column]]));
        return (row.fault === undefined ? filled : [['', ''] as const]).map(([column, day]) => {
          number += 1;
          const values = { ...keys, [unfold.day]: day, [unfold.value]: row.values[column] };
          return { ...row, number, values };
        });
      });
    }
  }
}

function warningsOf({ days, day }: UnfoldedDays): readonly string[] {
  const [first, last] = [days[0], days.at(-1)].map((one) => JSON.stringify(one?.[0]));
  const isUnknown = days.some(([, one]) => /^\d{1,2}$/.test(one));
  const rows =
    `The headings ${first} to ${last} are days or months: each row is read as a row for each of them that ` +
    'has a value. These rows are numbered one by one.';
  const month =
    `The file does not name the month of ${first} to ${last}. ` +
    `Give it as the format of ${JSON.stringify(day)}, ` +
    'such as 2026-11, or in the title, the sheet or the name of the file (November 2026).';
  return isUnknown ? [rows, month] : [rows];
}
