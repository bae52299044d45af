/** Converts the values of a Parquet file to JSON: numbers keep all their digits, and bytes become base64. */
import type { ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet';
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { isListLike, isMapLike } from 'hyparquet/src/schema.js';
import { type JsonValue, parseAsWritten, toPlainNumber } from '../../json.js';

const TEXTS = new TextDecoder('utf-8', { fatal: true });

/** Rejects texts that are not valid UTF-8 instead of changing them. */
export const PARQUET_PARSERS: ParquetParsers = {
  ...DEFAULT_PARSERS,
  stringFromBytes: (bytes: Uint8Array) => bytes && TEXTS.decode(bytes),
  timestampFromNanoseconds: (nanos: bigint) => instantText(nanos, 'NANOS', true),
};

/**
 * The element in the form in which the library should read it. The library would round decimals and truncate
 * instants and JSON. For an element without a known type it returns the stored value, which `parquetValue`
 * then converts.
 */
export function asStored(element: SchemaElement): SchemaElement {
  const { converted_type: converted, logical_type: logical, ...stored } = element;
  if (element.type === undefined) {
    const isList = converted === 'LIST' || logical?.type === 'LIST';
    const isMap = converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP';
    return { ...stored, ...(isList ? { converted_type: 'LIST' } : isMap && { converted_type: 'MAP' }) };
  }
  if (isText(element)) return { ...stored, converted_type: 'UTF8' };
  if (converted?.startsWith('UINT_')) return { ...stored, converted_type: converted };
  const isKept = logical?.type === 'INTEGER' || logical?.type === 'UUID' || logical?.type === 'FLOAT16';
  return isKept ? { ...stored, logical_type: logical } : stored;
}

function isText({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  const type = converted ?? logical?.type;
  return type === 'UTF8' || type === 'STRING' || type === 'ENUM' || type === 'JSON';
}

/** Converts a value of the library to JSON. */
export type ValueMaker = (value: unknown) => JsonValue;

/** The converter for a place of the schema. `meant` are the elements as declared in the file. */
export function parquetValues(
  node: SchemaTree,
  meant: ReadonlyMap<SchemaElement, SchemaElement>,
): ValueMaker {
  const inner = node.children.map((child) => [child.element.name, parquetValues(child, meant)] as const);
  if (isListLike(node)) {
    const [list] = node.children;
    const element = list?.children.length === 1 ? list.children[0] : list;
    return listOf(element === undefined ? plain : withoutRepeat(element, meant));
  }
  if (isMapLike(node)) {
    const value = node.children[0]?.children[1];
    const make = value === undefined ? plain : parquetValues(value, meant);
    return (members) => (isMembers(members) ? mapped(members, () => make) : null);
  }
  const isRepeated = node.element.repetition_type === 'REPEATED';
  const one =
    inner.length === 0 ? leafMaker(meant.get(node.element) ?? node.element) : objectOf(new Map(inner));
  return isRepeated ? listOf(one) : one;
}

/** A list without an element of its own repeats its values. */
function withoutRepeat(node: SchemaTree, meant: ReadonlyMap<SchemaElement, SchemaElement>): ValueMaker {
  if (node.children.length === 0) return leafMaker(meant.get(node.element) ?? node.element);
  return parquetValues(node, meant);
}

function listOf(make: ValueMaker): ValueMaker {
  return (values) => (isList(values) ? Array.from(values, (value) => make(value)) : null);
}

function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

function objectOf(makers: ReadonlyMap<string, ValueMaker>): ValueMaker {
  return (members) => (isMembers(members) ? mapped(members, (name) => makers.get(name) ?? plain) : null);
}

function mapped(members: object, makerOf: (name: string) => ValueMaker): JsonValue {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, makerOf(name)(value)]));
}

function isMembers(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isList(value);
}

function leafMaker(element: SchemaElement): ValueMaker {
  const { converted_type: converted, logical_type: logical } = element;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const scale = (logical?.type === 'DECIMAL' ? logical.scale : element.scale) ?? 0;
    return ifThere((value) => decimal(unscaled(value), scale));
  }
  if (converted === 'DATE' || logical?.type === 'DATE') {
    return ifThere((days) => instantText(BigInt(Number(days)) * 86_400_000n, 'MILLIS', true).slice(0, 10));
  }
  if (logical?.type === 'TIMESTAMP') {
    const { unit, isAdjustedToUTC } = logical;
    return ifThere((value) => instantText(BigInt(String(value)), unit, isAdjustedToUTC));
  }
  const unit = UNITS[converted ?? ''];
  if (unit !== undefined) return ifThere((value) => instantText(BigInt(String(value)), unit, true));
  const unitOfTime = logical?.type === 'TIME' ? logical.unit : UNITS_OF_TIMES[converted ?? ''];
  if (unitOfTime !== undefined) return ifThere((value) => timeText(BigInt(String(value)), unitOfTime));
  if (converted === 'JSON' || logical?.type === 'JSON') return ifThere(parsed);
  return plain;
}

const UNITS: Readonly<Record<string, Unit>> = { TIMESTAMP_MILLIS: 'MILLIS', TIMESTAMP_MICROS: 'MICROS' };

const UNITS_OF_TIMES: Readonly<Record<string, Unit>> = { TIME_MILLIS: 'MILLIS', TIME_MICROS: 'MICROS' };

type Unit = 'MILLIS' | 'MICROS' | 'NANOS';

function ifThere(make: (value: unknown) => JsonValue): ValueMaker {
  return (value) => (value === null || value === undefined ? null : make(value));
}

/** NaN and infinities become their names, which no field of numbers accepts. */
function plain(value: unknown): JsonValue {
  if (typeof value === 'bigint') return toPlainNumber(String(value)) as JsonValue;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isList(value)) return Array.from(value, plain);
  return isMembers(value) ? mapped(value, () => plain) : null;
}

function unscaled(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(String(value));
  const bits = value.length * 8;
  return bits === 0 ? 0n : BigInt.asIntN(bits, BigInt(`0x${Buffer.from(value).toString('hex')}`));
}

function decimal(digits: bigint, scale: number): JsonValue {
  const sign = digits < 0n ? '-' : '';
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
  const whole = text.slice(0, text.length - scale);
  const fraction = text.slice(text.length - scale).replace(/(?<!0)0+$/, '');
  return toPlainNumber(`${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`) as JsonValue;
}

const PER_MILLISECOND: Readonly<Record<Unit, bigint>> = { MILLIS: 1n, MICROS: 1_000n, NANOS: 1_000_000n };

/**
 * For years beyond the range of JavaScript dates, returns the stored number, which is not a valid instant.
 */
function instantText(count: bigint, unit: Unit, isUtc: boolean): string {
  const date = new Date(Number(count / PER_MILLISECOND[unit]));
  if (Number.isNaN(date.getTime())) return String(count);
  return isUtc ? date.toISOString() : date.toISOString().slice(0, -1);
}

/** A time of day is stored as the time since midnight. */
function timeText(count: bigint, unit: Unit): string {
  return instantText(count, unit, false).slice('1970-01-01T'.length);
}

function parsed(text: unknown): JsonValue {
  try {
    return parseAsWritten(String(text)) as JsonValue;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return String(text);
  }
}
