/** Rows of BSON: documents one after the other, as `mongodump` writes a collection. */
import { isPlainBson } from '../documents/is-plain-bson.js';
import { type Packing, readUnpacked } from '../documents/read-unpacked.js';
import { type NumberedBytes, splitBson } from '../documents/split-bson.js';
import { inBatches } from './in-batches.js';
import { rowOfBsonDocument } from './row-of-document.js';
import type { RowSource, SourceFile, SourceRow } from './row-source.js';
import type { SourceLimits } from './source-limits.js';

/** Opens a file of BSON, gzipped or not. A document whose inner parts are damaged is a row with a fault. */
export function openBsonSource(file: SourceFile, packing: Packing, limits: SourceLimits): RowSource {
  const documents = () => splitBson(readUnpacked(file.path, packing), { maxLength: limits.maxLineLength });
  const rowOf = ({ number, bytes }: NumberedBytes) => rowOfBsonDocument(number, bytes);
  return {
    format: 'bson',
    warnings: [],
    rows: (signal) => inBatches(documents(), rowOf, { ...limits, signal }),
    surveyRows: (shown) =>
      inBatches(
        documents(),
        (one) =>
          one.number > shown && isPlainBson(one.bytes) ? { number: one.number, values: NONE } : rowOf(one),
        { ...limits, signal: undefined },
      ),
  };
}

const NONE: SourceRow['values'] = {};
