/** One of several processes that are one gateway, as it sees the process that started it. */

import type { FigureList } from '../gateway/server/metrics.js';
import type { SharedFigures } from '../gateway/server/metrics-access.js';
import { StoppedBySignal } from './stop-signal.js';
import { HEARTBEAT_MS, parseWorkerOrder, type WorkerNews, type WorkerOrder } from './worker-messages.js';

export class WorkerProcess {
  /** Resolves when this process may start. */
  readonly begun: Promise<{ readonly doesBackgroundWork: boolean }>;
  /** Aborted, with a `StoppedBySignal`, when this process is to stop: by the first process or by SIGTERM. */
  readonly stop: AbortSignal;
  readonly #asked = new Map<number, (text: string) => void>();
  #lastAsked = 0;
  #ownFigures: (() => Promise<FigureList>) | undefined;

  constructor() {
    // Ctrl-C reaches every process of a terminal; the first one says when the others stop.
    process.on('SIGINT', () => {});
    const orders = (hear: (order: WorkerOrder) => void) =>
      process.on('message', (message) => {
        const order = parseWorkerOrder(message);
        if (order) hear(order);
      });
    this.begun = new Promise((resolve) => {
      orders((order) => order.kind === 'begin' && resolve(order));
    });
    const stopping = new AbortController();
    const stop = () => stopping.abort(new StoppedBySignal('SIGTERM'));
    process.once('SIGTERM', stop);
    orders((order) => order.kind === 'stop' && stop());
    this.stop = stopping.signal;
    orders((order) => {
      if (order.kind === 'tellFigures') void this.#sendFigures(order.number);
      if (order.kind !== 'figures') return;
      this.#asked.get(order.number)?.(order.text);
      this.#asked.delete(order.number);
    });
    tell({ kind: 'ready' });
    setInterval(() => tell({ kind: 'alive' }), HEARTBEAT_MS).unref();
  }

  readonly sharedFigures: SharedFigures = {
    reportBy: (own) => {
      this.#ownFigures = own;
    },
    print: () => {
      this.#lastAsked += 1;
      const number = this.#lastAsked;
      return new Promise((resolve) => {
        this.#asked.set(number, resolve);
        tell({ kind: 'askFigures', number });
      });
    },
  };

  tellListening(url: string): void {
    tell({ kind: 'listening', url });
  }

  /** Lets this process end by itself, which the channel to the first one would prevent. */
  release(): void {
    process.channel?.unref();
  }

  async #sendFigures(number: number): Promise<void> {
    // Figures that cannot be told are left out of the sum, as those of a worker that hangs.
    const figures = await this.#ownFigures?.().catch(() => undefined);
    if (figures) tell({ kind: 'ownFigures', number, figures });
  }
}

function tell(news: WorkerNews): void {
  if (process.connected) process.send?.(news);
}
