/**
 * A file whose rows are prepared on their own thread, so that a large file delays no request. The thread is
 * one batch ahead of the writer.
 */
import type { Worker } from 'node:worker_threads';
import { faultOfThread, startFileThread } from './file-thread.js';
import type { PreparerOrder, PreparerReport, PreparerStart } from './preparer-order.js';
import type { Ask, PreparedRows } from './row-preparer.js';

export interface PreparedFileOptions extends PreparerStart {
  readonly ask: Ask;
  /**
   * `inTurn`: a batch is prepared after the previous one is written, because its rows refer to each other.
   */
  readonly order: 'ahead' | 'inTurn';
  readonly signal: AbortSignal;
}

export class PreparedFile {
  readonly #worker: Worker;
  readonly #options: PreparedFileOptions;
  readonly #reports: PreparerReport[] = [];
  #wake: () => void = () => {};
  #answering = Promise.resolve();
  #onSources: (sources: ReadonlyMap<number, readonly string[]>) => void = () => {};

  /** Starts the thread. The caller closes it. */
  constructor(options: PreparedFileOptions) {
    const { ask: _ask, signal: _signal, order: _order, ...start } = options;
    this.#options = options;
    this.#worker = startFileThread(
      'services/importing/preparing/preparer-thread',
      start satisfies PreparerStart,
    );
    this.#worker.on('message', (report: PreparerReport) => this.#hear(report));
    this.#worker.on('error', (error) => this.#add({ kind: 'failed', message: error.message }));
    this.#worker.once('exit', () =>
      this.#add({ kind: 'failed', message: 'the thread of an import has ended' }),
    );
  }

  /**
   * The batches in the order of the file.
   *
   * @throws MALFORMED_REQUEST or LIMIT_EXCEEDED for a fault of the whole file; the reason of the signal
   */
  async *batches(): AsyncGenerator<PreparedRows, void> {
    const { signal, order } = this.#options;
    const onAbort = () => this.#wake();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      this.#order({ kind: 'next' });
      for (;;) {
        const report = await this.#nextReport();
        if (report === undefined) throw signal.reason;
        if (report.kind === 'end') return;
        if (report.kind === 'failed') throw faultOfThread(report);
        if (report.kind !== 'batch') continue;
        if (order === 'ahead') this.#order({ kind: 'next' });
        yield report.batch;
        if (order === 'inTurn') this.#order({ kind: 'next' });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** The cells of rows of the batch that is being written. */
  async sourcesOf(numbers: readonly number[]): Promise<ReadonlyMap<number, readonly string[]>> {
    if (numbers.length === 0) return new Map();
    const answer = new Promise<ReadonlyMap<number, readonly string[]>>((resolve) => {
      this.#onSources = resolve;
    });
    this.#order({ kind: 'sources', numbers });
    return await answer;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #hear(report: PreparerReport): void {
    if (report.kind === 'sources') this.#onSources(report.sources);
    else if (report.kind === 'question') {
      const { question } = report;
      // The thread assigns the answers by their order.
      this.#answering = this.#answering.then(() => this.#answer(question));
    } else this.#add(report);
  }

  async #answer(question: Parameters<Ask>[0]): Promise<void> {
    try {
      this.#order({ kind: 'answer', answer: await this.#options.ask(question) });
    } catch (fault) {
      this.#reports.length = 0;
      this.#add({ kind: 'failed', message: 'a question of an import found no answer' });
      this.#fault = fault;
    }
  }

  #fault: unknown;

  #add(report: PreparerReport): void {
    this.#reports.push(report);
    this.#wake();
  }

  #order(order: PreparerOrder): void {
    this.#worker.postMessage(order);
  }

  async #nextReport(): Promise<PreparerReport | undefined> {
    for (;;) {
      if (this.#options.signal.aborted) return undefined;
      const report = this.#reports.shift();
      if (this.#fault !== undefined) throw this.#fault;
      if (report !== undefined) return report;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
