/**
 * How many requests a caller may send, and how many logins may be attempted, over all gateways together.
 */

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { assertWithinRate, invariant, type Rate } from '../../../base/errors.js';
import { callerName, type Principal } from '../../../base/model/scope.js';
import type { Database } from '../../../store/database/database.js';
import { sql } from '../../../store/sql.js';

export interface LoginDecision extends RateDecision {
  /** Takes the attempt out of the counts again, because it succeeded: only failures count. */
  giveBack(): Promise<void>;
}

/** The numbers of the `RateLimit-*` headers; `resetSeconds` is also the `Retry-After` of a refusal. */
export interface RateDecision extends Rate {
  readonly remaining: number;
}

export interface RateLimitsOptions {
  readonly database: Database;
  /** Requests a minute of one caller: a user, or an address without a credential. */
  readonly limitPerMinute: number;
  /** Login attempts a minute of one user from one address. */
  readonly loginLimitPerMinute: number;
  /** Receives the failure to share counts, which are then sent with the next ones. */
  readonly onFault: (error: unknown) => void;
  readonly shareEveryMs?: number;
  readonly now?: () => number;
}

interface Count {
  /** The count of all gateways, as of the last exchange. */
  shared: number;
  /** The requests counted here since then. */
  unshared: number;
}

const MINUTE_MS = 60_000;
const MOST_CALLERS = 50_000;
/** A scan of this many records without an index counts as a further request of the user's minute. */
const ROWS_OF_REQUEST = 10_000;
const MOST_REQUESTS_OF_SCAN = 30;

/**
 * The limit of a user over all addresses, and of an address over all users, as a multiple of the limit of a
 * pair: a whole school may share one address.
 */
const ALONE_FACTOR = 10;

/**
 * Counts by fixed windows of a minute.
 *
 * Requests are decided in memory, and counts exchanged through `rate_counters` about once a second, so that a
 * request never waits for the database. Several gateways together may exceed a limit by what they admit in
 * that second. Logins are few and worth the round trip: they are counted in the database at once. Close it to
 * send the last counts and end the exchange.
 *
 * @see decisions 6, 9
 */
