import { ServiceError } from '../../../base/errors.js';
import type { SourceRow } from './row-source.js';

/** The bytes of a document and its number: its line, or its place among the documents. */
export interface NumberedBytes {
  readonly number: number;
  readonly bytes: Buffer;
}

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

/**
 * The approximate size of a row: the UTF-16 code units of its texts and names, and a few for each value. It
 * limits batches, so that a thousand large documents are not in memory together.
 */
export function rowLength({ values }: SourceRow): number {
  return lengthOf(values);
}

const LENGTH_OF_VALUE = 8;

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + LENGTH_OF_VALUE;
  if (typeof value !== 'object' || value === null) return LENGTH_OF_VALUE;
  let length = LENGTH_OF_VALUE;
  if (Array.isArray(value)) {
    for (const element of value) length += lengthOf(element);
    return length;
  }
  for (const name in value)
    length += name.length + lengthOf((value as Readonly<Record<string, unknown>>)[name]);
  return length;
}

/** The maximum size of a file and of its parts. A larger file is rejected with the limit and the line. */
export const SOURCE_LIMITS = {
  /** 2 GiB. */
  maxBytes: 2 * 1024 ** 3,
  maxRows: 5_000_000,
  maxColumns: 2_000,
  /** The UTF-16 code units of a cell: 1 MiB. */
  maxCellLength: 1024 ** 2,
  /** A line including the line ends within its quotes, or a document: 16 MiB. */
  maxLineLength: 16 * 1024 ** 2,
} as const;

export type SourceLimits = { readonly [Name in keyof typeof SOURCE_LIMITS]: number };

/** The number of rows in a batch, and their size. A batch is smaller if a row is large. */
const BATCH_ROWS = 1_000;
const BATCH_LENGTH = 2 * 1024 ** 2;

/** `number`: the number of the first row beyond the limit, as a person sees it. */
export function tooManyRows(number: number, maxRows: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `Row ${number} is one of more than ${maxRows}, the most that are read. Divide the file.`,
  );
}
