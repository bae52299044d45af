/** Slows down password guessing with every failure, over all gateways. */
import { hash } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import { foldText } from '../../base/model/normal-text.js';
import type { Database } from '../../store/database/database.js';
import { sql } from '../../store/sql.js';
import type { UserRef } from './principals.js';

export interface LoginLockoutOptions {
  readonly database: Database;
  /** So many consecutive failures have no consequence; 0: all. */
  readonly afterFailures: number;
}

/** The key by which login attempts are counted. */
export interface LoginKey {
  /** The folded user name, prefixed by its domain. */
  readonly userName: string;
  readonly address: string;
}

/** The key for a user name as typed: all spellings of a name count together. */
export function loginKey(domainId: string, typed: string, address: string): LoginKey {
  return { userName: `${domainId}/${foldText(typed)}`, address };
}

const FIRST_WAIT_SECONDS = 15;
const MOST_DOUBLINGS = 6;

/**
 * Counts the failures of a user name from an address, until a login of the pair succeeds or a day passes
 * without a failure. Each failure after `afterFailures` doubles the time for which the pair is refused: 15 s,
 * 30 s, and so on to 16 minutes. Others are not affected: neither the same user elsewhere, nor another user
 * at the same address. Names that do not exist are counted too. They are stored only as a hash, because
 * people type passwords there.
 *
 * @see decisions 6
 */
export class LoginLockout {
  readonly #database: Database;
  readonly #afterFailures: number;

  constructor(options: LoginLockoutOptions) {
    this.#database = options.database;
    this.#afterFailures = options.afterFailures;
  }

  /** @throws TOO_MANY_REQUESTS (429) while the pair is locked out */
  async assertOpen(key: LoginKey): Promise<void> {
    if (this.#afterFailures === 0) return;
    const [row] = await this.#database.query<{ seconds: number }>(
      sql`
        select ceil(extract(epoch from locked_until - now()))::int as seconds
        from login_failures
        where key = ${hashOf(key)} and locked_until > now()`,
      { name: 'login-lockout' },
    );
    if (row === undefined) return;
    const seconds = Math.max(1, row.seconds);
    throw new ServiceError(
      'TOO_MANY_REQUESTS',
      `Too many logins failed with this user name from this address. Try again in ${seconds} seconds.`,
      { retryAfterSeconds: seconds, limit: this.#afterFailures },
    );
  }

  /** `user` is the user of this name, if there is one: an admin can see and end its lock-out. */
  async noteFailure(key: LoginKey, user: UserRef | undefined): Promise<void> {
    if (this.#afterFailures === 0) return;
    await this.#database.query(
      sql`
        with counted as (
          insert into login_failures as f (key, failures, last_at, domain_id, user_id)
          values (${hashOf(key)}, 1, now(), ${user?.domainId ?? null}, ${user?.userId ?? null})
          on conflict (key) do update
          set domain_id = excluded.domain_id,
              user_id = excluded.user_id,
              failures = case when f.last_at < now() - interval '1 day' then 1 else f.failures + 1 end,
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
  }

  /** Clears the failures of the pair after a successful login. */
  async reset(key: LoginKey): Promise<void> {
    if (this.#afterFailures === 0) return;
    await this.#database.query(sql`delete from login_failures where key = ${hashOf(key)}`, {
      name: 'login-succeeded',
    });
  }
}

function hashOf({ userName, address }: LoginKey): string {
  return hash('sha256', JSON.stringify([userName, address]), 'base64url');
}
