/** JSON as it is held in a record. A number whose digits a float cannot hold travels as `ExactNumber`. */
import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/**
 * JSON text, as a string or as UTF-8 bytes. Decoding the bytes PostgreSQL printed and encoding them again
 * would cost more than printing an answer.
 */
export type PrintedJson = string | Buffer;

export type JsonScalar = string | number | boolean | null | LosslessNumber;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** The type itself, with `never` in place of all that is not JSON or absent. `unknown` is taken on trust. */
type OfJson<Value> = unknown extends Value
  ? Value
  : Value extends JsonValue | undefined
    ? Value
    : Value extends (...args: never[]) => unknown
      ? never
      : Value extends object
        ? { readonly [Name in keyof Value]: OfJson<Value[Name]> }
        : never;

/**
 * A value of a declared type as JSON. TypeScript does not take an interface for a `JsonObject` by itself.
 * Members that are undefined are left out when it is printed.
 */
export function asJson<Value>(
  value: Value & OfJson<Value>,
): Value extends JsonScalar | readonly unknown[] | undefined ? JsonValue : JsonObject {
  return value as JsonObject;
}

type Defined<Members> = {
  readonly [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  readonly [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** The object without the members that are undefined. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<Members>;
}

/** Parses JSON text without passing any number through a float. @throws SyntaxError */
export function parseExactJson(text: string): JsonValue {
  return parse(text) as JsonValue;
}

/** The same for the text of an object, such as a stored record. @throws SyntaxError; Error for anything else */
export function parseExactObject(text: string): JsonObject {
  const value = parseExactJson(text);
  if (!isJsonObject(value)) throw new Error('the JSON text is not an object');
  return value;
}

/**
 * Matches any number with many digits or an exponent, which a float may not hold. It may match too much
 * (ids in texts), never too little.
 */
const LONG_NUMBER = /[0-9.]{16,}|[0-9][eE][+-]?[0-9]/;

/**
 * Parses JSON text. A number becomes a JavaScript number if a float holds its value, else an exact one.
 * @throws SyntaxError
 */
export function parsePlainJson(text: string): JsonValue {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as JsonValue;
  return parse(text, null, toPlainNumber) as JsonValue;
}

/**
 * Matches a number, in JSON as Postgres prints it, that JavaScript would print differently: one that ends in
 * a zero after the point, or begins with more than five of them.
 */
const OTHERWISE_WRITTEN = /[[:,] ?-?(?:\d+\.\d*0[\],}]|0\.0{6})/;

/**
 * Parses JSON text printed by Postgres. If a JavaScript number would lose a digit, even the trailing zero of
 * 12.50, all numbers of the text become exact.
 *
 * @throws SyntaxError
 */
export function parseKeepingDigits(text: string): JsonValue {
  const isSafe = !LONG_NUMBER.test(text) && !OTHERWISE_WRITTEN.test(text);
  return isSafe ? (JSON.parse(text) as JsonValue) : parseExactJson(text);
}

/**
 * Parses JSON text that a caller has written: an object with two members of one name and different values is
 * refused. Numbers are read as by `parsePlainJson`. @throws SyntaxError
 */
export function parseSentJson(text: string, toNumber = toPlainNumber): JsonValue {
  return parse(text, null, toNumber) as JsonValue;
}

/** A JavaScript number where that loses no digit, and prints the same. */
export function toNumberAsWritten(digits: string): number | LosslessNumber {
  const number = Number(digits);
  return String(number) === digits ? number : new LosslessNumber(digits);
}

/** A JavaScript number if a float holds the written value, else an exact one. */
export function toPlainNumber(digits: string): number | LosslessNumber {
  return isSafeNumber(digits) ? Number(digits) : new LosslessNumber(digits);
}

/** Prints JSON text; exact numbers keep their digits. */
export function printExactJson(value: JsonValue): string {
  // The engine's own printer takes a fifth of the time, but does not know exact numbers.
  return (holdsExactNumber(value) ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/** Prints JSON text with the blanks of PostgreSQL's jsonb, for a value that PostgreSQL prints elsewhere. */
export function printJsonb(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(printJsonb).join(', ')}]`;
  if (!isJsonObject(value)) return printExactJson(value);
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${printJsonb(one)}`);
  return `{${members.join(', ')}}`;
}

function holdsExactNumber(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsExactNumber);
  if (!isJsonObject(value)) return true;
  for (const name in value) if (holdsExactNumber(value[name])) return true;
  return false;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/**
 * An own member of the object. The name may come from a caller and be one that every object inherits, e.g.
 * `constructor`.
 */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The members of an object whose names are wanted. */
export function membersWhere(object: JsonObject, isWanted: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => isWanted(name)));
}

/** Sets an own member, also one called `__proto__`, whose assignment would set the prototype. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Recognizes an exact number by its class, which is faster than looking for a member. */
export function isExactNumber(value: unknown): value is LosslessNumber {
  return value instanceof LosslessNumber;
}

export { LosslessNumber as ExactNumber };

/** The texts of a JSON object with these keys: one before each value, and one after the last. */
export function objectMarks(keys: readonly string[]): {
  readonly before: readonly string[];
  readonly end: string;
} {
  const before = keys.map((key, index) => `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`);
  return { before, end: keys.length === 0 ? '{}' : '}' };
}
