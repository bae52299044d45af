/** Converts documents of MongoDB, as extended JSON or decoded BSON, to values that a record may hold. */

import { createHash } from 'node:crypto';
import { isExactNumber, setMember, toPlainNumber } from '../../../base/json/json.js';
import { isRecordId } from '../../../base/model/record-id.js';
import { findUnstorableText } from '../../../base/model/unstorable-text.js';

/** A value or a name that could not be kept unchanged. */
export interface Alteration {
  /** The path of the value. Lists are written as `[]`: `lines[].fee`. */
  readonly path: string;
  /** The kind of the value, e.g. `a regular expression`. */
  readonly was: string;
  /** The result, e.g. `its text` or `left out`. */
  readonly became: string;
}

export interface PlainDocument {
  readonly values: Members;
  readonly alterations: readonly Alteration[];
}

type Members = Readonly<Record<string, unknown>>;

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
export function toPlainDocument(document: Members): PlainDocument {
  const conversion = new DocumentConversion();
  return { values: conversion.members(document, ''), alterations: conversion.alterations };
}

class DocumentConversion {
  readonly alterations: Alteration[] = [];

  members(members: Members, path: string): Members {
    const plain: Record<string, unknown> = {};
    for (const sent of Object.keys(members)) {
      const name = isPathName(sent) ? sent : this.#renamed(sent, [members, plain], path);
      const here = path === '' ? name : `${path}.${name}`;
      const value = here === '_id' ? this.#recordId(members[sent]) : this.#value(members[sent], here);
      if (value !== undefined) setMember(plain, name, value);
    }
    return plain;
  }

  /** `undefined` if the value is left out. */
  #value(value: unknown, path: string): unknown {
    if (typeof value === 'string') return this.#text(value, path);
    if (typeof value === 'boolean' || value === null || isExactNumber(value)) return value;
    if (Array.isArray(value)) return value.map((one) => this.#value(one, `${path}[]`) ?? null);
    const typed = typedValue(value);
    if (typed === undefined) {
      if (isReference(value))
        return { ...value, value: idText(value.value) ?? this.#value(value.value, path) };
      return this.members(value as Members, path);
    }
    const { was, plain } = typed;
    if (was === undefined) return plain;
    return this.#alter(path, was, typed.became ?? (plain === undefined ? 'left out' : 'its text'), plain);
  }

  #text(text: string, path: string): string {
    if (findUnstorableText(text) === undefined) return text;
    const storable = text.toWellFormed().replaceAll('\0', '\ufffd');
    return this.#alter(path, 'a text with NUL or half a character', 'U+FFFD there', storable);
  }

  #recordId(value: unknown): string | undefined {
    if (value === undefined || value === null) return this.#alter('_id', 'no _id', 'left out', undefined);
    const id = idText(value);
    if (id === undefined) return this.#alter('_id', 'an _id of an unknown type', 'left out', undefined);
    if (typeof value === 'string' && id !== value) {
      return this.#alter('_id', 'an _id with characters no id may have', 'an id made of it', id);
    }
    if (typeof value === 'object' && typedValue(value) === undefined) {
      return this.#alter('_id', 'an _id of several values', 'an id made of it', id);
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
  if (value === undefined || value === null || Array.isArray(value)) return undefined;
  const isScalar = typeof value !== 'object' || isExactNumber(value);
  const typed = isScalar ? { id: String(value) } : typedValue(value);
  const text = typed === undefined ? textOfSeveral(value as Members) : typed.id;
  return text === undefined || isRecordId(text) ? text : madeId(text);
}

function textOfSeveral(members: Members): string | undefined {
  const parts = Object.entries(members).map(([name, value]) => [name, idText(value)] as const);
  if (parts.length === 0 || parts.some(([, text]) => text === undefined)) return undefined;
  return parts.map(([name, value]) => `${name}:${value}`).join('.');
}

/** The readable part of the text and a part of its hash, so that two texts do not yield the same id. */
function madeId(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `${text.replaceAll(/[^A-Za-z0-9_.:-]+/g, '_').slice(0, 40)}-${hash}`;
}

/** An object with a value and its label, as records hold a reference. */
function isReference(value: unknown): value is { readonly value: unknown; readonly label: string } {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false;
  return Object.hasOwn(value, 'value') && 'label' in value && typeof value.label === 'string';
}

/** Paths split names at their points, and `$` begins an operator. */
function isPathName(name: string): boolean {
  return (
    name !== '' && !name.includes('.') && !name.startsWith('$') && findUnstorableText(name) === undefined
  );
}

/** The result for a value that has a type of BSON. */
interface TypedValue {
  /** The value of a record; `undefined`: it is left out. */
  readonly plain?: unknown;
  /** The text of an id of this type. */
  readonly id?: string;
  /** Set if the value is not kept as it is. */
  readonly was?: string;
  readonly became?: string;
}

/**
 * Reads a value of a type other than those of JSON: decoded BSON, or extended JSON, which is canonical,
 * relaxed, or of version 1 (`{"$date": 1774929600000}`, `{"$binary": "…", "$type": "00"}`). `undefined` for
 * any other object, also for one that only resembles a type.
 *
 * @see https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/
 */
function typedValue(value: unknown): TypedValue | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? { plain: value } : { was: String(value) };
  if (value === undefined) return { was: 'undefined' };
  if (value instanceof Date) return instantOf(value);
  if (typeof value !== 'object' || value === null) return { was: 'a value of an unknown type' };
  const object = isDecoded(value) ? value.toExtendedJSON() : (value as Members);
  // The first member of such an object names the type.
  for (const name in object) {
    return name.startsWith('$') && Object.hasOwn(TYPES, name)
      ? TYPES[name]?.(object[name], object)
      : undefined;
  }
  return undefined;
}

