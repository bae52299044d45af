/**
 * The current principal of a credential: its user's roles and attributes, for as long as credential and user
 * are valid.
 */

import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ServiceError, tryTo } from '../../base/errors.js';
import { type JsonValue, parseExactJson } from '../../base/json/json.js';
import type { Collection, Grant } from '../../base/model/collection.js';
import {
  type Credential,
  type KeyScopes,
  type Principal,
  SECOND_FACTOR_ALONE,
  systemPrincipal,
  type WorkPrincipal,
} from '../../base/model/scope.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Database } from '../../store/database/database.js';
import { fromRow, type Queryable, type RowOf } from '../../store/database/queryable.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';
import { PRINCIPALS_CHANNEL } from '../../store/writing/record-statements.js';
import type { AccessClaims } from './access-tokens.js';
import { AllowedAddresses } from './allowed-addresses.js';
import { narrowPrincipal } from './key-scopes.js';

/**
 * The expression that announces a change of a user or its credentials, for the select list of the statement
 * that makes it.
 */
export function announceUser(user: { readonly domainId: Sql | string; readonly userId: Sql | string }): Sql {
  return sql`pg_notify(
    campus_channel(${PRINCIPALS_CHANNEL}),
    json_build_object('domain', ${user.domainId}::text, 'user', ${user.userId}::text)::text)`;
}

/** The collections, some of which grant attributes to users. */
export type GrantingCollections = Pick<Catalog, 'list' | 'onChange'>;

/** A valid credential and its principal. */
export interface ResolvedCredential {
  readonly principal: Principal;
  /** The user's full name. */
  readonly name: string;
  /** The user's `tokenEpoch`; `undefined` if the user has no password. */
  readonly epoch: number | undefined;
  /**
   * The expiry of a key, in milliseconds of Unix time; `Infinity`: never. A session outlives the tokens
   * signed for it.
   */
  readonly expiresAt: number;
  /** The allowed addresses of a key and its tokens; a session may be used from anywhere. */
  readonly addresses: AllowedAddresses;
}

type CredentialRef = Omit<AccessClaims, 'epoch'>;

/** Refusals are cached too: a revoked token costs one round trip, not one per attempt. */
interface Remembered {
  readonly resolved: ResolvedCredential | undefined;
  readonly loadedAt: number;
}

const MOST_USERS = 10_000;
const MOST_CREDENTIALS_OF_A_USER = 100;
const MOST_KEYS = 10_000;
const MOST_ATTEMPTS = 4;

/** A safety net in case announcements are missed: no entry is used for longer. */
const MAX_AGE_MS = 15_000;

/**
 * Loads and caches principals, so that an authenticated request needs no round trip.
 *
 * The entries of a user are dropped when a change is announced on `campus_principals`, or by `forget`; all
 * entries are dropped when announcements may have been missed, or when the granting collections change. A
 * load that was in progress at that moment is repeated, because it may have read the old state.
 *
 * The owner closes it.
 */
export class Principals {
  readonly #database: Database;
  readonly #collections: GrantingCollections;
  readonly #users = new LRUCache<string, Map<string, Remembered>>({ max: MOST_USERS });
  /** The owner of each key, by the hash of the key. A key never changes its owner, so entries stay valid. */
  readonly #keyOwners = new LRUCache<string, CredentialRef>({ max: MOST_KEYS });
  readonly #loading = new Map<string, Promise<Remembered>>();
  /** Incremented with every announced change. */
  #changes = 0;
  #stopListening: () => Promise<void> = async () => {};

  private constructor(database: Database, collections: GrantingCollections) {
    this.#database = database;
    this.#collections = collections;
  }

