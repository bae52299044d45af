/** The text that a mapping makes of a record. */
import { Decimal } from 'decimal.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  printExactJson,
} from '../../base/json/json.js';
import { dayOf, isDay } from '../../base/model/calendar.js';
import { isReportDay, isSession } from '../../school/reports/engine/parameter-types.js';
import { firstDayOf, lastDayOf, monthsOf, sessionOf } from '../../school/reports/engine/school-calendar.js';
import type { FormatMapping, Value } from './format-mapping.js';

/** Values from outside the record: `{$domain.name}`, `{$property.udiseCode}`, `{$session}`. */
export interface FormatContext {
  readonly domain: { readonly id: string; readonly name: string; readonly timeZone: string };
  readonly property: (name: string) => JsonValue | undefined;
  /** The session that is under way, `YYYY-YY`. */
  readonly session: string;
  readonly sessionFirstMonth: number;
  readonly tables: NonNullable<FormatMapping['tables']>;
}

/** A record, or an element of one of its lists in the place of the list. */
export interface FormatRow {
  readonly data: JsonObject;
  /** Which element it is, from 1 on. */
  readonly position: number;
}

export function printValue(value: Value, row: FormatRow, context: FormatContext): string {
  if (typeof value === 'string') return fill(value, row, context);
  const found = valueAt(value.field, row, context);
  const text = shown(found);
  const table = value.values ?? (value.table === undefined ? undefined : context.tables[value.table]);
  if (table !== undefined) {
    const replaced = Object.hasOwn(table, text) ? table[text] : undefined;
    return replaced ?? fill(value.otherwise ?? '', row, context);
  }
  const made = converted(text, value, context);
  return made === '' ? fill(value.otherwise ?? '', row, context) : made;
}

/** The value at a path of names joined by dots; lists on the way are taken by their first element. */
export function valueAt(path: string, row: FormatRow, context: FormatContext): JsonValue | undefined {
  if (path === '$position') return row.position;
  if (path === '$session') return context.session;
  if (path.startsWith('$property.')) return context.property(path.slice('$property.'.length));
  if (path === '$domain.id') return context.domain.id;
  if (path === '$domain.name') return context.domain.name;
  return path.split('.').reduce<JsonValue | undefined>((value, name) => {
    const one: JsonValue | undefined = Array.isArray(value) ? (value[0] as JsonValue | undefined) : value;
    return isJsonObject(one) ? memberOf(one, name) : undefined;
  }, row.data);
}

function fill(template: string, row: FormatRow, context: FormatContext): string {
  return template.replace(/\{([^{}]+)\}/g, (_all, path: string) => shown(valueAt(path, row, context))).trim();
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : printExactJson(value);
}

function converted(text: string, value: Exclude<Value, string>, context: FormatContext): string {
  if (text === '') return '';
  if (value.day !== undefined) return printDay(text, value.day, context.domain.timeZone);
  if (value.part !== undefined) return partOf(text, value.part);
  if (value.match !== undefined) return found(text, value.match, value.without);
  if (value.session !== undefined) return partOfSession(text, value.session, context.sessionFirstMonth);
  if (value.decimals !== undefined) return printNumber(text, value.decimals, value.sign);
  return text;
}

function found(text: string, pattern: string, without: string | undefined): string {
  const bare = without === undefined ? text : text.replace(new RegExp(without, 'gu'), '');
  return new RegExp(pattern, 'u').exec(bare)?.[1] ?? '';
}

function printDay(text: string, form: 'YYYY-MM-DD' | 'DD-MM-YYYY' | 'YYYYMMDD', timeZone: string): string {
  const day = isDay(text) ? text : toDay(text, timeZone);
  if (day === undefined) return '';
  const [year = '', month = '', date = ''] = day.split('-');
  if (form === 'YYYYMMDD') return `${year}${month}${date}`;
  return form === 'DD-MM-YYYY' ? `${date}-${month}-${year}` : day;
}

function toDay(text: string, timeZone: string): string | undefined {
  return Number.isNaN(Date.parse(text)) ? undefined : dayOf(text, timeZone);
}

function partOf(name: string, part: 'last word' | 'but the last word'): string {
  const words = name.trim().split(/\s+/);
  if (part === 'last word') return words.length > 1 ? (words.at(-1) ?? '') : '';
  return words.length > 1 ? words.slice(0, -1).join(' ') : name.trim();
}

function partOfSession(
  session: string,
  part: 'first day' | 'last day' | 'last year' | 'of day',
  firstMonth: number,
): string {
  if (part === 'of day') return isReportDay(session) ? sessionOf(session, firstMonth) : '';
  if (!isSession(session)) return '';
  const { first, last } = monthsOf(session, firstMonth);
  if (part === 'last year') return last.slice(0, 4);
  return part === 'first day' ? firstDayOf(first) : lastDayOf(last);
}

function printNumber(text: string, decimals: number, sign: 'negative' | undefined): string {
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return '';
  const number = new Decimal(text);
  return (sign === 'negative' ? number.negated() : number).toFixed(decimals);
}
