/** Authenticates credentials: the one place where a caller becomes a principal. */
import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Rate, ServiceError } from '../../base/errors.js';
import { type Credential, type Domain, lacksSecondFactor, type Principal } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import { liveRecordsIn, liveRecordsNamed } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { AccessClaims, AccessTokens } from './access-tokens.js';
import type { AccountEvents, Origin } from './account-events.js';
import type { OnAccountChange } from './account-mails.js';
import type { KeyMeter } from './key-meter.js';
import { narrowPrincipal } from './key-scopes.js';
import { type LoginKey, type LoginLockout, loginKey } from './login-lockout.js';
import { findPasswordOwner, type Passwords } from './passwords.js';
import {
  originOf,
  type Principals,
  parseRoles,
  type ResolvedCredential,
  USER_FACTS,
  type UserFacts,
  type UserRef,
} from './principals.js';
import type { DomainDirectory } from './resolve-scope.js';
import { SECOND_FACTOR, type SecondFactors } from './second-factors.js';
import { createOpaqueSecret, hashOpaqueSecret, KEY_PREFIX } from './service-secret.js';
import { replacePassword, type Sessions } from './sessions.js';

export interface LoginAttempt {
  /** Absent: the top domain. */
  readonly domainId?: string | undefined;
  readonly userName: string;
  readonly password: string;
  /** The code of the second factor, if the user has one. */
  readonly code?: string | undefined;
  /** The caller's IP address. */
  readonly address: string;
  /** The User-Agent, by which users recognize their sessions. */
  readonly userAgent?: string | undefined;
  readonly requestId?: string | undefined;
  /** A program that logs in for every call gets the tokens of its last log-in again, for a minute. */
  readonly mayRepeat?: boolean | undefined;
}

/** An identity confirmed by an identity provider. */
export interface IdentityAttempt extends Pick<LoginAttempt, 'code' | 'address' | 'userAgent' | 'requestId'> {
  /** Empty: the top domain. */
  readonly domainId: string;
  /** Verified by the provider. */
  readonly email: string;
  /** The provider has checked a second factor itself. */
  readonly hasSecondFactor: boolean;
}

/** The result of a login: the tokens, and the user. */
export interface Login {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  /** `undefined` for an exchanged API key: the key itself gets the next token. */
  readonly refreshToken: string | undefined;
  /** The life of the refresh token. */
  readonly refreshTokenTtlSeconds: number | undefined;
  readonly user: {
    readonly id: string;
    readonly userName: string;
    readonly name: string;
    readonly roles: readonly string[];
    readonly domain: string;
  };
}

/** Limits concurrent and total attempts over all gateways. Implemented by `RateLimits` of the server. */
interface LoginThrottle {
  takeLogin(userName: string, address: string): Promise<Rate & { giveBack(): Promise<void> }>;
}

export interface AuthenticatorOptions {
  readonly database: Database;
  readonly domains: DomainDirectory;
  readonly passwords: Passwords;
  readonly accessTokens: AccessTokens;
  readonly sessions: Sessions;
  readonly principals: Principals;
  readonly keyMeter: Pick<KeyMeter, 'touch'>;
  readonly throttle: LoginThrottle;
  readonly lockout: LoginLockout;
  readonly secondFactors: SecondFactors;
  readonly accessTokenTtlSeconds: number;
  readonly events: AccountEvents;
  readonly onChange?: OnAccountChange;
}

/** No user has a longer name. */
export const LONGEST_USER_NAME = 256;
const LONGEST_BEARER = 4096;
/** The tabs of a restarted browser refresh at the same time. */
const BROWSER_LEEWAY_SECONDS = 10;
const REPEATED_LOGINS = { max: 1000, ttl: 60_000 };

