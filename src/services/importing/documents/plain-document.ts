/** Converts documents of MongoDB to values that a record may hold. */

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Bson from 'bson';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toPlainNumber,
} from '../../../base/json/json.js';
import { isRecordId } from '../../../base/model/record-id.js';
import { findUnstorableText } from '../../../base/model/unstorable-text.js';

/** Smaller buffers are constants of the `bson` package. */
const LARGEST_NEEDED = 64 * 1024;

/**
 * The package allocates a buffer for writing when it is loaded, although we only read. This wastes more than
 * the memory itself: when a thread ends and frees a block of this size, glibc concludes that such blocks are
 * common, and from then on retains up to twice as much freed memory in each of its arenas. The package
 * replaces the buffer if it is too small for a document, so an empty buffer works.
 */
function loadBson(): typeof Bson {
  const { alloc } = Buffer;
  // `require` is synchronous, so no other code runs in the meantime.
  Buffer.alloc = (size, ...fill) => alloc(size > LARGEST_NEEDED ? 0 : size, ...fill);
  try {
    return createRequire(import.meta.url)('bson') as typeof Bson;
  } finally {
    Buffer.alloc = alloc;
  }
}

export const bson = loadBson();

const {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} = bson;

/** A value or a name that could not be kept unchanged. */
export interface Alteration {
  /** The path of the value. Lists are written as `[]`: `lines[].fee`. */
  readonly path: string;
  /** What it was, e.g. `a regular expression`. */
  readonly was: string;
  /** What became of it, e.g. `its text` or `left out`. */
  readonly became: string;
}

export interface PlainDocument {
  readonly values: Readonly<Record<string, unknown>>;
  readonly alterations: readonly Alteration[];
}

/**
 * Converts a document to one that a record may hold. Nothing is changed silently: every change is listed in
 * `alterations`.
 *
 * | there | here |
 * |---|---|
 * | `ObjectId` | its 24 hex digits |
 * | `Date` | UTC text, `2026-03-31T04:00:00.000Z` |
 * | `Decimal128`, `Int64`, `Int32`, `Double` | a number, exact |
 * | `Binary` | base64; a UUID its text |
 * | `DBRef`, `{value, label}` | a reference, `{value: <id>, label}` |
 * | `_id` of any type | the text of an id |
 */
export function toPlainDocument(document: Readonly<Record<string, unknown>>): PlainDocument {
  const conversion = new DocumentConversion();
  return { values: conversion.document(document), alterations: conversion.alterations };
}

/** The reader of documents uses this in place of a value without a JavaScript type. */
class UnkeptValue {
  readonly was: string;
  readonly text: string | undefined;

  constructor(was: string, text?: string) {
    this.was = was;
    this.text = text;
  }
}

type Members = Readonly<Record<string, unknown>>;

class DocumentConversion {
  readonly alterations: Alteration[] = [];

  document(document: Members): Members {
    return this.#members(document, '');
  }

