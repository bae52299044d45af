/** API keys: created by users, shown once, stored as a hash, and never more powerful than their user. */
import { randomUUID } from 'node:crypto';
import { validate as isUuid } from 'uuid';
import { invalidAt, ServiceError } from '../../base/errors.js';
import { toNormalText } from '../../base/model/normal-text.js';
import type { KeyScopes, Principal, Scope } from '../../base/model/scope.js';
import { isAdmin } from '../../store/access/access.js';
import { auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import { countIn, fromRow, type Transaction } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { OnAccountChange } from './account-mails.js';
import { parseAllowedAddresses } from './allowed-addresses.js';
import { parseKeyScopes, type ScopeNames, StoredScopes } from './key-scopes.js';
import { announceUser, findUser, type Principals } from './principals.js';
import { createOpaqueSecret, hashOpaqueSecret } from './service-secret.js';

export interface ApiKeyRequest {
  /** The owner's name for the key, 1 to 100 characters. */
  readonly name: string;
  /** The user the key acts as; absent: the caller. */
  readonly userId?: string | undefined;
  /** @see parseKeyScopes */
  readonly scopes: unknown;
  /** Absent: it does not expire. */
  readonly expiresAt?: Date | undefined;
  /** Absent or empty: it may be used from anywhere. @see parseAllowedAddresses */
  readonly allowedAddresses?: readonly string[] | undefined;
}

/** A key as listed to its owner, without the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The beginning of the key, by which its owner recognizes it. */
  readonly prefix: string;
  readonly userId: string;
  readonly scopes: KeyScopes;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  /** Precise to the minute. */
  readonly lastUsedAt: Date | undefined;
  readonly lastUsedAddress: string | undefined;
  readonly allowedAddresses: readonly string[];
  /** The key that it replaces. */
  readonly replaces: string | undefined;
  readonly revokedAt: Date | undefined;
}

const PREFIX_LENGTH = 10;
const LONGEST_NAME = 100;
const LONGEST_OVERLAP_SECONDS = 30 * 24 * 3600;

interface ApiKeysOptions {
  readonly database: Database;
  readonly principals: Principals;
  readonly names: ScopeNames;
  readonly onChange?: OnAccountChange;
  /** The roles whose users may have keys; `*`: all. */
  readonly roles: readonly string[];
  /** How many valid keys a user has at most. */
  readonly mostPerUser: number;
}

/**
 * Users manage their own keys, and admins those of the domain they act in. An API key cannot manage keys: one
 * that could create others would have no limits.
 *
 * @see decisions 6
 */
export class ApiKeys {
  readonly #options: ApiKeysOptions;

  constructor(options: ApiKeysOptions) {
    this.#options = options;
  }

  /** Whether the caller may create keys for itself. */
  mayHave({ principal }: Scope): boolean {
    if (principal.kind === 'system' || principal.credential.kind === 'key' || principal.scopes !== undefined)
      return false;
    return this.#options.roles.some((role) => role === '*' || principal.roles.has(role));
  }

