/** Rows of documents: converts the text or bytes of a document to values. */
import { isJsonObject, type JsonObject, parseAsWritten } from '../../../base/json/json.js';
import { isNestedDeeply, MAX_JSON_DEPTH } from '../../../base/json/json-depth.js';
import { reasonOfDamage } from '../../../base/text/reason-of-damage.js';
import { bson } from '../documents/bson.js';
import { fromExtendedJson } from '../documents/extended-json.js';
import { toPlainDocument } from '../documents/plain-document.js';
import type { SourceRow } from './row-source.js';

/** The row of a JSON document. Malformed JSON, or JSON that is not an object, is a row with a fault. */
export function rowOfJsonDocument(number: number, json: string): SourceRow {
  const parsed = parseDocument(json);
  if (typeof parsed === 'string') return faultyRow(number, parsed, json);
  return { number, values: parsed };
}

/** The row of a document of extended JSON. */
export function rowOfExtendedJsonDocument(number: number, json: string): SourceRow {
  const parsed = parseDocument(json);
  if (typeof parsed === 'string') return faultyRow(number, parsed, json);
  return withAlterations(number, toPlainDocument(fromExtendedJson(parsed)));
}

/** Longer texts are left out of the list of refused rows. */
const MAX_SOURCE_LENGTH = 16_384;

/** The list of refused rows contains the text of the document, so that it can be corrected. */
function faultyRow(number: number, fault: string, json: string): SourceRow {
  const source = json.trim();
  const isShort = source.length <= MAX_SOURCE_LENGTH;
  return { number, values: {}, fault, isMalformed: true, ...(isShort && { source: [source] }) };
}

/** The row of a document of BSON. */
export function rowOfBsonDocument(number: number, bytes: Uint8Array): SourceRow {
  try {
    return withAlterations(number, toPlainDocument(bson.deserialize(bytes, BSON_OPTIONS)));
  } catch (error) {
    const fault = `document ${number} is no BSON (${reasonOfDamage(error)}); dump it again`;
    return { number, values: {}, fault };
  }
}

/** 64-bit integers stay exact, and binary values keep their subtype. */
const BSON_OPTIONS = { promoteLongs: false, promoteBuffers: false, bsonRegExp: true } as const;

function withAlterations(
  number: number,
  { values, alterations }: ReturnType<typeof toPlainDocument>,
): SourceRow {
  return alterations.length === 0 ? { number, values } : { number, values, alterations };
}

/** Returns the document, or a text that says what is wrong. */
function parseDocument(json: string): JsonObject | string {
  if (isNestedDeeply(json)) return `the document is nested deeper than ${MAX_JSON_DEPTH} levels`;
  try {
    const parsed = parseAsWritten(json);
    return isJsonObject(parsed) ? parsed : 'a JSON object is expected here, {"field": value, …}';
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `this is no JSON (${error.message}); a JSON object is expected here`;
  }
}
