/** Reads instants as people and programs write them. */
import { Temporal } from 'temporal-polyfill';
import { instantFrom } from '../../../base/model/calendar.js';
import { CellFault, cellText } from './cell-fault.js';
import { dayOfSerial, dayWritten, expectedDay } from './day-cell.js';
import type { InstantFormat } from './day-formats.js';

const WITH_TIME =
  /^(.*[^\s,])(?:T|,? +)(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)? ?([ap]\.?m\.?)?$/i;
/** A longer text is no instant and is not tried. */
const MAX_LENGTH = 64;
const MS_OF_A_DAY = 86_400_000;

/**
 * The instant of a cell as UTC text, `2026-03-31T16:00:00.000Z`. A day without a time is its midnight in the
 * zone.
 */
export function parseInstantCell(cell: unknown, format: InstantFormat, timeZone = 'UTC'): string | CellFault {
  const text = cellText(cell);
  const isTried = text && text.length <= MAX_LENGTH;
  return (isTried && instantWritten(text, format, timeZone)) || new CellFault(expectation(format));
}

function instantWritten(text: string, format: InstantFormat, timeZone: string): string | undefined {
  if (format === 'epoch-seconds' || format === 'epoch-milliseconds') {
    return /^-?\d{1,15}$/.test(text)
      ? ofEpoch(Number(text) * (format === 'epoch-seconds' ? 1_000 : 1))
      : undefined;
  }
  if ((format === 'serial' || format === 'serial-1904') && /^\d{1,7}\.\d+$/.test(text)) {
    return ofSerial(Number(text), format, timeZone);
  }
  const parts = WITH_TIME.exec(text);
  const day = dayWritten(parts?.[1] ?? text, format);
  if (day === undefined) return instantFrom(text, timeZone);
  return parts ? ofLocalTime(day, parts, timeZone) : instantFrom(day, timeZone);
}

function ofLocalTime(day: string, parts: RegExpExecArray, timeZone: string): string | undefined {
  const [, , hours = '', minute, seconds = '00', fraction = '0', half] = parts;
  const hour = half ? (Number(hours) % 12) + (/^p/i.test(half) ? 12 : 0) : Number(hours);
  if (hour > 23 || Number(minute) > 59 || Number(seconds) > 59 || (half && Number(hours) > 12))
    return undefined;
  return inZone(`${day}T${String(hour).padStart(2, '0')}:${minute}:${seconds}.${fraction}`, timeZone);
}

/** Rounds to the nearest second, because spreadsheets count time in floats. */
function ofSerial(serial: number, system: 'serial' | 'serial-1904', timeZone: string): string | undefined {
  const seconds = Math.round((serial - Math.floor(serial)) * 86_400);
  const day = dayOfSerial(Math.floor(serial) + (seconds === 86_400 ? 1 : 0), system);
  const time = new Date((seconds * 1_000) % MS_OF_A_DAY).toISOString().slice(11, 23);
  return day && inZone(`${day}T${time}`, timeZone);
}

function inZone(local: string, timeZone: string): string | undefined {
  return ofEpoch(Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).epochMilliseconds);
}

function ofEpoch(milliseconds: number): string | undefined {
  const instant = new Date(milliseconds);
  if (Number.isNaN(instant.getTime())) return undefined;
  const text = instant.toISOString();
  return text.length === 24 ? text : undefined;
}

function expectation(format: InstantFormat): string {
  if (format === 'epoch-seconds') return 'the seconds since 1970, such as 1774953000';
  if (format === 'epoch-milliseconds') return 'the milliseconds since 1970, such as 1774953000000';
  if (format === 'serial' || format === 'serial-1904') return 'the number of a day, such as 46112.395833';
  const examples: Readonly<Record<string, string>> = {
    'YYYY-MM-DD': '2026-03-31T09:30:00+05:30',
    'DD/MM/YYYY': '31/03/2026 09:30',
    'MM/DD/YYYY': '03/31/2026 9:30 AM',
    'DD/MM/YY': '31/03/26 09:30',
    'MM/DD/YY': '03/31/26 9:30 AM',
    'DD MMM YYYY': '31-Mar-2026 09:30',
    'DD MMM YY': '31-Mar-26 09:30',
    YYYYMMDD: '20260331 09:30',
  };
  const example = examples[format];
  return example === undefined ? expectedDay(format) : `an instant such as ${example} (${format})`;
}
