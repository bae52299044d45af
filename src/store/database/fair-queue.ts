import { RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';
import type { EndSignal } from '../../base/model/end-signal.js';

/** The owner of a request, which the queue counts its requests by. */
export interface QueueKey {
  /** A domain, or whatever else shares the permits with others. */
  readonly tenant: string;
  /** A user, an address or a task within the tenant. */
  readonly caller: string;
}

/** Leave to go on. */
export interface Permit {
  /** Gives it to the next waiter. Further calls do nothing. */
  release(): void;
}

/** `late`: it waited for as long as it may. */
export type QueueRefusal = 'full' | 'callerFull' | 'late' | 'closed';

/** The amounts held at present; `own` is that of the permit which is to grow. */
export interface HeldAmounts {
  readonly total: number;
  readonly ofTenant: number;
  readonly ofCaller: number;
  readonly own: number;
}

export interface FairQueueOptions {
  /** How many permits are held at the same time; absent: any number. */
  readonly total?: number;
  readonly perTenant?: number;
  readonly perCaller?: number;
  /** Whether a permit may grow by `more`; absent: within the three limits above. */
  readonly mayHold?: (held: HeldAmounts, more: number) => boolean;
  /** How many may wait; further ones are refused at once. Absent: any number. */
  readonly waiting?: number;
  readonly waitingPerCaller?: number;
  /** How long a request waits before it is refused, unless it has a limit of its own. */
  readonly waitMs: number;
  /** The error of a refusal, or its cause for a caller, e.g. `Too many receipts are being written`. */
  readonly refusal: string | ((reason: QueueRefusal) => ServiceError);
}

export interface QueueWait {
  /** Ends the wait with its reason. */
  readonly signal?: EndSignal | undefined;
  readonly waitMs?: number | undefined;
  /** Called before a wait. */
  readonly onWait?: (() => void) | undefined;
}

interface Waiter {
  readonly permit: HeldPermit;
  readonly more: number;
  readonly serve: () => void;
  readonly fail: (reason: unknown) => void;
}

/**
 * A limited number of permits. Next is the request whose tenant holds the fewest other permits, then the one
 * whose caller does, then the first to arrive: a caller with many requests waits behind one with few.
 * Work that would wait in the database waits here, where it holds no connection.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #mayHold: (held: HeldAmounts, more: number) => boolean;
  readonly #held = new HeldCounts();
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiter>();
  readonly #onRelease = (permit: HeldPermit) => {
    this.#held.add(permit.key, -permit.amount);
    this.#serve();
  };
  #isClosed = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#mayHold = options.mayHold ?? withinLimits(options);
  }

  /** The amount that is held, and the number of waiting requests. */
  get use(): { readonly held: number; readonly waiting: number } {
    return { held: this.#held.total, waiting: this.#waiting.size };
  }

  /** Does the work with a permit of the caller. @throws UNAVAILABLE with Retry-After */
  async run<T>(
    caller: string,
    work: () => Promise<T>,
    { onWait, signal }: Pick<QueueWait, 'onWait' | 'signal'> = {},
  ): Promise<T> {
    const key = { tenant: '', caller };
    const permit = this.tryAcquire(key) ?? (await this.acquire(key, { onWait, signal }));
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  /** @throws the refusal; the signal's reason if it ends the wait */
  async acquire(key: QueueKey, wait: QueueWait = {}): Promise<Permit> {
    const permit = this.open(key);
    await this.grow(permit, 1, wait);
    return permit;
  }

  /** A permit if one is free now. @throws the refusal, once closed */
  tryAcquire(key: QueueKey): Permit | undefined {
    if (this.#isClosed) throw this.refused('closed');
    const permit = this.open(key);
    return this.#take(permit, 1) ? permit : undefined;
  }

  /** A permit that holds nothing yet. */
  open(key: QueueKey): HeldPermit {
    return new HeldPermit(key, this.#onRelease);
  }

  /** Waits until the permit holds so much more. @throws as `acquire` does */
  async grow(permit: HeldPermit, more: number, wait: QueueWait): Promise<void> {
    wait.signal?.throwIfAborted();
    if (this.#isClosed) throw this.refused('closed');
    if (this.#take(permit, more)) return;
    const { waiting = Number.POSITIVE_INFINITY, waitingPerCaller = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#waiting.size >= waiting) throw this.refused('full');
    const caller = callerKey(permit.key);
    const own = [...this.#waiting].filter((other) => callerKey(other.permit.key) === caller);
    if (own.length >= waitingPerCaller) throw this.refused('callerFull');
    wait.onWait?.();
    await this.#wait(permit, more, wait);
  }

  /** Refuses all waiting and later requests. */
  close(): void {
    this.#isClosed = true;
    for (const { fail } of [...this.#waiting]) fail(this.refused('closed'));
  }

  async #wait(
    permit: HeldPermit,
    more: number,
    { signal, waitMs = this.#options.waitMs }: QueueWait,
  ): Promise<void> {
    let end = () => {};
    try {
      await new Promise<void>((serve, reject) => {
        const fail = (reason: unknown) => {
          // Synchronously, because a permit given to a request that has ended would be lost.
          this.#waiting.delete(waiter);
          reject(reason);
        };
        const waiter: Waiter = { permit, more, serve, fail };
        const abort = () => fail(signal?.reason);
        const timer = setTimeout(() => fail(this.refused('late')), waitMs);
        end = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
        };
        this.#waiting.add(waiter);
        signal?.addEventListener('abort', abort, { once: true });
      });
    } finally {
      end();
    }
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.delete(next);
      this.#take(next.permit, next.more);
      next.serve();
    }
  }

  #next(): Waiter | undefined {
    let best: { readonly waiter: Waiter; readonly held: HeldAmounts } | undefined;
    for (const waiter of this.#waiting) {
      const held = this.#held.of(waiter.permit);
      if (!this.#mayHold(held, waiter.more)) continue;
      if (best === undefined || compareOthers(held, best.held) < 0) best = { waiter, held };
    }
    return best?.waiter;
  }

  #take(permit: HeldPermit, more: number): boolean {
    if (permit.isReleased || !this.#mayHold(this.#held.of(permit), more)) return false;
    permit.amount += more;
    this.#held.add(permit.key, more);
    return true;
  }

  /** The error of a refusal. */
  refused(reason: QueueRefusal): ServiceError {
    const { refusal } = this.#options;
    if (typeof refusal !== 'string') return refusal(reason);
    return new ServiceError('UNAVAILABLE', `${refusal} at the moment; try again later.`, {
      retryAfterSeconds: RETRY_SOON_SECONDS,
    });
  }
}

/** A permit of any amount. */
export class HeldPermit implements Permit {
  amount = 0;
  isReleased = false;
  readonly #onRelease: (permit: HeldPermit) => void;

  constructor(
    readonly key: QueueKey,
    onRelease: (permit: HeldPermit) => void,
  ) {
    this.#onRelease = onRelease;
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.#onRelease(this);
  }
}

/** Counts what is held, in total, by tenant and by caller. */
class HeldCounts {
  readonly #byTenant = new Map<string, number>();
  readonly #byCaller = new Map<string, number>();
  total = 0;

  add(key: QueueKey, change: number): void {
    this.total += change;
    addTo(this.#byTenant, key.tenant, change);
    addTo(this.#byCaller, callerKey(key), change);
  }

  of({ key, amount }: HeldPermit): HeldAmounts {
    return {
      total: this.total,
      ofTenant: this.#byTenant.get(key.tenant) ?? 0,
      ofCaller: this.#byCaller.get(callerKey(key)) ?? 0,
      own: amount,
    };
  }
}

function withinLimits(limits: Pick<FairQueueOptions, 'total' | 'perTenant' | 'perCaller'>) {
  const { total = Number.POSITIVE_INFINITY } = limits;
  const { perTenant = total, perCaller = perTenant } = limits;
  return (held: HeldAmounts, more: number) =>
    held.total + more <= total && held.ofTenant + more <= perTenant && held.ofCaller + more <= perCaller;
}

/** The amounts that the permit itself holds do not count against it. */
function compareOthers(one: HeldAmounts, other: HeldAmounts): number {
  return (
    one.ofTenant - one.own - (other.ofTenant - other.own) ||
    one.ofCaller - one.own - (other.ofCaller - other.own)
  );
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** The id of a tenant contains no line feed. */
function callerKey({ tenant, caller }: QueueKey): string {
  return `${tenant}\n${caller}`;
}
