/** The interface of the readers of all formats: the rows of a file before any mapping. */

import type { Alteration } from '../documents/plain-document.js';

/** The formats that an import reads. */
export type SourceFormat = 'csv' | 'tsv' | 'xlsx' | 'json' | 'ndjson' | 'ejson' | 'bson' | 'parquet';

/** One row of a file, before any mapping. */
export interface SourceRow {
  /**
   * The number that a person sees beside it: the line it begins on (CSV, NDJSON), the row of the sheet, the
   * place in the list (JSON, BSON, Parquet). From 1, and the header counts.
   */
  readonly number: number;
  /**
   * By column name. A cell of CSV is its text, or `null` where nothing stands (`""` is the empty text). A
   * cell of XLSX is a text, number or boolean; days and instants are ISO texts, in Parquet too. Documents and
   * cells of Parquet keep their nesting, and numbers that a float does not hold are exact.
   */
  readonly values: Readonly<Record<string, unknown>>;
  /** The cells as in the file, for the list of refused rows; the text of a malformed document. */
  readonly source?: readonly string[];
  /** Set for a malformed document: its text may contain more than can be read from it. */
  readonly isMalformed?: true;
  /** The values and names of a document that could not be kept as they were. */
  readonly alterations?: readonly Alteration[];
  /**
   * What is wrong with the row as a whole and what would be right, e.g. that it has fewer cells than the
   * header. Such a row is not to be written; the rows behind it are read all the same.
   */
  readonly fault?: string;
  /** The column of the faulty cell, if it is a single cell. */
  readonly faultColumn?: string;
}

/**
 * A file on disk that is open for reading its rows, as often as is needed. It holds nothing open between.
 */
export interface RowSource {
  readonly format: SourceFormat;
  /** Of texts: `utf-8`, `utf-16le`, `utf-16be` or `windows-1252`. */
  readonly encoding?: string;
  readonly delimiter?: string;
  /** The sheet that is read, and all of the workbook. */
  readonly sheet?: string;
  readonly sheets?: readonly string[];
  /** The row of the header, `none` where the file has none. */
  readonly header?: number | 'none';
  /** The columns of a table, each once: `name`, `name (2)`, `column 3`; documents have none. */
  readonly columns?: readonly string[];
  /** What a person should know about the file, though all rows can be read. */
  readonly warnings: readonly string[];
  /**
   * All rows from the first on, in batches; a new pass at each call. Blank rows are left out.
   *
   * @throws MALFORMED_REQUEST where the file cannot be read on, LIMIT_EXCEEDED where it is over a limit, each
   * with the line and what would be right; what the signal was aborted with.
   */
  rows(signal?: AbortSignal): AsyncIterable<readonly SourceRow[]>;
  /**
   * The same for a survey of alterations and faults: after the first `shown` rows, rows that are kept as they
   * are have no values. Absent if that would take as long as reading them.
   */
  surveyRows?(shown: number): AsyncIterable<readonly SourceRow[]>;
}

/** A file on disk, with what the caller says about it. */
export interface SourceFile {
  readonly path: string;
  /** What the caller calls it; its ending is a hint of the format. */
  readonly name?: string;
  readonly contentType?: string;
}

/** What the caller knows about a file; the rest is detected. */
export interface SourceOptions {
  readonly format?: SourceFormat;
  readonly encoding?: string;
  readonly delimiter?: string;
  /** The name of the sheet; left out, the first one that has rows. */
  readonly sheet?: string;
  /** The row of the header, or `none` where the first row is one of the data. */
  readonly header?: number | 'none';
}
