/**
 * Mapping files (`schema/mappings/*.json`) define how records become the files of a format that other
 * programs read. They are data: a school copies one and changes it.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { ServiceError } from '../../base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  printExactJson,
} from '../../base/json/json.js';
import { dayOf, isDay } from '../../base/model/calendar.js';
import { findPackageDirectory } from '../../base/process/package-directory.js';
import { isReportDay, isSession } from '../../school/reports/engine/parameter-types.js';
import { firstDayOf, lastDayOf, monthsOf, sessionOf } from '../../school/reports/engine/school-calendar.js';

/** A text with fields in it (`Class {name}`), or a field and what is made of it. */
const Value = z.union([
  z.string(),
  z.strictObject({
    field: z.string(),
    /** The text for each value; of one that is not there `otherwise`, or nothing. */
    values: z.record(z.string(), z.string()).optional(),
    /** The same, by the name of one of the tables of the mapping. */
    table: z.string().optional(),
    otherwise: z.string().optional(),
    /** A day, or the day of an instant in the school's time zone. */
    day: z.enum(['YYYY-MM-DD', 'DD-MM-YYYY', 'YYYYMMDD']).optional(),
    part: z.enum(['last word', 'but the last word']).optional(),
    /** A regular expression with one group. */
    match: z.string().optional(),
    /** A regular expression: matches are removed from the text first. */
    without: z.string().optional(),
    decimals: z.number().int().min(0).max(6).optional(),
    sign: z.literal('negative').optional(),
    /** For a session `YYYY-YY`; `of day`: the session that contains the day. */
    session: z.enum(['first day', 'last day', 'last year', 'of day']).optional(),
  }),
]);

/** The rules for the values of a column. */
const COLUMN = {
  required: z.boolean().optional(),
  pattern: z.string().optional(),
  min: z.number().int().optional(),
  max: z.number().int().optional(),
  /** The pattern in words. */
  expected: z.string().optional(),
  /** An earlier file whose `sourcedId` it must be. A row that refers to something else is left out. */
  in: z.string().optional(),
};
const Homeless = z.strictObject({ name: z.string(), none: z.string() });
const Column = z.strictObject({ name: z.string(), none: z.string().optional(), ...COLUMN });

const Source = {
  collection: z.string(),
  /** An oquery. */
  where: z.string().optional(),
  /** A list of the record: a row for each element, which stands there in its place. */
  each: z.string().optional(),
  /** Rows without a value there are left out. */
  only: z.string().optional(),
  /** One row for each value of this field. */
  distinct: z.string().optional(),
  /** The day of a record, by which an export may be limited to a period. */
  day: z.string().optional(),
};

const CsvFile = z.strictObject({
  name: z.string(),
  kind: z.literal('csv'),
  /** The field by which people know a record, for the report. */
  label: z.string().optional(),
  columns: z.array(Column).min(1),
  sources: z.array(
    z.union([
      z.strictObject({ ...Source, values: z.record(z.string(), Value) }),
      z.strictObject({ domain: z.literal(true), values: z.record(z.string(), Value) }),
    ]),
  ),
});

const XmlName = z.string().regex(/^[A-Za-z_][\w.:-]*$/);
const Element = z.strictObject({
  element: XmlName,
  attributes: z.record(XmlName, Value).optional(),
  text: Value.optional(),
  required: z.boolean().optional(),
  each: z.string().optional(),
  only: z.string().optional(),
  get children() {
    return z.array(Element).optional();
  },
});

const XmlFile = z.strictObject({
  name: z.string(),
  kind: z.literal('xml'),
  label: z.string().optional(),
  /** One without text and children holds all that follows. */
  open: z.array(Element),
  sources: z.array(z.strictObject({ ...Source, element: Element })),
  none: z.array(Homeless).optional(),
});

const Join = z.strictObject({
  /** A file of the format, and the column of it that holds what `by` of the row does. */
  file: z.string(),
  on: z.string(),
  /** Default: `sourcedId`. Of several values with commas between, the first. */
  by: z.string().optional(),
  where: z.record(z.string(), z.string()).optional(),
});

