/** Records log-ins and log-outs in the audit trail and the log. */

import { auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import { countIn } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import type { UserRef } from './principals.js';

/** A log-in or log-out, for the log. */
export interface AccountObservation {
  readonly kind: 'account';
  readonly act: 'loggedIn' | 'loginFailed' | 'loggedOut' | 'tokenReused';
  readonly domainId: string | undefined;
  /** `undefined` if no user has the name that was sent: people type passwords there. */
  readonly userName: string | undefined;
  readonly address: string | undefined;
  readonly requestId: string | undefined;
}

/** The origin of a login or logout. */
export interface Origin {
  readonly address: string;
  readonly requestId?: string | undefined;
}

interface SessionOfUser extends UserRef {
  readonly sessionId: string;
  /** Absent if the session was found by its refresh token alone. */
  readonly userName?: string | undefined;
}

/** A flood of wrong log-ins must not fill the audit trail; the log has them all. */
const MOST_FAILURES_AN_HOUR = 60;

interface AccountEventsOptions {
  readonly database: Database;
  readonly observe: (event: AccountObservation) => void;
}

export class AccountEvents {
  readonly #options: AccountEventsOptions;

  constructor(options: AccountEventsOptions) {
    this.#options = options;
  }

  async loggedIn(user: UserRef & { readonly userName: string }, origin: Origin): Promise<void> {
    await this.#audit('created', user, { ...origin, credential: `address:${origin.address}` });
    this.#observe('loggedIn', user, origin);
  }

  /** At most 60 an hour are in the audit trail for a user, and for all unknown names of a domain together. */
  async loginFailed(
    domainId: string | undefined,
    user: { readonly id: string; readonly userName: string } | undefined,
    origin: Origin,
  ): Promise<void> {
    const ref = domainId === undefined ? undefined : { domainId, userId: user?.id ?? '' };
    if (ref !== undefined && (await this.#hasRoom(ref)))
      await this.#audit('refused', ref, { ...origin, credential: `address:${origin.address}` });
    this.#observe('loginFailed', { domainId, userName: user?.userName }, origin);
  }

  /** `tokenReused`: a refresh token was used twice, so somebody has a copy of it, and its session ended. */
  async ended(act: 'loggedOut' | 'tokenReused', session: SessionOfUser, origin: Origin): Promise<void> {
    await this.#audit('deleted', session, { ...origin, credential: `token:${session.sessionId}` });
    this.#observe(act, session, origin);
  }

  async #audit(
    operation: 'created' | 'refused' | 'deleted',
    { domainId, userId }: UserRef,
    { credential, requestId = 'log-in' }: Origin & { readonly credential: string },
  ): Promise<void> {
    const principal = { id: userId, credential: { kind: 'system', id: 'log-in' } } as const;
    const by = { domain: { id: domainId }, principal, call: { requestId } };
    const act = { collection: '$session', id: userId, operation, credential };
    await this.#options.database.query(auditedAct(by, act));
  }

  #observe(
    act: AccountObservation['act'],
    { domainId, userName }: Partial<Pick<AccountObservation, 'domainId' | 'userName'>>,
    { address, requestId }: Origin,
  ): void {
    this.#options.observe({ kind: 'account', act, domainId, userName, address, requestId });
  }

  async #hasRoom({ domainId, userId }: UserRef): Promise<boolean> {
    const failures = sql`(
      select
      from audit_entries
      where domain = ${domainId} and collection = '$session' and record_id = ${userId}
        and operation = 'refused' and at > now() - interval '1 hour'
      limit ${MOST_FAILURES_AN_HOUR}::int
    ) as failures`;
    const count = await countIn(this.#options.database, failures, { name: 'auth-failures' });
    return count < MOST_FAILURES_AN_HOUR;
  }
}