  static async open(options: {
    readonly database: Database;
    readonly collections: GrantingCollections;
  }): Promise<Principals> {
    const principals = new Principals(options.database, options.collections);
    const stopHearing = await options.database.listen(
      PRINCIPALS_CHANNEL,
      (payload) => principals.#hear(payload),
      () => principals.forgetAll(),
    );
    const stopWatching = options.collections.onChange(() => principals.forgetAll());
    principals.#stopListening = async () => {
      stopWatching();
      await stopHearing();
    };
    return principals;
  }

  async close(): Promise<void> {
    await this.#stopListening();
  }

  /**
   * The resolved of a verified access token; `undefined` if its session, key, user or epoch is no longer
   * valid.
   */
  async ofToken(claims: AccessClaims): Promise<ResolvedCredential | undefined> {
    const resolved = await this.#resolve(claims);
    // A key, and the tokens exchanged for it, survive a change of password.
    return claims.origin.kind === 'session' && resolved?.epoch !== claims.epoch ? undefined : resolved;
  }

  /** The resolved of an API key, found by the hash of the key. */
  async ofKey(keyHash: Buffer): Promise<ResolvedCredential | undefined> {
    const cacheKey = keyHash.toString('base64url');
    const owner = this.#keyOwners.get(cacheKey) ?? (await this.#loadKeyOwner(keyHash));
    if (!owner) return undefined;
    this.#keyOwners.set(cacheKey, owner);
    return await this.#resolve(owner);
  }

  /**
   * The principal of work that outlasts the check of its rights: what the user or key may do now, and no more
   * than the work began with. `undefined` if the user or key may do nothing any more. The session may have
   * ended.
   *
   * All work done later on behalf of a user gets its rights here, each time it acts.
   */
  async ofWork(work: WorkPrincipal): Promise<Principal | undefined> {
    const { kind, id, domainId, credential } = work;
    if (kind === 'system') return { ...systemPrincipal(id, work.roles ?? [], domainId), credential };
    const present = await this.#presentOf(work);
    if (present === undefined) return undefined;
    const roles = [...(work.roles ?? present.roles)].filter((role) => present.roles.has(role));
    const narrowed =
      work.scopes === undefined
        ? { ...present, roles: new Set(roles) }
        : narrowPrincipal(present, { roles, scopes: work.scopes, part: '' });
    return { ...narrowed, credential };
  }

  /**
   * Refuses to continue long work of a request whose caller has lost its session, its key or any right since
   * the request began. Usually without a round trip.
   *
   * @throws UNAUTHENTICATED (401), FORBIDDEN (403)
   */
  async assertUnchanged(principal: Principal): Promise<void> {
    const { kind, id: userId, domainId, credential } = principal;
    if (kind === 'system' || credential.kind === 'system') return;
    const ref = { domainId, userId, origin: originOf(credential) };
    const resolved = await this.#resolve(ref);
    if (resolved === undefined) {
      throw new ServiceError('UNAUTHENTICATED', 'The credential has ended, and so has this request.');
    }
    const { roles, scopes = SECOND_FACTOR_ALONE } = principal;
    const { part } = credential;
    const present =
      part === undefined
        ? resolved.principal
        : narrowPrincipal(resolved.principal, { roles: [...roles], scopes, part });
    const rightsOf = ({ roles, scopes, attributes }: Principal) => [roles, scopes, attributes];
    if (isDeepStrictEqual(rightsOf(present), rightsOf(principal))) return;
    throw new ServiceError('FORBIDDEN', 'Your rights have changed since this request began. Send it again.');
  }

  /** The user's present rights, or the key's, whatever became of the session. */
  async #presentOf({ domainId, id, credential }: WorkPrincipal): Promise<Principal | undefined> {
    if (credential.kind === 'key') {
      const ref = { domainId, userId: id, origin: { kind: 'key', id: credential.id } } as const;
      return (await this.#resolve(ref))?.principal;
    }
    const user = { domainId, userId: id };
    const [found, attributes] = await Promise.all([
      findUser(this.#database, user),
      loadPrincipalAttributes(this.#database, this.#collections.list(), user),
    ]);
    if (!found?.isActive) return undefined;
    return {
      ...{ kind: 'user', id, userName: found.userName, domainId, credential, scopes: undefined, attributes },
      roles: new Set(parseRoles(found.roles)),
    };
  }

  /**
   * Drops the entries of a user, or all if it is unknown whom a change concerns. For changes by this process,
   * before they are answered; those of others are announced.
   */
  forget(domainId: string, userId: string | undefined): void {
    if (userId === undefined) {
      this.forgetAll();
      return;
    }
    this.#changes += 1;
    this.#users.delete(userKey({ domainId, userId }));
    this.#loading.clear();
  }

  forgetAll(): void {
    this.#changes += 1;
    this.#users.clear();
    this.#loading.clear();
  }

  #hear(payload: string): void {
    const change = changeSchema.safeParse(tryTo(() => JSON.parse(payload)));
    if (change.success) this.forget(change.data.domain, change.data.user);
    else this.forgetAll();
  }

  /** `undefined` if the credential is not valid any more. */
  async #resolve(ref: CredentialRef): Promise<ResolvedCredential | undefined> {
    const { resolved } = this.#find(ref) ?? (await this.#load(ref));
    return resolved && resolved.expiresAt > Date.now() ? resolved : undefined;
  }

  #find(ref: CredentialRef): Remembered | undefined {
    if (!this.#database.isHearing) return undefined;
    const remembered = this.#users.get(userKey(ref))?.get(ref.origin.id);
    return remembered && performance.now() - remembered.loadedAt <= MAX_AGE_MS ? remembered : undefined;
  }

  /** Concurrent requests share a load. */
  #load(ref: CredentialRef): Promise<Remembered> {
    const { id } = ref.origin;
    const started = this.#loading.get(id);
    if (started !== undefined) return started;
    const loading = this.#loadSettled(ref).finally(() => {
      if (this.#loading.get(id) === loading) this.#loading.delete(id);
    });
    this.#loading.set(id, loading);
    return loading;
  }

  async #loadSettled(ref: CredentialRef): Promise<Remembered> {
    // During a storm of changes, the last result is valid for this request, which came before some of them,
    // but it is not cached.
    for (let attempt = 1; ; attempt += 1) {
      const changes = this.#changes;
      const loaded = { resolved: await this.#read(ref), loadedAt: performance.now() };
      if (changes === this.#changes) this.#remember(ref, loaded);
      if (changes === this.#changes || attempt === MOST_ATTEMPTS) return loaded;
    }
  }

  #remember(ref: CredentialRef, loaded: Remembered): void {
    const credentials = getOrMake<string, Map<string, Remembered>>(
      this.#users,
      userKey(ref),
      () => new Map(),
    );
    if (credentials.size >= MOST_CREDENTIALS_OF_A_USER) credentials.clear();
    credentials.set(ref.origin.id, loaded);
  }

  async #read(ref: CredentialRef): Promise<ResolvedCredential | undefined> {
    const [rows, attributes] = await Promise.all([
      this.#database.query<CredentialRow>(selectCredential(ref), { name: `auth-${ref.origin.kind}` }),
      loadPrincipalAttributes(this.#database, this.#collections.list(), ref),
    ]);
    const [row] = rows;
    if (!row) return undefined;
    return {
      principal: {
        kind: 'user',
        id: ref.userId,
        userName: row.userName,
        domainId: ref.domainId,
        roles: new Set(row.isConfined ? [] : parseRoles(row.roles)),
        credential: { kind: ref.origin.kind === 'session' ? 'token' : 'key', id: ref.origin.id },
        scopes: row.isConfined ? SECOND_FACTOR_ALONE : (row.scopes ?? undefined),
        attributes,
      },
      name: row.name,
      epoch: row.epoch ?? undefined,
      expiresAt: row.expiresAt ?? Number.POSITIVE_INFINITY,
      addresses: new AllowedAddresses(row.addresses ?? []),
    };
  }

  async #loadKeyOwner(keyHash: Buffer): Promise<CredentialRef | undefined> {
    const [row] = await this.#database.query<{ id: string; domainId: string; userId: string }>(
      sql`
        select id, domain_id as "domainId", user_id as "userId"
        from api_keys
        where key_hash = ${keyHash}`,
      { name: 'auth-key-owner' },
    );
    return row && { domainId: row.domainId, userId: row.userId, origin: { kind: 'key', id: row.id } };
  }
}