/** Turns the rows of a file of the format into records of a collection. */
const Table = z.strictObject({
  collection: z.string(),
  from: z.string(),
  /** Rows of other files, which stand in the row by these names. */
  joins: z.record(z.string(), Join).optional(),
  only: z
    .strictObject({
      field: z.string(),
      values: z.array(z.string()).optional(),
      except: z.array(z.string()).optional(),
    })
    .optional(),
  values: z.record(z.string(), Value),
  /** Fields that are no texts. */
  types: z.record(z.string(), z.enum(['boolean', 'number'])).optional(),
  /** Fields that hold a list: an element for each row that belongs to this one. */
  lists: z
    .record(
      z.string(),
      z.strictObject({
        file: z.string(),
        on: z.string(),
        joins: z.record(z.string(), Join).optional(),
        value: Value.optional(),
        values: z.record(z.string(), Value).optional(),
      }),
    )
    .optional(),
  /** The value for a removed row; absent: the row is left out. */
  removed: z.record(z.string(), z.string()).optional(),
});

const Incoming = z.strictObject({
  /** The column that marks a row as removed. */
  status: z.strictObject({ column: z.string(), removed: z.string() }),
  tables: z.array(Table).min(1),
});

const FormatMapping = z.strictObject({
  title: z.string(),
  /** The document that specifies the format. */
  source: z.string(),
  /** All files in one zip file, or beside each other. */
  bundle: z.enum(['zip', 'folder']),
  /** A list of the files, as properties of a CSV: `bulk`, `delta` or `absent`. */
  manifest: z
    .strictObject({
      file: z.string(),
      properties: z.record(z.string(), z.string()),
      files: z.array(z.string()),
      closing: z.record(z.string(), z.string()),
    })
    .optional(),
  /** The columns of an export of what changed since an instant. Absent: there is none. */
  changes: z
    .strictObject({
      status: z.strictObject({ present: z.string(), removed: z.string() }),
      at: z.string(),
    })
    .optional(),
  files: z.array(z.discriminatedUnion('kind', [CsvFile, XmlFile])).min(1),
  /** How its files are read; absent: they are only written. */
  in: Incoming.optional(),
  tables: z.record(z.string(), z.record(z.string(), z.string())).optional(),
});

export type Value = z.infer<typeof Value>;
export type Element = z.infer<typeof Element>;
export type CsvFile = z.infer<typeof CsvFile>;
export type CsvSource = CsvFile['sources'][number];
export type XmlFile = z.infer<typeof XmlFile>;
export type FormatSource = z.infer<z.ZodObject<typeof Source>>;
export type FormatJoin = z.infer<typeof Join>;
export type FormatTable = z.infer<typeof Table>;
export type FormatIncoming = z.infer<typeof Incoming>;
export type FormatMapping = z.infer<typeof FormatMapping>;
export type ColumnRule = Pick<
  z.infer<typeof Column>,
  'required' | 'pattern' | 'min' | 'max' | 'expected' | 'in'
>;

/** The formats that come with the gateway. */
export const FORMAT_NAMES = ['oneroster', 'tally', 'udise'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/**
 * Reads a mapping: one of ours by its name, or a file of the caller's own.
 *
 * @throws INVALID_VALUE with the place of the fault in the file, NOT_FOUND if there is no such file
 */
export async function readFormatMapping(nameOrFile: string): Promise<FormatMapping> {
  const isOurs = FORMAT_NAMES.some((name) => name === nameOrFile);
  const file = isOurs
    ? path.join(findPackageDirectory(), 'schema/mappings', `${nameOrFile}.json`)
    : nameOrFile;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const known = FORMAT_NAMES.join(', ');
    throw new ServiceError('NOT_FOUND', `${nameOrFile} is neither a format (${known}) nor a file.`, {
      cause,
    });
  });
  const parsed = FormatMapping.safeParse(parseJson(text, file));
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path: place, message }) => ({
    pointer: `/${place.join('/')}`,
    detail: message,
  }));
  const [first] = errors;
  throw new ServiceError('INVALID_VALUE', `${file}: ${first?.pointer}: ${first?.detail}`, { errors });
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError('INVALID_VALUE', `${file} is not valid JSON.`, { cause });
  }
}

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
  if (!isDay(text) && Number.isNaN(Date.parse(text))) return '';
  const day = isDay(text) ? text : dayOf(text, timeZone);
  const [year = '', month = '', date = ''] = day.split('-');
  if (form === 'YYYYMMDD') return `${year}${month}${date}`;
  return form === 'DD-MM-YYYY' ? `${date}-${month}-${year}` : day;
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
