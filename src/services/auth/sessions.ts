/** Sessions and their rotating refresh tokens. */
import { randomUUID } from 'node:crypto';
import { validate as isUuid } from 'uuid';
import { ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { isAdmin } from '../../store/access/access.js';
import { type AuditedBy, auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import { fromRow, type Queryable } from '../../store/database/queryable.js';
import { liveRecordsById } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';
import { announceUser, type Principals, type UserRef } from './principals.js';
import { createOpaqueSecret, hashOpaqueSecret } from './service-secret.js';

export interface OpenSession {
  readonly sessionId: string;
  readonly refreshToken: string;
}

/** An active session with its next refresh token. */
export interface RenewedSession extends OpenSession, UserRef {
  readonly userName: string;
  readonly name: string;
  readonly roles: unknown;
  readonly epoch: number;
}

const MOST_REMOVED = 10_000;
/** The most sessions in a list, newest first. */
const MOST_LISTED = 200;

/** The address and program that opened a session, by which its owner recognizes it. */
export interface SessionOrigin {
  readonly address: string;
  readonly userAgent?: string | undefined;
  /** The session may do nothing but switch a second factor on. */
  readonly isConfined?: boolean | undefined;
}

export interface EndedSession extends UserRef {
  readonly sessionId: string;
}

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

interface SessionsOptions {
  readonly database: Database;
  readonly principals: Pick<Principals, 'forget'>;
  readonly refreshTokenTtlSeconds: number;
  /** A session ends so long after its log-in, however often it is renewed (ASVS 3.3.2). */
  readonly maxDays: number;
}

/**
 * A session is a family of refresh tokens: each is valid once and replaced by the next. A token that is used
 * twice was stolen, so the whole session ends; that also happens to the slower of two simultaneous uses.
 * Changes are announced on `campus_principals` by the statement that makes them.
 *
 * @see decisions 6, RFC 9700 4.14.2
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly refreshTokenTtlSeconds: number;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.refreshTokenTtlSeconds = options.refreshTokenTtlSeconds;
  }

  /**
   * Opens a session; `undefined` if the user's password was changed since `epoch` was read. Without the row
   * lock, a login with the old password could slip through just after the change had ended all sessions.
   */
  async open(
    user: UserRef & { readonly epoch: number },
    origin: SessionOrigin,
  ): Promise<OpenSession | undefined> {
    const sessionId = randomUUID();
    const refreshToken = createOpaqueSecret('cgr');
    const expiresAt = this.#expiry();
    const rows = await this.#options.database.query(
      sql`
        with current as (
          select domain_id, user_id
          from credentials
          where domain_id = ${user.domainId} and user_id = ${user.userId} and token_epoch = ${user.epoch}
          for share
        ), opened as (
          insert into sessions (id, domain_id, user_id, expires_at, address, user_agent, is_confined)
          select ${sessionId}::uuid, domain_id, user_id, ${expiresAt}::timestamptz, ${origin.address},
            ${origin.userAgent ?? null}::text, ${origin.isConfined ?? false}::boolean
          from current
          returning id
        )
        insert into refresh_tokens (token_hash, session_id, expires_at)
        select ${hashOpaqueSecret(refreshToken)}::bytea, id, ${expiresAt}::timestamptz from opened
        returning session_id`,
      { name: 'auth-open-session' },
    );
    if (rows.length === 0) return undefined;
    return { sessionId, refreshToken };
  }

  /**
   * Uses up a refresh token and returns the next one; `undefined` unless token, session and user are all
   * valid. A token used less than `leewaySeconds` ago returns another one.
   */
  async renew(
    refreshToken: string,
    { leewaySeconds }: { readonly leewaySeconds: number },
  ): Promise<RenewedSession | undefined> {
    const user = await this.#sessionOf(refreshToken);
    if (user === undefined) return undefined;
    const next = createOpaqueSecret('cgr');
    const expiresAt = this.#expiry();
    const [row] = await this.#options.database.query<Omit<RenewedSession, 'refreshToken'>>(
      // The row lock of the update decides between two simultaneous uses: the second one finds `used_at` set.
      sql`
        with used as (
          update refresh_tokens t
          -- The first use counts; Citus takes no coalesce() of a clock.
          set used_at = least(t.used_at, now())
          from sessions s
          join credentials c on c.domain_id = s.domain_id and c.user_id = s.user_id
          join records r on ${liveRecordsById(user.domainId, 'pltf_user', sql`= ${user.userId}`)}
          where t.token_hash = ${hashOpaqueSecret(refreshToken)}::bytea
            and (
              t.used_at is null
              -- What waited for the lock began before the token was used: without leeway no time counts.
              or ${leewaySeconds}::int > 0
                and t.used_at > now() - ${leewaySeconds}::int * interval '1 second'
            )
            and t.expires_at > now()
            and s.id = t.session_id
            and s.domain_id = ${user.domainId}
            and s.user_id = ${user.userId}
            and s.revoked_at is null
            and s.expires_at > now()
            and s.created_at > now() - ${this.#options.maxDays}::int * interval '1 day'
            and r.data -> 'active' = 'true'
          returning s.id, s.domain_id, s.user_id, c.token_epoch, r.data,
            least(
              ${expiresAt}::timestamptz, s.created_at + ${this.#options.maxDays}::int * interval '1 day'
            ) as until
        ), extended as (
          update sessions s
          set expires_at = used.until, last_seen_at = now()
          from used
          where s.id = used.id
        ), forgotten as (
          delete from refresh_tokens t using used where t.session_id = used.id and t.expires_at < now()
        ), issued as (
          insert into refresh_tokens (token_hash, session_id, expires_at)
          select ${hashOpaqueSecret(next)}::bytea, id, until from used
        )
        select
          id as "sessionId",
          domain_id as "domainId",
          user_id as "userId",
          token_epoch as epoch,
          data ->> 'user_name' as "userName",
          coalesce(data ->> 'name', '') as name,
          data -> 'roles' as roles
        from used`,
      { name: 'auth-renew-session' },
    );
    return row && { ...row, refreshToken: next };
  }

  /** Whether a refresh token is still the next one of its session. */
  async isUnused(refreshToken: string): Promise<boolean> {
    return (await this.#sessionOf(refreshToken))?.isUnused === true;
  }

  /** The owner of a token, looked up first, because records are read within a known domain. */
  async #sessionOf(refreshToken: string): Promise<(UserRef & { readonly isUnused: boolean }) | undefined> {
    const [session] = await this.#options.database.query<UserRef & { readonly isUnused: boolean }>(
      sql`
        select s.domain_id as "domainId", s.user_id as "userId",
          t.used_at is null and s.revoked_at is null as "isUnused"
        from refresh_tokens t
        join sessions s on s.id = t.session_id
        where t.token_hash = ${hashOpaqueSecret(refreshToken)}::bytea`,
      { name: 'auth-session-of-refresh' },
    );
    return session;
  }

  /**
   * Ends the session of a refresh token; with `used`, only of one that was used before. Returns its owner;
   * `undefined` if there was nothing to end.
   */
  async endOf(refreshToken: string, which: 'any' | 'used' = 'any'): Promise<EndedSession | undefined> {
    const [ended] = await this.#end(sql`revoked_at is null and id = (
      select session_id
      from refresh_tokens
      where token_hash = ${hashOpaqueSecret(refreshToken)}::bytea
        and (${which} = 'any' or used_at is not null)
    )`);
    return ended;
  }

  async end(sessionId: string): Promise<void> {
    await this.#end(sql`id = ${sessionId}::uuid and revoked_at is null`);
  }

  /**
   * The active sessions of a user, newest first; without a user, the caller's.
   *
   * @throws FORBIDDEN (403) for those of others, unless by an admin, and for an API key
   */
  async list(scope: Scope, userId: string | undefined): Promise<readonly ListedSession[]> {
    const rows = await this.#options.database.prisma.session.findMany({
      where: { ...userInReach(scope, userId), revokedAt: null, expiresAt: { gt: new Date() } },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: MOST_LISTED,
      omit: { domainId: true, revokedAt: true, isConfined: true },
    });
    const { id } = scope.principal.credential;
    return rows.map((row) => fromRow<ListedSession>({ ...row, isCurrent: row.id === id }));
  }

  /**
   * Ends a session for its user or an admin. Ending it again is not an error.
   *
   * @throws NOT_FOUND (404) for one the caller may not see; FORBIDDEN (403) for an API key
   */
  async endOne(scope: Scope, id: string): Promise<void> {
    assertLoggedIn(scope);
    const own = isAdmin(scope.principal)
      ? sql`domain_id = ${scope.domain.id}`
      : sql`domain_id = ${scope.principal.domainId} and user_id = ${scope.principal.id}`;
    const ended = isUuid(id) ? await this.#end(sql`id = ${id}::uuid and ${own}`, scope) : [];
    if (ended.length === 0) throw new ServiceError('NOT_FOUND', 'There is no such session among yours.');
  }

  /**
   * Ends all sessions of a user and returns their number. Without a user, ends the caller's own; with
   * `others`, all but the present one. API keys remain valid.
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
    return (await this.#end(isOfUser, scope)).length;
  }

  /** Ends sessions on every gateway; what an admin or user asked for is written to the audit trail. */
  async #end(condition: Sql, by?: Scope): Promise<readonly EndedSession[]> {
    const noted =
      by &&
      auditedAct(by, {
        collection: '$session',
        id: sql`ended.user_id`,
        domainId: sql`ended.domain_id`,
        operation: 'revoked',
        from: sql`from (select distinct domain_id, user_id from ended) as ended`,
      });
    const ended = await this.#options.database.query<EndedSession>(sql`
      with ended as (
        update sessions
        set revoked_at = least(revoked_at, now())
        where ${condition}
        returning id, domain_id, user_id
      ) ${noted === undefined ? sql.empty : sql`, noted as (${noted})`}
      select id::text as "sessionId", domain_id as "domainId", user_id as "userId",
        ${announceUser({ domainId: sql`domain_id`, userId: sql`user_id` })}
      from ended`);
    for (const { domainId, userId } of ended) this.#options.principals.forget(domainId, userId);
    return ended;
  }

  #expiry(): Date {
    return new Date(Date.now() + this.refreshTokenTtlSeconds * 1000);
  }
}

/** Removes expired sessions with their refresh tokens, expired links, and failed log-ins a day old. */
export async function purgeAccounts(database: Queryable): Promise<void> {
  for (const over of [
    sql`sessions where id in (select id from sessions where expires_at < now() limit ${MOST_REMOVED}::int)`,
    sql`account_links where token_hash in (
      select token_hash from account_links where expires_at < now() limit ${MOST_REMOVED}::int)`,
    sql`login_failures where key in (
      select key from login_failures where last_at < now() - interval '1 day' limit ${MOST_REMOVED}::int)`,
  ])
    await database.query(sql`delete from ${over}`);
}

/**
 * Stores a new password and ends every session of the user, in the caller's transaction. The second statement
 * follows the row lock of the first, so it sees every session opened with the old password. `by` is written
 * to the audit trail; absent for a new user, whose creation is there.
 */
export async function replacePassword(
  transaction: Queryable,
  user: UserRef,
  passwordHash: string,
  by?: AuditedBy,
): Promise<void> {
  if (by !== undefined) {
    const act = { collection: '$password', id: user.userId, domainId: user.domainId } as const;
    await transaction.query(auditedAct(by, { ...act, operation: 'updated' }));
  }
  await transaction.query(sql`
    insert into credentials as c (domain_id, user_id, password_hash)
    values (${user.domainId}, ${user.userId}, ${passwordHash})
    on conflict (domain_id, user_id) do update
    set password_hash = excluded.password_hash,
        password_changed_at = now(),
        token_epoch = c.token_epoch + 1`);
  await transaction.query(sql`
    with ended as (
      update sessions
      set revoked_at = now()
      where domain_id = ${user.domainId} and user_id = ${user.userId} and revoked_at is null
    )
    select ${announceUser(user)}`);
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
