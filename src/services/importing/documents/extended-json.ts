/** Reads extended JSON, as `mongoexport` and `bsondump` write it. */
import type * as Bson from 'bson';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toPlainNumber,
} from '../../../base/json/json.js';
import { bson } from './bson.js';
import { UnkeptValue } from './plain-document.js';

const {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} = bson;

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
