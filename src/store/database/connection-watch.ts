/**
 * Tells a database that is away, and a connection that has died without a word, from one that is slow: a cut
 * cable, a machine that has vanished, a firewall that forgot a connection, a server that is stopped. None of
 * them says anything, and the system waits for minutes.
 *
 * Once a second, a beat, the server is asked how it is on a connection kept for that. No answer there, none
 * on a new connection, and nothing heard on any other: the database is away. What waits for it fails, and
 * what comes fails at once, until it answers again. Where it does answer, it is asked about the connections
 * that have been silent for some beats: one on which the server says it is doing nothing is dead, and closed.
 * A statement pays nothing for any of this.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import { guarded } from '../../guarded.js';
import { shareWithAll } from '../../model/end-signal.js';
import { SilenceError } from './deadline.js';
import type { PrimaryFinder } from './primary-finder.js';
import { Pulse, type PulseAnswer } from './pulse.js';
import { type ClientWatcher, LostConnectionError, type WatchedClient } from './watched-client.js';

/** What befalls the database, for those who tell the operator. */
export type DatabaseNews =
  | { readonly kind: 'databaseLost'; readonly reason: string }
  | { readonly kind: 'databaseBack'; readonly awayMs: number }
  | { readonly kind: 'databaseRole'; readonly isReadOnly: boolean }
  | { readonly kind: 'databaseMoved'; readonly from: string; readonly to: string }
  | ReplicaNews
  | { readonly kind: 'connectionsDropped'; readonly count: number; readonly reason: string }
  | { readonly kind: 'renewalFailed'; readonly channel: string; readonly error: unknown };

/** What befalls a replica: it costs no more than the primary's work. */
export type ReplicaNews =
  | { readonly kind: 'replicaLost'; readonly server: string; readonly reason: string }
  | { readonly kind: 'replicaBack'; readonly server: string }
  | { readonly kind: 'replicaUnfit'; readonly server: string; readonly reason: string };

export type DatabaseNewsListener = (news: DatabaseNews) => void;

const BEAT_MS = 1_000;
/**
 * While the database is away, requests have it asked anew after so long, and wait for the answer no longer
 * than that.
 */
const MIN_BEAT_MS = 100;
const LOOK_MS = 100;
/**
 * How long the server may take over a trivial question, and over a new connection and the question. Together
 * below 5 s with a beat.
 */
const ASK_TIMEOUT_MS = 1_500;
const CONNECT_AND_ASK_TIMEOUT_MS = 2_500;
/** The server is asked about a connection that has been silent for so many beats. */
const SUSPECT_BEATS = 2;
/**
 * The server must say so often that it does nothing for a connection: once may be an answer that is on its
 * way.
 */
const RESTING_BEATS = 2;
/** How many beats a connection may take to be made. */
const CONNECTING_BEATS = 6;

interface ConnectionWatchOptions {
  readonly finder: PrimaryFinder;
  readonly applicationName: string;
  /** The server follows another: it takes no writes. */
  readonly isReplica?: boolean;
}

export class ConnectionWatch implements ClientWatcher {
  readonly #finder: PrimaryFinder;
  readonly #clients = new Set<WatchedClient>();
  readonly #listeners = new Set<DatabaseNewsListener>();
  readonly #answerListeners = new Set<(answer: PulseAnswer, askedAt: number) => void>();
  readonly #waiting = new Set<() => void>();
  readonly #pulse: Pulse;
  readonly #timer: NodeJS.Timeout;
  #beating: Promise<void> | undefined;
  #away: { readonly since: number; readonly reason: string } | undefined;
  #beatenAt = Number.NEGATIVE_INFINITY;
  #isReadOnly: boolean | undefined;
  /** The time when the question was asked that the server answered last. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor({ finder, applicationName, isReplica = false }: ConnectionWatchOptions) {
    this.#finder = finder;
    this.#pulse = new Pulse({
      url: () => finder.url,
      applicationName,
      isReplica,
      onLost: () => void this.check(),
    });
    this.#timer = setInterval(() => void this.check(), BEAT_MS);
    this.#timer.unref();
  }

  /** Why the database cannot be asked now; `undefined`: it can. */
  get obstacle(): Error | undefined {
    return this.#away === undefined ? undefined : new LostConnectionError(this.#away.reason);
  }

  /** Whether the database was reached when it was last asked, and let nobody write. */
  get isReadOnly(): boolean {
    return this.#isReadOnly === true;
  }

