/** The queue of one tenant's waiting requests. */
import { URGENCIES, type Urgency } from '../../../base/process/urgency.js';

export interface WaitingRequest {
  /** The time of its arrival. */
  readonly since: number;
}

/** The throughput is measured over this many calls of `removeFutile`, and known only after as many. */
const MEASURED_SPANS = 8;
/** One turn of this many begins with the least urgent requests, which would otherwise starve. */
const TURNS = 8;
const LEAST_URGENT_FIRST = URGENCIES.toReversed();

/**
 * A fair queue: short requests go before long ones and those before scripts, and within an urgency the
 * callers take turns. It measures its throughput, so that a request that would wait in vain can be refused
 * early.
 */
export class TenantQueue<T extends WaitingRequest> {
  readonly #lanes: Readonly<Record<Urgency, Lane<T>>> = {
    short: new Lane(),
    stream: new Lane(),
    script: new Lane(),
  };
  #turn = 0;

  get size(): number {
    return URGENCIES.reduce((size, urgency) => size + this.#lanes[urgency].size, 0);
  }

  /** Whether a request waits that is at least as urgent. */
  hasBefore(urgency: Urgency): boolean {
    return URGENCIES.slice(0, URGENCIES.indexOf(urgency) + 1).some((before) => this.#lanes[before].size > 0);
  }

  /** The expected wait of one more request of this caller; `undefined` while the throughput is unknown. */
  waitMs(caller: string, urgency: Urgency): number | undefined {
    return this.#lanes[urgency].waitMs(caller);
  }

  add(caller: string, urgency: Urgency, request: T): void {
    this.#lanes[urgency].add(caller, request);
  }

  /** Removes and returns the next request that may go; `undefined` if there is none. */
  take(mayGo: (urgency: Urgency) => boolean): T | undefined {
    const order = (this.#turn + 1) % TURNS === 0 ? LEAST_URGENT_FIRST : URGENCIES;
    for (const urgency of order) {
      const lane = this.#lanes[urgency];
      if (lane.size === 0 || !mayGo(urgency)) continue;
      this.#turn += 1;
      return lane.take();
    }
    return undefined;
  }

  /**
   * Call it regularly: removes and returns the requests that have waited `mostMs`, or will have before
   * their turn.
   */
  removeFutile(now: number, mostMs: number): readonly T[] {
    return URGENCIES.flatMap((urgency) => this.#lanes[urgency].removeFutile(now, mostMs));
  }
}

/** The waiting requests of one urgency. */
class Lane<T extends WaitingRequest> {
  /** By caller, in the order of their turns. */
  readonly #queues = new Map<string, T[]>();
  /** The number that left between one call of `removeFutile` and the next, and its time; oldest first. */
  readonly #spans: { readonly at: number; readonly went: number }[] = [];
  #went = 0;
  size = 0;

  add(caller: string, request: T): void {
    const queue = this.#queues.get(caller);
    if (queue === undefined) this.#queues.set(caller, [request]);
    else queue.push(request);
    this.size += 1;
  }

  take(): T | undefined {
    for (const [caller, queue] of this.#queues) {
      const request = queue.shift();
      this.#queues.delete(caller);
      if (queue.length > 0) this.#queues.set(caller, queue);
      this.size -= 1;
      this.#went += 1;
      return request;
    }
    return undefined;
  }

  waitMs(caller: string): number | undefined {
    const queue = this.#queues.get(caller);
    const eachMs = this.#eachMs(this.#queues.size + (queue === undefined ? 1 : 0));
    return eachMs && eachMs * (queue?.length ?? 0);
  }

  removeFutile(now: number, mostMs: number): readonly T[] {
    if (this.size === 0) {
      // The throughput for the previous callers does not predict that for new ones.
      this.#spans.length = 0;
      this.#went = 0;
      return [];
    }
    this.#spans.push({ at: now, went: this.#went });
    this.#went = 0;
    if (this.#spans.length > MEASURED_SPANS + 1) this.#spans.shift();
    const eachMs = this.#eachMs(this.#queues.size) ?? 0;
    const refused: T[] = [];
    for (const [caller, queue] of this.#queues) {
      const kept: T[] = [];
      for (const request of queue) {
        const waitsMs = now - request.since + eachMs * kept.length;
        (waitsMs < mostMs ? kept : refused).push(request);
      }
      if (kept.length === 0) this.#queues.delete(caller);
      else this.#queues.set(caller, kept);
    }
    this.size -= refused.length;
    return refused;
  }

  /** The time between two turns of a caller among this number of callers; `undefined` while unknown. */
  #eachMs(callers: number): number | undefined {
    const [first, ...others] = this.#spans;
    const last = others.at(-1);
    if (first === undefined || last === undefined || others.length < MEASURED_SPANS) return undefined;
    const went = others.reduce((total, span) => total + span.went, 0);
    return (callers * (last.at - first.at)) / Math.max(1, went);
  }
}
