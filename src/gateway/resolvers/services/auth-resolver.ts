/** The door to credentials: login, tokens, passwords, API keys. GraphQL and REST both call these methods. */
import { Arg, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import type { ApiKey, ApiKeyRequest, ApiKeys } from '../../../services/auth/api-keys.js';
import type { Authenticator, Login, LoginAttempt } from '../../../services/auth/authenticator.js';
import type { ProviderSessions } from '../../../services/auth/provider-sessions.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { scopesOfAccess } from './key-access-input.js';
import { ApiKeyResult, CreateApiKeyInput, LoginResult, NewApiKeyResult } from './login-result.js';

export interface LoginRequest extends Pick<LoginAttempt, 'mayRepeat'> {
  readonly userName: string;
  readonly password: string;
  /** The code of the second factor. */
  readonly code?: string | undefined;
  /** Absent: the domain of the `X-Domain` header, else the top domain. */
  readonly domain?: string | undefined;
}

@Resolver()
export class AuthResolver {
  readonly #authenticator: Authenticator;
  readonly #apiKeys: ApiKeys;
  readonly #providerSessions: ProviderSessions | undefined;

  constructor(services: {
    readonly authenticator: Authenticator;
    readonly apiKeys: ApiKeys;
    readonly providerSessions: ProviderSessions | undefined;
  }) {
    this.#authenticator = services.authenticator;
    this.#providerSessions = services.providerSessions;
    this.#apiKeys = services.apiKeys;
  }

  /** @throws WRONG_LOGIN, TOO_MANY_REQUESTS */
  async login(context: RequestContext, request: LoginRequest): Promise<Login> {
    const domainId = request.domain ?? context.askedDomain;
    return await this.#authenticator.login({
      userName: request.userName,
      password: request.password,
      code: request.code,
      mayRepeat: request.mayRepeat,
      address: context.address,
      userAgent: context.userAgent,
      requestId: context.requestId,
      ...(domainId === undefined ? {} : { domainId }),
    });
  }

  /** An access token for an API key. @throws UNAUTHENTICATED */
  async exchangeKey(context: RequestContext, key: string): Promise<Login> {
    return await this.#authenticator.exchangeKey(key, context.address);
  }

  /** A new pair of tokens for a refresh token, which is used up. @throws UNAUTHENTICATED */
  @Mutation(() => LoginResult, {
    description:
      'Exchanges a refresh token for a new pair of tokens. A refresh token works once: ' +
      'using it twice ends the session.',
  })
  async refresh(
    @Ctx() context: RequestContext,
    @Arg('refreshToken', () => String, { description: 'From `login` or the last `refresh`.' })
    refreshToken: string,
  ): Promise<Login> {
    return await this.#authenticator.refresh(refreshToken, context);
  }

  /** Like `refresh`, for a token shared by the tabs of a browser. @throws UNAUTHENTICATED */
  async refreshInBrowser(context: RequestContext, refreshToken: string): Promise<Login> {
    return await this.#authenticator.refreshInBrowser(refreshToken, context);
  }

  /** Ends the session of a refresh token; an unknown token is not an error. */
  async endSession(context: RequestContext, refreshToken: string): Promise<void> {
    await this.#authenticator.endSession(refreshToken, context);
  }

  /**
   * Where the browser ends its session at the identity provider, given what it kept of the login; `undefined`
   * if the provider has no such address.
   */
  async addressOfProviderEnd(_context: RequestContext, kept: string): Promise<string | undefined> {
    return await this.#providerSessions?.addressOfEnd(kept);
  }

  /** Ends the caller's session on every instance at once. */
  @Mutation(() => Boolean, { description: 'Ends your session: its tokens stop working at once.' })
  async logout(@Ctx() context: RequestContext): Promise<boolean> {
    await this.#authenticator.logout(requireScope(context).principal, context);
    return true;
  }

  /**
   * Sets a new password and ends all of the user's sessions. @throws WRONG_LOGIN when the old one is wrong
   */
  async changePassword(
    context: RequestContext,
    request: { readonly oldPassword: string; readonly newPassword: string },
  ): Promise<boolean> {
    await this.#authenticator.changePassword(
      requireScope(context).principal,
      request.oldPassword,
      request.newPassword,
      context.requestId,
    );
    return true;
  }

  /** The answer contains the key, which is never shown again. */
  async createApiKey(
    context: RequestContext,
    request: ApiKeyRequest,
  ): Promise<{ readonly id: string; readonly key: string }> {
    return await this.#apiKeys.create(requireScope(context), request);
  }

  @Mutation(() => Boolean, { description: 'Revokes an API key. Revoking it again is not an error.' })
  async revokeApiKey(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the key.' }) id: string,
  ): Promise<boolean> {
    await this.#apiKeys.revoke(requireScope(context), id);
    return true;
  }

  @Query(() => [ApiKeyResult], {
    description: 'Your API keys, the newest first; for an admin all of the domain. Revoked ones included.',
  })
  async apiKeys(@Ctx() context: RequestContext): Promise<readonly ApiKey[]> {
    return await this.#apiKeys.list(requireScope(context));
  }

  @Mutation(() => LoginResult, {
    name: 'login',
    description:
      'Tokens for a user name and password. Needs no credential. Errors: WRONG_LOGIN, ' +
      'SECOND_FACTOR_REQUIRED, TOO_MANY_REQUESTS.',
  })
  async mutateLogin(
    @Ctx() context: RequestContext,
    @Arg('userName', () => String, { description: 'The login name.' }) userName: string,
    @Arg('password', () => String, { description: 'The password.' }) password: string,
    @Arg('domain', () => String, {
      nullable: true,
      description:
        'The id of the domain of the user; left out: that of the header X-Domain, else the top domain.',
    })
    domain: string | null | undefined,
    @Arg('code', () => String, {
      nullable: true,
      description:
        'The code of the second factor, or a recovery code. The error SECOND_FACTOR_REQUIRED ' +
        'asks for it.',
    })
    code: string | null | undefined,
  ): Promise<Login> {
    return await this.login(context, {
      ...{ userName, password },
      domain: domain ?? undefined,
      code: code ?? undefined,
    });
  }

  @Mutation(() => Boolean, {
    name: 'changePassword',
    description:
      'Sets a new password. All of your sessions end. Errors: WRONG_LOGIN when the old one is wrong.',
  })
  async mutatePassword(
    @Ctx() context: RequestContext,
    @Arg('oldPassword', () => String, { description: 'The current password.' }) oldPassword: string,
    @Arg('newPassword', () => String, { description: 'The new password.' }) newPassword: string,
  ): Promise<boolean> {
    return await this.changePassword(context, { oldPassword, newPassword });
  }

  @Mutation(() => NewApiKeyResult, {
    name: 'createApiKey',
    description: 'Registers an API key. The answer is the only place where the key is ever shown.',
  })
  async mutateApiKey(
    @Ctx() context: RequestContext,
    @Arg('data', () => CreateApiKeyInput, { description: 'Its name and scope.' })
    data: CreateApiKeyInput,
  ): Promise<NewApiKeyResult> {
    return await this.createApiKey(context, {
      name: data.name,
      scopes: scopesOf(data),
      userId: data.userId ?? undefined,
      expiresAt: toInstant(data.expiresAt),
      allowedAddresses: data.allowedAddresses ?? undefined,
    });
  }

  @Mutation(() => NewApiKeyResult, {
    description:
      'Creates a key that replaces another one, with the same name, scopes, addresses and ' +
      'expiry. The old key keeps working for `overlapSeconds`. Errors: NOT_FOUND for a key ' +
      'that is not yours or has ended, INVALID_VALUE.',
  })
  async rotateApiKey(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The key to replace.' }) id: string,
    @Arg('overlapSeconds', () => Int, {
      nullable: true,
      description: 'How long the old key keeps working, 0 to 2592000 (30 days). Default: 0, it ends at once.',
    })
    overlapSeconds: number | null | undefined,
  ): Promise<NewApiKeyResult> {
    return await this.#apiKeys.rotate(requireScope(context), id, overlapSeconds ?? 0);
  }
}

/** @throws INVALID_VALUE (400) unless exactly one of the two is given */
function scopesOf({ access, scopes }: CreateApiKeyInput): unknown {
  const hasAccess = access !== undefined && access !== null;
  const hasScopes = scopes !== undefined && scopes !== null;
  if (hasAccess !== hasScopes) return hasAccess ? scopesOfAccess(access) : scopes;
  const detail = 'What a key may do is said by `access` or by `scopes`, and by one of them alone.';
  throw new ServiceError('INVALID_VALUE', detail, {
    errors: [{ pointer: '/access', detail, expected: 'e.g. {preset: READ_ONLY}' }],
  });
}

function toInstant(written: string | null | undefined): Date | undefined {
  if (written === null || written === undefined) return undefined;
  if (written.includes('T')) return new Date(written);
  const detail = 'expiresAt is an instant such as "2027-04-01T00:00:00Z", not a bare day.';
  throw new ServiceError('INVALID_VALUE', detail, {
    errors: [{ parameter: 'expiresAt', detail, sent: written }],
  });
}
