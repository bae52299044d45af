/** Deletes expired data once an hour. Every gateway does so; what one has deleted, the others do not find. */

import { type Domain, type Scope, systemPrincipal } from '../model/scope.js';
import type { Purged } from '../store/changes/purge.js';
import type { RecordStore } from '../store/record-store.js';
import type { Observe } from './observation.js';

export interface PurgingOptions {
  readonly store: Pick<RecordStore, 'purge'>;
  readonly topDomain: () => Domain | undefined;
  /** How long a removed record answers GONE before its `_id` is free again. */
  readonly keepRemovedDays: number;
  readonly observe: Observe;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** @see decisions 1 (tombstones), 4 (idempotency keys) */
export class Purging {
  readonly #options: PurgingOptions;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(options: PurgingOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.run(), HOUR_MS);
    this.#timer.unref();
  }

  /** Purges now. A failure is reported to the operator and retried an hour later. */
  run(): Promise<void> {
    this.#running = this.#purge();
    return this.#running;
  }

  /** Waits for a purge in progress. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #purge(): Promise<void> {
    const { store, topDomain, keepRemovedDays, observe } = this.#options;
    const domain = topDomain();
    if (!domain) return;
    const scope: Scope = {
      domain,
      principal: systemPrincipal('purge', ['admin'], domain.id),
      requestId: 'purge',
    };
    try {
      const removedBefore = new Date(Date.now() - keepRemovedDays * DAY_MS);
      const purged = await store.purge(scope, { removedBefore });
      if (countOf(purged) > 0) observe({ kind: 'purged', ...purged });
    } catch (error) {
      observe({ kind: 'backgroundFault', task: 'purge', error });
    }
  }
}

function countOf({ tombstones, idempotencyKeys, topicMessages, historyValues, collections }: Purged): number {
  return tombstones + idempotencyKeys + topicMessages + historyValues + collections.length;
}
