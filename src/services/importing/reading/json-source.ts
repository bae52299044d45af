/** Rows of JSON: of a list, of lines, or of consecutive documents, in plain or extended JSON. */

import { findEncoding, parseEncoding, readAsUtf8 } from './encoding.js';
import { inBatches } from './in-batches.js';
import { rowOfExtendedJsonDocument, rowOfJsonDocument } from './row-of-document.js';
import type { RowSource, SourceFile, SourceOptions } from './row-source.js';
import type { SourceLimits } from './source-limits.js';
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