  /** Whether the server has answered a question that was asked after this instant of `performance.now()`. */
  hasHeardSince(instant: number): boolean {
    return this.#askedAt > instant;
  }

  /** Whether a connection is likely to have died without a word: the next beats will tell. */
  get isSuspicious(): boolean {
    return [...this.#clients].some(({ restingBeats }) => restingBeats > 0);
  }

  onNews(listener: DatabaseNewsListener): void {
    this.#listeners.add(guarded(listener));
  }

  /** Hears of every answer of the server, with the time of `performance.now()` when it was asked. */
  onAnswer(listener: (answer: PulseAnswer, askedAt: number) => void): void {
    this.#answerListeners.add(listener);
  }

  /** Tells those who tell the operator. */
  tell(news: DatabaseNews): void {
    for (const listener of this.#listeners) listener(news);
  }

  add(client: WatchedClient): void {
    this.#clients.add(client);
  }

  delete(client: WatchedClient): void {
    this.#clients.delete(client);
  }

  /** Other connections are likely to be as that one is: they are renewed before somebody else is refused. */
  suspectRole(): void {
    this.#retire(({ isBornReadOnly }) => !isBornReadOnly, 'the database refused to write');
    void this.check();
  }

  /** Asks now, or waits for what is being asked. It never fails. */
  check(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      this.#beatenAt = performance.now();
    });
    return this.#beating;
  }

