import { invariant, RETRY_SOON_SECONDS, ServiceError } from '../errors.js';
import type { Urgency } from '../urgency.js';
import { PartyLine } from './party-line.js';

/** How many requests are under way at the same time. */
export interface RequestPlaces {
  readonly all: number;
  /** Of those parties that have more to ask than may go, together, while others ask too. */
  readonly besideOthers: number;
}

export interface TurnstileOptions {
  readonly places: RequestPlaces;
  /** How long a request waits for a place before it is refused. */
  readonly patienceMs: number;
}

/** Requests that need no database have places even beside few connections. */
const LEAST_PLACES = 32;
/** A process of several has its part of them, and never fewer than these. */
const LEAST_OF_PROCESS = 8;
const LEAST_BESIDE_OTHERS = 2;

/**
 * The places of one process. What the processes of a gateway share, the processors and PostgreSQL, is there
 * once for all: each with the places of a lone one, they would let so many in that everybody waits behind a
 * flood.
 *
 * Beside others a flood has as many as half of the connections: with more it would be no faster, but the
 * others would find PostgreSQL at work for it, or have to wait for a connection.
 */
export function countPlaces(shared: { readonly poolSize: number; readonly workers: number }): RequestPlaces {
  const { poolSize, workers } = shared;
  const all = Math.max(LEAST_PLACES, 2 * poolSize);
  return {
    all: Math.max(LEAST_OF_PROCESS, Math.ceil(all / workers)),
    besideOthers: Math.max(LEAST_BESIDE_OTHERS, Math.floor(poolSize / 2 / workers)),
  };
}

/** Whose request it is: of a party, which shares the places with the other ones, the member. */
export interface Asker {
  /** A domain, or an address nothing else is known of. */
  readonly party: string;
  /** A credential of the domain. */
  readonly member: string;
  /** It is known by its address alone: it has no credential, or none that was ever right. */
  readonly isStranger: boolean;
}

/** A request on its way through. */
export interface Passage {
  /** Gives the place to the next one, also while the request goes on. Leaving again does nothing. */
  leave(): void;
}

interface Waiter {
  readonly since: number;
  readonly go: () => void;
  readonly refuse: (error: ServiceError) => void;
}

/** Those of one party that are under way; `long`: streams and scripts among them. */
interface PartyCount {
  all: number;
  long: number;
}

/** The part of the places that one party may have: the others find one at once. */
const PART_OF_A_PARTY = 3 / 4;
/** The part of them that its streams and scripts may have: its short requests find one soon. */
const PART_OF_LONG_ONES = 1 / 2;
/** Others ask too for so long after one of them has. */
const BESIDE_OTHERS_MS = 1_000;
/** More are not kept waiting, whatever they wait for: each takes some 20 KiB. */
const MOST_WAITING = 16_384;
const MOST_WAITING_OF_PARTY = 4_096;
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
 * Who is refused at once asks at once again, where it is made for that. So refusals are given at a pace that
 * leaves the time to others: some 1,600 a second.
 */
const REFUSED_AT_ONCE = 8;
const REFUSALS_EVERY_MS = 5;
/**
 * A stranger is answered with a few words, by the processor alone, and asks again at once: with few
 * places it would still take all of the time. So its places are given back at a pace, those of a moment
 * together.
 */
const STRANGERS_EVERY_MS = 5;

/**
 * Lets few requests in at the same time, and those that wait in turns: one of each party, and of a party one
 * of each member. So whoever floods the gateway waits for itself, and the others hardly notice.
 *
 * Node would read every request as it comes and answer it in the same turn of its loop where it can, and get
 * to nothing else as long as there is one to be read: 2,000 connections that asked as fast as they were
 * answered kept all others waiting for seconds.
 */
