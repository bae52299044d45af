/** Records log-ins and log-outs in the audit trail and the log. */

import { auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import { sql } from '../../store/sql.js';

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

interface SessionOfUser {
  readonly domainId: string;
  readonly userId: string;
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

  async loggedIn(
    user: { readonly domainId: string; readonly userId: string; readonly userName: string },
    { address, requestId }: Origin,
  ): Promise<void> {
    const { domainId, userId, userName } = user;
    const act = { collection: '$session', id: userId, operation: 'created' } as const;
    await this.#options.database.query(
      auditedAct(authorOf(domainId, userId, requestId), { ...act, credential: `address:${address}` }),
    );
    this.#options.observe({ kind: 'account', act: 'loggedIn', domainId, userName, address, requestId });
  }

  /** At most 60 an hour are in the audit trail for a user, and for all unknown names of a domain together. */
  async loginFailed(
    domainId: string | undefined,
    user: { readonly id: string; readonly userName: string } | undefined,
    { address, requestId }: Origin,
  ): Promise<void> {
    if (domainId !== undefined && (await this.#hasRoom(domainId, user?.id ?? ''))) {
      const act = { collection: '$session', id: user?.id ?? '', operation: 'refused' } as const;
      await this.#options.database.query(
        auditedAct(authorOf(domainId, act.id, requestId), { ...act, credential: `address:${address}` }),
      );
    }
    const userName = user?.userName;
    this.#options.observe({ kind: 'account', act: 'loginFailed', domainId, userName, address, requestId });
  }

  async loggedOut(session: SessionOfUser, origin: Origin): Promise<void> {
    await this.#ended('loggedOut', session, origin);
  }

  /** A refresh token was used twice, so somebody has a copy of it, and its session has ended. */
  async tokenReused(session: SessionOfUser, origin: Origin): Promise<void> {
    await this.#ended('tokenReused', session, origin);
  }

  async #ended(act: 'loggedOut' | 'tokenReused', session: SessionOfUser, origin: Origin): Promise<void> {
    const { domainId, userId, sessionId, userName } = session;
    const { address, requestId } = origin;
    const entry = { collection: '$session', id: userId, operation: 'deleted' } as const;
    await this.#options.database.query(
      auditedAct(authorOf(domainId, userId, requestId), { ...entry, credential: `token:${sessionId}` }),
    );
    this.#options.observe({ kind: 'account', act, domainId, userName, address, requestId });
  }

  async #hasRoom(domainId: string, userId: string): Promise<boolean> {
    const [row] = await this.#options.database.query<{ count: number }>(
      sql`
        select count(*)::int as count
        from (
          select
          from audit_entries
          where domain = ${domainId} and collection = '$session' and record_id = ${userId}
            and operation = 'refused' and at > now() - interval '1 hour'
          limit ${MOST_FAILURES_AN_HOUR}::int
        ) as failures`,
      { name: 'auth-failures' },
    );
    return (row?.count ?? 0) < MOST_FAILURES_AN_HOUR;
  }
}

function authorOf(domainId: string, userId: string, requestId: string | undefined) {
  const credential = { kind: 'system', id: 'log-in' } as const;
  return {
    domain: { id: domainId },
    principal: { id: userId, credential },
    requestId: requestId ?? 'log-in',
  };
}