/** The roles in a user's record; anything but a text is ignored. */
export function parseRoles(written: unknown): readonly string[] {
  return Array.isArray(written) ? written.filter((role) => typeof role === 'string') : [];
}

const changeSchema = z.object({ domain: z.string(), user: z.string().optional() });

interface CredentialRow extends Pick<UserFacts, 'userName' | 'name' | 'roles'> {
  readonly epoch: number | null;
  readonly expiresAt: number | null;
  readonly scopes: KeyScopes | null;
  readonly addresses: readonly string[] | null;
  readonly isConfined: boolean;
}

/** The user of a session or key, and what the session or key is limited to. */
function selectCredential({ domainId, userId, origin }: CredentialRef): Sql {
  const limits =
    origin.kind === 'session'
      ? sql`null as "expiresAt", null::jsonb as scopes, null::text[] as addresses,
        o.is_confined as "isConfined"
      from sessions o
      join credentials c on c.domain_id = o.domain_id and c.user_id = o.user_id`
      : sql`(extract(epoch from o.expires_at) * 1000)::float8 as "expiresAt", o.scopes,
        o.allowed_addresses as addresses, false as "isConfined"
      from api_keys o
      left join credentials c on c.domain_id = o.domain_id and c.user_id = o.user_id`;
  return sql`
    select ${USER_FACTS}, c.token_epoch as epoch, ${limits}
    join records r on ${liveRecordsIn(domainId, 'pltf_user')} and r.id = ${userId}
    where o.id = ${origin.id}::uuid
      and o.domain_id = ${domainId}
      and o.user_id = ${userId}
      and o.revoked_at is null
      and r.data -> 'active' = 'true'`;
}

