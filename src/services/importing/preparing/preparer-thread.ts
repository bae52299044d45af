/** The thread that reads a file and prepares its rows, one batch per request. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { parsePlainJson } from '../../../base/json/json.js';
import { toImportMapping } from '../import-mapping.js';
import { openRowSource } from '../reading/open-row-source.js';
import { rowLength } from '../reading/row-length.js';
import type { SourceRow } from '../reading/row-source.js';
import { threadFaultOf } from './file-thread.js';
import type { PreparerOrder, PreparerReport, PreparerStart } from './preparer-order.js';
import { type AnswerOf, type Question, RowPreparer } from './row-preparer.js';

/** The number of batches whose cells may still be requested: the one being written and the next one. */
const KEPT_BATCHES = 2;
/** The most that the rows of a batch take, unless a single row is larger. */
const MOST_LENGTH = 4 * 1024 ** 2;

class PreparerThread {
  readonly #port: MessagePort;
  readonly #start: PreparerStart;
  readonly #kept: (readonly SourceRow[])[] = [];
  #wanted = 0;
  #wake: () => void = () => {};
  /** The pending questions, in the order in which they were asked. */
  readonly #asking: ((answer: unknown) => void)[] = [];
  #preparer: RowPreparer | undefined;

  constructor(port: MessagePort, start: PreparerStart) {
    this.#port = port;
    this.#start = start;
    port.on('message', (order: PreparerOrder) => this.#obey(order));
  }

  /** Prepares all rows. An error of the file is sent, not thrown. */
  async run(): Promise<void> {
    try {
      await this.#prepareAll();
    } catch (fault) {
      this.#tell(threadFaultOf(fault));
    }
  }

  #obey(order: PreparerOrder): void {
    switch (order.kind) {
      case 'next':
        this.#wanted += 1;
        this.#wake();
        return;
      case 'answer':
        this.#asking.shift()?.(order.answer);
        return;
      case 'sources':
        this.#tell({ kind: 'sources', sources: this.#sourcesOf(order.numbers) });
    }
  }

  async #prepareAll(): Promise<void> {
    const { file, source, plan, mapping, batchRows } = this.#start;
    const rows = await openRowSource(file, source);
    const parsed = toImportMapping(parsePlainJson(mapping)) ?? { columns: [], fixed: {} };
    const preparer = new RowPreparer({ ...plan, mapping: parsed }, rows.columns, (asked) => this.#ask(asked));
    this.#preparer = preparer;
    let batch: SourceRow[] = [];
    let length = 0;
    for await (const some of rows.rows()) {
      for (const row of some) {
        batch.push(row);
        length += rowLength(row);
        if (batch.length < batchRows && length < MOST_LENGTH) continue;
        await this.#give(preparer, batch);
        batch = [];
        length = 0;
      }
    }
    if (batch.length > 0) await this.#give(preparer, batch);
    await this.#untilWanted();
    this.#tell({ kind: 'end' });
  }

  async #give(preparer: RowPreparer, rows: readonly SourceRow[]): Promise<void> {
    await this.#untilWanted();
    this.#kept.push(rows);
    if (this.#kept.length > KEPT_BATCHES) this.#kept.shift();
    const batch = await preparer.prepare(rows);
    // All rows of the batch are written already, so it is not sent.
    if (batch.rows === 0) return;
    this.#wanted -= 1;
    this.#tell({ kind: 'batch', batch }, [batch.lines.buffer]);
  }

  async #untilWanted(): Promise<void> {
    while (this.#wanted === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async #ask<Q extends Question>(question: Q): Promise<AnswerOf[Q['kind']]> {
    const answer = new Promise((resolve) => {
      this.#asking.push(resolve);
    });
    this.#tell({ kind: 'question', question });
    return (await answer) as AnswerOf[Q['kind']];
  }

  #sourcesOf(numbers: readonly number[]): ReadonlyMap<number, readonly string[]> {
    const preparer = this.#preparer;
    if (preparer === undefined) return new Map();
    const asked = new Set(numbers);
    const rows = this.#kept.flat().filter(({ number }) => asked.has(number));
    return new Map(rows.map((row) => [row.number, preparer.sourceOf(row)]));
  }

  #tell(report: PreparerReport, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(report, [...transfer]);
  }
}

if (parentPort === null) throw new Error('this module is a thread');
await new PreparerThread(parentPort, workerData as PreparerStart).run();
