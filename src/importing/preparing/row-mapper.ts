/** Makes a record of a row of a file, by a mapping. */
import type { ErrorDetail } from '../../errors.js';
import {
  ExactNumber,
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
} from '../../json.js';
import type { Collection } from '../../model/collection.js';
import type { Path } from '../../model/path.js';
import { type ColumnMapping, type ImportMapping, type MappingTarget, targetOf } from '../import-mapping.js';

/** What is wrong with a row, by the column it stands in. */
export interface RowFault extends ErrorDetail {
  readonly column?: string;
}

/** A reference that the file has by another field of its target. */
interface Lookup {
  readonly target: string;
  readonly field: string;
  readonly text: string;
  readonly column: string;
  /** Puts the `_id` into the record. */
  readonly settle: (id: string) => void;
}

export interface MappedRow {
  readonly record: JsonObject;
  readonly lookups: readonly Lookup[];
  readonly faults: readonly RowFault[];
}

export type RowMapper = (values: Readonly<Record<string, unknown>>) => MappedRow;

/** The fields of whose members a file may have some and not others. */
export function partialFields(mapping: ImportMapping, collection: Collection): ReadonlySet<string> {
  const names = [...mapping.columns.map(({ field }) => field), ...Object.keys(mapping.fixed)]
    .map((field) => field?.split('.') ?? [])
    .filter(({ length }) => length > 1)
    .map(([name = '']) => name);
  return new Set(names.filter((name) => isOpenObject(collection, name)));
}

function isOpenObject({ fieldsByName }: Collection, name: string): boolean {
  const field = fieldsByName.get(name);
  return field === undefined || (field.type === 'object' && !field.isList);
}

/** The name of the column that a pointer into the record leads to. */
export function columnFinder(mapping: ImportMapping): (pointer: string | undefined) => string | undefined {
  const byPath = new Map(
    mapping.columns.flatMap(({ column, field }): [string, string][] =>
      field === null ? [] : [[field, column]],
    ),
  );
  return (pointer) => {
    const steps = (pointer ?? '').split('/').slice(1);
    for (let length = steps.length; length > 0; length -= 1) {
      const path = steps.slice(0, length).join('.');
      const column = byPath.get(path) ?? byPath.get(`${path}.value`);
      if (column !== undefined) return column;
      const prefix = `${path}.`;
      for (const [field, one] of byPath) if (length === steps.length && field.startsWith(prefix)) return one;
    }
    return undefined;
  };
}

/** `documents`: a member that is null is meant to be. */
export function createRowMapper(
  mapping: ImportMapping,
  collection: Collection,
  of: 'table' | 'documents',
): RowMapper {
  const columns = mapping.columns.map((one) => ({
    ...one,
    target: one.field === null ? undefined : targetOf(one.field, one.by, collection),
  }));
  const named = new Set(columns.map(({ column }) => column));
  const fixed = Object.entries(mapping.fixed).map(([field, value]) => ({ path: field.split('.'), value }));
  const keepsOthers = mapping.others !== 'leave out';
  return (values) => {
    const row: Row = { record: {}, lookups: [], faults: [] };
    for (const column of columns) {
      if (column.target === undefined) continue;
      const value = Object.hasOwn(values, column.column) ? values[column.column] : undefined;
      fill(row, column, { target: column.target, value, of });
    }
    if (keepsOthers) {
      for (const name of Object.keys(values)) {
        if (!named.has(name)) row.record[name] = values[name] as JsonValue;
      }
    }
    for (const { path, value } of fixed) put(row.record, path, value);
    return row;
  };
}

interface Row {
  readonly record: { [name: string]: JsonValue };
  readonly lookups: Lookup[];
  readonly faults: RowFault[];
}

interface Filled {
  readonly target: MappingTarget;
  readonly value: unknown;
  readonly of: 'table' | 'documents';
}

function fill(row: Row, column: ColumnMapping, { target, value: sent, of }: Filled): void {
  const { value, isMeant } = translate(sent, column.values);
  if (value === undefined || value === null || (value === '' && !isText(target))) {
    // An empty cell says nothing; a null that was written says so.
    const isRemoved = column.empty === 'remove' && sent !== undefined;
    if (isRemoved || (value === null && (isMeant || of === 'documents'))) putNull(row, target);
    return;
  }
  switch (target.kind) {
    case 'id':
      row.record._id =
        typeof value === 'number' || isExactNumber(value) ? String(value) : (value as JsonValue);
      return;
    case 'rest':
      mergeRest(row, column, value);
      return;
    case 'undeclared':
      put(row.record, target.path, value as JsonValue);
      return;
    case 'reference':
      fillReference(row, column, target, value as JsonValue);
      return;
    case 'value': {
      const { kind, isList, path } = target.column;
      const made =
        typeof value === 'string' ? ofText(value, kind, isList) : ofValue(value as JsonValue, kind);
      if (made === undefined) row.faults.push(misfit(column, value, expectationOf(kind, isList)));
      else put(row.record, path, made);
    }
  }
}

