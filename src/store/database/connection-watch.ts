/**
 * Distinguishes a database that is down, and a connection that has silently died, from one that is slow: a
 * cut cable, a vanished machine, a firewall that dropped a connection, a stopped server. None of these report
 * an error, and the operating system waits for minutes.
 *
 * Once a second (a beat), the server is queried for its state on a connection of its own. If it does not
 * answer there, nor on a new connection, and nothing was received on any other, the database is down: pending
 * statements fail, and new ones fail at once, until it answers again. If it answers, it is also queried about
 * connections that have been silent for some beats: one for which the server does nothing is dead, and is
 * closed. Statements pay nothing for this.
 */
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import { shareWithAll } from '../../base/model/end-signal.js';
import { guarded } from '../../base/process/guarded.js';
import { succeeds } from '../../base/process/succeeds.js';
import { unlessAborted } from '../../base/process/unless-aborted.js';
import { firstError } from './database-errors.js';
import { SilenceError } from './deadline.js';
import type { PrimaryFinder } from './replicas/primary-finder.js';
import { type ProbeAnswer, ServerProbe } from './replicas/server-probe.js';
import { type ClientWatcher, LostConnectionError, type WatchedClient } from './watched-client.js';

/** The events of the database, for the operator. */
export type DatabaseNews =
  | { readonly kind: 'databaseLost'; readonly reason: string }
  | { readonly kind: 'databaseBack'; readonly awayMs: number }
  | { readonly kind: 'databaseRole'; readonly isReadOnly: boolean; readonly isDiskFull: boolean }
  | { readonly kind: 'databaseFull' }
  | { readonly kind: 'databaseMoved'; readonly from: string; readonly to: string }
  | ReplicaNews
  | { readonly kind: 'connectionsDropped'; readonly count: number; readonly reason: string }
  | { readonly kind: 'renewalFailed'; readonly channel: string; readonly error: unknown };

/** The events of a replica: its failure costs nothing but work for the primary. */
export type ReplicaNews =
  | { readonly kind: 'replicaLost'; readonly server: string; readonly reason: string }
  | { readonly kind: 'replicaBack'; readonly server: string }
  | { readonly kind: 'replicaUnfit'; readonly server: string; readonly reason: string };

export type DatabaseNewsListener = (news: DatabaseNews) => void;

const BEAT_MS = 1_000;
/** The shortest time between two checks by requests while the database is down, and their longest wait. */
const MIN_BEAT_MS = 100;
const LOOK_MS = 100;
/**
 * How long the server may take over a trivial question, and over a new connection plus the question. With a
 * beat, less than 5 s in total.
 */
const ASK_TIMEOUT_MS = 1_500;
const CONNECT_AND_ASK_TIMEOUT_MS = 2_500;
/** After how many silent beats the server is queried about a connection. */
const SUSPECT_BEATS = 2;
/**
 * How many consecutive times the server must report a connection as idle: once may be an answer in transit.
 */
const RESTING_BEATS = 2;
/** A full disk is reported for so long after a statement that was refused. */
const FULL_MS = 60_000;
/** How many beats a connection may take to be established. */
const CONNECTING_BEATS = 6;

interface ConnectionWatchOptions {
  readonly finder: PrimaryFinder;
  readonly applicationName: string;
  /** The server is a replica and accepts no writes. */
  readonly isReplica?: boolean;
}

export class ConnectionWatch implements ClientWatcher {
  readonly #finder: PrimaryFinder;
  readonly #clients = new Set<WatchedClient>();
  readonly #events = new EventEmitter<{ news: [DatabaseNews]; answer: [ProbeAnswer, number]; back: [] }>();
  readonly #probe: ServerProbe;
  readonly #timer: NodeJS.Timeout;
  #beating: Promise<void> | undefined;
  #away: { readonly since: number; readonly reason: string } | undefined;
  #beatenAt = Number.NEGATIVE_INFINITY;
  #isReadOnly: boolean | undefined;
  #isDiskFull = false;
  /** When the server last refused a statement because its disk is full. */
  #fullAt = Number.NEGATIVE_INFINITY;
  /** When the last answered query was sent. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor({ finder, applicationName, isReplica = false }: ConnectionWatchOptions) {
    this.#finder = finder;
    this.#events.setMaxListeners(0);
    this.#probe = new ServerProbe({
      url: () => finder.url,
      applicationName,
      isReplica,
      onLost: () => void this.check(),
    });
    this.#timer = setInterval(() => void this.check(), BEAT_MS);
    this.#timer.unref();
  }

  /** The present address; it may differ for the next connection. */
  get url(): string {
    return this.#finder.url;
  }

