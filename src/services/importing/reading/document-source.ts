/** Rows of JSON: of a list, of lines, or of consecutive documents, in plain or extended JSON. */

import { isJsonObject, type JsonObject, parseAsWritten } from '../../../base/json/json.js';
import { isNestedDeeply, MAX_JSON_DEPTH } from '../../../base/json/json-depth.js';
import { findEncoding, parseEncoding, readAsUtf8 } from './encoding.js';
import { inBatches, type SourceLimits } from './in-batches.js';
import { toPlainDocument } from './plain-document.js';
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
  const rowOf = (number: number, json: string): SourceRow => {
    const parsed = parseDocument(json);
    // Malformed JSON, or JSON that is not an object, is a row with a fault.
    if (typeof parsed === 'string') return faultyRow(number, parsed, json);
    return options.format === 'ejson' ? rowOfDocument(number, parsed) : { number, values: parsed };
  };
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

/** The row of a document of MongoDB. */
export function rowOfDocument(number: number, document: Readonly<Record<string, unknown>>): SourceRow {
  const { values, alterations } = toPlainDocument(document);
  return alterations.length === 0 ? { number, values } : { number, values, alterations };
}

/** Longer texts are left out of the list of refused rows. */
const MAX_SOURCE_LENGTH = 16_384;

/** The list of refused rows contains the text of the document, so that it can be corrected. */
function faultyRow(number: number, fault: string, json: string): SourceRow {
  const source = json.trim();
  const isShort = source.length <= MAX_SOURCE_LENGTH;
  return { number, values: {}, fault, isMalformed: true, ...(isShort && { source: [source] }) };
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