/** The session or key from which the credential of a user comes. */
export function originOf({ kind, id }: Credential): AccessClaims['origin'] {
  return { kind: kind === 'key' ? 'key' : 'session', id };
}

function userKey({ domainId, userId }: UserRef): string {
  return `${domainId}\n${userId}`;
}

export type PrincipalAttributes = Readonly<Record<string, readonly (readonly JsonValue[])[]>>;

/**
 * The attributes of a user, from the records of all granting collections, in one round trip (none without
 * grants).
 *
 * With `{ attribute: 'sectionsTaught', list: 'sections', caller: 'class_teacher', key: [['name'],
 * ['sections', 'name']] }` the class teacher of 5 A has `sectionsTaught: [["5", "A"]]`. An element that lacks
 * a part of the key grants nothing.
 *
 * @see Grant
 */
export async function loadPrincipalAttributes(
  database: Queryable,
  collections: readonly Collection[],
  user: UserRef,
): Promise<PrincipalAttributes> {
  const selects = collections.flatMap((collection) =>
    collection.grants.map((grant) => selectGrant(collection, grant, user)),
  );
  if (selects.length === 0) return {};
  const rows = await database.query<{ attribute: string; key: string }>(sql.join(selects, ' union all '));
  const keysByAttribute = new Map<string, (readonly JsonValue[])[]>();
  for (const { attribute, key } of rows) {
    const parts = parseExactJson(key);
    if (!Array.isArray(parts) || parts.includes(null)) continue;
    keysByAttribute.set(attribute, [...(keysByAttribute.get(attribute) ?? []), parts]);
  }
  return Object.fromEntries(keysByAttribute);
}

/**
 * Selects the rows `attribute` and `key` (a list, as JSON text) that a collection grants to a user. A key
 * with a null grants nothing.
 */
export function selectGrant(collection: Collection, grant: Grant, user: UserRef): Sql {
  const isCaller = `${jsonPathOf([grant.caller, 'value'])} ? (@ == ${JSON.stringify(user.userId)})`;
  const list = sql`r.data -> ${grant.list}::text`;
  return sql`
    select ${grant.attribute}::text as attribute,
      jsonb_build_array(${sql.join(grant.key.map((path) => selectPart(path, grant)))})::text as key
    from records r
    cross join lateral jsonb_array_elements(case jsonb_typeof(${list}) when 'array' then ${list}
      else '[]' end) as e (element)
    where ${liveRecordsIn(user.domainId, collection.name)}
      and r.data @? ${`$.${JSON.stringify(grant.list)}[*]${isCaller.slice(1)}`}::jsonpath
      and jsonb_path_exists(e.element, ${isCaller}::jsonpath)`;
}

function selectPart(path: readonly string[], grant: Grant): Sql {
  const [first, ...rest] = path;
  return first === grant.list ? sql`e.element #> ${rest}::text[]` : sql`r.data #> ${[...path]}::text[]`;
}

/** In lax mode a step also descends into lists. */
function jsonPathOf(path: readonly string[]): string {
  return ['$', ...path.map((step) => JSON.stringify(step))].join('.');
}

export interface UserRef {
  readonly domainId: string;
  readonly userId: string;
}

/** The facts in the record of a user. */
export interface UserFacts {
  readonly userName: string;
  /** Full name. */
  readonly name: string;
  readonly email: string | undefined;
  readonly language: string | undefined;
  readonly roles: unknown;
  readonly isActive: boolean;
}

/** The columns `UserFacts` of the record `r` of a user. */
export const USER_FACTS = sql`coalesce(r.data ->> 'user_name', '') as "userName",
  coalesce(r.data ->> 'name', '') as name, r.data ->> 'email' as email, r.data ->> 'language' as language,
  r.data -> 'roles' as roles, coalesce(r.data -> 'active' = 'true', false) as "isActive"`;

/** Reads the facts in the record of a user; `undefined` if there is no record. */
export async function findUser(
  database: Queryable,
  { domainId, userId }: UserRef,
): Promise<UserFacts | undefined> {
  const [row] = await database.query<RowOf<UserFacts>>(
    sql`
      select ${USER_FACTS}
      from records r
      where ${liveRecordsIn(domainId, 'pltf_user')} and r.id = ${userId}`,
    { name: 'auth-user' },
  );
  return row && fromRow<UserFacts>(row);
}