  #members(members: Members, path: string): Members {
    const plain: Record<string, unknown> = {};
    for (const sent of Object.keys(members)) {
      const name = isPathName(sent) ? sent : this.#renamed(sent, [members, plain], path);
      const here = path === '' ? name : `${path}.${name}`;
      const value = here === '_id' ? this.#recordId(members[sent], here) : this.#value(members[sent], here);
      if (value === undefined) continue;
      // An assignment would set the prototype.
      if (name === '__proto__') Object.defineProperty(plain, name, { value, enumerable: true });
      else plain[name] = value;
    }
    return plain;
  }

  /** `undefined` if the value is left out. */
  #value(value: unknown, path: string): unknown {
    if (typeof value === 'string') return this.#text(value, path);
    if (typeof value === 'number') return this.#number(value, path);
    if (typeof value === 'boolean' || value === null) return value;
    if (value === undefined) return this.#alter(path, 'undefined', 'left out', undefined);
    if (Array.isArray(value)) return value.map((one) => this.#value(one, `${path}[]`) ?? null);
    return typeof value === 'object' ? this.#object(value, path) : this.#unknown(value, path);
  }

  #object(value: object, path: string): unknown {
    if (value instanceof ObjectId) return value.toHexString();
    if (value instanceof Date) return this.#instant(value, path);
    if (value instanceof Timestamp) {
      return this.#alter(path, 'a timestamp of the oplog', 'its text', `${value.t}:${value.i}`);
    }
    if (value instanceof Long) return toPlainNumber(value.toString());
    if (value instanceof Int32 || value instanceof Double) return this.#number(value.value, path);
    if (value instanceof Decimal128) return this.#decimal(value, path);
    if (isExactNumber(value)) return value;
    if (value instanceof Binary) return textOfBinary(value);
    if (value instanceof DBRef) return this.#reference(value, path);
    if (isReference(value)) return { ...value, value: idText(value.value) ?? this.#value(value.value, path) };
    if (isPlainObject(value)) return this.#members(value, path);
    return this.#unknown(value, path);
  }

  #unknown(value: unknown, path: string): unknown {
    if (value instanceof RegExp) return this.#alter(path, 'a regular expression', 'its text', String(value));
    if (value instanceof BSONRegExp) {
      const text = `/${value.pattern}/${value.options}`;
      return this.#alter(path, 'a regular expression', 'its text', text);
    }
    if (value instanceof BSONSymbol) return this.#alter(path, 'a symbol', 'its text', value.value);
    if (value instanceof Code) return this.#alter(path, 'JavaScript', 'its text', String(value.code));
    if (value instanceof MinKey) return this.#alter(path, 'MinKey', 'left out', undefined);
    if (value instanceof MaxKey) return this.#alter(path, 'MaxKey', 'left out', undefined);
    if (value instanceof UnkeptValue) {
      return this.#alter(path, value.was, value.text === undefined ? 'left out' : 'its text', value.text);
    }
    return this.#alter(path, 'a value of an unknown type', 'left out', undefined);
  }

  #text(text: string, path: string): string {
    if (findUnstorableText(text) === undefined) return text;
    const storable = text.toWellFormed().replaceAll('\0', '\ufffd');
    return this.#alter(path, 'a text with NUL or half a character', 'U+FFFD there', storable);
  }

  #number(value: number, path: string): number | undefined {
    return Number.isFinite(value) ? value : this.#alter(path, String(value), 'left out', undefined);
  }

  #decimal(value: Bson.Decimal128, path: string): unknown {
    const text = value.toString();
    if (!/\d/.test(text)) return this.#alter(path, text, 'left out', undefined);
    return toPlainNumber(text.replace('E+', 'e').replace('E', 'e'));
  }

  #instant(value: Date, path: string): string {
    const text = Number.isNaN(value.getTime()) ? '' : value.toISOString();
    // Years before 0 and after 9999 have a longer text, which is no valid datetime of a record.
    if (text.length === 24) return text;
    return this.#alter(path, 'a date outside the years 0 to 9999', 'its text', text || 'Invalid Date');
  }

  #reference({ collection, oid, db, fields }: Bson.DBRef, path: string): unknown {
    this.#alter(
      path,
      `a DBRef to ${db === undefined ? '' : `${db}.`}${collection}`,
      'a reference',
      undefined,
    );
    const label = memberText(fields, 'label');
    return { value: idText(oid) ?? String(oid), ...(label !== undefined && { label }) };
  }

  #recordId(value: unknown, path: string): string | undefined {
    if (value === undefined || value === null) return this.#alter(path, 'no _id', 'left out', undefined);
    const id = idText(value);
    if (id === undefined) return this.#alter(path, 'an _id of an unknown type', 'left out', undefined);
    if (typeof value === 'string' && id !== value) {
      return this.#alter(path, 'an _id with characters no id may have', 'an id made of it', id);
    }
    if (typeof value === 'object' && isPlainObject(value)) {
      return this.#alter(path, 'an _id of several values', 'an id made of it', id);
    }
    return id;
  }

  /** A valid name that no other member has. */
  #renamed(sent: string, taken: readonly Members[], path: string): string {
    const bare =
      sent
        .toWellFormed()
        .replaceAll(/[.\0\ufffd]/g, '_')
        .replace(/^\$/, '_') || '_';
    let name = bare;
    for (let count = 2; taken.some((members) => Object.hasOwn(members, name)); count += 1)
      name = `${bare}_${count}`;
    const here = path === '' ? sent : `${path}.${sent}`;
    return this.#alter(here, 'a field name that no path can hold', `the field ${name}`, name);
  }

  #alter<Value>(path: string, was: string, became: string, value: Value): Value {
    this.alterations.push({ path, was, became });
    return value;
  }
}