  /**
   * Creates a key. The key is shown only in this answer.
   *
   * @throws INVALID_VALUE (400) naming what is wrong; FORBIDDEN (403) for another user's key, unless by an
   *   admin, and without a role in API_KEY_ROLES; NOT_FOUND (404) if the user is not in the domain;
   *   LIMIT_EXCEEDED if the user has too many
   */
  async create(scope: Scope, request: ApiKeyRequest): Promise<{ readonly id: string; readonly key: string }> {
    assertMayManage(scope);
    const userId = request.userId ?? scope.principal.id;
    if (!isAdmin(scope.principal) && !isSelf(scope, userId))
      throw new ServiceError('FORBIDDEN', 'Only an admin may make an API key for another user.');
    this.#assertMayHave(scope);
    const name = parseName(request.name);
    const scopes = parseKeyScopes(request.scopes, this.#options.names);
    if (request.expiresAt && !isInReach(request.expiresAt))
      throw invalidAt('An API key expires in the future, before the year 10000.', { parameter: 'expiresAt' });
    const allowedAddresses = parseAllowedAddresses(request.allowedAddresses ?? []);
    await this.#assertUser(scope, userId);
    const id = randomUUID();
    const key = createOpaqueSecret('cg');
    await this.#withinLimit(scope.domain.id, async (transaction) => {
      await transaction.query(sql`
      with made as (
        insert into api_keys (id, domain_id, user_id, name, prefix, key_hash, scopes, created_by, expires_at,
          allowed_addresses)
        values (${id}::uuid, ${scope.domain.id}, ${userId}, ${name}, ${key.slice(0, PREFIX_LENGTH)},
          ${hashOpaqueSecret(key)}, ${JSON.stringify(scopes)}::jsonb, ${scope.principal.id},
          ${request.expiresAt?.toISOString() ?? null}::timestamptz, ${[...allowedAddresses]}::text[])
      )
      ${auditedAct(scope, { collection: '$apiKey', id, operation: 'created' })}`);
      return userId;
    });
    this.#options.onChange?.({ domainId: scope.domain.id, userId }, 'key');
    return { id, key };
  }

  /** The caller's keys, or for an admin all keys of the domain, newest first, including revoked ones. */
  async list(scope: Scope): Promise<readonly ApiKey[]> {
    assertMayManage(scope);
    const rows = await this.#options.database.prisma.apiKey.findMany({
      where: reachOf(scope),
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      omit: { keyHash: true, domainId: true, requestCount: true },
    });
    return rows.map((row) => fromRow<ApiKey>({ ...row, scopes: StoredScopes.parse(row.scopes) }));
  }

  /**
   * The user of the key.
   *
   * @throws NOT_FOUND (404) for a key the caller may not see; FORBIDDEN (403) as `list`
   */
  async ownerOf(scope: Scope, id: string): Promise<Pick<Principal, 'domainId' | 'id'>> {
    assertMayManage(scope);
    const where = { ...reachOf(scope), id };
    const key = isUuid(id) ? await this.#options.database.prisma.apiKey.findFirst({ where }) : null;
    if (key) return { domainId: key.domainId, id: key.userId };
    throw noSuchKey();
  }

  /**
   * Replaces a key by a new one with the same name, user, scopes, addresses and expiry; the old one remains
   * valid for the overlap. The new key is shown only in this answer.
   *
   * @throws NOT_FOUND (404) for a key the caller may not see, or one that has ended; FORBIDDEN (403);
   *   INVALID_VALUE (400) for too long an overlap; LIMIT_EXCEEDED as `create`
   */
  async rotate(
    scope: Scope,
    id: string,
    overlapSeconds: number,
  ): Promise<{ readonly id: string; readonly key: string }> {
    assertMayManage(scope);
    this.#assertMayHave(scope);
    if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > LONGEST_OVERLAP_SECONDS)
      throw invalidAt(`An overlap is 0 to ${LONGEST_OVERLAP_SECONDS} seconds.`, {
        parameter: 'overlapSeconds',
      });
    if (!isUuid(id)) throw noSuchKey();
    const key = createOpaqueSecret('cg');
    const newId = randomUUID();
    const { domainId, userId = null } = reachOf(scope);
    // A lock in a statement of its own: of two concurrent rotations, the second must see that the key has
    // ended, or has been replaced, which a statement that waited for the lock would not see.
    const ownerId = await this.#withinLimit(domainId, async (transaction) => {
      await transaction.query(sql`select from api_keys where id = ${id}::uuid for update`);
      const [ended] = await transaction.query<{ userId: string }>(sql`
        with ended as (
          update api_keys
          set expires_at = least(expires_at, now() + ${overlapSeconds}::int * interval '1 second'),
            revoked_at = case when ${overlapSeconds}::int = 0 then now() end
          where id = ${id}::uuid
            and domain_id = ${domainId}
            and user_id = coalesce(${userId}::text, user_id)
            and revoked_at is null
            and (expires_at is null or expires_at > now())
            and not exists (select from api_keys newer where newer.replaces = api_keys.id)
          returning *
        ), before as (
          select expires_at from api_keys where id = ${id}::uuid
        ), made as (
          insert into api_keys (id, domain_id, user_id, name, prefix, key_hash, scopes, created_by,
            expires_at, allowed_addresses, replaces)
          select ${newId}::uuid, domain_id, user_id, name, ${key.slice(0, PREFIX_LENGTH)},
            ${hashOpaqueSecret(key)}, scopes, ${scope.principal.id}, before.expires_at, allowed_addresses,
            id
          from ended, before
        ), noted as (
          ${auditedAct(scope, {
            collection: '$apiKey',
            id: sql`changed.id`,
            operation: 'rotated',
            from: sql`from ended as changed`,
          })}
        ), noted_new as (
          ${auditedAct(scope, {
            collection: '$apiKey',
            id: newId,
            operation: 'created',
            from: sql`from ended`,
          })}
        )
        select user_id as "userId",
          ${announceUser({ domainId: sql`domain_id`, userId: sql`user_id` })}
        from ended`);
      if (ended === undefined) throw noSuchKey();
      return ended.userId;
    });
    this.#options.principals.forget(domainId, ownerId);
    this.#options.onChange?.({ domainId, userId: ownerId }, 'key');
    return { id: newId, key };
  }

  /**
   * Ends a key and the tokens exchanged for it, on every gateway. Ending it again is not an error. @throws
   * NOT_FOUND (404) for a key the caller may not see
   */
  async revoke(scope: Scope, id: string): Promise<void> {
    const { domainId, id: userId } = await this.ownerOf(scope, id);
    await this.#options.database.query(sql`
      with revoked as (
        update api_keys set revoked_at = now() where id = ${id}::uuid and revoked_at is null returning id
      ), noted as (
        ${auditedAct(scope, {
          ...{ collection: '$apiKey', id, operation: 'revoked' },
          from: sql`from revoked`,
        })}
      )
      select ${announceUser({ domainId, userId })}`);
    this.#options.principals.forget(domainId, userId);
  }

  /**
   * Runs work that makes a key and returns its user, and takes it back if the user then has too many: each
   * key has a rate of its own. The lock on the domain makes concurrent requests wait for each other.
   */
  async #withinLimit(domainId: string, work: (transaction: Transaction) => Promise<string>): Promise<string> {
    return await inOwnTransaction(this.#options.database, async (transaction) => {
      await transaction.query(sql`select from domains where id = ${domainId} for no key update`);
      const userId = await work(transaction);
      const keys = sql`api_keys
        where domain_id = ${domainId} and user_id = ${userId} and revoked_at is null
          and (expires_at is null or expires_at > now())`;
      if ((await countIn(transaction, keys)) <= this.#options.mostPerUser) return userId;
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `A user has at most ${this.#options.mostPerUser} API keys (API_KEYS_PER_USER). ` +
          'Revoke one that is not used.',
      );
    });
  }

  #assertMayHave(scope: Scope): void {
    if (isAdmin(scope.principal) || this.mayHave(scope)) return;
    throw new ServiceError('FORBIDDEN', `API keys are for the roles ${this.#options.roles.join(', ')}.`);
  }

  async #assertUser(scope: Scope, userId: string): Promise<void> {
    const user = await findUser(this.#options.database, { domainId: scope.domain.id, userId });
    if (!user?.isActive)
      throw new ServiceError('NOT_FOUND', 'There is no active user with this id in the domain.', {
        errors: [{ parameter: 'userId', detail: 'There is no such user.' }],
      });
  }
}

function assertMayManage({ principal }: Scope): void {
  // A token with a part of its user's rights has scopes like a key, and must not obtain a key without them.
  if (principal.credential.kind === 'key' || principal.scopes !== undefined)
    throw new ServiceError('FORBIDDEN', 'API keys are managed after logging in, not with an API key.');
}

/** The same id in another domain is a different user. */
function isSelf({ principal, domain }: Scope, userId: string): boolean {
  return principal.kind === 'user' && userId === principal.id && domain.id === principal.domainId;
}

function reachOf(scope: Scope): { readonly domainId: string; readonly userId?: string } {
  const domainId = scope.domain.id;
  return isAdmin(scope.principal) ? { domainId } : { domainId, userId: scope.principal.id };
}

function noSuchKey(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such API key among yours, or it has ended.');
}

function parseName(written: string): string {
  const name = toNormalText(written);
  if (name.length >= 1 && name.length <= LONGEST_NAME && !name.includes('\0')) return name;
  throw invalidAt(`An API key has a name of 1 to ${LONGEST_NAME} characters.`, { parameter: 'name' });
}

function isInReach(expiresAt: Date): boolean {
  return expiresAt.getTime() > Date.now() && expiresAt.getTime() < Date.UTC(10_000, 0);
}
