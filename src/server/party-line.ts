/** The requests of one party that wait for a place. */
import { URGENCIES, type Urgency } from '../urgency.js';

export interface WaitingRequest {
  /** The time when it came. */
  readonly since: number;
}

/** What a party was given in the last seconds is known after so many looks, and is taken over as many. */
const MEASURED_LOOKS = 8;
/** One turn of so many begins with what is least urgent, which would else wait as long as others come. */
const TURNS = 8;
const LEAST_URGENT_FIRST = URGENCIES.toReversed();

/**
 * Lets short requests go before long ones and these before scripts, and of each kind one of each member by
 * turns. It counts how many go, so that those who would wait in vain need not.
 */
export class PartyLine<T extends WaitingRequest> {
  readonly #lanes: Readonly<Record<Urgency, Lane<T>>> = {
    short: new Lane(),
    stream: new Lane(),
    script: new Lane(),
  };
  #turn = 0;

  get size(): number {
    return URGENCIES.reduce((size, urgency) => size + this.#lanes[urgency].size, 0);
  }

  /** Whether one waits that is as urgent, or more. */
  hasBefore(urgency: Urgency): boolean {
    return URGENCIES.slice(0, URGENCIES.indexOf(urgency) + 1).some((before) => this.#lanes[before].size > 0);
  }

  /** How long one more of this member would wait; `undefined`: nothing is known of it yet. */
  waitMs(member: string, urgency: Urgency): number | undefined {
    return this.#lanes[urgency].waitMs(member);
  }

  join(member: string, urgency: Urgency, request: T): void {
    this.#lanes[urgency].join(member, request);
  }

  /** Who is next of those that may go; `undefined`: nobody. */
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

  /** To be called regularly: gives those who waited `patienceMs`, or will have before they may go. */
  look(now: number, patienceMs: number): readonly T[] {
    return URGENCIES.flatMap((urgency) => this.#lanes[urgency].look(now, patienceMs));
  }
}

/** Those of one urgency. */
class Lane<T extends WaitingRequest> {
  /** In the order of their turns. */
  readonly #queues = new Map<string, T[]>();
  /** How many went from one look to the next, and when that look was; the oldest first. */
  readonly #looks: { readonly at: number; readonly went: number }[] = [];
  #went = 0;
  size = 0;

  join(member: string, request: T): void {
    const queue = this.#queues.get(member);
    if (queue === undefined) this.#queues.set(member, [request]);
    else queue.push(request);
    this.size += 1;
  }

  take(): T | undefined {
    for (const [member, queue] of this.#queues) {
      const request = queue.shift();
      this.#queues.delete(member);
      if (queue.length > 0) this.#queues.set(member, queue);
      this.size -= 1;
      this.#went += 1;
      return request;
    }
    return undefined;
  }

  waitMs(member: string): number | undefined {
    const queue = this.#queues.get(member);
    const eachMs = this.#eachMs(this.#queues.size + (queue === undefined ? 1 : 0));
    return eachMs && eachMs * (queue?.length ?? 0);
  }

  look(now: number, patienceMs: number): readonly T[] {
    if (this.size === 0) {
      // What was given to those who were there before says nothing of those who will come.
      this.#looks.length = 0;
      this.#went = 0;
      return [];
    }
    this.#looks.push({ at: now, went: this.#went });
    this.#went = 0;
    if (this.#looks.length > MEASURED_LOOKS + 1) this.#looks.shift();
    const eachMs = this.#eachMs(this.#queues.size) ?? 0;
    const refused: T[] = [];
    for (const [member, queue] of this.#queues) {
      const kept: T[] = [];
      for (const request of queue) {
        const waitsMs = now - request.since + eachMs * kept.length;
        (waitsMs < patienceMs ? kept : refused).push(request);
      }
      if (kept.length === 0) this.#queues.delete(member);
      else this.#queues.set(member, kept);
    }
    this.size -= refused.length;
    return refused;
  }

  /** From one of a member to its next, when so many take turns; `undefined`: not yet known. */
  #eachMs(members: number): number | undefined {
    const [first, ...others] = this.#looks;
    const last = others.at(-1);
    if (first === undefined || last === undefined || others.length < MEASURED_LOOKS) return undefined;
    const went = others.reduce((total, look) => total + look.went, 0);
    return (members * (last.at - first.at)) / Math.max(1, went);
  }
}