function isText(target: MappingTarget): boolean {
  return target.kind === 'value' && target.column.kind === 'text' && !target.column.isList;
}

function translate(
  sent: unknown,
  values: ColumnMapping['values'],
): { readonly value: unknown; readonly isMeant: boolean } {
  const text = String(sent ?? '');
  if (values !== undefined && Object.hasOwn(values, text)) return { value: values[text], isMeant: true };
  return { value: sent, isMeant: false };
}

function putNull(row: Row, target: MappingTarget): void {
  if (target.kind === 'id' || target.kind === 'rest') return;
  put(row.record, target.kind === 'value' ? target.column.path : target.path, null);
}

function mergeRest(row: Row, column: ColumnMapping, value: unknown): void {
  const rest = typeof value === 'string' ? parseJson(value) : (value as JsonValue);
  if (isJsonObject(rest)) mergeInto(row.record, rest);
  else row.faults.push(misfit(column, value, 'the JSON text of an object'));
}

function mergeInto(record: { [name: string]: JsonValue }, rest: JsonObject): void {
  for (const [name, value] of Object.entries(rest)) {
    const there = Object.hasOwn(record, name) ? record[name] : undefined;
    if (isJsonObject(there) && isJsonObject(value)) {
      const merged = { ...there };
      mergeInto(merged, value);
      define(record, name, merged);
    } else define(record, name, value);
  }
}

function fillReference(
  row: Row,
  column: ColumnMapping,
  target: Extract<MappingTarget, { kind: 'reference' }>,
  value: JsonValue,
): void {
  const { path, by, targets, isList } = target;
  if (by === undefined) {
    const sent = typeof value === 'string' && (isList || value.startsWith('{')) ? parseJson(value) : value;
    put(row.record, path, sent ?? value);
    return;
  }
  const text = String(value).trim();
  for (const name of targets.slice(0, 1)) {
    const settle = (id: string) => put(row.record, path, isList ? [{ value: id }] : { value: id });
    row.lookups.push({ target: name, field: by, text, column: column.column, settle });
  }
}

/** A member at any depth, whatever it is called. */
function put(record: { [name: string]: JsonValue }, [name = '', ...rest]: Path, value: JsonValue): void {
  if (rest.length === 0) {
    define(record, name, value);
    return;
  }
  const there = Object.hasOwn(record, name) ? record[name] : undefined;
  const inner: { [name: string]: JsonValue } = isJsonObject(there) ? { ...there } : {};
  put(inner, rest, value);
  define(record, name, inner);
}

function define(record: { [name: string]: JsonValue }, name: string, value: JsonValue): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  else record[name] = value;
}

type Kind = Extract<MappingTarget, { kind: 'value' }>['column']['kind'];

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['0', false],
]);

/** `undefined`: the text is no such value. */
function ofText(text: string, kind: Kind, isList: boolean): JsonValue | undefined {
  if (isList || kind === 'json') return parseJson(text);
  switch (kind) {
    case 'text':
      return text;
    case 'number':
    case 'decimal':
      return numberOf(text.trim());
    case 'boolean':
      return FLAGS.get(text.trim().toLowerCase());
    default:
      return text.trim();
  }
}

/** A cell of a sheet, or a member of a document. */
function ofValue(value: JsonValue, kind: Kind): JsonValue {
  const isScalarText = kind === 'text' || kind === 'session' || kind === 'month';
  if (isScalarText && (typeof value === 'number' || isExactNumber(value))) return value.toString();
  return value;
}

function numberOf(text: string): JsonValue | undefined {
  if (!NUMBER.test(text)) return undefined;
  const number = Number(text);
  return String(number) === text ? number : new ExactNumber(text);
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

function expectationOf(kind: Kind, isList: boolean): string {
  if (isList) return 'a list as JSON text, e.g. ["a","b"]';
  switch (kind) {
    case 'number':
    case 'decimal':
      return 'a number such as 12 or 12.50';
    case 'boolean':
      return 'true or false';
    case 'json':
      return 'JSON text';
    default:
      return kind;
  }
}

const MOST_SHOWN = 100;

function misfit({ column }: ColumnMapping, sent: unknown, expected: string): RowFault {
  const text = String(sent);
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  return {
    column,
    detail: `${column}: ${expected} is expected, not ${JSON.stringify(shown)}`,
    expected,
    sent: shown,
  };
}
