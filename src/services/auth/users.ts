/** Users who may log in: their record in `pltf_user` and, separately, their password. */
import { ServiceError } from '../../base/errors.js';
import { defined, type JsonObject } from '../../base/json/json.js';
import { type Principal, type Scope, topDomainIdOf } from '../../base/model/scope.js';
import { mayManageAccounts } from '../../store/access/access.js';
import { auditedAct } from '../../store/audited-act.js';
import type { Domains } from '../../store/catalog/domains.js';
import { declaredRoles, listHeldRoles } from '../../store/catalog/roles.js';
import type { Database } from '../../store/database/database.js';
import {
  compileKeyset,
  type KeysetPage,
  type KeysetRequest,
  toKeysetPage,
} from '../../store/database/keyset.js';
import {
  countIn,
  fromRow,
  type Queryable,
  type RowOf,
  type Transaction,
} from '../../store/database/queryable.js';
import type { RecordStore } from '../../store/record-store.js';
import { liveRecordsIn, liveRecordsNamed } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { OnAccountChange } from './account-mails.js';
import { findPasswordOwner, type Passwords } from './passwords.js';
import {
  findUser,
  type GrantingCollections,
  type Principals,
  parseRoles,
  USER_FACTS,
  type UserFacts,
} from './principals.js';
import { replacePassword } from './sessions.js';

export interface NewUser {
  readonly userName: string;
  /** Full name. */
  readonly name: string;
  readonly email?: string | undefined;
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
  readonly hasSecondFactor: boolean;
  /** When the latest session still stored was opened. */
  readonly lastLoginAt: Date | undefined;
  /** Until when log-ins are refused after too many failures, at one address at least. */
  readonly lockedUntil: Date | undefined;
  readonly email: string | undefined;
  /** The version of the record, for `ifVersion`. */
  readonly version: number;
}

/** What a user may read and choose about itself. */
export interface Profile {
  /** Full name. */
  readonly name: string;
  /** That of its pages; `undefined`: not chosen. */
  readonly language: string | undefined;
}

export interface UserFilter {
  /** A part of the user name, name or email address, ignoring case. */
  readonly search?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly role?: string | undefined;
}

type UserRecords = Pick<RecordStore, 'atomically' | 'create' | 'update'>;

interface UsersOptions {
  readonly database: Database;
  readonly domains: Pick<Domains, 'get'>;
  readonly collections: GrantingCollections;
  readonly records: UserRecords;
  readonly passwords: Passwords;
  readonly principals: Principals;
  readonly onChange?: OnAccountChange;
}

/** The administration of users, in the domain the admin acts in, not by API keys; and their own profiles. */
export class Users {
  readonly #options: UsersOptions;

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  /**
   * Adds a user who may log in; record and login are created together. @throws FORBIDDEN (403), INVALID_VALUE
   * (400), CONFLICT (409) if the user name is taken
   */
  async add(scope: Scope, user: NewUser, within?: Transaction): Promise<{ readonly id: string }> {
    assertUserAdmin(scope);
    const { name, userName } = user;
    const owner = { userName, name, domainName: scope.domain.name };
    const passwordHash = await this.#options.passwords.hashChosen(user.password, owner);
    return await this.addWith(
      scope,
      user,
      async (transaction, id) => {
        await replacePassword(transaction, { domainId: scope.domain.id, userId: id }, passwordHash);
        return { id };
      },
      within,
    );
  }

  /**
   * Adds a user without a password, and does more with its id in the same transaction. @throws as `add`,
   * except for the password
   */
  async addWith<Result>(
    scope: Scope,
    { id, userName, name, email, roles }: Omit<NewUser, 'password'>,
    work: (transaction: Transaction, id: string) => Promise<Result>,
    within?: Transaction,
  ): Promise<Result> {
    assertUserAdmin(scope);
    const record = defined({ _id: id, user_name: userName, name, email, active: true, roles: [...roles] });
    const { records } = this.#options;
    return await records.atomically(scope, { writes: ['pltf_user'], within }, async (transaction) => {
      const [stored] = await records.create(scope, 'pltf_user', [record], { within: transaction });
      if (!stored) throw new ServiceError('INTERNAL', 'The user was not stored.');
      return await work(transaction, stored.id);
    });
  }

