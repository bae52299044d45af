/** What the tests of this room have in common: gateways on a real database, and a school with a few users. */
import type { Principal, Scope } from '../../../src/base/model/scope.js';
import { RateLimits } from '../../../src/gateway/server/admission/rate-limits.js';
import { AccessTokens } from '../../../src/services/auth/access-tokens.js';
import { AccountEvents } from '../../../src/services/auth/account-events.js';
import { ApiKeys } from '../../../src/services/auth/api-keys.js';
import { Authenticator, type Login } from '../../../src/services/auth/authenticator.js';
import { KeyMeter } from '../../../src/services/auth/key-meter.js';
import { LoginLockout } from '../../../src/services/auth/login-lockout.js';
import { type PasswordCost, Passwords } from '../../../src/services/auth/passwords.js';
import { Principals } from '../../../src/services/auth/principals.js';
import { resolveScope } from '../../../src/services/auth/resolve-scope.js';
import { SecondFactors } from '../../../src/services/auth/second-factors.js';
import { loadTokenKeys } from '../../../src/services/auth/service-secret.js';
import { Sessions } from '../../../src/services/auth/sessions.js';
import { loadEncryptionKeys, TextEncryption } from '../../../src/services/auth/text-encryption.js';
import { Catalog } from '../../../src/store/catalog/catalog.js';
import { Domains } from '../../../src/store/catalog/domains.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/sql.js';
import { CHEAP } from '../../cheap-passwords.js';

/** Where the calls of tests come from. */
export const FROM = { address: '127.0.0.1' };

export const PASSWORD = 'correct horse';

/** One gateway of several: its own caches and its own ear for announcements. */
export interface Gateway {
  readonly authenticator: Authenticator;
  readonly apiKeys: ApiKeys;
  readonly principals: Principals;
  readonly passwords: Passwords;
  readonly domains: Domains;
  readonly catalog: Catalog;
  readonly keyMeter: KeyMeter;
  readonly rateLimits: RateLimits;
  scopeOf(principal: Principal, askedDomain?: string): Scope;
  login(userName: string, password?: string): Promise<Login>;
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly cost?: PasswordCost;
  readonly loginLimitPerMinute?: number;
  /** Default: no failure locks a user out. */
  readonly lockoutFailures?: number;
  readonly accessTokenTtlSeconds?: number;
  readonly refreshTokenTtlSeconds?: number;
}

export async function openGateway(database: Database, options: GatewayOptions = {}): Promise<Gateway> {
  const fail = (error: unknown) => {
    throw error;
  };
  const domains = await Domains.load(database);
  const catalog = await Catalog.load({
    database,
    directory: undefined,
    domains: () => domains.list(),
  });
  const principals = await Principals.open({ database, collections: catalog });
  const passwords = new Passwords({ cost: options.cost ?? CHEAP });
  const keyMeter = new KeyMeter({ database, onFault: fail });
  const rateLimits = new RateLimits({
    database,
    limitPerMinute: 600,
    loginLimitPerMinute: options.loginLimitPerMinute ?? 1000,
    onFault: fail,
  });
  const lockout = new LoginLockout({ database, afterFailures: options.lockoutFailures ?? 0 });
  const authenticator = new Authenticator({
    database,
    domains,
    passwords,
    accessTokens: new AccessTokens({ keys: await loadTokenKeys(database, { tokenSecret: undefined }) }),
    sessions: new Sessions({
      ...{ database, principals },
      refreshTokenTtlSeconds: options.refreshTokenTtlSeconds ?? 2_592_000,
      maxDays: 90,
    }),
    principals,
    keyMeter,
    throttle: rateLimits,
    secondFactors: new SecondFactors({
      ...{ database, principals, lockout, roles: [] },
      encryption: new TextEncryption(await loadEncryptionKeys(database, { encryptionSecret: undefined })),
    }),
    lockout,
    accessTokenTtlSeconds: options.accessTokenTtlSeconds ?? 3600,
    events: new AccountEvents({ database, observe: () => undefined }),
  });
  const names = {
    isCollection: (name: string) => name === 'task' || catalog.find(name) !== undefined,
    isReport: (name: string) => name === 'feeDefaulters',
  };
  return {
    authenticator,
    apiKeys: new ApiKeys({ database, principals, names, roles: ['*'], mostPerUser: 50 }),
    principals,
    passwords,
    domains,
    catalog,
    keyMeter,
    rateLimits,
    scopeOf: (principal, askedDomain) => resolveScope(domains, { principal, askedDomain, requestId: 'test' }),
    login: (userName, password = PASSWORD) =>
      authenticator.login({ userName, password, address: '192.0.2.1' }),
    close: async () => {
      await rateLimits.close();
      await keyMeter.close();
      await principals.close();
      await catalog.close();
      await domains.close();
    },
  };
}

