/** Rows of JSON: of a list, of lines, or of consecutive documents, in plain or extended JSON. */

import { isJsonObject, type JsonObject, parseAsWritten } from '../../../base/json/json.js';
import { isNestedDeeply, MAX_JSON_DEPTH } from '../../../base/json/json-depth.js';
import { reasonOfDamage } from '../../../base/text/reason-of-damage.js';
import { bson, fromExtendedJson, toPlainDocument } from '../documents/plain-document.js';
import { type Packing, readUnpacked, splitBson } from '../documents/read-unpacked.js';
import { findEncoding, parseEncoding, readAsUtf8 } from './encoding.js';
import { inBatches, type SourceLimits } from './in-batches.js';
import type { RowSource, SourceFile, SourceOptions, SourceRow } from './row-source.js';
import { splitJsonLines, splitJsonValues } from './split-json.js';

/**
 * Opens a file of documents. NDJSON has one document on each line; an invalid line is a row with a fault.
 * JSON is a list, an object with a list `data`, or consecutive documents. Extended JSON may have either
 * layout.
 *
 * A document is parsed when it is its turn. The memory holds at most one chunk and one document of the file.
 */
export async function openJsonSource(
  file: SourceFile,
  options: SourceOptions & {
    readonly format: 'json' | 'ndjson' | 'ejson';
    readonly layout: 'lines' | 'values';
  },
  limits: SourceLimits,
): Promise<RowSource> {
  const { encoding, warnings } = options.encoding
    ? { encoding: parseEncoding(options.encoding), warnings: [] }
    : await findEncoding(file.path);
  const rowOf = options.format === 'ejson' ? rowOfExtendedJsonDocument : rowOfJsonDocument;
  const split = options.layout === 'lines' ? splitJsonLines : splitJsonValues;
  return {
    format: options.format,
    encoding,
    warnings,
    rows: (signal) =>
      inBatches(
        split(readAsUtf8(file.path, encoding), limits),
        ({ number, bytes }) => rowOf(number, bytes.toString()),
        { ...limits, signal },
      ),
  };
}

/** Opens a file of BSON, gzipped or not. A document whose inner parts are damaged is a row with a fault. */
export function openBsonSource(file: SourceFile, packing: Packing, limits: SourceLimits): RowSource {
  const documents = () => splitBson(readUnpacked(file.path, packing), { maxLength: limits.maxLineLength });
  return {
    format: 'bson',
    warnings: [],
    rows: (signal) =>
      inBatches(documents(), ({ number, bytes }) => rowOfBsonDocument(number, bytes), { ...limits, signal }),
  };
}

/** The row of a JSON document. Malformed JSON, or JSON that is not an object, is a row with a fault. */
function rowOfJsonDocument(number: number, json: string): SourceRow {
  const parsed = parseDocument(json);
  if (typeof parsed === 'string') return faultyRow(number, parsed, json);
  return { number, values: parsed };
}

/** The row of a document of extended JSON. */
function rowOfExtendedJsonDocument(number: number, json: string): SourceRow {
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
