import { rowLength } from './row-length.js';
import type { SourceRow } from './row-source.js';
import { BATCH_LENGTH, BATCH_ROWS, type SourceLimits, tooManyRows } from './source-limits.js';

/**
 * Turns pieces (lines, documents), which are read in chunks, into batches of rows that fit in memory
 * together. A row is made when its batch is filled, so that the rows of a chunk are never in memory all at
 * once. If a piece makes `undefined`, it is no row.
 *
 * @throws LIMIT_EXCEEDED after the last allowed row; the reason of the signal
 */
export async function* inBatches<Piece>(
  chunks: AsyncIterable<readonly Piece[]>,
  rowOf: (piece: Piece) => SourceRow | undefined,
  { maxRows, signal }: Pick<SourceLimits, 'maxRows'> & { readonly signal: AbortSignal | undefined },
): AsyncGenerator<readonly SourceRow[]> {
  let batch: SourceRow[] = [];
  let length = 0;
  let count = 0;
  for await (const pieces of chunks) {
    signal?.throwIfAborted();
    for (const piece of pieces) {
      const row = rowOf(piece);
      if (row === undefined) continue;
      count += 1;
      if (count > maxRows) throw tooManyRows(row.number, maxRows);
      batch.push(row);
      length += rowLength(row);
      if (batch.length < BATCH_ROWS && length < BATCH_LENGTH) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
