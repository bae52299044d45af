import { ServiceError } from '../../../base/errors.js';

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
export const BATCH_ROWS = 1_000;
export const BATCH_LENGTH = 2 * 1024 ** 2;

/** `number`: the number of the first row beyond the limit, as a person sees it. */
export function tooManyRows(number: number, maxRows: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `Row ${number} is one of more than ${maxRows}, the most that are read. Divide the file.`,
  );
}
