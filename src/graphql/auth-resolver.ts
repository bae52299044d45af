/** The door to credentials: login, tokens, passwords, API keys. GraphQL and REST both call these methods. */
import type { ApiKeys } from '../auth/api-keys.js';
import type { Authenticator, Login } from '../auth/authenticator.js';
import type { KeyScopes } from '../store/scope.js';
import { type RequestContext, requireScope } from './request-context.js';

export interface LoginRequest {
  readonly userName: string;
  readonly password: string;
  /** Absent: the domain of the `X-Domain` header, else the top domain. */
  readonly domain?: string | undefined;
}

export interface ApiKeyRequest {
  readonly name: string;
  readonly scopes: KeyScopes;
  /** Whom the key acts as; absent: the caller. Another user's only for admins. */
  readonly userId?: string | undefined;
  readonly expiresAt?: Date | undefined;
}

/** Who the caller is and what it may do. */
export interface Caller {
  readonly id: string;
  readonly userName: string;
  readonly roles: readonly string[];
  readonly domain: { readonly id: string; readonly name: string; readonly timeZone: string };
  readonly credential: 'token' | 'key' | 'system';
  readonly scopes: KeyScopes | undefined;
}

export class AuthResolver {
  readonly #authenticator: Authenticator;
  readonly #apiKeys: ApiKeys;

  constructor(services: { readonly authenticator: Authenticator; readonly apiKeys: ApiKeys }) {
    this.#authenticator = services.authenticator;
    this.#apiKeys = services.apiKeys;
  }

  /** @throws WRONG_LOGIN, TOO_MANY_REQUESTS */
  async login(context: RequestContext, request: LoginRequest): Promise<Login> {
    const domainId = request.domain ?? context.domainHeader;
    return await this.#authenticator.login({
      userName: request.userName,
      password: request.password,
      address: context.address,
      ...(domainId === undefined ? {} : { domainId }),
    });
  }

  /** An access token for an API key. @throws UNAUTHENTICATED */
  async exchangeKey(_context: RequestContext, key: string): Promise<Login> {
    return await this.#authenticator.exchangeKey(key);
  }

  /** A new pair of tokens for a refresh token, which is used up. @throws UNAUTHENTICATED */
  async refresh(_context: RequestContext, refreshToken: string): Promise<Login> {
    return await this.#authenticator.refresh(refreshToken);
  }

  /** Ends the caller's session on every instance at once. */
  async logout(context: RequestContext): Promise<boolean> {
    await this.#authenticator.logout(requireScope(context).principal);
    return true;
  }

  me(context: RequestContext): Caller {
    const { principal, domain } = requireScope(context);
    return {
      id: principal.id,
      userName: principal.userName,
      roles: [...principal.roles].sort(),
      domain: { id: domain.id, name: domain.name, timeZone: domain.timeZone },
      credential: principal.credential.kind,
      scopes: principal.scopes,
    };
  }

  /** Sets a new password and ends all of the user's sessions. @throws WRONG_LOGIN when the old one is wrong */
  async changePassword(
    context: RequestContext,
    request: { readonly oldPassword: string; readonly newPassword: string },
  ): Promise<boolean> {
    await this.#authenticator.changePassword(
      requireScope(context).principal,
      request.oldPassword,
      request.newPassword,
    );
    return true;
  }

  /** The key is in the answer and never shown again. */
  async createApiKey(
    context: RequestContext,
    request: ApiKeyRequest,
  ): Promise<{ readonly id: string; readonly key: string }> {
    return await this.#apiKeys.create(requireScope(context), request);
  }

  async revokeApiKey(context: RequestContext, id: string): Promise<boolean> {
    await this.#apiKeys.revoke(requireScope(context), id);
    return true;
  }

  async apiKeys(context: RequestContext): Promise<Awaited<ReturnType<ApiKeys['list']>>> {
    return await this.#apiKeys.list(requireScope(context));
  }
}