export class RateLimits {
  readonly #options: RateLimitsOptions;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  readonly #counts = new LRUCache<string, Count>({
    max: MOST_CALLERS,
    memoMethod: () => ({ shared: 0, unshared: 0 }),
  });
  #window = 0;
  #lastCleaning = 0;
  #sharing: Promise<void> | undefined;

  constructor(options: RateLimitsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#timer = setInterval(() => {
      // Does not start a second exchange while one is running.
      if (!this.#sharing) this.share().catch(options.onFault);
    }, options.shareEveryMs ?? 1000);
    this.#timer.unref();
  }

  /** Counts a request of this caller if it is within the limit. */
  take(caller: string): RateDecision {
    const limit = this.#options.limitPerMinute;
    this.#openWindow();
    const count = this.#counts.memo(caller);
    const used = count.shared + count.unshared;
    const allowed = used < limit;
    if (allowed) count.unshared += 1;
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - used - (allowed ? 1 : 0)),
      resetSeconds: this.#resetSeconds(),
    };
  }

  /**
   * Counts work that costs as much as this number of requests. It may exceed the rest of the minute's limit
   * once.
   *
   * @throws TOO_MANY_REQUESTS (429) when nothing is left
   */
  spend(caller: string, requests: number): void {
    if (requests === 0) return;
    assertWithinRate(this.take(caller));
    this.#counts.memo(caller).unshared += requests - 1;
  }

  /** Counts a read or write that scans this many records. @throws as `spend` does */
  spendOnScan(principal: Principal, rows: number): void {
    // A task of the service has no minute.
    if (principal.kind === 'system') return;
    const requests = Math.min(MOST_REQUESTS_OF_SCAN, Math.floor(rows / ROWS_OF_REQUEST));
    this.spend(callerName(principal), requests);
  }

  /** How much of a caller's minute is used up, over all gateways; at most a second behind. */
  async quotaOf(
    caller: string,
  ): Promise<{ readonly limit: number; readonly used: number; readonly resetSeconds: number }> {
    const limit = this.#options.limitPerMinute;
    this.#openWindow();
    const [row] = await this.#options.database.query<{ count: number }>(sql`
      select count from rate_counters
      where key = ${counterKey('request', caller)}
        and window_start = ${new Date(this.#window * MINUTE_MS)}::timestamptz`);
    return { limit, used: Math.min(limit, row?.count ?? 0), resetSeconds: this.#resetSeconds() };
  }

  /**
   * Counts a login attempt: for this user from this address, and for each of the two alone at ten times the
   * limit. An attempt refused by one limit does not count for the next, so one address cannot lock a user out
   * everywhere. The user name is stored only as a hash, because people type passwords there.
   */
  async takeLogin(userName: string, address: string): Promise<LoginDecision> {
    const keys = [
      counterKey('login-pair', userName, address),
      counterKey('login-address', address),
      counterKey('login-user', userName),
    ];
    const pairLimit = this.#options.loginLimitPerMinute;
    const aloneLimit = pairLimit * ALONE_FACTOR;
    const [row] = await this.#options.database.query<LoginCounts>(
      sql`
        with current as (
          select date_trunc('minute', now()) as minute
        ), pair as (
          insert into rate_counters as c (key, window_start, count)
          select ${keys[0]}::text, minute, 1 from current
          on conflict (key, window_start) do update set count = c.count + 1
          returning count
        ), address as (
          insert into rate_counters as c (key, window_start, count)
          select ${keys[1]}::text, minute, 1 from current, pair
            where pair.count <= ${pairLimit}::int
          on conflict (key, window_start) do update set count = c.count + 1
          returning count
        ), named as (
          insert into rate_counters as c (key, window_start, count)
          select ${keys[2]}::text, minute, 1 from current, address
            where address.count <= ${aloneLimit}::int
          on conflict (key, window_start) do update set count = c.count + 1
          returning count
        )
        select
          (select minute from current) as minute,
          pair.count as "ofPair",
          (select count from address) as "ofAddress",
          (select count from named) as "ofUser",
          ceil(60 - extract(second from now()))::int as "resetSeconds"
        from pair`,
      { name: 'rate-login' },
    );
    invariant(row, 'a login attempt is always counted');
    const { minute, ofPair, ofAddress, ofUser, resetSeconds } = row;
    const allowed = ofUser !== null && ofUser <= aloneLimit;
    const remaining = allowed
      ? Math.max(0, Math.min(pairLimit - ofPair, aloneLimit - (ofAddress ?? 0), aloneLimit - ofUser))
      : 0;
    return {
      ...{ allowed, limit: pairLimit, remaining, resetSeconds: Math.max(1, resetSeconds) },
      giveBack: async () => {
        await this.#options.database.query(
          // The rows are locked in the order in which an attempt locks them.
          sql`
            with taken as (
              select c.key, c.window_start
              from unnest(${keys}::text[]) with ordinality as k (key, place)
              join rate_counters c on c.key = k.key and c.window_start = ${minute}::timestamptz
              order by k.place
              for update of c
            )
            update rate_counters c set count = greatest(0, c.count - 1)
            from taken
            where c.key = taken.key and c.window_start = taken.window_start`,
          { name: 'rate-login-back' },
        );
      },
    };
  }

  /** Exchanges the counts of the current minute with the other gateways; called once a second. */
  share(): Promise<void> {
    const sharing = (this.#sharing ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this.#exchange())
      .finally(() => {
        if (this.#sharing === sharing) this.#sharing = undefined;
      });
    this.#sharing = sharing;
    return sharing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.share().catch(this.#options.onFault);
  }

  async #exchange(): Promise<void> {
    this.#openWindow();
    const pending = [...this.#counts.entries()]
      .filter(([, count]) => count.unshared > 0)
      .map(([caller, count]) => ({ key: counterKey('request', caller), count, sent: count.unshared }));
    if (pending.length > 0) {
      const rows = await this.#options.database.background.query<{ key: string; count: number }>(
        // Ordered, so that two gateways lock the rows in the same order and cannot deadlock.
        sql`
          insert into rate_counters as c (key, window_start, count)
          select n.key, ${new Date(this.#window * MINUTE_MS)}::timestamptz, n.count
          from unnest(${pending.map(({ key }) => key)}::text[],
            ${pending.map(({ sent }) => sent)}::int[]) as n (key, count)
          order by n.key
          on conflict (key, window_start) do update set count = c.count + excluded.count
          returning key, count`,
        { name: 'rate-share' },
      );
      const totals = new Map(rows.map(({ key, count }) => [key, count]));
      for (const { key, count, sent } of pending) {
        // Requests counted while the statement ran remain unshared. A window that has closed meanwhile is no
        // longer used.
        count.shared = totals.get(key) ?? count.shared + sent;
        count.unshared -= sent;
      }
    }
    await this.#clean();
  }

  /** Deletes expired windows; once a minute per gateway. */
  async #clean(): Promise<void> {
    if (this.#lastCleaning === this.#window) return;
    this.#lastCleaning = this.#window;
    await this.#options.database.background.query(
      sql`delete from rate_counters where window_start < now() - interval '5 minutes'`,
      { name: 'rate-clean' },
    );
  }

  #resetSeconds(): number {
    return Math.ceil(((this.#window + 1) * MINUTE_MS - this.#now()) / 1000);
  }

  #openWindow(): void {
    const window = Math.floor(this.#now() / MINUTE_MS);
    if (window === this.#window) return;
    this.#window = window;
    this.#counts.clear();
  }
}

interface LoginCounts {
  readonly minute: Date;
  readonly ofPair: number;
  /** Null: not counted, because the pair is over its own limit. */
  readonly ofAddress: number | null;
  readonly ofUser: number | null;
  readonly resetSeconds: number;
}

/** Hashed, so that a counter contains no names: of erased users, or passwords typed as user names. */
function counterKey(
  kind: 'request' | 'login-pair' | 'login-address' | 'login-user',
  ...parts: readonly string[]
) {
  return `${kind}:${hash('sha256', JSON.stringify(parts), 'base64url')}`;
}
