/** Rows of JSON: of a list, of lines, or of documents one after the other; plain or extended. */

import { findEncoding, parseEncoding, readAsUtf8 } from './encoding.js';
import { inBatches } from './in-batches.js';
import { rowOfExtendedJsonDocument, rowOfJsonDocument } from './row-of-document.js';
import type { RowSource, SourceFile, SourceOptions } from './row-source.js';
import type { SourceLimits } from './source-limits.js';
import { splitJsonLines, splitJsonValues } from './split-json.js';

/**
 * Opens a file of documents. NDJSON has one on each line, and a line that is none is a row with a fault.
 * JSON is a list, an object with a list `data`, or documents one after the other. Extended JSON is either
 * of both.
 *
 * A document is parsed when it is its turn: no more of the file is in memory than a chunk and a document.
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
