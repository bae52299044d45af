/** Makes guessing a password slower with every wrong guess, over all gateways together. */
import { hash } from 'node:crypto';
import { ServiceError } from '../errors.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Database } from '../store/database/database.js';

export interface LoginLockoutOptions {
  readonly database: Database;
  /** So many failures in a row are forgiven; 0: all are. */
  readonly afterFailures: number;
}

/** Who tries, as far as it is known before it is known who that is. */
export interface LoginTrial {
  /** What was typed, behind the domain it belongs to. */
  readonly userName: string;
  readonly address: string;
}

const FIRST_WAIT_SECONDS = 15;
const MOST_DOUBLINGS = 6;
const HOUR_MS = 3_600_000;
const MOST_REMOVED = 10_000;

/**
 * Counts failures of a user name from an address until a login of the two succeeds, or a day goes by
 * without one. From the first that is not forgiven each doubles the time for which both are refused: 15 s,
 * 30 s, and so on to 16 minutes. Others are not kept waiting: neither the same user elsewhere, nor another
 * one at the same address. What was typed is counted whether or not there is such a user, and is kept only
 * as a hash, since passwords end up there.
 *
 * @see decisions 6
 */
export class LoginLockout {
  readonly #database: Database;
  readonly #afterFailures: number;
  #removedOldAt = 0;

  constructor(options: LoginLockoutOptions) {
    this.#database = options.database;
    this.#afterFailures = options.afterFailures;
  }

  /** @throws TOO_MANY_REQUESTS (429) while the two are locked out */
  async assertOpen(trial: LoginTrial): Promise<void> {
    if (this.#afterFailures === 0) return;
    const [row] = await this.#database.query<{ seconds: number }>(
      Prisma.sql`
        select ceil(extract(epoch from locked_until - now()))::int as seconds
        from login_failures
        where key = ${keyOf(trial)} and locked_until > now()`,
      { name: 'login-lockout' },
    );
    if (row === undefined) return;
    const seconds = Math.max(1, row.seconds);
    throw new ServiceError(
      'TOO_MANY_REQUESTS',
      `Too many logins failed with this user name from this address. Go on in ${seconds} s.`,
      { retryAfterSeconds: seconds },
    );
  }

  async noteFailure(trial: LoginTrial): Promise<void> {
    if (this.#afterFailures === 0) return;
    await this.#database.query(
      Prisma.sql`
        with counted as (
          insert into login_failures as f (key, failures, last_at)
          values (${keyOf(trial)}, 1, now())
          on conflict (key) do update
          set failures = case when f.last_at < now() - interval '1 day' then 1 else f.failures + 1 end,
              last_at = now(),
              locked_until = case
                when f.last_at < now() - interval '1 day' then null
                when f.failures < ${this.#afterFailures}::int then null
                else now() + ${FIRST_WAIT_SECONDS}::int * interval '1 second'
                  * power(2, least(f.failures - ${this.#afterFailures}::int, ${MOST_DOUBLINGS}::int))
              end
        )
        select 1 as one`,
      { name: 'login-failed' },
    );
    await this.#removeOld();
  }

  /** Forgives the failures of the two, because a login has succeeded. */
  async forgive(trial: LoginTrial): Promise<void> {
    if (this.#afterFailures === 0) return;
    await this.#database.query(Prisma.sql`delete from login_failures where key = ${keyOf(trial)}`, {
      name: 'login-succeeded',
    });
  }

  /** Once an hour, by the failure that comes then. */
  async #removeOld(): Promise<void> {
    if (Date.now() - this.#removedOldAt < HOUR_MS) return;
    this.#removedOldAt = Date.now();
    await this.#database.query(Prisma.sql`
      delete from login_failures
      where key in (
        select key from login_failures where last_at < now() - interval '1 day' limit ${MOST_REMOVED}::int
      )`);
  }
}

function keyOf({ userName, address }: LoginTrial): string {
  return hash('sha256', JSON.stringify([userName, address]), 'base64url');
}