export class Turnstile {
  readonly #places: RequestPlaces;
  readonly #patienceMs: number;
  /** The oldest first. */
  readonly #underWay = new Set<CountedPassage>();
  readonly #countByParty = new Map<string, PartyCount>();
  /** In the order of their turns. */
  readonly #lines = new Map<string, PartyLine<Waiter>>();
  #waiting = 0;
  readonly #refused: (() => void)[] = [];
  #lastParty: string | undefined;
  /** When one party asked after another one. */
  #otherPartyAt = Number.NEGATIVE_INFINITY;
  #cameInTurn = 0;
  readonly #onLeave = (passage: CountedPassage) => this.#left(passage);
  readonly #leavingStrangers: CountedPassage[] = [];
  readonly #onStrangerLeave = (passage: CountedPassage) => this.#leaveSoon(passage);
  readonly #endTurn = () => {
    this.#cameInTurn = 0;
  };
  #isServing = false;
  #look: NodeJS.Timeout | undefined;
  #refusing: NodeJS.Timeout | undefined;

  constructor({ places, patienceMs }: TurnstileOptions) {
    this.#places = places;
    this.#patienceMs = patienceMs;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting + this.#refused.length;
  }

  /**
   * A place, at once where there is one and nobody of the party waits for it who is as urgent.
   *
   * @throws UNAVAILABLE (503) with Retry-After after `patienceMs`, or before when it would wait in vain
   */
  enter(asker: Asker, urgency: Urgency = 'short'): Passage | Promise<Passage> {
    const { party } = asker;
    if (party !== this.#lastParty) {
      if (this.#lastParty !== undefined) this.#otherPartyAt = performance.now();
      this.#lastParty = party;
    }
    const onLeave = asker.isStranger ? this.#onStrangerLeave : this.#onLeave;
    const passage = new CountedPassage(party, urgency, onLeave);
    if (!this.#lines.get(party)?.hasBefore(urgency) && this.#mayGoOn(party, urgency)) {
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
      this.#join(asker, urgency, { since: performance.now(), go, refuse });
    });
  }

  #mayGoOn(party: string, urgency: Urgency): boolean {
    const isThereRoom = this.#underWay.size < this.#places.all && this.#cameInTurn < COMING_A_TURN;
    return isThereRoom && this.#hasRoomFor(party, urgency);
  }

  #hasRoomFor(party: string, urgency: Urgency): boolean {
    const count = this.#countByParty.get(party);
    if (count === undefined) return true;
    const places = this.#placesOfParty();
    if (count.all >= places) return false;
    return urgency === 'short' || count.long < Math.max(1, Math.floor(places * PART_OF_LONG_ONES));
  }

  #placesOfParty(): number {
    const { all, besideOthers } = this.#places;
    if (performance.now() - this.#otherPartyAt > BESIDE_OTHERS_MS)
      return Math.max(1, Math.floor(all * PART_OF_A_PARTY));
    return Math.max(1, Math.floor(besideOthers / Math.max(1, this.#lines.size)));
  }

  #admit(passage: CountedPassage): void {
    const { party, urgency } = passage;
    passage.since = performance.now();
    this.#underWay.add(passage);
    const count = this.#countByParty.get(party) ?? { all: 0, long: 0 };
    this.#countByParty.set(party, count);
    count.all += 1;
    if (urgency !== 'short') count.long += 1;
  }

  #left(passage: CountedPassage): void {
    const { party, urgency } = passage;
    if (!this.#underWay.delete(passage)) return;
    const count = this.#countByParty.get(party);
    invariant(count, 'who is under way is counted');
    count.all -= 1;
    if (urgency !== 'short') count.long -= 1;
    if (count.all === 0) this.#countByParty.delete(party);
    if (this.#waiting > 0) this.#serveSoon();
  }

  #leaveSoon(passage: CountedPassage): void {
    this.#leavingStrangers.push(passage);
    if (this.#leavingStrangers.length > 1) return;
    setTimeout(() => {
      for (const leaving of this.#leavingStrangers.splice(0)) this.#left(leaving);
    }, STRANGERS_EVERY_MS);
  }

  #join({ party, member }: Asker, urgency: Urgency, waiter: Waiter): void {
    const line = this.#lines.get(party) ?? new PartyLine<Waiter>();
    if (this.#waiting >= MOST_WAITING || line.size >= MOST_WAITING_OF_PARTY) {
      waiter.refuse(inVain(RETRY_SOON_SECONDS));
      return;
    }
    const waitMs = line.waitMs(member, urgency) ?? 0;
    if (waitMs > this.#patienceMs) {
      this.#refuseSoon(waiter, inVain(Math.ceil((waitMs - this.#patienceMs) / 1000)));
      return;
    }
    this.#lines.set(party, line);
    line.join(member, urgency, waiter);
    this.#waiting += 1;
    this.#look ??= setInterval(() => this.#lookAfterThem(), LOOK_MS).unref();
    if (this.#underWay.size < this.#places.all) this.#serveSoon();
  }

  /** Not in this turn of the event loop: it would never end while all that is let in is answered at once. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    setImmediate(() => {
      this.#isServing = false;
      for (let served = 0; this.#underWay.size < this.#places.all; served += 1) {
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
    for (const [party, line] of this.#lines) {
      const next = line.take((urgency) => this.#hasRoomFor(party, urgency));
      if (next === undefined) continue;
      this.#lines.delete(party);
      // Its next turn comes after those of all others.
      if (line.size > 0) this.#lines.set(party, line);
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
    for (const [party, line] of this.#lines) {
      const refused = line.look(now, this.#patienceMs);
      this.#waiting -= refused.length;
      for (const waiter of refused) {
        const hasWaited = now - waiter.since >= this.#patienceMs;
        this.#refuseSoon(waiter, hasWaited ? tooBusy() : inVain(RETRY_SOON_SECONDS));
      }
      if (line.size === 0) this.#lines.delete(party);
    }
    // A party may have more places since the others ask no more.
    if (this.#waiting > 0) this.#serveSoon();
    this.#stopLooking();
  }

  #refuseSoon({ refuse }: Waiter, error: ServiceError): void {
    this.#refused.push(() => refuse(error));
    this.#refusing ??= setInterval(() => this.#refuseSome(), REFUSALS_EVERY_MS);
  }

  #refuseSome(): void {
    for (const refuse of this.#refused.splice(0, REFUSED_AT_ONCE)) refuse();
    if (this.#refused.length > 0) return;
    clearInterval(this.#refusing);
    this.#refusing = undefined;
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
    readonly urgency: Urgency,
    readonly onLeave: (passage: CountedPassage) => void,
  ) {}

  leave(): void {
    this.onLeave(this);
  }
}

function tooBusy(): ServiceError {
  return new ServiceError('UNAVAILABLE', 'Too many requests are under way at the moment; try again later.', {
    retryAfterSeconds: RETRY_SOON_SECONDS,
  });
}

function inVain(retryAfterSeconds: number): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    'More requests wait, of this domain or address, than can be answered in time; ask fewer at once.',
    { retryAfterSeconds },
  );
}
