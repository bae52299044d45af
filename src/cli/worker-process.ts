/** One of several processes that are one gateway, as it sees the process that started it. */

import type { FigureList } from '../gateway/server/metrics.js';
import type { SharedFigures } from '../gateway/server/metrics-access.js';
import { StoppedBySignal } from './stop-signal.js';

/** To a worker. */
export type WorkerOrder =
  /** The answer to `ready`. */
  | { readonly kind: 'begin'; readonly doesBackgroundWork: boolean }
  /** Its figures are wanted, in an answer with this number. */
  | { readonly kind: 'tellFigures'; readonly number: number }
  /** The figures of all workers, as the worker asked for them by this number. */
  | { readonly kind: 'figures'; readonly number: number; readonly text: string }
  | { readonly kind: 'stop' };

/** From a worker. */
export type WorkerNews =
  /** It hears orders from here on. */
  | { readonly kind: 'ready' }
  /** Sent regularly; a worker whose event loop is blocked sends nothing. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'ownFigures'; readonly number: number; readonly figures: FigureList }
  | { readonly kind: 'askFigures'; readonly number: number };

/** How often a worker says that it is alive. */
export const HEARTBEAT_MS = 2_000;

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
    const stopping = new AbortController();
    const stop = () => stopping.abort(new StoppedBySignal('SIGTERM'));
    process.once('SIGTERM', stop);
    this.stop = stopping.signal;
    this.begun = new Promise((resolve) => {
      // A library may use the same channel, whose messages have no such kind.
      process.on('message', (order: WorkerOrder) => {
        if (order.kind === 'begin') resolve(order);
        else if (order.kind === 'stop') stop();
        else if (order.kind === 'tellFigures') void this.#sendFigures(order.number);
        else if (order.kind === 'figures') {
          this.#asked.get(order.number)?.(order.text);
          this.#asked.delete(order.number);
        }
      });
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
