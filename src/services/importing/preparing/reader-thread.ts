/** The thread that reads a file: it inspects it, or prepares its rows batch by batch. */
import { parentPort } from 'node:worker_threads';
import { parsePlainJson } from '../../../base/json/json.js';
import type { ImportMapping } from '../import-mapping.js';
import { type InspectedSource, inspectSource } from '../reading/inspect-source.js';
import { openRowSource } from '../reading/open-row-source.js';
import type { SourceRow } from '../reading/row-source.js';
import { findUnfoldedDays, unfoldDays } from '../reading/unfold-days.js';
import {
  connectThreads,
  type FileThread,
  type InspectionStart,
  type PreparerStart,
} from './prepared-batches.js';
import { type PreparedRows, type ReferenceLookups, RowPreparer } from './row-preparer.js';

/** Enough rows to recognize the type of a column; the dry run checks the other rows of a larger file. */
const MAX_INSPECTED_ROWS = 100_000;
/** The number of batches whose cells may still be requested: the one being written and the next one. */
const KEPT_BATCHES = 2;
class ReaderThread implements FileThread {
  readonly #kept: (readonly SourceRow[])[] = [];
  #batches: AsyncIterator<readonly SourceRow[]> | undefined;
  #preparer: RowPreparer | undefined;

  inspect = async ({ file, source, mayUnfold }: InspectionStart): Promise<InspectedSource> => {
    const opened = await openRowSource(file, source);
    const unfold = mayUnfold ? await findUnfoldedDays(opened, file.name) : undefined;
    const rows = unfold === undefined ? opened : unfoldDays(opened, unfold);
    return {
      tableColumns: rows.columns,
      unfold,
      inspection: await inspectSource(rows, { maxRows: MAX_INSPECTED_ROWS }),
    };
  };

  open = async ({ file, source, plan, mapping, batchRows }: PreparerStart): Promise<void> => {
    const rows = await openRowSource(file, source);
    const parsed: unknown = parsePlainJson(mapping);
    const whole = { ...plan, mapping: parsed as ImportMapping };
    this.#preparer = new RowPreparer(whole, rows.columns, gateway);
    this.#kept.length = 0;
    this.#batches = rows.rows(undefined, batchRows)[Symbol.asyncIterator]();
  };

  /** The next batch with rows that are not written already; `undefined` after the last one. */
  next = async (): Promise<PreparedRows | undefined> => {
    for (;;) {
      const { value: rows } = (await this.#batches?.next()) ?? {};
      if (!rows || this.#preparer === undefined) return undefined;
      this.#kept.push(rows);
      if (this.#kept.length > KEPT_BATCHES) this.#kept.shift();
      const batch = await this.#preparer.prepare(rows);
      if (batch.rows > 0) return batch;
    }
  };

  sourcesOf = (numbers: readonly number[]): ReadonlyMap<number, readonly string[]> => {
    const wanted = new Set(numbers);
    const rows = this.#kept.flat().filter(({ number }) => wanted.has(number));
    return new Map(rows.map((row) => [row.number, this.#preparer?.sourceOf(row) ?? []]));
  };
}

if (parentPort === null) throw new Error('this module is a thread');
const gateway = connectThreads<FileThread, ReferenceLookups>(parentPort, new ReaderThread());