  /**
   * Looks again for someone who wants a connection while the database is away: it may be back since the last
   * beat. Soon answered, and not asked more often than a server bears that is just starting.
   */
  async lookAgain(): Promise<void> {
    if (this.#beating === undefined && performance.now() - this.#beatenAt < MIN_BEAT_MS) return;
    const isLate = new AbortController();
    await Promise.race([this.check(), sleep(LOOK_MS, undefined, { signal: isLate.signal })]).finally(() =>
      isLate.abort(),
    );
  }

  /** Waits while the database is away, or until the watch ends or the signal says so. */
  async untilBack(signal: AbortSignal): Promise<void> {
    // All of the background waits for the end by the same signal.
    shareWithAll(signal);
    while (this.#away !== undefined && !this.#isClosed && !signal.aborted) {
      await new Promise<void>((resolve) => {
        // The signal lives as long as the work in the background: what is not taken off it again stays for
        // good.
        const wake = () => {
          signal.removeEventListener('abort', wake);
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener('abort', wake);
      });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    // A question that is under way keeps its connection until it is answered or given up.
    await this.#beating;
    await this.#pulse.end();
    this.#wakeAll();
  }

  async #beat(): Promise<void> {
    // What came while this process was busy is read first: it was not the server that was silent.
    await nextTurn();
    for (const client of [...this.#clients]) this.#look(client);
    const suspects = [...this.#clients].filter(
      ({ silentBeats, backendId }) => silentBeats >= SUSPECT_BEATS && backendId !== undefined,
    );
    const ids = suspects.flatMap(({ backendId }) => backendId ?? []);
    const askedAt = performance.now();
    const heard = await this.#ask(ids).then(
      (answer) => () => {
        this.#askedAt = askedAt;
        this.#hear(answer, suspects);
        for (const listen of this.#answerListeners) listen(answer, askedAt);
      },
      (error: unknown) => () => {
        if (isRefusal(error)) this.#askedAt = askedAt;
        this.#miss(error);
      },
    );
    if (!this.#isClosed) heard();
  }

  #look(client: WatchedClient): void {
    const beats = client.look();
    if (beats === 0) {
      // Nobody would notice an idle one until it refuses somebody's write.
      if (!client.isWaiting && client.isStale) client.retire();
      return;
    }
    if (client.backendId === undefined) {
      if (beats >= CONNECTING_BEATS) client.lose('The database took too long to accept a connection.');
      return;
    }
    const limitMs = client.isUnlimited ? 0 : client.silenceLimitMs;
    if (limitMs > 0 && beats * BEAT_MS > limitMs) client.lose(`The database was silent for ${limitMs} ms.`);
  }

  /** A connection of ours that was lost alone, the pulse itself for one, is no outage: a new one is tried. */
  async #ask(ids: readonly number[]): Promise<PulseAnswer> {
    if (!this.#pulse.isConnected) return await this.#askAnew(ids);
    try {
      const answer = await this.#pulse.ask(ids, ASK_TIMEOUT_MS);
      return answer.isReadOnly && this.#finder.hasSeveral ? await this.#askAnew(ids) : answer;
    } catch (error) {
      const answer = await this.#askAnew(ids);
      // What forgot this connection has forgotten others too.
      if (error instanceof SilenceError) this.#retire(({ isLent }) => !isLent, 'another died without a word');
      return answer;
    }
  }

  /** By a new connection, to whichever of several servers is the primary now. */
  async #askAnew(ids: readonly number[]): Promise<PulseAnswer> {
    const { serverName, url } = this.#finder;
    if (this.#finder.hasSeveral) {
      const finding = await this.#finder.find();
      if (finding === 'away') {
        throw new SilenceError(`none of ${this.#finder.serverNames.join(', ')} is a primary that answers`);
      }
      if (this.#finder.url !== url) this.#moveFrom(serverName);
    }
    return await this.#pulse.ask(ids, CONNECT_AND_ASK_TIMEOUT_MS);
  }

  /** What is under way on the server that was primary can end in nothing that counts. */
  #moveFrom(serverName: string): void {
    const { serverName: to, url } = this.#finder;
    this.#pulse.close();
    for (const client of [...this.#clients]) {
      if (client.url === url) continue;
      // A transaction that went on there would be kept by nobody.
      if (client.isWaiting || client.isLent) client.lose(`The database has moved to ${to}.`);
      else client.retire();
    }
    this.tell({ kind: 'databaseMoved', from: serverName, to });
  }

  #hear(answer: PulseAnswer, suspects: readonly WatchedClient[]): void {
    this.#comeBack();
    const { isReadOnly } = answer;
    if (this.#isReadOnly !== undefined && this.#isReadOnly !== isReadOnly) {
      this.#retire(
        () => true,
        isReadOnly ? 'the database became read-only' : 'the database is writable again',
      );
    }
    if (isReadOnly !== (this.#isReadOnly ?? false)) this.tell({ kind: 'databaseRole', isReadOnly });
    this.#isReadOnly = isReadOnly;
    const resting = new Set(answer.resting);
    let dead = 0;
    for (const client of suspects) {
      const isResting = client.backendId !== undefined && resting.has(client.backendId);
      if (!isResting || client.hasHeard || !client.isWaiting) {
        client.restingBeats = 0;
        continue;
      }
      client.restingBeats += 1;
      if (client.restingBeats < RESTING_BEATS) continue;
      client.lose('The connection to the database died without a word.');
      dead += 1;
    }
    if (dead === 0) return;
    this.tell({ kind: 'connectionsDropped', count: dead, reason: 'they died without a word' });
    // They died of something, and it is likely to have met those that are idle too.
    this.#retire(({ isLent }) => !isLent, 'others died without a word');
  }

  #miss(error: unknown): void {
    if (isRefusal(error)) {
      this.#comeBack();
      return;
    }
    const isHeard = [...this.#clients].some((client) => client.hasHeard);
    if (isHeard && this.#away === undefined) return;
    if (this.#away === undefined) {
      this.#away = { since: performance.now(), reason: reasonOf(error) };
      this.tell({ kind: 'databaseLost', reason: this.#away.reason });
    }
    const { reason } = this.#away;
    for (const client of [...this.#clients]) {
      if (client.isWaiting) client.lose(reason);
      else client.retire();
    }
  }

  #comeBack(): void {
    if (this.#away === undefined) return;
    const awayMs = Math.round(performance.now() - this.#away.since);
    this.#away = undefined;
    this.#wakeAll();
    this.tell({ kind: 'databaseBack', awayMs });
  }

  #retire(isMeant: (client: WatchedClient) => boolean, reason: string): void {
    const retired = [...this.#clients].filter(
      // One that is being made finds out by itself what the server is.
      (client) => !client.isStale && client.backendId !== undefined && isMeant(client),
    );
    for (const client of retired) client.retire();
    if (retired.length > 0) this.tell({ kind: 'connectionsDropped', count: retired.length, reason });
  }

  #wakeAll(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

/**
 * The server is there and says no, e.g. because it has no connection left: those we have may go on. It is not
 * when it starts or stops.
 */
function isRefusal(error: unknown): boolean {
  if (!isNativeError(error) || !('severity' in error) || !('code' in error)) return false;
  return typeof error.code === 'string' && !error.code.startsWith('57P') && !error.code.startsWith('08');
}

function reasonOf(error: unknown): string {
  const [first = error] =
    isNativeError(error) && 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  return isNativeError(first) ? first.message : String(first);
}
