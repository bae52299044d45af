import { invariant, RETRY_SOON_SECONDS, ServiceError } from '../../../base/errors.js';
import { Slots } from '../../../base/process/slots.js';
import type { Urgency } from '../../../base/process/urgency.js';
import type { Permit, QueueKey } from '../../../store/database/fair-queue.js';
import type { Config } from '../../config/config.js';
import { TenantQueue } from './tenant-queue.js';

/** How many requests are in progress at the same time. */
export interface AdmissionLimits {
  readonly all: number;
  /** The permits of all tenants with waiting requests, together, while other tenants are active too. */
  readonly besideOthers: number;
}

export interface AdmissionControlOptions {
  readonly limits: AdmissionLimits;
  /** How long a request may wait for a permit before it is refused. */
  readonly waitMs: number;
}

/** Even with few connections, since many requests do not need the database. */
const LEAST_PERMITS = 32;
/** With several processes each gets a share of the permits, and at least these. */
const LEAST_OF_PROCESS = 8;
const LEAST_BESIDE_OTHERS = 2;

/**
 * The limits of one process. The processes of a gateway share the processors and PostgreSQL: if each had the
 * permits of a single process, they would admit so many requests that all callers wait behind a flood.
 *
 * While others are active, a flood gets at most half of the connections. More would not make it faster, but
 * would keep PostgreSQL busy and connections taken when the others need them.
 */
export function limitsOfProcess({
  poolSize,
  workers,
}: Pick<Config, 'poolSize' | 'workers'>): AdmissionLimits {
  const all = Math.max(LEAST_PERMITS, 2 * poolSize);
  return {
    all: Math.max(LEAST_OF_PROCESS, Math.ceil(all / workers)),
    besideOthers: Math.max(LEAST_BESIDE_OTHERS, Math.floor(poolSize / 2 / workers)),
  };
}

/** The owner of a request. The tenant is a domain, or the address of a caller without a known credential. */
export interface RequestKey extends QueueKey {
  /** Known by its address only: it has no credential, or none that was ever valid. */
  readonly isAnonymous: boolean;
}

interface Waiter {
  readonly since: number;
  readonly go: () => void;
  readonly refuse: (error: ServiceError) => void;
}

/** The requests of one tenant in progress; `long` counts the streams and scripts among them. */
interface TenantCount {
  all: number;
  long: number;
  /** Requests not counted in `all`, which gave up their permits because they take long. */
  overdue: number;
}

/** The share of the permits that one tenant may hold, so that others find one at once. */
const PART_OF_TENANT = 3 / 4;
/** The share of a tenant's permits for its streams and scripts, so that its short requests soon find one. */
const PART_OF_LONG_ONES = 1 / 2;
/** How long another tenant counts as active after its last request. */
const BESIDE_OTHERS_MS = 1_000;
/** Further requests are refused at once, whatever they wait for: each takes some 20 KiB. */
const MOST_WAITING = 16_384;
const MOST_WAITING_OF_TENANT = 4_096;
/**
 * A request in progress for longer waits itself: for a script, a slow reader, a lock. It is subject to other
 * limits, and keeps its permit only until another request needs it. A tenant may have as many such requests
 * as there are permits; further ones keep theirs.
 */
const SHORT_MS = 1_000;
const CHECK_MS = 250;
/**
 * The most requests admitted in one turn of the event loop, of new and of waiting ones each. Node accepts one
 * new connection per turn, so turns must be short under load.
 */
const NEW_A_TURN = 16;
const WAITING_A_TURN = 4;
/**
 * A refused client may try again at once. Refusals are therefore paced, at some 1,600 a second, to leave
 * processor time for others.
 */
const REFUSED_AT_ONCE = 8;
const REFUSALS_EVERY_MS = 5;
/**
 * An anonymous request costs little processor time, and its client tries again at once; even with few permits
 * it could use all of the time. Its permits are therefore given back at intervals, all at once.
 */
const ANONYMOUS_EVERY_MS = 5;

/**
 * Limits the requests in progress, and admits waiting ones in turn: one of each tenant, and within a tenant
 * one of each caller. A flood delays only its own caller. It uses round robin, unlike `FairQueue`, because
 * requests are short: the number that a tenant holds at the moment means little.
 *
 * Without it, Node would read every request as it arrives and answer it in the same turn of its loop if
 * possible, and do nothing else while there is one to read: 2,000 connections that sent requests without
 * pause kept all others waiting for seconds.
 */