  /**
   * Sets a user's first or new password, and ends all of its sessions. @throws FORBIDDEN (403), INVALID_VALUE
   * (400), NOT_FOUND (404)
   */
  async setPassword(
    scope: Scope,
    change: { readonly userName: string; readonly password: string },
  ): Promise<void> {
    assertUserAdmin(scope);
    const domainId = scope.domain.id;
    const id = await this.#findId(domainId, change.userName);
    if (id === '')
      throw new ServiceError('NOT_FOUND', `There is no user "${change.userName}" in ${scope.domain.name}.`);
    const ref = { domainId, userId: id };
    const { owner, presentHash } = await findPasswordOwner(this.#options.database, ref);
    const passwordHash = await this.#options.passwords.hashChosen(change.password, owner, presentHash);
    await inOwnTransaction(this.#options.database, (transaction) =>
      replacePassword(transaction, ref, passwordHash, scope),
    );
    this.#options.principals.forget(domainId, id);
    this.#options.onChange?.(ref, 'password');
  }

  /**
   * A user of the domain as a principal, for operators who act as that user, and for admins who inspect its
   * rights.
   *
   * @throws FORBIDDEN (403); NOT_FOUND (404) for an unknown name or id, or an inactive user
   */
  async principalOf(
    scope: Scope,
    wanted: { readonly userName: string } | { readonly id: string },
  ): Promise<Principal> {
    assertUserAdmin(scope);
    const domainId = scope.domain.id;
    const id = 'id' in wanted ? wanted.id : await this.#findId(domainId, wanted.userName);
    const { credential } = scope.principal;
    const principal = await this.#options.principals.ofWork({ kind: 'user', id, domainId, credential });
    if (principal !== undefined) return principal;
    const named = 'id' in wanted ? wanted.id : wanted.userName;
    throw new ServiceError('NOT_FOUND', `There is no active user "${named}" in ${scope.domain.name}.`);
  }

  /**
   * Replaces the roles of a user, at once and on every gateway.
   *
   * @throws FORBIDDEN (403), NOT_FOUND (404), INVALID_VALUE (400); CONFLICT (409) if no admin would be left;
   *   VERSION_CONFLICT (412) if the record of the user has another version than `ifVersion`
   */
  async setRoles(
    scope: Scope,
    userId: string,
    { roles, ifVersion }: { readonly roles: readonly string[]; readonly ifVersion?: number | undefined },
  ): Promise<ListedUser> {
    return await this.#change(scope, userId, { data: { roles: [...new Set(roles)] }, ifVersion });
  }

  /**
   * Allows or forbids a user to log in. When forbidden, its sessions end for good, and its API keys are
   * suspended.
   *
   * @throws FORBIDDEN (403), NOT_FOUND (404); CONFLICT (409) if no admin would be left; VERSION_CONFLICT
   *   (412) as `setRoles`
   */
  async setActive(
    scope: Scope,
    userId: string,
    { isActive, ifVersion }: { readonly isActive: boolean; readonly ifVersion?: number | undefined },
  ): Promise<ListedUser> {
    return await this.#change(scope, userId, { data: { active: isActive }, ifVersion });
  }

  /**
   * Ends the lock-out of a user after too many failed log-ins, at all addresses.
   *
   * @throws FORBIDDEN (403), NOT_FOUND (404)
   */
  async unlock(scope: Scope, userId: string): Promise<ListedUser> {
    const user = await this.get(scope, userId);
    if (user.lockedUntil === undefined) return user;
    const act = { collection: '$session', id: userId, operation: 'unlocked' } as const;
    await inOwnTransaction(this.#options.database, async (transaction) => {
      await transaction.query(auditedAct(scope, act));
      await transaction.query(sql`
        delete from login_failures where domain_id = ${scope.domain.id} and user_id = ${userId}`);
    });
    return { ...user, lockedUntil: undefined };
  }

