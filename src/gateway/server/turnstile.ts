import { invariant, RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';
import type { Urgency } from '../../base/process/urgency.js';
import { PartyLine } from './party-line.js';

/** How many requests are in progress at the same time. */
export interface RequestPlaces {
  readonly all: number;
  /** The places of all parties with waiting requests, together, while other parties are active too. */
  readonly besideOthers: number;
}

export interface TurnstileOptions {
  readonly places: RequestPlaces;
  /** How long a request may wait for a place before it is refused. */
  readonly patienceMs: number;
}

/** Even with few connections, since many requests do not need the database. */
const LEAST_PLACES = 32;
/** With several processes each gets a share of the places, and at least these. */
const LEAST_OF_PROCESS = 8;
const LEAST_BESIDE_OTHERS = 2;

/**
 * The places of one process. The processes of a gateway share the processors and PostgreSQL: if each had the
 * places of a lone process, they would admit so many requests that everybody waits behind a flood.
 *
 * While others are active, a flood gets at most half of the connections. More would not make it faster, but
 * would keep PostgreSQL busy and connections taken when the others need them.
 */
export function countPlaces(shared: { readonly poolSize: number; readonly workers: number }): RequestPlaces {
  const { poolSize, workers } = shared;
  const all = Math.max(LEAST_PLACES, 2 * poolSize);
  return {
    all: Math.max(LEAST_OF_PROCESS, Math.ceil(all / workers)),
    besideOthers: Math.max(LEAST_BESIDE_OTHERS, Math.floor(poolSize / 2 / workers)),
  };
}

/** The owner of a request: the party that shares the places with other parties, and the member within it. */
export interface Asker {
  /** A domain, or the address of an unknown caller. */
  readonly party: string;
  /** A user of the domain. */
  readonly member: string;
  /** Known by its address only: it has no credential, or none that was ever valid. */
  readonly isStranger: boolean;
}

/** An admitted request. */
export interface Passage {
  /** Gives its place to the next request, even if it continues. Further calls do nothing. */
  leave(): void;
}

interface Waiter {
  readonly since: number;
  readonly go: () => void;
  readonly refuse: (error: ServiceError) => void;
}

/** The requests of one party in progress; `long` counts the streams and scripts among them. */
interface PartyCount {
  all: number;
  long: number;
  /** Those beside `all` that gave their places to others because they take long. */
  overdue: number;
}

/** The share of the places that one party may hold, so that others find one at once. */
const PART_OF_A_PARTY = 3 / 4;
/**
 * The share of a party's places that its streams and scripts may hold, so that its short requests soon find
 * one.
 */
const PART_OF_LONG_ONES = 1 / 2;
/** How long another party counts as active after its last request. */
const BESIDE_OTHERS_MS = 1_000;
/** Further requests are refused at once, whatever they wait for: each takes some 20 KiB. */
const MOST_WAITING = 16_384;
const MOST_WAITING_OF_PARTY = 4_096;
/**
 * A request in progress for longer is itself waiting: for a script, a slow reader, a lock. It is subject to
 * other limits, and holds its place only while nobody wants it. A party may have as many such requests as
 * there are places; further ones keep theirs.
 */
const SHORT_MS = 1_000;
const LOOK_MS = 250;
/**
 * The most requests admitted in one turn of the event loop, of new and of waiting ones each. Node accepts one
 * new connection per turn, so turns must be short under load.
 */
const COMING_A_TURN = 16;
const WAITING_A_TURN = 4;
/**
 * A refused client may ask again at once. Refusals are therefore paced, at some 1,600 a second, to leave
 * processor time for others.
 */
const REFUSED_AT_ONCE = 8;
const REFUSALS_EVERY_MS = 5;
/**
 * A stranger costs only a few words of processor time, and asks again at once; even with few places it could
 * use all of the time. Its places are therefore given back at intervals, all at once.
 */
const STRANGERS_EVERY_MS = 5;

/**
 * Limits the requests in progress, and admits waiting ones by turns: one of each party, and within a party
 * one of each member. A flood waits for itself, and the others hardly notice.
 *
 * Without it, Node would read every request as it arrives and answer it in the same turn of its loop if
 * possible, and do nothing else while there is one to read: 2,000 connections that asked as fast as they were
 * answered kept all others waiting for seconds.
 */
export class Turnstile {
  readonly #places: RequestPlaces;
  readonly #patienceMs: number;
  /** Oldest first. */
  readonly #underWay = new Set<CountedPassage>();
  readonly #countByParty = new Map<string, PartyCount>();
  /** By party, in the order of their turns. */
  readonly #lines = new Map<string, PartyLine<Waiter>>();
  #waiting = 0;
  readonly #refused: (() => void)[] = [];
  #lastParty: string | undefined;
  /** When a party last asked after a different one had. */
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

  /** The number of waiting requests. */
  get waiting(): number {
    return this.#waiting + this.#refused.length;
  }

  /**
   * Returns a place, at once if one is free and no request of the party that is as urgent waits for it.
   *
   * @throws UNAVAILABLE (503) with Retry-After after `patienceMs`, or earlier if waiting is futile
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
    const count = this.#countByParty.get(party) ?? { all: 0, long: 0, overdue: 0 };
    this.#countByParty.set(party, count);
    count.all += 1;
    if (urgency !== 'short') count.long += 1;
  }

  #left(passage: CountedPassage): void {
    const { party, urgency } = passage;
    const isUnderWay = this.#underWay.delete(passage);
    if (!isUnderWay && !passage.isOverdue) return;
    const count = this.#countByParty.get(party);
    invariant(count, 'who is under way is counted');
    if (isUnderWay) {
      count.all -= 1;
      if (urgency !== 'short') count.long -= 1;
    } else {
      count.overdue -= 1;
      passage.isOverdue = false;
    }
    if (count.all + count.overdue === 0) this.#countByParty.delete(party);
    if (this.#waiting > 0) this.#serveSoon();
  }

  /** Gives the place of a request that takes long to others, unless its party has too many such requests. */
  #overtake(passage: CountedPassage): void {
    const count = this.#countByParty.get(passage.party);
    if (count === undefined || count.overdue >= this.#places.all) return;
    count.overdue += 1;
    this.#left(passage);
    passage.isOverdue = true;
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

  /**
   * Not in this turn of the event loop, which would never end while every admitted request is answered at
   * once.
   */
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

  /** Whether a request was admitted. */
  #serveNext(): boolean {
    for (const [party, line] of this.#lines) {
      const next = line.take((urgency) => this.#hasRoomFor(party, urgency));
      if (next === undefined) continue;
      this.#lines.delete(party);
      // Moves the party to the end of the round.
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
      this.#overtake(passage);
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
    // A party may use more places once the others are inactive.
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
  /** The time of its admission. */
  since = 0;
  /** In progress without a place. */
  isOverdue = false;

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
