/** The text that a mapping makes of a record. */
import { Decimal } from 'decimal.js';
import { isJsonObject, type JsonObject, type JsonValue, memberOf, printExactJson } from '../json.js';
import { dayOf, firstDay, isDay, lastDay } from '../model/calendar.js';
import type { FormatMapping, Value } from './format-mapping.js';

/** What is known beside the record: `{$domain.name}`, `{$property.udiseCode}`, `{$session}`. */
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
  if (value.match !== undefined)
    return new RegExp(value.match, 'u').exec(text.replace(/[\s-]/g, ''))?.[1] ?? '';
  if (value.session !== undefined) return partOfSession(text, value.session, context.sessionFirstMonth);
  if (value.decimals !== undefined) return printNumber(text, value.decimals, value.sign);
  return text;
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
  part: 'first day' | 'last day' | 'last year',
  firstMonth: number,
): string {
  const year = Number(/^(\d{4})-\d{2}$/.exec(session)?.[1]);
  if (Number.isNaN(year)) return '';
  const month = (number: number) => String(number).padStart(2, '0');
  const isCalendarYear = firstMonth === 1;
  const endYear = isCalendarYear ? year : year + 1;
  if (part === 'last year') return String(endYear);
  if (part === 'first day') return firstDay(`${year}-${month(firstMonth)}`);
  return lastDay(`${endYear}-${month(isCalendarYear ? 12 : firstMonth - 1)}`);
}

function printNumber(text: string, decimals: number, sign: 'negative' | undefined): string {
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return '';
  const number = new Decimal(text);
  return (sign === 'negative' ? number.negated() : number).toFixed(decimals);
}
