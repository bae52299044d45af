import { RETRY_SOON_SECONDS, ServiceError } from '../errors.js';

export interface TurnstileOptions {
  /** How many requests are under way at the same time. */
  readonly places: number;
  /** How long a request waits for a place before it is refused. */
  readonly patienceMs: number;
}

/** Requests that need no database have places even beside few connections. */
const LEAST_PLACES = 32;
/** A process of several has its part of them, and never fewer than these. */
const LEAST_OF_PROCESS = 8;

/**
 * The places of one process. What the processes of a gateway share, the processors and PostgreSQL, is there
 * once for all: each with the places of a lone one, they would let so many in that everybody waits behind a
 * flood.
 */
export function countPlaces(shared: { readonly poolSize: number; readonly workers: number }): number {
  const places = Math.max(LEAST_PLACES, 2 * shared.poolSize);
  return Math.max(LEAST_OF_PROCESS, Math.ceil(places / shared.workers));
}

/** Whose request it is: of a party, which shares the places with the other ones, the member. */
export interface Asker {
  /** A domain, or an address nothing else is known of. */
  readonly party: string;
  /** A credential of the domain. */
  readonly member: string;
}

/** A request on its way through. */
export interface Passage {
  /** Gives the place to the next one, also while the request goes on. Leaving again does nothing. */
  leave(): void;
}

interface Waiter {
  readonly passage: CountedPassage;
  readonly since: number;
  readonly go: () => void;
  readonly refuse: (error: ServiceError) => void;
}

/** The part of the places that one party may have: the others find one at once. */
const PART_OF_A_PARTY = 3 / 4;
/**
 * Who has been under way for so long waits for something itself: a script, a slow reader, its turn to write.
 * It has other limits, and keeps its place only while nobody wants it.
 */
const SHORT_MS = 1_000;
const LOOK_MS = 250;
/**
 * How many are let in at most in one turn of the event loop: of those that come, and of those that waited.
 * Node accepts one new connection a turn, so under load turns are to be short.
 */
const COMING_A_TURN = 16;
const WAITING_A_TURN = 4;

/**
 * Lets few requests in at the same time, and those that wait in turns: one of each party, and of a party one
 * of each member. So whoever floods the gateway waits for itself, and the others hardly notice.
 *
 * Node would read every request as it comes and answer it in the same turn of its loop where it can, and get
 * to nothing else as long as there is one to be read: 2,000 connections that asked as fast as they were
 * answered kept all others waiting for seconds.
 */