export class AdmissionControl {
  readonly #limits: AdmissionLimits;
  readonly #waitMs: number;
  readonly #underWay = new Slots<CountedPermit>();
  readonly #counts = new Map<string, TenantCount>();
  /** By tenant, in the order of their turns. */
  readonly #queues = new Map<string, TenantQueue<Waiter>>();
  #waiting = 0;
  readonly #refused: (() => void)[] = [];
  #lastTenant: string | undefined;
  /** When a tenant last sent a request after a different one had. */
  #otherTenantAt = Number.NEGATIVE_INFINITY;
  #newInTurn = 0;
  readonly #onRelease = (permit: CountedPermit) => this.#released(permit);
  readonly #anonymousReleased: CountedPermit[] = [];
  readonly #onAnonymousRelease = (permit: CountedPermit) => this.#releaseSoon(permit);
  readonly #endTurn = () => {
    this.#newInTurn = 0;
  };
  #isServing = false;
  #check: NodeJS.Timeout | undefined;
  #refusing: NodeJS.Timeout | undefined;

  constructor({ limits, waitMs }: AdmissionControlOptions) {
    this.#limits = limits;
    this.#waitMs = waitMs;
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return this.#waiting + this.#refused.length;
  }

  /**
   * Returns a permit, at once if one is free and no request of the tenant that is as urgent waits for it.
   *
   * @throws UNAVAILABLE (503) with Retry-After after `waitMs`, or earlier if waiting is futile
   */
  acquire(key: RequestKey, urgency: Urgency = 'short'): Permit | Promise<Permit> {
    const { tenant } = key;
    if (tenant !== this.#lastTenant) {
      if (this.#lastTenant !== undefined) this.#otherTenantAt = performance.now();
      this.#lastTenant = tenant;
    }
    const permit = new CountedPermit(
      tenant,
      urgency,
      key.isAnonymous ? this.#onAnonymousRelease : this.#onRelease,
    );
    const isFree = this.#underWay.size < this.#limits.all && this.#newInTurn < NEW_A_TURN;
    if (isFree && !this.#queues.get(tenant)?.hasBefore(urgency) && this.#mayHold(tenant, urgency)) {
      this.#newInTurn += 1;
      if (this.#newInTurn === 1) setImmediate(this.#endTurn);
      this.#admit(permit);
      return permit;
    }
    return new Promise((resolve, refuse) => {
      const go = () => {
        this.#admit(permit);
        resolve(permit);
      };
      this.#enqueue(key, urgency, { since: performance.now(), go, refuse });
    });
  }

  #mayHold(tenant: string, urgency: Urgency): boolean {
    const count = this.#counts.get(tenant);
    if (count === undefined) return true;
    const most = this.#limitOfTenant();
    if (count.all >= most) return false;
    return urgency === 'short' || count.long < Math.max(1, Math.floor(most * PART_OF_LONG_ONES));
  }

  #limitOfTenant(): number {
    const { all, besideOthers } = this.#limits;
    if (performance.now() - this.#otherTenantAt > BESIDE_OTHERS_MS)
      return Math.max(1, Math.floor(all * PART_OF_TENANT));
    return Math.max(1, Math.floor(besideOthers / Math.max(1, this.#queues.size)));
  }

  #admit(permit: CountedPermit): void {
    const { tenant, urgency } = permit;
    permit.since = performance.now();
    permit.slot = this.#underWay.add(permit);
    const count = this.#counts.get(tenant) ?? { all: 0, long: 0, overdue: 0 };
    this.#counts.set(tenant, count);
    count.all += 1;
    if (urgency !== 'short') count.long += 1;
  }

  #released(permit: CountedPermit): void {
    const { tenant, urgency } = permit;
    const isUnderWay = this.#underWay.remove(permit.slot, permit);
    if (!isUnderWay && !permit.isOverdue) return;
    const count = this.#counts.get(tenant);
    invariant(count, 'a request in progress is counted');
    if (isUnderWay) {
      count.all -= 1;
      if (urgency !== 'short') count.long -= 1;
    } else {
      count.overdue -= 1;
      permit.isOverdue = false;
    }
    if (count.all + count.overdue === 0) this.#counts.delete(tenant);
    if (this.#waiting > 0) this.#serveSoon();
  }

  /** Gives the permit of a long request to others, unless its tenant has too many such requests. */
  #overtake(permit: CountedPermit): void {
    const count = this.#counts.get(permit.tenant);
    if (count === undefined || count.overdue >= this.#limits.all) return;
    count.overdue += 1;
    this.#released(permit);
    permit.isOverdue = true;
  }

  #releaseSoon(permit: CountedPermit): void {
    this.#anonymousReleased.push(permit);
    if (this.#anonymousReleased.length > 1) return;
    setTimeout(() => {
      for (const released of this.#anonymousReleased.splice(0)) this.#released(released);
    }, ANONYMOUS_EVERY_MS);
  }

  #enqueue({ tenant, caller }: RequestKey, urgency: Urgency, waiter: Waiter): void {
    const queue = this.#queues.get(tenant) ?? new TenantQueue<Waiter>();
    if (this.#waiting >= MOST_WAITING || queue.size >= MOST_WAITING_OF_TENANT) {
      waiter.refuse(tooManyQueued(RETRY_SOON_SECONDS));
      return;
    }
    const waitMs = queue.waitMs(caller, urgency) ?? 0;
    if (waitMs > this.#waitMs) {
      this.#refuseSoon(waiter, tooManyQueued(Math.ceil((waitMs - this.#waitMs) / 1000)));
      return;
    }
    this.#queues.set(tenant, queue);
    queue.add(caller, urgency, waiter);
    this.#waiting += 1;
    this.#check ??= setInterval(() => this.#checkAll(), CHECK_MS).unref();
    if (this.#underWay.size < this.#limits.all) this.#serveSoon();
  }

  /**
   * Not in this turn of the event loop, which would never end while every admitted request is answered at
   * once.
   */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    setImmediate(() => {
      this.#isServing = false;
      for (let served = 0; this.#underWay.size < this.#limits.all; served += 1) {
        if (served === WAITING_A_TURN) {
          this.#serveSoon();
          return;
        }
        if (!this.#serveNext()) break;
      }
      this.#stopChecking();
    });
  }

  /** Whether a request was admitted. */
  #serveNext(): boolean {
    for (const [tenant, queue] of this.#queues) {
      const next = queue.take((urgency) => this.#mayHold(tenant, urgency));
      if (next === undefined) continue;
      this.#queues.delete(tenant);
      // Moves the tenant to the end of the round.
      if (queue.size > 0) this.#queues.set(tenant, queue);
      this.#waiting -= 1;
      next.go();
      return true;
    }
    return false;
  }

  #checkAll(): void {
    const now = performance.now();
    for (const permit of this.#underWay) {
      if (now - permit.since >= SHORT_MS) this.#overtake(permit);
    }
    for (const [tenant, queue] of this.#queues) {
      const refused = queue.removeFutile(now, this.#waitMs);
      this.#waiting -= refused.length;
      for (const waiter of refused) {
        const hasWaited = now - waiter.since >= this.#waitMs;
        this.#refuseSoon(waiter, hasWaited ? tooBusy() : tooManyQueued(RETRY_SOON_SECONDS));
      }
      if (queue.size === 0) this.#queues.delete(tenant);
    }
    // A tenant may hold more permits once the others are inactive.
    if (this.#waiting > 0) this.#serveSoon();
    this.#stopChecking();
  }

  #refuseSoon({ refuse }: Waiter, error: ServiceError): void {
    this.#refused.push(() => refuse(error));
    this.#refusing ??= setInterval(() => {
      for (const refuseNow of this.#refused.splice(0, REFUSED_AT_ONCE)) refuseNow();
      if (this.#refused.length > 0) return;
      clearInterval(this.#refusing);
      this.#refusing = undefined;
    }, REFUSALS_EVERY_MS);
  }

  #stopChecking(): void {
    if (this.#waiting > 0) return;
    clearInterval(this.#check);
    this.#check = undefined;
  }
}

class CountedPermit implements Permit {
  /** The time of its admission. */
  since = 0;
  slot = 0;
  /** In progress without a permit. */
  isOverdue = false;

  constructor(
    readonly tenant: string,
    readonly urgency: Urgency,
    readonly onRelease: (permit: CountedPermit) => void,
  ) {}

  release(): void {
    this.onRelease(this);
  }
}

function tooBusy(): ServiceError {
  return new ServiceError('UNAVAILABLE', 'Too many requests are under way at the moment; try again later.', {
    retryAfterSeconds: RETRY_SOON_SECONDS,
  });
}

function tooManyQueued(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    'Too many queued requests for this school or address. Reduce concurrency.',
    { retryAfterSeconds },
  );
}