  /** A page of the users of the domain, by user name. @throws FORBIDDEN (403) */
  async page(
    scope: Scope,
    { filter, ...request }: KeysetRequest<UserPlace> & { readonly filter: UserFilter },
  ): Promise<KeysetPage<ListedUser>> {
    assertUserAdmin(scope);
    const { condition, tail } = compileKeyset(request, {
      keys: USER_ORDER,
      direction: 'ascending',
      toValues: ({ userName, id }) => [sql`${userName}`, sql`${id}`],
    });
    const isInPage = sql`${conditionOf(filter)} and ${condition}`;
    return toKeysetPage(await selectUsers(this.#options.database, scope, isInPage, tail), request);
  }

  /**
   * The known roles: those that declarations name, and those that users have.
   *
   * @throws FORBIDDEN (403)
   */
  async roleNames(scope: Scope): Promise<readonly string[]> {
    assertUserAdmin(scope);
    const isOfDomain = liveRecordsIn(scope.domain.id, 'pltf_user');
    const held = await listHeldRoles(this.#options.database, isOfDomain);
    const top = topDomainIdOf(scope.domain);
    const ofSchool = this.#options.collections
      .list()
      .filter(({ domainId }) => domainId === undefined || domainId === top);
    return [...new Set([...declaredRoles(ofSchool), ...held])].sort();
  }

  /** How many users there are. @throws FORBIDDEN (403) */
  async count(scope: Scope, filter: UserFilter): Promise<number> {
    assertUserAdmin(scope);
    const isFound = sql`${liveRecordsIn(scope.domain.id, 'pltf_user')} ${conditionOf(filter)}`;
    return await countIn(this.#options.database, sql`records r where ${isFound}`);
  }

  /** @throws FORBIDDEN (403), NOT_FOUND (404) */
  async get(scope: Scope, userId: string, within?: Transaction): Promise<ListedUser> {
    assertUserAdmin(scope);
    const [user] = await selectUsers(within ?? this.#options.database, scope, sql`and r.id = ${userId}`);
    if (user) return user;
    throw new ServiceError('NOT_FOUND', `There is no user with this id in ${scope.domain.name}.`);
  }

  /** The users of the domain, by user name. @throws FORBIDDEN (403) */
  async list(scope: Scope): Promise<readonly ListedUser[]> {
    assertUserAdmin(scope);
    return await selectUsers(this.#options.database, scope);
  }

  /** The profile of a caller; a system task has none. */
  async profileOf({ domainId, id }: Principal): Promise<Profile> {
    const user = await findUser(this.#options.database, { domainId, userId: id });
    return { name: user?.name ?? '', language: user?.language };
  }

  /**
   * Sets the caller's own language, even if its role may not change its record; `undefined` clears it. The
   * audit trail names the caller.
   *
   * @throws FORBIDDEN (403) for an API key; INVALID_VALUE (400)
   */
  async setLanguage(scope: Scope, language: string | undefined): Promise<void> {
    const { principal } = scope;
    if (principal.kind !== 'user' || principal.scopes !== undefined)
      throw new ServiceError('FORBIDDEN', 'A language is chosen by a user who logged in.');
    const asAdmin: Scope = {
      ...scope,
      domain: this.#options.domains.get(principal.domainId),
      principal: { ...principal, roles: new Set([...principal.roles, 'admin']) },
    };
    await this.#options.records.update(asAdmin, 'pltf_user', principal.id, {
      data: { language: language ?? null },
      mode: 'merge',
    });
  }

  /** The id of the user with this name; empty if there is none. */
  async #findId(domainId: string, userName: string): Promise<string> {
    const [user] = await this.#options.database.query<{ id: string }>(sql`
      select r.id
      from records r
      where ${liveRecordsNamed({ domain: domainId }, 'pltf_user', { field: 'user_name', text: userName })}
      order by r.data->'user_name' = ${JSON.stringify(userName)}::jsonb desc
      limit 1`);
    return user?.id ?? '';
  }

  async #change(
    scope: Scope,
    userId: string,
    change: { readonly data: JsonObject; readonly ifVersion?: number | undefined },
  ): Promise<ListedUser> {
    assertUserAdmin(scope);
    await this.#options.records.update(scope, 'pltf_user', userId, { ...change, mode: 'merge' });
    // The announcement reaches all gateways, but the next request may come before it.
    this.#options.principals.forget(scope.domain.id, userId);
    return await this.get(scope, userId);
  }
}

/** The position after a page of users. */
export interface UserPlace {
  readonly userName: string;
  readonly id: string;
}

function conditionOf({ search, isActive, role }: UserFilter): Sql {
  const pattern = `%${(search ?? '').replaceAll(/[\\%_]/g, '\\$&')}%`;
  const isFound = sql`and (r.data ->> 'user_name' ilike ${pattern}
    or r.data ->> 'name' ilike ${pattern} or r.data ->> 'email' ilike ${pattern})`;
  return sql.join(
    [
      search === undefined || search === '' ? sql.empty : isFound,
      isActive === undefined
        ? sql.empty
        : sql`and coalesce(r.data -> 'active' = 'true', false) = ${isActive}`,
      role === undefined ? sql.empty : sql`and r.data -> 'roles' ? ${role}`,
    ],
    ' ',
  );
}

/** By user name; users without one by id. */
const USER_ORDER: readonly Sql[] = [sql`coalesce(r.data ->> 'user_name', '')`, sql`r.id`];

async function selectUsers(
  database: Queryable,
  scope: Scope,
  condition: Sql = sql.empty,
  tail: Sql = sql`order by ${sql.join([...USER_ORDER])}`,
): Promise<readonly ListedUser[]> {
  const rows = await database.query<ListedUserRow>(sql`
    select r.id, r.version, ${USER_FACTS}
    from records r
    where ${liveRecordsIn(scope.domain.id, 'pltf_user')} ${condition}
    ${tail}`);
  const logins = await selectLogins(
    database,
    scope,
    rows.map(({ id }) => id),
  );
  return rows.map(({ language: _, ...row }) =>
    fromRow<ListedUser>({
      ...row,
      roles: parseRoles(row.roles),
      ...(logins.get(row.id) as UserLogins),
    }),
  );
}

type ListedUserRow = RowOf<UserFacts> & Pick<ListedUser, 'id' | 'version'>;

type UserLogins = RowOf<Pick<ListedUser, 'hasPassword' | 'hasSecondFactor' | 'lastLoginAt' | 'lockedUntil'>>;

/** A separate query, because records may be on another server than logins. */
async function selectLogins(
  database: Queryable,
  scope: Scope,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, UserLogins>> {
  if (userIds.length === 0) return new Map();
  const rows = await database.query<UserLogins & { readonly userId: string }>(sql`
    select
      u.id as "userId",
      exists (
        select from credentials c where c.domain_id = ${scope.domain.id} and c.user_id = u.id
      ) as "hasPassword",
      exists (
        select
        from second_factors f
        where f.domain_id = ${scope.domain.id} and f.user_id = u.id and f.confirmed_at is not null
      ) as "hasSecondFactor",
      (
        select max(s.created_at) from sessions s where s.domain_id = ${scope.domain.id} and s.user_id = u.id
      ) as "lastLoginAt",
      (
        select max(f.locked_until)
        from login_failures f
        where f.domain_id = ${scope.domain.id} and f.user_id = u.id and f.locked_until > now()
      ) as "lockedUntil"
    from unnest(${[...userIds]}::text[]) as u (id)`);
  return new Map(rows.map(({ userId, ...logins }) => [userId, logins]));
}

/** @throws FORBIDDEN (403) */
export function assertUserAdmin(scope: Scope): void {
  if (mayManageAccounts(scope)) return;
  throw new ServiceError(
    'FORBIDDEN',
    `Only an admin manages users, after logging in, or by an API key whose scopes contain "accounts": true.`,
  );
}
