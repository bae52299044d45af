/** JSON as it is held in a record. A number whose digits a float cannot hold travels as `ExactNumber`. */
import { isLosslessNumber, isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/**
 * JSON text, as a string or as its bytes in UTF-8: to make a string of the bytes that PostgreSQL printed, and
 * bytes of it again to send them, costs more than to print an answer.
 */
export type PrintedJson = string | Buffer;

export type JsonScalar = string | number | boolean | null | LosslessNumber;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Reads JSON text without passing any number through a float. @throws SyntaxError */
export function parseExactJson(text: string): JsonValue {
  return parse(text) as JsonValue;
}

/**
 * Any number with so many digits, or an exponent: what a float may not hold. Finds too much (ids in texts),
 * never too little.
 */
const LONG_NUMBER = /[0-9.]{16,}|[0-9][eE][+-]?[0-9]/;

/**
 * Reads JSON text; a number is a JavaScript number where a float holds its value, else exact. @throws
 * SyntaxError
 */
export function parsePlainJson(text: string): JsonValue {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as JsonValue;
  return parse(text, null, toPlainNumber) as JsonValue;
}

/**
 * A number of JSON text as Postgres prints it that JavaScript writes otherwise: its digits end in a zero
 * behind the point, or begin with more than five of them.
 */
const OTHERWISE_WRITTEN = /[[:,] ?-?(?:\d+\.\d*0[\],}]|0\.0{6})/;

/**
 * Reads JSON text that Postgres printed; where a number would lose digits as a JavaScript number, also such
 * as the last one of 12.50, all of them are exact.
 *
 * @throws SyntaxError
 */
export function parseKeepingDigits(text: string): JsonValue {
  const isSafe = !LONG_NUMBER.test(text) && !OTHERWISE_WRITTEN.test(text);
  return isSafe ? (JSON.parse(text) as JsonValue) : parseExactJson(text);
}

/**
 * Reads JSON text; a number is a JavaScript number where that is written as it was, else exact: 12.50 and
 * 1e3 stay what they are. @throws SyntaxError
 */
export function parseAsWritten(text: string): JsonValue {
  const isSafe = !LONG_NUMBER.test(text) && !OTHERWISE_WRITTEN.test(text);
  return isSafe ? (JSON.parse(text) as JsonValue) : (parse(text, null, toSameNumber) as JsonValue);
}

function toSameNumber(digits: string): number | LosslessNumber {
  const number = Number(digits);
  return String(number) === digits ? number : new LosslessNumber(digits);
}

/** A JavaScript number where a float holds the value that is written, else an exact one. */
export function toPlainNumber(digits: string): number | LosslessNumber {
  return isSafeNumber(digits) ? Number(digits) : new LosslessNumber(digits);
}

/** Writes JSON text, exact numbers with the digits they came with. */
export function printExactJson(value: JsonValue): string {
  // The engine's own printer takes a fifth of the time, and knows no exact numbers.
  return (holdsExactNumber(value) ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

function holdsExactNumber(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsExactNumber);
  if (!isJsonObject(value)) return true;
  for (const name in value) if (holdsExactNumber(value[name])) return true;
  return false;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/**
 * A member that the object has itself. A name of a caller's may be one that all objects inherit, e.g.
 * `constructor`.
 */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export { isLosslessNumber as isExactNumber, LosslessNumber as ExactNumber };
