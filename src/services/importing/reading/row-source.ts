/** The interface of the readers of all formats: the rows of a file before any mapping. */

import { ServiceError } from '../../../base/errors.js';
import type { Alteration } from './plain-document.js';

/** The formats that an import reads. */
export const SOURCE_FORMATS = ['csv', 'tsv', 'xlsx', 'json', 'ndjson', 'ejson', 'bson'] as const;
export type SourceFormat = (typeof SOURCE_FORMATS)[number];

/** One row of a file, before any mapping. */
export interface SourceRow {
  /**
   * The number that a person sees beside the row: the line on which it begins (CSV, NDJSON), the row of the
   * sheet, or the place in the list (JSON, BSON). It starts at 1, and the header counts.
   */
  readonly number: number;
  /**
   * The values by column name. A CSV cell is its text, or `null` if it is empty. An
   * XLSX cell is a text, number or boolean. Days and instants are ISO texts. Documents keep their
   * nesting, and numbers that a float cannot hold are exact.
   */
  readonly values: Readonly<Record<string, unknown>>;
  /** The cells as in the file, for the list of refused rows; the text of a malformed document. */
  readonly source?: readonly string[];
  /** Whether the row is hidden in its sheet, e.g. by a filter. */
  readonly isHidden?: boolean;
  /** Set for a malformed document: its text may contain more than can be read from it. */
  readonly isMalformed?: true;
  /** The values and names of a document that could not be kept unchanged. */
  readonly alterations?: readonly Alteration[];
  /**
   * The fault of the row as a whole and how to correct it, e.g. that it has fewer cells than the header.
   * Such a row must not be written. The following rows are still read.
   */
  readonly fault?: string;
  /** The column of the faulty cell, if it is a single cell. */
  readonly faultColumn?: string;
}

/** A file on disk whose rows can be read any number of times. Nothing stays open between two passes. */
export interface RowSource {
  readonly format: SourceFormat;
  /** For texts: `utf-8`, `utf-16le`, `utf-16be` or `windows-1252`. */
  readonly encoding?: string;
  readonly delimiter?: string;
  /** The sheet that is read, and all sheets of the workbook. */
  readonly sheet?: string;
  readonly sheets?: readonly string[];
  /** The row of the header, `none` if the file has none. */
  readonly header?: number | 'none';
  /** The texts above the header of a table. */
  readonly title?: string;
  /** The columns of a table with unique names: `name`, `name (2)`, `column 3`. Documents have none. */
  readonly columns?: readonly string[];
  /** Facts that a person should know about the file, although all rows can be read. */
  readonly warnings: readonly string[];
  /**
   * All rows in batches of at most so many, from the first on. Each call starts a new pass. Blank
   * rows are left out.
   *
   * @throws MALFORMED_REQUEST if the file cannot be read further, LIMIT_EXCEEDED if it exceeds a limit, each
   * with the line and what would be right; the reason of the signal
   */
  rows(signal?: AbortSignal, batchRows?: number): AsyncIterable<readonly SourceRow[]>;
}

/** A file on disk, with the name that the caller gave. */
export interface SourceFile {
  readonly path: string;
  /** The file name given by the caller. Its ending is a hint of the format. */
  readonly name?: string;
}

/** The columns of a register that are days, which are read as rows. */
export interface UnfoldedDays {
  /** Each heading with the day that it means, or only its number if the file does not name the month. */
  readonly days: readonly (readonly [heading: string, day: string])[];
  /** The name of the column with the days. */
  readonly day: string;
  /** The name of the column with the values. */
  readonly value: string;
}

/** The facts that the caller gives about a file; the rest is detected. */
export interface SourceOptions {
  readonly format?: SourceFormat;
  readonly encoding?: string;
  readonly delimiter?: string;
  /** The name of the sheet. Default: the first sheet with rows. */
  readonly sheet?: string;
  /** The row of the header, or `none` if the first row is data. */
  readonly header?: number | 'none';
  /** Read from a register by its inspection. */
  readonly unfold?: UnfoldedDays;
}

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
  signal: AbortSignal | undefined,
  batchRows = BATCH_ROWS,
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
      if (count > SOURCE_LIMITS.maxRows) throw tooManyRows(row.number);
      batch.push(row);
      length += lengthOf(row.values);
      if (batch.length < batchRows && length < BATCH_LENGTH) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/**
 * The approximate size of a value: the UTF-16 code units of its texts and names, and a few for each value. It
 * limits batches, so that a thousand large documents are not in memory together.
 */
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

const LENGTH_OF_VALUE = 8;
/** The number of rows in a batch, and their size. A batch is smaller if a row is large. */
const BATCH_ROWS = 1_000;
const BATCH_LENGTH = 4 * 1024 ** 2;

/** `number`: the number of the first row beyond the limit, as a person sees it. */
function tooManyRows(number: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `Row ${number} is one of more than ${SOURCE_LIMITS.maxRows}, the most that are read. Divide the file.`,
  );
}
