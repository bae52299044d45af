/**
 * A limited number of places with a fair queue: the visitor with the fewest places is next, so a caller with
 * a hundred requests waits behind one with a single request, and a domain behind a domain with fewer.
 */

import { ServiceError } from '../../base/errors.js';
import type { EndSignal } from '../../base/model/end-signal.js';

export interface PlaceLimits {
  /** The total number of places. */
  readonly places: number;
  readonly perDomain: number;
  readonly perCaller: number;
  /** How many may wait; further visitors are refused. */
  readonly waiting: number;
  readonly waitingPerCaller: number;
}

export interface Visitor {
  readonly domainId: string;
  /** A user, a script with service roles, or an address: its requests are counted together. */
  readonly caller: string;
}

/** Why there is no place. `late`: it waited for as long as it may. */
export type NoPlace = 'full' | 'callerFull' | 'late' | 'closed';

export interface PlacesOptions {
  readonly limits: PlaceLimits;
  /** Creates the error for a refusal. */
  readonly refuse: (reason: NoPlace) => ServiceError;
}

interface Waiting extends Visitor {
  readonly serve: () => void;
  readonly fail: (reason: unknown) => void;
}

export class Places {
  readonly #limits: PlaceLimits;
  readonly #refuse: (reason: NoPlace) => ServiceError;
  readonly #taken = new Counts();
  /** In the order of their arrival. */
  #waiting: readonly Waiting[] = [];
  #isClosed = false;

  constructor(options: PlacesOptions) {
    this.#limits = options.limits;
    this.#refuse = options.refuse;
  }

  /**
   * Waits for a place. The returned function gives it back.
   *
   * @throws the refusal, UNAVAILABLE; the signal's reason if it aborts the wait
   */
  async take(
    visitor: Visitor,
    wait: { readonly signal: EndSignal | undefined; readonly longestMs: number },
  ): Promise<() => void> {
    wait.signal?.throwIfAborted();
    const place = this.takeNow(visitor);
    if (place !== undefined) return place;
    const { waiting, waitingPerCaller } = this.#limits;
    if (this.#waiting.length >= waiting) throw this.#refuse('full');
    const own = this.#waiting.filter((other) => isSameCaller(other, visitor));
    if (own.length >= waitingPerCaller) throw this.#refuse('callerFull');
    await this.#wait(visitor, wait);
    return this.#giver(visitor);
  }

  /** A place if one is free now. @throws the refusal, once closed */
  takeNow(visitor: Visitor): (() => void) | undefined {
    if (this.#isClosed) throw this.#refuse('closed');
    if (!this.#mayEnter(visitor)) return undefined;
    this.#taken.add(visitor, 1);
    return this.#giver(visitor);
  }

  /** How many places are taken, and how many visitors wait. */
  get use(): { readonly taken: number; readonly waiting: number } {
    return { taken: this.#taken.total, waiting: this.#waiting.length };
  }

  /** Refuses all waiting and later visitors. */
  close(): void {
    this.#isClosed = true;
    for (const one of this.#waiting) one.fail(this.#refuse('closed'));
  }

  async #wait(
    visitor: Visitor,
    { signal, longestMs }: { readonly signal: EndSignal | undefined; readonly longestMs: number },
  ): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let abort: (() => void) | undefined;
    try {
      await new Promise<void>((serve, fail) => {
        const one: Waiting = {
          ...visitor,
          serve,
          fail: (reason) => {
            // Synchronously, because a place given to a visitor who has left would be lost.
            this.#waiting = this.#waiting.filter((other) => other !== one);
            fail(reason);
          },
        };
        this.#waiting = [...this.#waiting, one];
        abort = () => one.fail(signal?.reason);
        signal?.addEventListener('abort', abort, { once: true });
        timer = setTimeout(() => one.fail(this.#refuse('late')), longestMs);
      });
    } finally {
      clearTimeout(timer);
      if (abort !== undefined) signal?.removeEventListener('abort', abort);
    }
  }

  /** Gives a place back only once, however often it is called. */
  #giver(visitor: Visitor): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#taken.add(visitor, -1);
      this.#serveNext();
    };
  }

  #serveNext(): void {
    const candidates = this.#waiting.filter((one) => this.#mayEnter(one));
    // The sort is stable: among equals, the first to arrive.
    const [next] = candidates.sort((one, other) => this.#taken.compare(one, other));
    if (next === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#taken.add(next, 1);
    next.serve();
  }

  #mayEnter(visitor: Visitor): boolean {
    const { places, perDomain, perCaller } = this.#limits;
    return (
      this.#taken.total < places &&
      this.#taken.ofDomain(visitor) < perDomain &&
      this.#taken.ofCaller(visitor) < perCaller
    );
  }
}

/** The taken places, in total and by visitor. */
class Counts {
  readonly #byDomain = new Map<string, number>();
  readonly #byCaller = new Map<string, number>();
  total = 0;

  add(visitor: Visitor, change: 1 | -1): void {
    this.total += change;
    addTo(this.#byDomain, visitor.domainId, change);
    addTo(this.#byCaller, callerKey(visitor), change);
  }

  ofDomain({ domainId }: Visitor): number {
    return this.#byDomain.get(domainId) ?? 0;
  }

  ofCaller(visitor: Visitor): number {
    return this.#byCaller.get(callerKey(visitor)) ?? 0;
  }

  compare(one: Visitor, other: Visitor): number {
    return this.ofDomain(one) - this.ofDomain(other) || this.ofCaller(one) - this.ofCaller(other);
  }
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function isSameCaller(one: Visitor, other: Visitor): boolean {
  return one.domainId === other.domainId && one.caller === other.caller;
}

/** The id of a domain contains no line feed. */
function callerKey({ domainId, caller }: Visitor): string {
  return `${domainId}\n${caller}`;
}
