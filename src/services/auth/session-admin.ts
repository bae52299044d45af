/** Lists and ends the sessions of a user, for the user and for admins. */

import { validate as isUuid } from 'uuid';
import { ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { isAdmin } from '../../store/access/access.js';
import { auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import { fromRow } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import { announceUser, type Principals } from './principals.js';

export interface ListedSession {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  /** Its last refresh; `undefined` if there was none. */
  readonly lastSeenAt: Date | undefined;
  readonly expiresAt: Date;
  /** The address and program that opened it; `undefined` if it is older than this record. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** The session of this request. */
  readonly isCurrent: boolean;
}

/** The most sessions in a list, newest first. */
const MOST_LISTED = 200;

export class SessionAdmin {
  readonly #services: { readonly database: Database; readonly principals: Principals };

  constructor(services: { readonly database: Database; readonly principals: Principals }) {
    this.#services = services;
  }

  /**
   * The active sessions of a user, newest first; without a user, the caller's.
   *
   * @throws FORBIDDEN (403) for those of others, unless by an admin, and for an API key
   */
  async list(scope: Scope, userId: string | undefined): Promise<readonly ListedSession[]> {
    const user = userInReach(scope, userId);
    const rows = await this.#services.database.prisma.session.findMany({
      where: { ...user, revokedAt: null, expiresAt: { gt: new Date() } },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: MOST_LISTED,
      omit: { domainId: true, revokedAt: true, isConfined: true },
    });
    const { id } = scope.principal.credential;
    return rows.map((row) => fromRow<ListedSession>({ ...row, isCurrent: row.id === id }));
  }

  /**
   * Ends a session, on every gateway. Ending it again is not an error.
   *
   * @throws NOT_FOUND (404) for one the caller may not see; FORBIDDEN (403) for an API key
   */
  async end(scope: Scope, id: string): Promise<void> {
    assertLoggedIn(scope);
    const own = isAdmin(scope.principal)
      ? sql`domain_id = ${scope.domain.id}`
      : sql`domain_id = ${scope.principal.domainId} and user_id = ${scope.principal.id}`;
    const found = isUuid(id) ? await this.#end(scope, sql`id = ${id}::uuid and ${own}`) : 0;
    if (found === 0) throw new ServiceError('NOT_FOUND', 'There is no such session among yours.');
  }

  /**
   * Ends all sessions of a user, on every gateway, and returns their number. Without a user, ends the
   * caller's own; with `others`, all but the present one. API keys remain valid.
   *
   * @throws FORBIDDEN (403) as `list`
   */
  async endAll(
    scope: Scope,
    { userId, which }: { readonly userId: string | undefined; readonly which: 'all' | 'others' },
  ): Promise<number> {
    const user = userInReach(scope, userId);
    const spared = which === 'others' ? sql`and id <> ${scope.principal.credential.id}::uuid` : sql.empty;
    const isOfUser = sql`
      domain_id = ${user.domainId} and user_id = ${user.userId} and revoked_at is null ${spared}`;
    return await this.#end(scope, isOfUser);
  }

  async #end(scope: Scope, condition: Sql): Promise<number> {
    const rows = await this.#services.database.query<{ domain_id: string; user_id: string }>(sql`
      with ended as (
        update sessions
        set revoked_at = coalesce(revoked_at, now())
        where ${condition}
        returning domain_id, user_id
      ), noted as (
        ${auditedAct(scope, {
          collection: '$session',
          id: sql`ended.user_id`,
          domainId: sql`ended.domain_id`,
          operation: 'revoked',
          from: sql`from (select distinct domain_id, user_id from ended) as ended`,
        })}
      )
      select domain_id, user_id,
        ${announceUser({ domainId: sql`domain_id`, userId: sql`user_id` })}
      from ended`);
    for (const { domain_id, user_id } of rows) this.#services.principals.forget(domain_id, user_id);
    return rows.length;
  }
}

function assertLoggedIn({ principal }: Scope): void {
  if (principal.credential.kind !== 'key' && principal.scopes === undefined) return;
  throw new ServiceError('FORBIDDEN', 'Sessions are managed after logging in, not with an API key.');
}

/** The user whose sessions are meant: the caller, or a user in the admin's domain. */
function userInReach(scope: Scope, userId: string | undefined) {
  assertLoggedIn(scope);
  const { principal, domain } = scope;
  if (userId === undefined || (userId === principal.id && domain.id === principal.domainId))
    return { domainId: principal.domainId, userId: principal.id };
  if (isAdmin(principal)) return { domainId: domain.id, userId };
  throw new ServiceError('FORBIDDEN', 'Only an admin may manage the sessions of other users.');
}