/**
 * The text of an id. A text that is no valid id, and an object, yield an id made of their text and its hash,
 * always the same, so that references to the record find it. `undefined` for a value without a text, e.g. a
 * list.
 */
export function idText(value: unknown): string | undefined {
  const text = scalarIdText(value);
  if (text !== undefined) return isRecordId(text) ? text : madeId(text);
  return typeof value === 'object' && value !== null && isPlainObject(value) ? ofSeveral(value) : undefined;
}

function scalarIdText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof ObjectId) return value.toHexString();
  if (value instanceof Binary) return textOfBinary(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  if (value instanceof Long || value instanceof Decimal128 || isExactNumber(value)) return String(value);
  if (value instanceof Int32 || value instanceof Double) return String(value.value);
  return undefined;
}

function ofSeveral(members: Members): string | undefined {
  const parts = Object.entries(members).map(([name, value]) => [name, idText(value)] as const);
  if (parts.length === 0 || parts.some(([, text]) => text === undefined)) return undefined;
  const text = parts.map(([name, value]) => `${name}:${value}`).join('.');
  return isRecordId(text) ? text : madeId(text);
}

/** The readable part of the text and a part of its hash, so that two texts do not yield the same id. */
function madeId(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `${text.replaceAll(/[^A-Za-z0-9_.:-]+/g, '_').slice(0, 40)}-${hash}`;
}

function textOfBinary(value: Bson.Binary): string {
  const isUuid = value.sub_type === Binary.SUBTYPE_UUID && value.position === 16;
  return isUuid ? value.toUUID().toString() : value.toString('base64');
}

function memberText(members: Members | undefined, name: string): string | undefined {
  const value = members?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** An object with a value and its label, as records hold a reference. */
function isReference(value: object): value is { readonly value: unknown; readonly label: unknown } {
  const names = Object.keys(value);
  return (
    names.length === 2 &&
    Object.hasOwn(value, 'value') &&
    Object.hasOwn(value, 'label') &&
    isReferenceLabel(value)
  );
}

function isReferenceLabel(value: object): boolean {
  return 'label' in value && typeof value.label === 'string';
}

/** Neither a type of BSON nor one of JavaScript, such as a regular expression. */
function isPlainObject(value: object): value is Members {
  const isType = '_bsontype' in value || value instanceof UnkeptValue;
  return !isType && Object.prototype.toString.call(value) === '[object Object]';
}

/** Paths split names at their points, and `$` begins an operator. */
function isPathName(name: string): boolean {
  return (
    name !== '' && !name.includes('.') && !name.startsWith('$') && findUnstorableText(name) === undefined
  );
}

/**
 * The values of a parsed document of extended JSON, as the types of BSON: canonical, relaxed, and of version
 * 1 (`{"$date": 1774929600000}`, `{"$binary": "…", "$type": "00"}`). An object that only resembles one of
 * them stays an object.
 *
 * @see https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/
 */
export function fromExtendedJson(document: JsonObject): Readonly<Record<string, unknown>> {
  return membersOf(document);
}

function valueIn(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(valueIn);
  if (!isJsonObject(value)) return value;
  for (const name in value) {
    // The first member of such an object names the type.
    if (!name.startsWith('$')) break;
    const typed = typedValue(name, value);
    if (typed !== undefined) return typed;
    break;
  }
  return membersOf(value);
}

function membersOf(object: JsonObject): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(object)) {
    const value = valueIn(object[name] ?? null);
    // An assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true });
    else members[name] = value;
  }
  return members;
}