/** A top domain and two sub-domains. */
export async function insertDomains(database: Database): Promise<void> {
  await database.query(sql`
    insert into domains (id, name, parent_id)
    values ('top', 'Top', null), ('north', 'North', 'top'), ('south', 'South', 'top')`);
}

export interface TestUser {
  readonly userName: string;
  readonly domain?: string;
  readonly roles?: readonly string[];
  readonly active?: unknown;
  /** Absent: `PASSWORD`; null: none. */
  readonly password?: string | null;
}

/** A user with the id `usr-<user name>`. */
export async function insertUser(database: Database, user: TestUser): Promise<void> {
  const { domain = 'top', roles = ['viewer'], active = true, password = PASSWORD } = user;
  const record = { user_name: user.userName, name: `The ${user.userName}`, active, roles };
  await database.query(sql`
    insert into records (domain, collection, id, data)
    values (${domain}, 'pltf_user', ${`usr-${user.userName}`}, ${JSON.stringify(record)}::jsonb)`);
  if (password === null) return;
  const passwordHash = await new Passwords({ cost: CHEAP }).hash(password);
  await database.query(sql`
    insert into credentials (domain_id, user_id, password_hash)
    values (${domain}, ${`usr-${user.userName}`}, ${passwordHash})`);
}

/** Changes a user's record and announces it in the same statement, as the store does. */
export async function changeUser(
  database: Database,
  userName: string,
  change: Readonly<Record<string, unknown>>,
  domain: string = 'top',
): Promise<void> {
  await database.query(sql`
    with changed as (
      update records
      set data = data || ${JSON.stringify(change)}::jsonb, version = version + 1
      where domain = ${domain} and collection = 'pltf_user' and id = ${`usr-${userName}`}
      returning domain, id
    )
    select pg_notify(campus_channel('campus_principals'), json_build_object('domain', domain, 'user', id)::text) from changed`);
}

/** The code of the error the work ends in; `undefined` when it goes well. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );
}

const SOON_MS = 30_000;

/**
 * Waits until the work ends in the code: an announcement takes a moment to arrive, on a busy machine a longer
 * one.
 */
export async function expectSoon(code: string, work: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + SOON_MS;
  for (;;) {
    const found = await codeOf(work());
    if (found === code) return;
    if (Date.now() > deadline)
      throw new Error(`expected ${code} within ${SOON_MS} ms, but found ${String(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The same database, with its statements counted. */
export function countStatements(database: Database): { readonly database: Database; count: number } {
  const counter = { database, count: 0 };
  counter.database = new Proxy(database, {
    get(target, property) {
      if (property === 'query' || property === 'transaction' || property === 'prisma') counter.count += 1;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return counter;
}

/** The same database, that keeps the first answer to the statement of this name back until told otherwise. */
export function holdAnswers(
  database: Database,
  name: string,
): { readonly database: Database; readonly isReached: Promise<void>; release(): void } {
  const reached = deferred();
  const released = deferred();
  const query: Database['query'] = async (sql, options) => {
    const rows = await database.query(sql, options);
    if (options?.name === name) {
      reached.resolve();
      await released.promise;
    }
    return rows as never;
  };
  const held = new Proxy(database, {
    get(target, property) {
      if (property === 'query') return query;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { database: held, isReached: reached.promise, release: released.resolve };
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}