/** @see interface 5, decisions 6 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  /** By a hash of all that was sent, under a key of this process. */
  readonly #recentLogins = new LRUCache<string, Login>(REPEATED_LOGINS);
  readonly #hashKey = randomBytes(32);

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * The principal of a bearer credential, an access token or an API key. Needs no round trip for a credential
   * seen before, unless its user has changed. `address` is the caller's; without it, a key limited to some
   * addresses is refused. `onKnown` receives the owner of the credential, even if it is then refused for its
   * address, so that the owner can see the attempt.
   *
   * @throws UNAUTHENTICATED (401), the same for every reason; FORBIDDEN (403) for a key used from a wrong
   *   address
   */
  async authenticate(
    bearer: string,
    address?: string,
    onKnown: (credential: Credential) => void = () => {},
  ): Promise<Principal> {
    const isPossible = bearer.length <= LONGEST_BEARER;
    if (isPossible && bearer.startsWith(KEY_PREFIX)) {
      const resolved = await this.#resolveKey(bearer, address, onKnown);
      if (resolved) return resolved.principal;
    } else if (isPossible) {
      const principal = await this.#ofToken(bearer, address, onKnown);
      if (principal) return principal;
    }
    throw new ServiceError('UNAUTHENTICATED', 'The access token or API key is wrong, expired or revoked.');
  }

  /**
   * Checks a user name and password, and opens a session.
   *
   * @throws WRONG_LOGIN (401), with the same text and time for an unknown domain or user, a user who may not
   *   log in, and a wrong password; TOO_MANY_REQUESTS (429) for more than ten attempts a minute
   */
  async login(attempt: LoginAttempt): Promise<Login> {
    const { lockout, passwords, events } = this.#options;
    const { domain, key, giveBack } = await this.#admit(attempt, attempt.userName);
    await lockout.assertOpen(key);
    const recent = this.#recentLogin(key, attempt);
    const repeated = await recent?.find();
    if (repeated) {
      await giveBack();
      return repeated;
    }
    const user = await this.#findUser(domain?.id, attempt.userName);
    const check = await passwords.check(user?.passwordHash ?? undefined, attempt.password);
    if (!domain || !user?.isActive || !check.isMatch || user.epoch === null) {
      await lockout.noteFailure(key, domain && user && { domainId: domain.id, userId: user.id });
      await events.loginFailed(domain?.id, user, attempt);
      throw wrongLogin();
    }
    const known = { ...user, epoch: user.epoch };
    const login = await this.#enter(known, { ...attempt, domainId: domain.id }, { key, giveBack });
    await lockout.reset(key);
    if (check.isOutdated) await this.#rehash(domain.id, user, attempt.password);
    recent?.keep(login);
    return login;
  }

  /**
   * Opens a session for the user with an email address that an identity provider has verified. The code of
   * the second factor is required as for any login, unless the provider has checked one.
   *
   * @throws WRONG_LOGIN (401) if no active user has the address, or several have; SECOND_FACTOR_REQUIRED
   *   (401); TOO_MANY_REQUESTS (429)
   */
  async loginByIdentity(attempt: IdentityAttempt): Promise<Login> {
    const { lockout, events } = this.#options;
    const { domain, giveBack } = await this.#admit(attempt, attempt.email);
    const users = await this.#findByEmail(domain?.id ?? '', attempt.email);
    const [user] = users;
    if (!domain || !user || users.length > 1) {
      await events.loginFailed(domain?.id, undefined, attempt);
      throw wrongLogin();
    }
    const key = loginKey(domain.id, user.userName, attempt.address);
    const known = { ...user, epoch: await this.#epochOf(domain.id, user) };
    if (!attempt.hasSecondFactor) await lockout.assertOpen(key);
    return await this.#enter(known, { ...attempt, domainId: domain.id }, { key, giveBack });
  }

  /** Opens a session for a user who has shown who it is, but for a second factor. */
  async #enter(
    user: Omit<StoredUser, 'passwordHash'> & { readonly epoch: number },
    attempt: Omit<IdentityAttempt, 'email' | 'hasSecondFactor'> &
      Pick<Partial<IdentityAttempt>, 'hasSecondFactor'>,
    { key, giveBack }: { readonly key: LoginKey; giveBack(): Promise<void> },
  ): Promise<Login> {
    const { id: userId, userName, epoch } = user;
    const ref = { domainId: attempt.domainId, userId, userName, epoch };
    const roles = parseRoles(user.roles);
    const isConfined = !attempt.hasSecondFactor && (await this.#lacksSecondFactor(ref, roles, attempt, key));
    const session = await this.#options.sessions.open(ref, { ...attempt, isConfined });
    if (!session) throw wrongLogin();
    await giveBack();
    await this.#options.events.loggedIn(ref, attempt);
    const origin = { kind: 'session', id: session.sessionId } as const;
    return await this.#answer({ ...ref, origin }, { ...user, roles }, { refreshToken: session.refreshToken });
  }

  /**
   * An access token with the rights of an API key, which ends with the key at the latest.
   *
   * @throws UNAUTHENTICATED (401); FORBIDDEN (403) for a key used from a wrong address
   */
  async exchangeKey(key: string, address?: string): Promise<Login> {
    const resolved = await this.#resolveKey(key, address);
    if (!resolved) throw new ServiceError('UNAUTHENTICATED', 'The API key is wrong, expired or revoked.');
    const { principal, epoch, expiresAt, name } = resolved;
    return await this.#answer(
      {
        domainId: principal.domainId,
        userId: principal.id,
        epoch: epoch ?? 0,
        origin: originOf(principal.credential),
      },
      { id: principal.id, userName: principal.userName, name, roles: [...principal.roles] },
      { refreshToken: undefined, expiresAt },
    );
  }

  /** Ends the session of a refresh token, on every gateway; an unknown token is not an error. */
  async endSession(refreshToken: string, origin: Origin): Promise<void> {
    const ended = await this.#options.sessions.endOf(refreshToken);
    if (ended === undefined) return;
    await this.#options.events.ended('loggedOut', ended, origin);
  }

  /**
   * Issues new tokens for a refresh token, which is thereby used up. Using one again ends its session. The
   * tabs of a browser share a token: each that sends it within ten seconds of the first gets new tokens.
   *
   * @throws UNAUTHENTICATED (401)
   */
  async refresh(refreshToken: string, origin: Origin, by: 'program' | 'browser' = 'program'): Promise<Login> {
    const leewaySeconds = by === 'browser' ? BROWSER_LEEWAY_SECONDS : 0;
    const { sessions, events } = this.#options;
    const session = await sessions.renew(refreshToken, { leewaySeconds });
    if (session) {
      const { domainId, userId, epoch, sessionId } = session;
      return await this.#answer(
        { domainId, userId, epoch, origin: { kind: 'session', id: sessionId } },
        { id: userId, userName: session.userName, name: session.name, roles: parseRoles(session.roles) },
        { refreshToken: session.refreshToken },
      );
    }
    const ended = await sessions.endOf(refreshToken, 'used');
    if (ended) await events.ended('tokenReused', ended, origin);
    throw new ServiceError(
      'UNAUTHENTICATED',
      'The refresh token is wrong, expired or was used before. Log in again.',
    );
  }

  /**
   * Ends the session of the caller's token, on every gateway. @throws FORBIDDEN (403) for an API key, which
   * has no session: revoke it
   */
  async logout(principal: Principal, origin: Origin): Promise<void> {
    if (principal.credential.kind !== 'token')
      throw new ServiceError('FORBIDDEN', 'An API key has no session to end; it is ended by revoking it.');
    if (principal.scopes !== undefined && !lacksSecondFactor(principal))
      throw new ServiceError(
        'FORBIDDEN',
        'This token has only some rights of its session, and may not end it.',
      );
    const { id: userId, domainId, userName, credential } = principal;
    await this.#options.sessions.end(credential.id);
    const session = { domainId, userId, userName, sessionId: credential.id };
    await this.#options.events.ended('loggedOut', session, origin);
  }

  /**
   * Sets a new password and ends every session of the user, including the caller's. API keys remain valid.
   *
   * @throws WRONG_LOGIN (401) if the old password is wrong; INVALID_VALUE (400) if the new one is not
   *   acceptable; FORBIDDEN (403) for an API key; TOO_MANY_REQUESTS (429) for more than ten attempts a minute
   */
  async changePassword(
    principal: Principal,
    oldPassword: string,
    newPassword: string,
    requestId = 'change of password',
  ): Promise<void> {
    const { database, passwords, principals, throttle, lockout, onChange } = this.#options;
    if (principal.credential.kind !== 'token' || principal.scopes !== undefined)
      throw new ServiceError(
        'FORBIDDEN',
        'A password is changed after logging in with it, not with an API key.',
      );
    const user = { domainId: principal.domainId, userId: principal.id };
    // Attempts are limited, so that a stolen token cannot be used to guess the password.
    const key = loginKey(user.domainId, principal.userName, 'change of password');
    const taken = assertNotThrottled(await throttle.takeLogin(key.userName, key.address));
    await lockout.assertOpen(key);
    const stored = await database.prisma.credential.findUnique({ where: { domainId_userId: user } });
    const { isMatch } = await passwords.check(stored?.passwordHash, oldPassword);
    if (!isMatch) {
      await lockout.noteFailure(key, user);
      throw new ServiceError('WRONG_LOGIN', 'The old password is wrong.');
    }
    await taken.giveBack();
    const { owner, presentHash } = await findPasswordOwner(database, user);
    const passwordHash = await passwords.hashChosen(newPassword, owner, presentHash);
    const by = { domain: { id: user.domainId }, principal, call: { requestId } };
    await inOwnTransaction(database, (transaction) => replacePassword(transaction, user, passwordHash, by));
    principals.forget(user.domainId, user.userId);
    onChange?.(user, 'password');
  }

  /**
   * Counts an attempt before anything is looked up, and finds its domain, which may be unknown.
   *
   * @throws TOO_MANY_REQUESTS (429)
   */
  async #admit(
    { domainId, address }: Pick<LoginAttempt, 'domainId' | 'address'>,
    name: string,
  ): Promise<{ readonly domain: Domain | undefined; readonly key: LoginKey; giveBack(): Promise<void> }> {
    const { domains, throttle } = this.#options;
    const askedId = domainId === undefined || domainId === '' ? (domains.top()?.id ?? '') : domainId;
    const key = loginKey(askedId, name, address);
    const { giveBack } = assertNotThrottled(await throttle.takeLogin(key.userName, address));
    await domains.assureKnown(askedId);
    return { domain: domains.find(askedId), key, giveBack };
  }

  /**
   * The same log-in of the same program within the minute. Its tokens are good again while nothing has ended
   * them: neither a log-out nor a use of the refresh token, which would end the session when used again.
   */
  #recentLogin({ userName, address }: LoginKey, { mayRepeat, code, password, userAgent }: LoginAttempt) {
    if (mayRepeat !== true || code !== undefined) return undefined;
    const sent = JSON.stringify([userName, address, password, userAgent]);
    const key = createHmac('sha256', this.#hashKey).update(sent).digest('base64url');
    return {
      keep: (login: Login) => this.#recentLogins.set(key, login),
      find: async (): Promise<Login | undefined> => {
        const login = this.#recentLogins.get(key);
        if (login?.refreshToken === undefined) return undefined;
        const ageSeconds = (REPEATED_LOGINS.ttl - this.#recentLogins.getRemainingTTL(key)) / 1000;
        const expiresInSeconds = Math.floor(login.expiresInSeconds - ageSeconds);
        if (expiresInSeconds < ageSeconds) return undefined;
        const isValid =
          (await this.#ofToken(login.accessToken, address, () => {})) !== undefined &&
          (await this.#options.sessions.isUnused(login.refreshToken));
        return isValid ? { ...login, expiresInSeconds } : undefined;
      },
    };
  }

  /**
   * Whether the user has to set a second factor up; one that is there is checked. Whoever guesses codes knows
   * the password and may try from anywhere, so these failures are also counted over all addresses.
   *
   * @throws SECOND_FACTOR_REQUIRED (401); TOO_MANY_REQUESTS (429)
   */
  async #lacksSecondFactor(
    user: UserRef & { readonly userName: string },
    roles: readonly string[],
    attempt: Pick<LoginAttempt, 'code' | 'address' | 'requestId'>,
    key: LoginKey,
  ): Promise<boolean> {
    const { secondFactors, lockout, events } = this.#options;
    const everywhere = { ...key, address: SECOND_FACTOR };
    if (attempt.code !== undefined) await lockout.assertOpen(everywhere);
    const outcome = await secondFactors.check(user, attempt.code);
    if (outcome === 'missing')
      throw new ServiceError('SECOND_FACTOR_REQUIRED', 'Send the code of your second factor as `code`.');
    if (outcome === 'wrong') {
      await lockout.noteFailure(key, user);
      await lockout.noteFailure(everywhere, user);
      await events.loginFailed(user.domainId, { id: user.userId, userName: user.userName }, attempt);
      throw new ServiceError('SECOND_FACTOR_REQUIRED', 'The code is wrong, or was used before.');
    }
    if (outcome === 'right') await lockout.reset(everywhere);
    return outcome === 'none' && secondFactors.isRequired(roles);
  }

  async #ofToken(
    token: string,
    address: string | undefined,
    onKnown: (credential: Credential) => void,
  ): Promise<Principal | undefined> {
    const claims = await this.#options.accessTokens.verify(token);
    const resolved = claims && (await this.#options.principals.ofToken(claims));
    if (resolved === undefined) return undefined;
    const { principal } = resolved;
    onKnown(principal.credential);
    assertAddress(resolved, address);
    if (claims?.delegation === undefined) return principal;
    const part = hashOpaqueSecret(token).toString('base64url');
    return narrowPrincipal(principal, { ...claims.delegation, part });
  }

  async #resolveKey(
    key: string,
    address: string | undefined,
    onKnown: (credential: Credential) => void = () => {},
  ): ReturnType<Principals['ofKey']> {
    const resolved = await this.#options.principals.ofKey(hashOpaqueSecret(key));
    if (resolved === undefined) return undefined;
    onKnown(resolved.principal.credential);
    assertAddress(resolved, address);
    this.#options.keyMeter.touch(resolved.principal.credential.id, address);
    return resolved;
  }

  async #findUser(domainId: string | undefined, userName: string): Promise<StoredUser | undefined> {
    // Looking for an unknown domain has already taken a round trip.
    if (domainId === undefined) return undefined;
    // The round trip is made for an impossible name too, so that it takes the same time.
    const isPossible =
      userName.length > 0 && userName.length <= LONGEST_USER_NAME && !userName.includes('\0');
    const text = isPossible ? userName : '';
    const place = { domain: isPossible ? domainId : '' };
    const [user] = await this.#options.database.query<StoredUser>(
      sql`
        select r.id, ${USER_FACTS}, c.password_hash as "passwordHash", c.token_epoch as epoch
        from records r
        left join credentials c on c.domain_id = r.domain and c.user_id = r.id
        where ${liveRecordsNamed(place, 'pltf_user', { field: 'user_name', text })}
        order by r.data->'user_name' = ${JSON.stringify(text)}::jsonb desc
        limit 1`,
      { name: 'auth-login' },
    );
    return user;
  }

  /**
   * Only the letters A to Z are compared without case: other rules of case take letters for others, such as
   * the Kelvin sign for k, and a provider may give the one address to one person and the other to another.
   * For the same reason an address in another form than NFKC belongs to nobody.
   */
  async #findByEmail(domainId: string, email: string): Promise<readonly Omit<StoredUser, 'passwordHash'>[]> {
    if (email !== email.normalize('NFKC')) return [];
    return await this.#options.database.query(sql`
      select r.id, ${USER_FACTS}, c.token_epoch as epoch
      from records r
      left join credentials c on c.domain_id = r.domain and c.user_id = r.id
      where ${liveRecordsIn(domainId, 'pltf_user')}
        and r.data -> 'active' = 'true'
        and lower((r.data ->> 'email') collate "C") = lower(${email}::text collate "C")
      limit 2`);
  }

  /** A user without a password gets a random one, because sessions end with the password they began with. */
  async #epochOf(domainId: string, user: Pick<StoredUser, 'id' | 'epoch'>): Promise<number> {
    if (user.epoch !== null) return user.epoch;
    const { database, passwords } = this.#options;
    const passwordHash = await passwords.hash(createOpaqueSecret('cgl'));
    const [stored] = await database.query<{ epoch: number }>(sql`
      insert into credentials as c (domain_id, user_id, password_hash)
      values (${domainId}, ${user.id}, ${passwordHash})
      on conflict (domain_id, user_id) do update set password_hash = c.password_hash
      returning token_epoch as epoch`);
    return stored?.epoch ?? 0;
  }

  /** Stores the new hash only if the password is still the one that was checked. */
  async #rehash(
    domainId: string,
    user: Pick<StoredUser, 'id' | 'passwordHash'>,
    password: string,
  ): Promise<void> {
    const { database, passwords } = this.#options;
    await database.prisma.credential.updateMany({
      where: { domainId, userId: user.id, passwordHash: user.passwordHash ?? '' },
      data: { passwordHash: await passwords.hash(password) },
    });
  }

  async #answer(
    claims: AccessClaims,
    user: Omit<Login['user'], 'domain'>,
    grant: { readonly refreshToken: string | undefined; readonly expiresAt?: number },
  ): Promise<Login> {
    const now = Math.floor(Date.now() / 1000);
    const latest = Math.floor((grant.expiresAt ?? Number.POSITIVE_INFINITY) / 1000);
    const expiresAt = Math.min(now + this.#options.accessTokenTtlSeconds, latest);
    return {
      accessToken: await this.#options.accessTokens.sign(claims, expiresAt),
      expiresInSeconds: expiresAt - now,
      refreshToken: grant.refreshToken,
      refreshTokenTtlSeconds:
        grant.refreshToken === undefined ? undefined : this.#options.sessions.refreshTokenTtlSeconds,
      user: {
        ...{ id: user.id, userName: user.userName, name: user.name },
        ...{ roles: user.roles, domain: claims.domainId },
      },
    };
  }
}

interface StoredUser extends Omit<UserFacts, 'email' | 'language'> {
  readonly id: string;
  /** Null: the user has no password. */
  readonly passwordHash: string | null;
  readonly epoch: number | null;
}

/** @throws FORBIDDEN (403): the bearer of a valid key may know the reason, and its owner has to find it */
function assertAddress({ addresses }: ResolvedCredential, address: string | undefined): void {
  if (addresses.include(address)) return;
  throw new ServiceError(
    'FORBIDDEN',
    `This API key may not be used from ${address ?? 'an unknown address'}; its owner lists where from.`,
  );
}

/** @throws TOO_MANY_REQUESTS (429) */
function assertNotThrottled<Decision extends Rate>(decision: Decision): Decision {
  const { allowed, limit, resetSeconds } = decision;
  if (allowed) return decision;
  throw new ServiceError(
    'TOO_MANY_REQUESTS',
    `Too many attempts to log in: a user has ${limit} a minute from one address ` +
      `(LOGIN_LIMIT_PER_MINUTE), and each of the two alone ten times as many. Only failures count. ` +
      `Try again in ${resetSeconds} seconds.`,
    { retryAfterSeconds: resetSeconds, limit },
  );
}

function wrongLogin(): ServiceError {
  return new ServiceError('WRONG_LOGIN', 'The user name or the password is wrong.');
}