/** `undefined` if the object does not match the type that its first member names. */
function typedValue(name: string, object: JsonObject): unknown {
  const read = TYPES[name];
  try {
    return read?.(object[name] ?? null, object);
  } catch {
    // The classes of BSON throw errors of several kinds for invalid values.
    return undefined;
  }
}

type ReadType = (value: JsonValue, object: JsonObject) => unknown;

const TYPES: Readonly<Record<string, ReadType>> = {
  $oid: (value) => (isText(value) ? ObjectId.createFromHexString(value) : undefined),
  $date: dateOf,
  $numberInt: (value) => (isText(value) && /^-?\d+$/.test(value) ? toPlainNumber(value) : undefined),
  $numberLong: (value) => (isText(value) && /^-?\d+$/.test(value) ? toPlainNumber(value) : undefined),
  $numberDouble: (value) => (isText(value) ? new Double(Number(value)) : undefined),
  $numberDecimal: (value) => (isText(value) ? Decimal128.fromString(value) : undefined),
  $binary: binaryOf,
  $uuid: (value) => (isText(value) ? new UUID(value) : undefined),
  $timestamp: (value) =>
    isJsonObject(value) ? new Timestamp({ t: Number(value.t), i: Number(value.i) }) : undefined,
  $regularExpression: (value) =>
    isJsonObject(value) ? new BSONRegExp(String(value.pattern), String(value.options ?? '')) : undefined,
  $regex: (value, { $options }) =>
    isText(value) ? new BSONRegExp(value, isText($options) ? $options : '') : undefined,
  $symbol: (value) => (isText(value) ? new BSONSymbol(value) : undefined),
  $code: (value) => (isText(value) ? new Code(value) : undefined),
  $ref: referenceOf,
  $dbPointer: (value) => (isJsonObject(value) ? referenceOf(value.$ref ?? null, value) : undefined),
  $minKey: () => new MinKey(),
  $maxKey: () => new MaxKey(),
  $undefined: () => new UnkeptValue('undefined'),
};

/** Relaxed: ISO text, or a number of milliseconds; canonical: `{"$numberLong": "…"}`. */
function dateOf(value: JsonValue): Date | undefined {
  if (isText(value)) return validDate(new Date(value));
  if (typeof value === 'number') return validDate(new Date(value));
  if (isJsonObject(value) && isText(value.$numberLong)) {
    const milliseconds = Number(value.$numberLong);
    const date = new Date(milliseconds);
    return Number.isNaN(date.getTime()) ? undefined : date;
  }
  return undefined;
}

function validDate(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function binaryOf(value: JsonValue, { $type }: JsonObject): Bson.Binary | undefined {
  if (isText(value)) return Binary.createFromBase64(value, Number.parseInt(isText($type) ? $type : '0', 16));
  if (!isJsonObject(value) || !isText(value.base64)) return undefined;
  return Binary.createFromBase64(value.base64, Number.parseInt(String(value.subType ?? '0'), 16));
}

function referenceOf(value: JsonValue, { $id, $db, label }: JsonObject): Bson.DBRef | undefined {
  if (!isText(value) || $id === undefined) return undefined;
  // The driver declares an id as an ObjectId, although it may be of any type.
  const id = valueIn($id) as Bson.ObjectId;
  return new DBRef(value, id, isText($db) ? $db : undefined, isText(label) ? { label } : {});
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && !isExactNumber(value);
}