  /** Why the database cannot be used now; `undefined` if it can. */
  get obstacle(): Error | undefined {
    return this.#away === undefined ? undefined : new LostConnectionError(this.#away.reason);
  }

  /** Whether the database accepted no writes at the last check. */
  get isReadOnly(): boolean {
    return this.#isReadOnly === true;
  }

  /** Whether the disk of the database is full, or was in the last minute. */
  get isDiskFull(): boolean {
    return this.#isDiskFull || performance.now() - this.#fullAt < FULL_MS;
  }

  /** Whether the server has answered a query sent after this instant of `performance.now()`. */
  hasHeardSince(instant: number): boolean {
    return this.#askedAt > instant;
  }

  /** Whether some connection has probably died; the next beats will show. */
  get isSuspicious(): boolean {
    return [...this.#clients].some(({ restingBeats }) => restingBeats > 0);
  }

  onNews(listener: DatabaseNewsListener): void {
    this.#events.on('news', guarded(listener));
  }

  /**
   * Calls the listener for every answer of the server, with the time of the question (`performance.now()`).
   */
  onAnswer(listener: (answer: ProbeAnswer, askedAt: number) => void): void {
    this.#events.on('answer', listener);
  }

  /** Reports an event to the operator. */
  report(news: DatabaseNews): void {
    this.#events.emit('news', news);
  }

  add(client: WatchedClient): void {
    this.#clients.add(client);
  }

  delete(client: WatchedClient): void {
    this.#clients.delete(client);
  }

  /** Renews connections that are probably in the same state, before they refuse somebody else. */
  suspectRole(): void {
    this.#retire(({ isBornReadOnly }) => !isBornReadOnly, 'the database refused to write');
    void this.check();
  }

  noteFullDisk(): void {
    if (!this.isDiskFull) this.report({ kind: 'databaseFull' });
    this.#fullAt = performance.now();
  }

  /** Ends every connection at once; pending statements fail. */
  loseAll(reason: string): void {
    for (const client of [...this.#clients]) client.lose(reason);
  }

  /** Checks now, or joins the check in progress. It never fails. */
  check(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      this.#beatenAt = performance.now();
    });
    return this.#beating;
  }

  /**
   * Checks again for a caller who needs a connection while the database is down: it may have recovered since
   * the last beat. The caller is answered soon, and a server that is just starting is not queried too often.
   */
  async lookAgain(): Promise<void> {
    if (this.#beating === undefined && performance.now() - this.#beatenAt < MIN_BEAT_MS) return;
    await succeeds(unlessAborted(this.check(), AbortSignal.timeout(LOOK_MS)));
  }

  /** Waits while the database is down, or until the watch ends or the signal aborts. */
  async untilBack(signal: AbortSignal): Promise<void> {
    // All background work waits with the same signal.
    shareWithAll(signal);
    while (this.#away !== undefined && !this.#isClosed && !signal.aborted)
      await once(this.#events, 'back', { signal }).catch(() => {});
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    // A question in progress keeps its connection until it is answered or abandoned.
    await this.#beating;
    await this.#probe.end();
    this.#events.emit('back');
  }

  async #beat(): Promise<void> {
    // Reads first what arrived while this process was busy: then it was not the server that was silent.
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
        this.#events.emit('answer', answer, askedAt);
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
      // Otherwise an idle one would be noticed only when it refuses somebody's write.
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

  /** A single lost connection, such as the probe's own, is not an outage: a new one is tried. */
  async #ask(ids: readonly number[]): Promise<ProbeAnswer> {
    if (!this.#probe.isConnected) return await this.#askAnew(ids);
    try {
      const answer = await this.#probe.ask(ids, ASK_TIMEOUT_MS);
      return answer.isReadOnly && this.#finder.hasSeveral ? await this.#askAnew(ids) : answer;
    } catch (error) {
      const answer = await this.#askAnew(ids);
      // Whatever dropped this connection has probably dropped others too.
      if (error instanceof SilenceError)
        this.#retire(({ isLent }) => !isLent, 'another was lost without notice');
      return answer;
    }
  }

  /** On a new connection, to whichever of several servers is the primary now. */
  async #askAnew(ids: readonly number[]): Promise<ProbeAnswer> {
    const { serverName, url } = this.#finder;
    if (this.#finder.hasSeveral) {
      const finding = await this.#finder.find();
      if (finding === 'away') {
        throw new SilenceError(`none of ${this.#finder.serverNames.join(', ')} is a primary that answers`);
      }
      if (this.#finder.url !== url) this.#moveFrom(serverName);
    }
    return await this.#probe.ask(ids, CONNECT_AND_ASK_TIMEOUT_MS);
  }

  /** Nothing that is still running on the former primary can succeed. */
  #moveFrom(serverName: string): void {
    const { serverName: to, url } = this.#finder;
    this.#probe.close();
    for (const client of [...this.#clients]) {
      if (client.url === url) continue;
      // Nobody would keep what a transaction there goes on to write.
      if (client.isWaiting || client.isLent) client.lose(`The database has moved to ${to}.`);
      else client.retire();
    }
    this.report({ kind: 'databaseMoved', from: serverName, to });
  }

  #hear(answer: ProbeAnswer, suspects: readonly WatchedClient[]): void {
    this.#comeBack();
    const { isReadOnly, isDiskFull } = answer;
    if (this.#isReadOnly !== undefined && this.#isReadOnly !== isReadOnly) {
      this.#retire(
        () => true,
        isReadOnly ? 'the database became read-only' : 'the database is writable again',
      );
    }
    if (isReadOnly !== (this.#isReadOnly ?? false))
      this.report({ kind: 'databaseRole', isReadOnly, isDiskFull });
    this.#isDiskFull = isDiskFull;
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
      client.lose('The connection to the database was lost without notice.');
      dead += 1;
    }
    if (dead === 0) return;
    this.report({ kind: 'connectionsDropped', count: dead, reason: 'they were lost without notice' });
    // Whatever killed them has probably killed the idle ones too.
    this.#retire(({ isLent }) => !isLent, 'others were lost without notice');
  }

  #miss(error: unknown): void {
    if (isRefusal(error)) {
      this.#comeBack();
      return;
    }
    const isHeard = [...this.#clients].some((client) => client.hasHeard);
    if (isHeard && this.#away === undefined) return;
    if (this.#away === undefined) {
      const first = firstError(error);
      const reason = isNativeError(first) ? first.message : String(first);
      this.#away = { since: performance.now(), reason };
      this.report({ kind: 'databaseLost', reason });
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
    this.#events.emit('back');
    this.report({ kind: 'databaseBack', awayMs });
  }

  #retire(isMeant: (client: WatchedClient) => boolean, reason: string): void {
    const retired = [...this.#clients].filter(
      // A connection being established learns the server's role by itself.
      (client) => !client.isStale && client.backendId !== undefined && isMeant(client),
    );
    for (const client of retired) client.retire();
    if (retired.length > 0) this.report({ kind: 'connectionsDropped', count: retired.length, reason });
  }
}

/** The server has no connection left, but serves those it has. Not so while it starts or stops. */
function isRefusal(error: unknown): boolean {
  if (!isNativeError(error) || !('severity' in error) || !('code' in error)) return false;
  return typeof error.code === 'string' && !error.code.startsWith('57P') && !error.code.startsWith('08');
}
