/**
 * A provider of identities outside, at which people log in once for all that they use: OpenID Connect, by
 * the authorization code flow with PKCE (OpenID Connect Core 1.0, 3.1).
 *
 * @see RFC 7636, RFC 9700
 */
import type { Configuration } from 'openid-client';

export interface IdentityProviderSettings {
  /** The address whose `/.well-known/openid-configuration` describes the provider. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  /** Where it sends the browser after a logout there; absent: a logout here is none there. */
  readonly logoutRedirectUri: string | undefined;
}

/** What the browser keeps between the two halves of a login, where no script sees it. */
export interface KeptLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Who the provider says it is. */
export interface Identity {
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  /** The provider has asked for more than one factor: `mfa` in its `amr` (RFC 8176). */
  readonly hasSecondFactor: boolean;
  /** Tells the provider whose session is to be ended. */
  readonly idToken: string | undefined;
}

const TIMEOUT_SECONDS = 10;

export class IdentityProvider {
  readonly #settings: IdentityProviderSettings;
  #discovered: Promise<Configuration> | undefined;

  constructor(settings: IdentityProviderSettings) {
    this.#settings = settings;
  }

  /** The page of the provider to go to, and what to keep until the browser comes back. */
  async begin(): Promise<{ readonly address: URL; readonly kept: KeptLogin }> {
    const client = await loadClient();
    const configuration = await this.#configuration();
    const verifier = client.randomPKCECodeVerifier();
    const kept = { state: client.randomState(), nonce: client.randomNonce(), verifier };
    const address = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#settings.redirectUri,
      scope: 'openid email',
      state: kept.state,
      nonce: kept.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { address, kept };
  }

  /**
   * Exchanges the code that the browser came back with, and checks state, nonce, signature and audience.
   * `query` is what stood behind `?`. @throws what openid-client does, when any of it is not right
   */
  async finish(query: string, { state, nonce, verifier }: KeptLogin): Promise<Identity> {
    const client = await loadClient();
    const configuration = await this.#configuration();
    const returned = new URL(this.#settings.redirectUri);
    returned.search = query;
    const tokens = await client.authorizationCodeGrant(configuration, returned, {
      ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    const amr = Array.isArray(claims?.amr) ? claims.amr : [];
    // Many providers tell the address at their userinfo endpoint alone.
    const told =
      typeof claims?.email === 'string' || claims === undefined
        ? claims
        : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    return {
      email: typeof told?.email === 'string' ? told.email : undefined,
      isEmailVerified: told?.email_verified === true,
      hasSecondFactor: amr.includes('mfa'),
      idToken: tokens.id_token,
    };
  }

  /**
   * The page of the provider that ends the session there and sends the browser back; `undefined`: it has
   * none, or it is not wanted.
   */
  async addressOfEnd(idToken: string | undefined): Promise<URL | undefined> {
    const { logoutRedirectUri } = this.#settings;
    if (logoutRedirectUri === undefined) return undefined;
    const client = await loadClient();
    const configuration = await this.#configuration();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return client.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: logoutRedirectUri,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    });
  }

  /** Asked for once; again after a failure, for the provider may have been away. */
  async #configuration(): Promise<Configuration> {
    this.#discovered ??= this.#discover().catch((error: unknown) => {
      this.#discovered = undefined;
      throw error;
    });
    return await this.#discovered;
  }

  async #discover(): Promise<Configuration> {
    const client = await loadClient();
    const { clientId, clientSecret } = this.#settings;
    const issuer = new URL(this.#settings.issuer);
    return await client.discovery(
      issuer,
      clientId,
      undefined,
      clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        // An operator who writes http: means a provider on the same machine or network.
        execute: issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [],
      },
    );
  }
}

/** Whether a login came to nothing because the provider did not answer, or not as one that works. */
export function isProviderAway(error: unknown): boolean {
  if (error instanceof Response) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return code === 'OAUTH_TIMEOUT' || error.message === 'fetch failed' || isProviderAway(error.cause);
}

/** Loaded for those alone who have a provider. */
async function loadClient() {
  return await import('openid-client');
}
