/**
 * Second factors: time-based codes, and recovery codes for users who have lost the device.
 *
 * @see RFC 6238
 */
import { hash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { invalidAt, ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { withAsciiDigits } from '../../base/text/ascii-digits.js';
import { isAdmin } from '../../store/access/access.js';
import { type AuditedOperation, auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import type { Queryable } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { OnAccountChange } from './account-mails.js';
import { type LoginLockout, loginKey } from './login-lockout.js';
import { announceUser, type Principals, type UserRef } from './principals.js';
import type { TextEncryption } from './text-encryption.js';

export interface NewSecondFactor {
  /** In base32, for typing. */
  readonly secret: string;
  /** `otpauth://…`, for a QR code. */
  readonly uri: string;
}

export interface SecondFactorState {
  readonly isOn: boolean;
  /** Required by SECOND_FACTOR_ROLES. */
  readonly isRequired: boolean;
  /** Required but not switched on: the session may do nothing but switch it on. */
  readonly isMissing: boolean;
  readonly recoveryCodesLeft: number;
}

/** Failed codes are counted over all addresses, because whoever has the password may try from anywhere. */
export const SECOND_FACTOR = 'second factor';

const PERIOD_SECONDS = 30;
/** Accepts the previous and the next code too, because clocks differ and typing takes time. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
const RECOVERY_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

interface SecondFactorsOptions {
  readonly database: Database;
  readonly encryption: TextEncryption;
  readonly principals: Principals;
  readonly lockout: LoginLockout;
  readonly onChange?: OnAccountChange;
  /** The roles that require one. */
  readonly roles: readonly string[];
}

export class SecondFactors {
  readonly #options: SecondFactorsOptions;

  constructor(options: SecondFactorsOptions) {
    this.#options = options;
  }

  isRequired(roles: Iterable<string>): boolean {
    return [...roles].some((role) => this.#options.roles.includes(role));
  }

  /**
   * Checks a code or recovery code at login; each is valid once. `none`: the user has no second factor;
   * `missing`: no code was sent.
   */
  async check(user: UserRef, code: string | undefined): Promise<'none' | 'missing' | 'right' | 'wrong'> {
    const stored = await findConfirmed(this.#options.database, user);
    if (stored === undefined) return 'none';
    if (code === undefined || code.trim() === '') return 'missing';
    return (await this.#isRight(this.#options.database, { user, secret: stored.secret, code }))
      ? 'right'
      : 'wrong';
  }

  async state({ principal }: Scope): Promise<SecondFactorState> {
    const user = { domainId: principal.domainId, userId: principal.id };
    const [row] = await this.#options.database.query<{
      isOn: boolean;
      isConfined: boolean;
      left: number;
    }>(sql`
      select
        exists (select from second_factors where ${isOf(user)} and confirmed_at is not null) as "isOn",
        exists (
          select from sessions where id::text = ${principal.credential.id} and is_confined
        ) as "isConfined",
        (select count(*)::int from recovery_codes where ${isOf(user)} and used_at is null) as left`);
    const isMissing = row?.isConfined === true;
    return {
      isOn: row?.isOn === true,
      isRequired: isMissing || this.isRequired(principal.roles),
      isMissing,
      recoveryCodesLeft: row?.left ?? 0,
    };
  }

  /**
   * Creates a secret for the caller, which takes effect once confirmed.
   *
   * @throws CONFLICT (409) if there is one already; FORBIDDEN (403) for an API key
   */
  async begin(scope: Scope): Promise<NewSecondFactor> {
    const user = ownerOf(scope);
    const secret = new Secret({ size: 20 });
    const rows = await this.#options.database.query(sql`
      insert into second_factors as f (domain_id, user_id, secret)
      values (${user.domainId}, ${user.userId},
        ${this.#options.encryption.encrypt(user.domainId, secret.base32)})
      on conflict (domain_id, user_id) do update
      set secret = excluded.secret, created_at = now(), last_step = null
      where f.confirmed_at is null
      returning 1 as one`);
    if (rows.length === 0)
      throw new ServiceError(
        'CONFLICT',
        'A second factor is already set up; remove it first, with one of its codes.',
      );
    const issuer = scope.domain.name.replaceAll(':', ' ');
    const totp = new TOTP({ issuer, label: scope.principal.userName, secret, period: PERIOD_SECONDS });
    return { secret: secret.base32, uri: totp.toString() };
  }

  /**
   * Switches the second factor on by one of its codes, and returns the recovery codes, which are shown only
   * here. A session that was restricted for lack of it has the user's rights from now on.
   *
   * @throws INVALID_VALUE (400) for a wrong code; NOT_FOUND (404) if none was begun; FORBIDDEN (403)
   */
  async confirm(scope: Scope, code: string): Promise<readonly string[]> {
    const user = ownerOf(scope);
    const codes = createRecoveryCodes();
    await inOwnTransaction(this.#options.database, async (transaction) => {
      const [begun] = await transaction.query<{ secret: string }>(sql`
        select secret from second_factors where ${isOf(user)} and confirmed_at is null for update`);
      if (begun === undefined) throw new ServiceError('NOT_FOUND', 'No second factor was begun.');
      if (!(await this.#isRight(transaction, { user, secret: begun.secret, code }))) throw wrongCode();
      await transaction.query(sql`
        update second_factors set confirmed_at = now() where ${isOf(user)}`);
      await replaceRecoveryCodes(transaction, user, codes);
      await transaction.query(noteOf(scope, user, 'created'));
      await transaction.query(sql`
        with freed as (
          update sessions set is_confined = false where id = ${scope.principal.credential.id}::uuid
        )
        select ${announceUser(user)}`);
    });
    this.#options.principals.forget(user.domainId, user.userId);
    this.#options.onChange?.(user, 'secondFactor');
    return codes;
  }

  /**
   * Switches the caller's second factor off, by a code or a recovery code.
   *
   * @throws INVALID_VALUE (400) for a wrong code; TOO_MANY_REQUESTS (429) after several; CONFLICT (409) if
   *   the caller's role requires one; NOT_FOUND (404) if there is none; FORBIDDEN (403)
   */
  async remove(scope: Scope, code: string): Promise<void> {
    const user = ownerOf(scope);
    if (this.isRequired(scope.principal.roles))
      throw new ServiceError('CONFLICT', 'Your role needs a second factor (SECOND_FACTOR_ROLES).');
    await this.#assertCode(scope, user, code);
    await removeFactor(this.#options.database, scope, user);
    this.#options.onChange?.(user, 'secondFactor');
  }

  /**
   * Replaces the recovery codes, by a code or one of the old ones.
   *
   * @throws as `remove`, except CONFLICT
   */
  async renewRecoveryCodes(scope: Scope, code: string): Promise<readonly string[]> {
    const user = ownerOf(scope);
    await this.#assertCode(scope, user, code);
    const codes = createRecoveryCodes();
    await inOwnTransaction(this.#options.database, async (transaction) => {
      await replaceRecoveryCodes(transaction, user, codes);
      await transaction.query(noteOf(scope, user, 'rotated'));
    });
    this.#options.onChange?.(user, 'secondFactor');
    return codes;
  }

  /**
   * Switches off the second factor of a user who has lost it and the recovery codes. For admins.
   *
   * @throws FORBIDDEN (403)
   */
  async reset(scope: Scope, userId: string): Promise<void> {
    if (!isAdmin(scope.principal)) throw new ServiceError('FORBIDDEN', 'Only an admin manages users.');
    const user = { domainId: scope.domain.id, userId };
    await removeFactor(this.#options.database, scope, user);
    this.#options.onChange?.(user, 'secondFactor');
  }

  /** Failures count with those of logins, so that a stolen session cannot be used to guess codes. */
  async #assertCode({ principal }: Scope, user: UserRef, code: string): Promise<void> {
    const key = loginKey(user.domainId, principal.userName, SECOND_FACTOR);
    await this.#options.lockout.assertOpen(key);
    const outcome = await this.check(user, code);
    if (outcome === 'none') throw new ServiceError('NOT_FOUND', 'There is no second factor.');
    if (outcome === 'right') return await this.#options.lockout.reset(key);
    await this.#options.lockout.noteFailure(key, user);
    throw wrongCode();
  }

  async #isRight(
    database: Queryable,
    { user, secret, code }: { readonly user: UserRef; readonly secret: string; readonly code: string },
  ): Promise<boolean> {
    const token = withAsciiDigits(code).replaceAll(/[\s-]/g, '');
    if (!/^\d{6}$/.test(token)) return await useRecoveryCode(database, user, token);
    const base32 = this.#options.encryption.decrypt(user.domainId, secret);
    const totp = new TOTP({ secret: Secret.fromBase32(base32), period: PERIOD_SECONDS });
    const now = Date.now();
    // The comparison takes constant time.
    const delta = totp.validate({ token, timestamp: now, window: WINDOW });
    if (delta === null) return false;
    const step = Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
    const taken = await database.query(sql`
      update second_factors
      set last_step = ${step}::bigint
      where ${isOf(user)} and (last_step is null or last_step < ${step}::bigint)
      returning 1 as one`);
    return taken.length > 0;
  }
}

async function findConfirmed(
  database: Queryable,
  user: UserRef,
): Promise<{ readonly secret: string } | undefined> {
  const [row] = await database.query<{ secret: string }>(
    sql`select secret from second_factors where ${isOf(user)} and confirmed_at is not null`,
    { name: 'auth-second-factor' },
  );
  return row;
}

async function useRecoveryCode(database: Queryable, user: UserRef, code: string): Promise<boolean> {
  const used = await database.query(sql`
    update recovery_codes
    set used_at = now()
    where ${isOf(user)} and code_hash = ${hashRecoveryCode(code)} and used_at is null
    returning 1 as one`);
  return used.length > 0;
}

async function replaceRecoveryCodes(
  transaction: Queryable,
  user: UserRef,
  codes: readonly string[],
): Promise<void> {
  await transaction.query(sql`delete from recovery_codes where ${isOf(user)}`);
  await transaction.query(sql`
    insert into recovery_codes (domain_id, user_id, code_hash)
    select ${user.domainId}, ${user.userId}, decode(hash, 'hex')
    from unnest(${codes.map((one) => hashRecoveryCode(one).toString('hex'))}::text[]) as n (hash)`);
}

async function removeFactor(database: Queryable, scope: Scope, user: UserRef): Promise<void> {
  await database.query(sql`
    with codes as (delete from recovery_codes where ${isOf(user)}),
    removed as (
      delete from second_factors where ${isOf(user)} returning confirmed_at
    )
    ${noteOf(scope, user, 'deleted', sql`from removed where confirmed_at is not null`)}`);
}

/** The audit entry for a change of a user's second factor. */
function noteOf(
  scope: Scope,
  { domainId, userId }: UserRef,
  operation: AuditedOperation,
  from: Sql = sql.empty,
): Sql {
  return auditedAct(scope, { collection: '$secondFactor', id: userId, operation, domainId, from });
}

function isOf({ domainId, userId }: UserRef): Sql {
  return sql`domain_id = ${domainId} and user_id = ${userId}`;
}

/**
 * The user of a session, including a restricted one, but not of an API key or of a token with a part of its
 * rights.
 */
function ownerOf({ principal }: Scope): UserRef {
  const { kind, credential, domainId, id: userId } = principal;
  const isOwnSession = kind === 'user' && credential.kind === 'token' && credential.part === undefined;
  if (isOwnSession) return { domainId, userId };
  throw new ServiceError('FORBIDDEN', 'A second factor is managed after logging in, not with an API key.');
}

function createRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, createRecoveryCode);
}

/** Four groups of four characters: 80 random bits, without characters that look alike. */
function createRecoveryCode(): string {
  const characters = [...randomBytes(16)].map((byte) => RECOVERY_ALPHABET.charAt(byte % 32)).join('');
  return characters.replaceAll(/.{4}(?=.)/g, '$&-');
}

function hashRecoveryCode(code: string): Buffer {
  return hash('sha256', code.replaceAll('-', '').toUpperCase(), 'buffer');
}

function wrongCode(): ServiceError {
  return invalidAt('The code is wrong, or was used before.', { parameter: 'code' });
}
