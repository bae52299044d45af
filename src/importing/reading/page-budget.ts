/** Limits the pages of a Parquet file that are in memory at the same time, of all columns together. */
import type { RowGroup } from 'hyparquet';
import { ServiceError } from '../../errors.js';

const MOST_UNPACKED_BYTES = 64 * 1024 ** 2;
const MOST_VALUES = 4_000_000;

export interface PageSize {
  readonly bytes: number;
  readonly values: number;
}

/** The budget for pages in memory. Pages that were read are returned to it. */
export class PageBudget {
  #bytes = 0;
  #values = 0;

  /** @throws LIMIT_EXCEEDED */
  take({ bytes, values }: PageSize): void {
    this.#bytes += bytes;
    this.#values += values;
    if (this.#bytes <= MOST_UNPACKED_BYTES && this.#values <= MOST_VALUES) return;
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `The pages of the file that are read together hold more than ${MOST_UNPACKED_BYTES} bytes or ` +
        `${MOST_VALUES} values. Write it with smaller groups of rows, e.g. 20000.`,
    );
  }

  give({ bytes, values }: PageSize): void {
    this.#bytes -= bytes;
    this.#values -= values;
  }
}

/** Whether all pages of the group together, as the file describes them, exceed the budget. */
export function mayExceedBudget({ columns }: RowGroup): boolean {
  let bytes = 0n;
  let values = 0n;
  for (const { meta_data: metadata } of columns) {
    bytes += metadata?.total_uncompressed_size ?? 0n;
    values += metadata?.num_values ?? 0n;
  }
  return bytes > MOST_UNPACKED_BYTES || values > MOST_VALUES;
}
