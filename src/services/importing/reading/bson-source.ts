/** Rows of BSON: documents one after the other, as `mongodump` writes a collection. */
import { type Packing, readUnpacked } from '../documents/read-unpacked.js';
import { splitBson } from '../documents/split-bson.js';
import { inBatches } from './in-batches.js';
import { rowOfBsonDocument } from './row-of-document.js';
import type { RowSource, SourceFile } from './row-source.js';
import type { SourceLimits } from './source-limits.js';

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
