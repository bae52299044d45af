/**
 * Access tokens of the identity provider, with which agents come that users have connected by their log-in
 * there. The first request with a token opens a session of the user with the verified email address, and the
 * token stands for this session until it ends.
 *
 * @see RFC 9728, RFC 8707, decisions 6
 */
import { LRUCache } from 'lru-cache';
import { ServiceError, tryTo } from '../../base/errors.js';
import type { Authenticator, IdentityAttempt, Login } from './authenticator.js';
import { type IdentityProvider, isProviderAway } from './identity-provider.js';
import { hashOpaqueSecret } from './service-secret.js';

export interface ProviderTokensOptions {
  readonly provider: Pick<IdentityProvider, 'ofAccessToken'>;
  readonly authenticator: Pick<Authenticator, 'loginByIdentity' | 'refresh'>;
  readonly issuer: string;
  /** The address of the resource for which the provider issues the tokens. */
  readonly resource: string;
}

type TokenUse = Pick<IdentityAttempt, 'address' | 'userAgent' | 'requestId'>;

const MOST_TOKENS = 1000;

export class ProviderTokens {
  /** The information that a client needs to get a token (RFC 9728, 2). */
  readonly metadata: object;
  readonly #options: ProviderTokensOptions;
  readonly #logins: LRUCache<string, Login, TokenUse & { readonly token: string }>;

  constructor(options: ProviderTokensOptions) {
    const { issuer, resource } = options;
    this.#options = options;
    this.metadata = {
      resource,
      authorization_servers: [issuer],
      scopes_supported: ['openid', 'email'],
      bearer_methods_supported: ['header'],
      resource_name: 'Campus Gateway',
    };
    this.#logins = new LRUCache({
      max: MOST_TOKENS,
      ttl: 1,
      fetchMethod: async (_key, ended, { options: found, context: { token, ...use } }) => {
        const { login, endsAt } = await this.#open(token, { ended, use });
        found.ttl = Math.max(1, Math.min(login.expiresInSeconds * 1000, endsAt.getTime() - Date.now()));
        return login;
      },
    });
  }

  /**
   * The access token of the session, for a token of the provider; every other credential as it is.
   *
   * @throws UNAUTHENTICATED (401) for a token that is not valid here, of nobody here, or without the second
   *   factor that its user needs, or if the provider does not answer; TOO_MANY_REQUESTS (429)
   */
  async exchange(bearer: string, use: TokenUse): Promise<string> {
    if (issuerOf(bearer) !== this.#options.issuer) return bearer;
    const key = hashOpaqueSecret(bearer).toString('base64url');
    const login = await this.#logins.fetch(key, { context: { ...use, token: bearer } });
    return login?.accessToken ?? bearer;
  }

  async #open(
    token: string,
    { ended, use }: { readonly ended: Login | undefined; readonly use: TokenUse },
  ): Promise<{ readonly login: Login; readonly endsAt: Date }> {
    const { provider, authenticator, resource } = this.#options;
    const { email, isEmailVerified, hasSecondFactor, endsAt } = await provider
      .ofAccessToken(token, resource)
      .catch((cause: unknown) => {
        const detail = isProviderAway(cause)
          ? 'The identity provider does not answer. Try again later.'
          : 'The identity provider has issued this token for something else, or it has ended. Ask for one ' +
            `for ${resource}.`;
        throw new ServiceError('UNAUTHENTICATED', detail, { cause });
      });
    if (email === undefined || !isEmailVerified)
      throw new ServiceError(
        'UNAUTHENTICATED',
        'The token has no email address that the provider has verified. Ask for one with the scope email.',
      );
    const login = ended?.refreshToken
      ? await authenticator.refresh(ended.refreshToken, use)
      : await authenticator
          .loginByIdentity({ ...use, domainId: '', email, hasSecondFactor })
          .catch(inOwnWords);
    return { login, endsAt };
  }
}

/** An agent has sent neither name nor password, and cannot send a code. */
function inOwnWords(cause: unknown): never {
  const details: Readonly<Record<string, string>> = {
    WRONG_LOGIN: 'No active user here has the email address of this token, or several have it.',
    SECOND_FACTOR_REQUIRED:
      'The user of this token has a second factor, and the provider does not state in `amr` that it asked ' +
      'for one.',
  };
  const detail = cause instanceof ServiceError ? details[cause.code] : undefined;
  throw detail === undefined ? cause : new ServiceError('UNAUTHENTICATED', detail, { cause });
}

/** The issuer that a JSON Web Token claims; nothing is checked. */
function issuerOf(token: string): unknown {
  const [, claims] = token.split('.');
  return claims && tryTo(() => JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')).iss);
}
