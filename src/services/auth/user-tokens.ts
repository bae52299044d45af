/** Tokens that a caller signs to hand over a part of its rights for a short time. */
import { invalidAt, ServiceError } from '../../base/errors.js';
import type { KeyScopes, Principal } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import type { Transaction } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { type AccessTokens, LONGEST_TOKEN } from './access-tokens.js';
import { intersectScopes, parseKeyScopes, type ScopeNames } from './key-scopes.js';
import { originOf } from './principals.js';

export interface TokenWish {
  /** Default: all of the caller's. */
  readonly roles?: readonly string[] | undefined;
  /** In the form of an API key's scopes. Default: all records, reports and scripts. */
  readonly scopes?: unknown;
  /** Default: five minutes; at most an hour. */
  readonly expiresInSeconds?: number | undefined;
}

export interface UserToken {
  readonly token: string;
  readonly expiresAt: Date;
  readonly roles: readonly string[];
  readonly scopes: KeyScopes;
}

const DEFAULT_SECONDS = 300;
const LONGEST_SECONDS = 3600;
const EVERYTHING: KeyScopes = {
  collections: { '*': ['read', 'create', 'update', 'delete'] },
  reports: ['*'],
  scripts: ['*'],
};

export interface UserTokensOptions {
  readonly database: Database;
  readonly accessTokens: AccessTokens;
  readonly names: ScopeNames;
}

export class UserTokens {
  readonly #options: UserTokensOptions;

  constructor(options: UserTokensOptions) {
    this.#options = options;
  }

  /**
   * An access token of the caller's own session or key, with at most the caller's rights: it ends with that
   * session or key, with the caller's password, and with any right the caller loses. Like an API key it
   * reaches only records, reports and scripts.
   *
   * @throws FORBIDDEN for a role the caller does not have, and for a system task, which is not a user;
   *   INVALID_VALUE
   */
  async sign(principal: Principal, wish: TokenWish, within?: Transaction): Promise<UserToken> {
    if (principal.kind === 'system' || principal.credential.kind === 'system') {
      throw new ServiceError(
        'FORBIDDEN',
        'A token is signed for a user who has logged in: not on the command line, for the service itself, ' +
          'or for a script with roles of its own.',
      );
    }
    const roles = wish.roles ?? [...principal.roles];
    const foreign = roles.find((role) => !principal.roles.has(role));
    if (foreign !== undefined) {
      const detail = `You do not have the role "${foreign}", so no token of yours has it.`;
      const expected = [...principal.roles].join(', ');
      throw new ServiceError('FORBIDDEN', detail, {
        errors: [{ parameter: 'roles', detail: 'not a role of yours', sent: foreign, expected }],
      });
    }
    const wished = wish.scopes === undefined ? EVERYTHING : parseKeyScopes(wish.scopes, this.#options.names);
    if (wished.accounts === true) {
      throw new ServiceError('FORBIDDEN', 'A signed token never changes accounts: leave out `accounts`.');
    }
    const scopes = principal.scopes === undefined ? wished : intersectScopes(wished, principal.scopes);
    const seconds = secondsOf(wish);
    const expiresAt = Math.floor(Date.now() / 1000) + seconds;
    const token = await this.#options.accessTokens.sign(
      {
        userId: principal.id,
        domainId: principal.domainId,
        origin: originOf(principal.credential),
        epoch: await this.#findEpoch(principal, within),
        delegation: { roles, scopes },
      },
      expiresAt,
    );
    if (token.length > LONGEST_TOKEN) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        'The token would be too long: name fewer roles, collections or reports, or `*`.',
      );
    }
    return { token, expiresAt: new Date(expiresAt * 1000), roles, scopes };
  }

  /** If the password changes at this moment, the session of the token ends with it. */
  async #findEpoch({ domainId, id }: Principal, within: Transaction | undefined): Promise<number> {
    const [credential] = await (within ?? this.#options.database).query<{ epoch: number }>(
      sql`select token_epoch as epoch from credentials where domain_id = ${domainId}
        and user_id = ${id}`,
      { name: 'auth-epoch' },
    );
    return credential?.epoch ?? 0;
  }
}

function secondsOf({ expiresInSeconds = DEFAULT_SECONDS }: TokenWish): number {
  const isGood =
    Number.isInteger(expiresInSeconds) && expiresInSeconds >= 1 && expiresInSeconds <= LONGEST_SECONDS;
  if (isGood) return expiresInSeconds;
  const expected = `1 to ${LONGEST_SECONDS} seconds`;
  throw invalidAt(`A token lasts ${expected}.`, {
    parameter: 'expiresInSeconds',
    detail: 'too short or too long',
    expected,
    sent: expiresInSeconds,
  });
}