export class Turnstile {
  readonly #places: number;
  readonly #placesOfParty: number;
  readonly #patienceMs: number;
  /** The oldest first. */
  readonly #underWay = new Set<CountedPassage>();
  readonly #countByParty = new Map<string, number>();
  /** In the order of their turns: the queue of each member, by party. */
  readonly #lines = new Map<string, Map<string, Waiter[]>>();
  #waiting = 0;
  #cameInTurn = 0;
  readonly #onLeave = (passage: CountedPassage) => this.#left(passage);
  readonly #endTurn = () => {
    this.#cameInTurn = 0;
  };
  #isServing = false;
  #look: NodeJS.Timeout | undefined;

  constructor({ places, patienceMs }: TurnstileOptions) {
    this.#places = places;
    this.#placesOfParty = Math.max(1, Math.floor(places * PART_OF_A_PARTY));
    this.#patienceMs = patienceMs;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * A place, at once where there is one and nobody of the party waits for it.
   *
   * @throws UNAVAILABLE (503) with Retry-After after `patienceMs`
   */
  enter(asker: Asker): Passage | Promise<Passage> {
    const { party } = asker;
    const passage = new CountedPassage(party, this.#onLeave);
    if (!this.#lines.has(party) && this.#mayGoOn(party)) {
      this.#cameInTurn += 1;
      if (this.#cameInTurn === 1) setImmediate(this.#endTurn);
      this.#admit(passage);
      return passage;
    }
    return new Promise((resolve, refuse) => {
      const go = () => {
        this.#admit(passage);
        resolve(passage);
      };
      this.#join(asker, { passage, since: performance.now(), go, refuse });
    });
  }

  #mayGoOn(party: string): boolean {
    return this.#underWay.size < this.#places && this.#cameInTurn < COMING_A_TURN && this.#hasRoomFor(party);
  }

  #hasRoomFor(party: string): boolean {
    return (this.#countByParty.get(party) ?? 0) < this.#placesOfParty;
  }

  #admit(passage: CountedPassage): void {
    const { party } = passage;
    passage.since = performance.now();
    this.#underWay.add(passage);
    this.#countByParty.set(party, (this.#countByParty.get(party) ?? 0) + 1);
  }

  #left(passage: CountedPassage): void {
    const { party } = passage;
    if (!this.#underWay.delete(passage)) return;
    const count = (this.#countByParty.get(party) ?? 1) - 1;
    if (count === 0) this.#countByParty.delete(party);
    else this.#countByParty.set(party, count);
    if (this.#waiting > 0) this.#serveSoon();
  }

  #join({ party, member }: Asker, waiter: Waiter): void {
    const members = this.#lines.get(party) ?? new Map<string, Waiter[]>();
    this.#lines.set(party, members);
    const queue = members.get(member);
    if (queue === undefined) members.set(member, [waiter]);
    else queue.push(waiter);
    this.#waiting += 1;
    this.#look ??= setInterval(() => this.#lookAfterThem(), LOOK_MS).unref();
    if (this.#underWay.size < this.#places) this.#serveSoon();
  }

  /** Not in this turn of the event loop: it would never end while all that is let in is answered at once. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    setImmediate(() => {
      this.#isServing = false;
      for (let served = 0; this.#underWay.size < this.#places; served += 1) {
        if (served === WAITING_A_TURN) {
          this.#serveSoon();
          return;
        }
        if (!this.#serveNext()) break;
      }
      this.#stopLooking();
    });
  }

  /** Whether there was one that may go. */
  #serveNext(): boolean {
    for (const [party, members] of this.#lines) {
      if (!this.#hasRoomFor(party)) continue;
      const next = takeTurn(members);
      this.#lines.delete(party);
      // Its next turn comes after those of all others.
      if (members.size > 0) this.#lines.set(party, members);
      if (next === undefined) continue;
      this.#waiting -= 1;
      next.go();
      return true;
    }
    return false;
  }

  #lookAfterThem(): void {
    const now = performance.now();
    for (const passage of this.#underWay) {
      if (now - passage.since < SHORT_MS) break;
      passage.leave();
    }
    for (const [party, members] of this.#lines) {
      for (const [member, queue] of members) {
        const inTime = queue.findIndex(({ since }) => now - since < this.#patienceMs);
        for (const { refuse } of queue.splice(0, inTime === -1 ? queue.length : inTime)) {
          this.#waiting -= 1;
          refuse(tooBusy());
        }
        if (queue.length === 0) members.delete(member);
      }
      if (members.size === 0) this.#lines.delete(party);
    }
    this.#stopLooking();
  }

  #stopLooking(): void {
    if (this.#waiting > 0) return;
    clearInterval(this.#look);
    this.#look = undefined;
  }
}

class CountedPassage implements Passage {
  /** The time when it was let in. */
  since = 0;

  constructor(
    readonly party: string,
    readonly onLeave: (passage: CountedPassage) => void,
  ) {}

  leave(): void {
    this.onLeave(this);
  }
}

function takeTurn(members: Map<string, Waiter[]>): Waiter | undefined {
  for (const [member, queue] of members) {
    const waiter = queue.shift();
    members.delete(member);
    if (queue.length > 0) members.set(member, queue);
    return waiter;
  }
  return undefined;
}

function tooBusy(): ServiceError {
  return new ServiceError('UNAVAILABLE', 'Too many requests are under way at the moment; try again later.', {
    retryAfterSeconds: RETRY_SOON_SECONDS,
  });
}
