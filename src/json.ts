/** JSON as it is held in a record. A number whose digits a float cannot hold travels as `ExactNumber`. */
import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

export type JsonScalar = string | number | boolean | null | LosslessNumber;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Reads JSON text without passing any number through a float. @throws SyntaxError */
export function parseExactJson(text: string): JsonValue {
  return parse(text) as JsonValue;
}

/** Writes JSON text, exact numbers with the digits they came with. */
export function printExactJson(value: JsonValue): string {
  return stringify(value) ?? 'null';
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

export { isLosslessNumber as isExactNumber, LosslessNumber as ExactNumber };