/** Whether an object is of a class of the package `bson`: no document has a function. */
function isDecoded(value: object): value is { readonly toExtendedJSON: () => Members } {
  return 'toExtendedJSON' in value && typeof value.toExtendedJSON === 'function';
}

const WHOLE = /^-?\d{1,19}$/;
const DECIMAL = /^-?(?:0|[1-9]\d{0,33})(?:\.\d{1,40})?(?:E[+-]?\d{1,4})?$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const UUID_SUBTYPE = 4;

const TYPES: Readonly<Record<string, (value: unknown, object: Members) => TypedValue | undefined>> = {
  $oid: (value) => (isLike(value, /^[0-9a-f]{24}$/i) ? keptText(value.toLowerCase()) : undefined),
  $date: (value) => {
    const sent = isObject(value) && isLike(value.$numberLong, WHOLE) ? Number(value.$numberLong) : value;
    const date = new Date(typeof sent === 'number' || typeof sent === 'string' ? sent : Number.NaN);
    return Number.isNaN(date.getTime()) ? undefined : instantOf(date);
  },
  $numberInt: wholeNumber,
  $numberLong: wholeNumber,
  $numberDouble: (value) => {
    const number = typeof value === 'string' ? Number(value) : undefined;
    if (number === undefined) return undefined;
    return Number.isFinite(number) ? { plain: number, id: String(number) } : { was: String(number) };
  },
  $numberDecimal: (value) => {
    if (isLike(value, /^(?:NaN|-?Infinity)$/)) return { was: value };
    if (!isLike(value, DECIMAL)) return undefined;
    return { plain: toPlainNumber(value.replace('E+', 'e').replace('E', 'e')), id: value };
  },
  $binary: (value, { $type }) => {
    const { base64, subType } = isObject(value) ? value : { base64: value, subType: $type };
    if (typeof base64 !== 'string') return undefined;
    const bytes = Buffer.from(base64, 'base64');
    const isUuid = bytes.length === 16 && Number.parseInt(String(subType), 16) === UUID_SUBTYPE;
    if (!isUuid) return keptText(bytes.toString('base64'));
    return keptText(bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
  },
  $uuid: (value) => (isLike(value, UUID) ? keptText(value.toLowerCase()) : undefined),
  $timestamp: (value) =>
    isObject(value) ? { was: 'a timestamp of the oplog', plain: `${value.t}:${value.i}` } : undefined,
  $regularExpression: (value) => (isObject(value) ? patternOf(value.pattern, value.options) : undefined),
  $regex: (value, { $options }) => patternOf(value, $options),
  $symbol: (value) => (typeof value === 'string' ? { was: 'a symbol', plain: value } : undefined),
  $code: (value) => (typeof value === 'string' ? { was: 'JavaScript', plain: value } : undefined),
  $ref: referenceOf,
  $dbPointer: (value) => (isObject(value) ? referenceOf(value.$ref, value) : undefined),
  $minKey: () => ({ was: 'MinKey' }),
  $maxKey: () => ({ was: 'MaxKey' }),
  $undefined: () => ({ was: 'undefined' }),
};

function keptText(text: string): TypedValue {
  return { plain: text, id: text };
}

function wholeNumber(value: unknown): TypedValue | undefined {
  return isLike(value, WHOLE) ? { plain: toPlainNumber(value), id: value } : undefined;
}

function instantOf(date: Date): TypedValue {
  const text = Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString();
  // Years before 0 and after 9999 have a longer text, which is no valid datetime of a record.
  return text.length === 24 ? keptText(text) : { was: 'a date outside the years 0 to 9999', plain: text };
}

function patternOf(pattern: unknown, options: unknown): TypedValue | undefined {
  if (typeof pattern !== 'string') return undefined;
  return {
    was: 'a regular expression',
    plain: `/${pattern}/${typeof options === 'string' ? options : ''}`,
  };
}

function referenceOf(collection: unknown, { $id, $db, label }: Members): TypedValue | undefined {
  if (typeof collection !== 'string' || $id === undefined) return undefined;
  const value = idText($id) ?? JSON.stringify($id);
  return {
    was: `a DBRef to ${typeof $db === 'string' ? `${$db}.` : ''}${collection}`,
    became: 'a reference',
    plain: { value, ...(typeof label === 'string' && { label }) },
  };
}

function isLike(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !isExactNumber(value);
}
