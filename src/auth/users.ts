/**
 * Staff who may log in: their record in `pltf_user` and, apart from it, their password. For the command line
 * and the seeding.
 */

import { ServiceError } from '../errors.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Principal, Scope } from '../model/scope.js';
import { isAdmin } from '../store/access/admin.js';
import type { Database } from '../store/database/database.js';
import type { RecordStore } from '../store/record-store.js';
import { liveRecordsIn } from '../store/sql/records-of.js';
import { inOwnTransaction } from '../store/writing/atomically.js';
import type { Passwords } from './passwords.js';
import { loadPrincipalAttributes } from './principal-attributes.js';
import { type GrantingCollections, type Principals, parseRoles } from './principals.js';
import { replacePassword } from './sessions.js';

export interface NewUser {
  readonly userName: string;
  /** Full name. */
  readonly name: string;
  readonly roles: readonly string[];
  readonly password: string;
  /** The `_id` of the record; absent: a new one. */
  readonly id?: string | undefined;
}

export interface ListedUser {
  readonly id: string;
  readonly userName: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly isActive: boolean;
  readonly hasPassword: boolean;
  /** When the last session was opened, of those still kept. */
  readonly lastLoginAt: Date | undefined;
}

/** The users as admins manage them, in the domain they act in; an API key cannot. */
export class Users {
  readonly #database: Database;
  readonly #records: Pick<RecordStore, 'atomically' | 'create'>;
  readonly #passwords: Passwords;
  readonly #principals: Principals;
  readonly #collections: GrantingCollections;

  constructor(options: {
    readonly database: Database;
    readonly collections: GrantingCollections;
    readonly records: Pick<RecordStore, 'atomically' | 'create'>;
    readonly passwords: Passwords;
    readonly principals: Principals;
  }) {
    this.#database = options.database;
    this.#records = options.records;
    this.#passwords = options.passwords;
    this.#principals = options.principals;
    this.#collections = options.collections;
  }

  /**
   * Adds a user who may log in, both rows or none. @throws FORBIDDEN (403), INVALID_VALUE (400), CONFLICT
   * (409) when the user name is taken
   */
  async add(scope: Scope, user: NewUser): Promise<{ readonly id: string }> {
    assertAdmin(scope);
    const passwordHash = await this.#passwords.hash(user.password);
    const record = {
      ...(user.id !== undefined && { _id: user.id }),
      user_name: user.userName,
      name: user.name,
      active: true,
      roles: [...user.roles],
    };
    return await this.#records.atomically(scope, { writes: ['pltf_user'] }, async (transaction) => {
      const [stored] = await this.#records.create(scope, 'pltf_user', [record], { within: transaction });
      if (!stored) throw new ServiceError('INTERNAL', 'The user was not stored.');
      await replacePassword(transaction, { domainId: scope.domain.id, userId: stored.id }, passwordHash);
      return { id: stored.id };
    });
  }

  /**
   * Sets a user's password, the first or a new one, and ends all of its sessions. @throws FORBIDDEN (403),
   * INVALID_VALUE (400), NOT_FOUND (404)
   */
  async setPassword(
    scope: Scope,
    change: { readonly userName: string; readonly password: string },
  ): Promise<void> {
    assertAdmin(scope);
    const passwordHash = await this.#passwords.hash(change.password);
    const domainId = scope.domain.id;
    const [user] = await this.#database.query<{ id: string }>(Prisma.sql`
      select r.id
      from records r
      where ${liveRecordsIn(domainId, 'pltf_user')}
        and r.data -> 'user_name' = to_jsonb(${change.userName}::text)`);
    if (!user)
      throw new ServiceError('NOT_FOUND', `There is no user "${change.userName}" in ${scope.domain.name}.`);
    await inOwnTransaction(this.#database, (transaction) =>
      replacePassword(transaction, { domainId, userId: user.id }, passwordHash),
    );
    this.#principals.forget(domainId, user.id);
  }

  /**
   * A user of the domain as a principal, for the operator who lets something be done as that user.
   *
   * @throws FORBIDDEN (403); NOT_FOUND (404) for none of this name, or one that is not active
   */
  async principalOf(scope: Scope, userName: string): Promise<Principal> {
    assertAdmin(scope);
    const domainId = scope.domain.id;
    const [user] = await this.#database.query<{ id: string; roles: unknown }>(Prisma.sql`
      select r.id, r.data -> 'roles' as roles
      from records r
      where ${liveRecordsIn(domainId, 'pltf_user')}
        and r.data -> 'user_name' = to_jsonb(${userName}::text)
        and r.data -> 'active' = 'true'`);
    if (!user) {
      throw new ServiceError('NOT_FOUND', `There is no active user "${userName}" in ${scope.domain.name}.`);
    }
    return {
      kind: 'user',
      id: user.id,
      userName,
      domainId,
      roles: new Set(parseRoles(user.roles)),
      credential: scope.principal.credential,
      scopes: undefined,
      attributes: await loadPrincipalAttributes(this.#database, this.#collections.list(), {
        domainId,
        userId: user.id,
      }),
    };
  }

  /** The users of the domain, by user name. @throws FORBIDDEN (403) */
  async list(scope: Scope): Promise<readonly ListedUser[]> {
    assertAdmin(scope);
    const rows = await this.#database.query<ListedUserRow>(Prisma.sql`
      select
        r.id,
        coalesce(r.data ->> 'user_name', '') as "userName",
        coalesce(r.data ->> 'name', '') as name,
        r.data -> 'roles' as roles,
        coalesce(r.data -> 'active' = 'true', false) as "isActive",
        c.user_id is not null as "hasPassword",
        (select max(s.created_at) from sessions s where s.domain_id = r.domain
          and s.user_id = r.id) as "lastLoginAt"
      from records r
      left join credentials c on c.domain_id = r.domain and c.user_id = r.id
      where ${liveRecordsIn(scope.domain.id, 'pltf_user')}
      order by "userName", r.id`);
    return rows.map((row) => ({
      ...row,
      roles: parseRoles(row.roles),
      lastLoginAt: row.lastLoginAt ?? undefined,
    }));
  }
}

interface ListedUserRow extends Omit<ListedUser, 'roles' | 'lastLoginAt'> {
  readonly roles: unknown;
  readonly lastLoginAt: Date | null;
}

function assertAdmin({ principal }: Scope): void {
  if (isAdmin(principal)) return;
  throw new ServiceError('FORBIDDEN', 'Only an admin manages users.');
}
