/** A file that is read on its own thread, so that a large file delays no request. */
import type { InspectedSource } from '../reading/inspect-source.js';
import type { SourceFile, SourceOptions } from '../reading/row-source.js';
import { connectThreads, startFileThread } from './file-thread.js';
import type { PreparationPlan, PreparedRows, ReferenceLookups } from './row-preparer.js';

export interface InspectionStart {
  readonly file: SourceFile;
  readonly source: SourceOptions;
  /** Whether records have a day, so that columns called by days are rows. */
  readonly mayUnfold: boolean;
}

export interface PreparerStart extends Omit<InspectionStart, 'mayUnfold'> {
  readonly plan: Omit<PreparationPlan, 'mapping'>;
  /**
   * The mapping as JSON text. An exact number is an object of ours, which does not survive the transfer to a
   * thread.
   */
  readonly mapping: string;
  readonly batchRows: number;
}

/** The methods of the thread. */
export interface FileThread {
  readonly inspect: (start: InspectionStart) => Promise<InspectedSource>;
  readonly open: (start: PreparerStart) => Promise<void>;
  readonly next: (asked: undefined) => Promise<PreparedRows | undefined>;
  readonly sourcesOf: (numbers: readonly number[]) => ReadonlyMap<number, readonly string[]>;
}

export interface PreparedBatch extends PreparedRows {
  /** The cells of rows of the batch, as in the file. */
  readonly sourcesOf: (numbers: readonly number[]) => Promise<ReadonlyMap<number, readonly string[]>>;
}

/**
 * @throws what is wrong with the file, MALFORMED_REQUEST or LIMIT_EXCEEDED; the reason of the signal
 */
export async function inspectOnThread(start: InspectionStart, signal: AbortSignal): Promise<InspectedSource> {
  const worker = startFileThread();
  try {
    return await connectThreads<object, FileThread>(worker, {}, signal).inspect(start);
  } finally {
    await worker.terminate();
  }
}

/**
 * The prepared batches in the order of the file. `ahead`: the next batch is prepared while one is written.
 * `inTurn`: after it is written, because rows refer to each other.
 *
 * @throws MALFORMED_REQUEST or LIMIT_EXCEEDED for a fault of the whole file; the reason of the signal; what a
 * look-up throws
 */
export async function* preparedBatches(
  { lookups, order, signal }: PreparationOptions,
  start: PreparerStart,
): AsyncGenerator<PreparedBatch, void> {
  const worker = startFileThread();
  let failed: { readonly fault: unknown } | undefined;
  // An error loses its class on its way to the thread and back.
  const kept = <Sent, Result>(find: (sent: Sent) => Promise<Result>) => {
    return (sent: Sent) =>
      find(sent).catch((fault: unknown) => {
        failed ??= { fault };
        throw fault;
      });
  };
  const own = { findTargets: kept(lookups.findTargets), findByField: kept(lookups.findByField) };
  const thread = connectThreads<ReferenceLookups, FileThread>(worker, own, signal);
  const prepare = () => {
    const next = thread.next(undefined);
    // It may fail while the batch before it is written, when nothing waits for it.
    next.catch(() => {});
    return next;
  };
  try {
    await thread.open(start);
    let next = prepare();
    for (;;) {
      const batch = await next;
      if (batch === undefined) return;
      if (order === 'ahead') next = prepare();
      yield { ...batch, sourcesOf: async (numbers) => await thread.sourcesOf(numbers) };
      if (order === 'inTurn') next = prepare();
    }
  } catch (fault) {
    throw failed?.fault ?? fault;
  } finally {
    await worker.terminate();
  }
}

export interface PreparationOptions {
  readonly lookups: ReferenceLookups;
  readonly order: 'ahead' | 'inTurn';
  readonly signal: AbortSignal;
}
