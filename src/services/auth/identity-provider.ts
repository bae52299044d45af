/**
 * An external identity provider (single sign-on) by OpenID Connect: the authorization code flow with PKCE
 * (OpenID Connect Core 1.0, 3.1).
 *
 * @see RFC 7636, RFC 9700
 */
import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Configuration } from 'openid-client';
import type { TextEncryption } from './text-encryption.js';

export interface IdentityProviderSettings {
  /** The address whose `/.well-known/openid-configuration` describes the provider. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client, protected only by PKCE. */
  readonly clientSecret: string | undefined;
  /** The address the provider redirects the browser to. */
  readonly redirectUri: string;
  /** The address the provider redirects to after a logout; absent: a logout here is none at the provider. */
  readonly logoutRedirectUri: string | undefined;
}

/** The state of a login, which the browser keeps between the two requests, hidden from scripts. */
export interface KeptLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The identity that the provider confirms. */
export interface Identity {
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  /** The provider has checked more than one factor: `mfa` in its `amr` (RFC 8176). */
  readonly hasSecondFactor: boolean;
  /** Identifies the session to end at the provider. */
  readonly idToken: string | undefined;
}

interface Claims {
  readonly sub: string;
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly amr?: unknown;
}

const TIMEOUT_SECONDS = 10;
/** The texts kept by browsers belong to no domain. */
const NO_DOMAIN = '';
/** A cookie holds 4096 bytes, and encryption adds a third. */
const LONGEST_HINT = 2500;

export class IdentityProvider {
  readonly #settings: IdentityProviderSettings;
  readonly #encryption: TextEncryption;
  #discovered: Promise<Configuration> | undefined;
  #keys: JWTVerifyGetKey | undefined;

  constructor(settings: IdentityProviderSettings, encryption: TextEncryption) {
    this.#settings = settings;
    this.#encryption = encryption;
  }

  /** The provider's log-in page, and the state to keep until the browser returns. */
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
   * Exchanges the code that the browser returned with, and checks state, nonce, signature and audience.
   * `query` is the query string. @throws openid-client's errors if a check fails
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
    if (claims === undefined) throw new Error('the provider has sent no ID token');
    return { ...(await this.#identityOf(claims, tokens.access_token)), idToken: tokens.id_token };
  }

  /**
   * The identity behind an access token that the provider has issued for `audience`, and when the token ends.
   *
   * @see RFC 9068
   * @throws errors of jose for a token that is not valid here
   */
  async ofAccessToken(token: string, audience: string): Promise<Identity & { readonly endsAt: Date }> {
    const configuration = await this.#configuration();
    const { issuer, jwks_uri: address = '' } = configuration.serverMetadata();
    this.#keys ??= createRemoteJWKSet(new URL(address), { timeoutDuration: TIMEOUT_SECONDS * 1000 });
    const { payload } = await jwtVerify<Claims & { readonly exp: number }>(token, this.#keys, {
      ...{ issuer, audience },
      requiredClaims: ['sub', 'exp'],
    });
    const identity = await this.#identityOf(payload, token);
    return { ...identity, idToken: undefined, endsAt: new Date(payload.exp * 1000) };
  }

  /** Many providers return the email address only from their userinfo endpoint. */
  async #identityOf(claims: Claims, accessToken: string) {
    const { fetchUserInfo } = await loadClient();
    const hasEmail = typeof claims.email === 'string';
    const info: Claims = hasEmail
      ? claims
      : await fetchUserInfo(await this.#configuration(), accessToken, claims.sub);
    return {
      email: typeof info.email === 'string' ? info.email : undefined,
      isEmailVerified: info.email_verified === true,
      hasSecondFactor: Array.isArray(claims.amr) && claims.amr.includes('mfa'),
    };
  }

  /** The state of a login at the provider, kept by the browser and encrypted for this service only. */
  keep(idToken: string | undefined): string {
    const hint = idToken !== undefined && idToken.length <= LONGEST_HINT ? idToken : undefined;
    return this.#encryption.encrypt(NO_DOMAIN, JSON.stringify({ hint }));
  }

  /**
   * The provider's logout page, which sends the browser back, for what the browser kept. Without it, the next
   * person at the same computer would be logged in without a password. `undefined` if the provider has no
   * such page, it is not configured or the provider cannot be reached, so that only the session here ends.
   *
   * @see https://openid.net/specs/openid-connect-rpinitiated-1_0.html
   */
  async addressOfEnd(kept: string): Promise<string | undefined> {
    const { logoutRedirectUri } = this.#settings;
    if (logoutRedirectUri === undefined) return undefined;
    try {
      const { hint } = JSON.parse(this.#encryption.decrypt(NO_DOMAIN, kept)) as { readonly hint?: string };
      const client = await loadClient();
      const configuration = await this.#configuration();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      const address = client.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: logoutRedirectUri,
        ...(hint !== undefined && { id_token_hint: hint }),
      });
      return address.href;
    } catch {
      return undefined;
    }
  }

  /** Fetched once; retried after a failure, because the provider may have been down. */
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
        execute: [
          // TLS alone would vouch for the ID token otherwise, and a provider may be reached without it.
          client.enableNonRepudiationChecks,
          // An operator who configures http: means a provider on the same machine or network.
          ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
        ],
      },
    );
  }
}

/** Whether a login failed because the provider did not answer, or answered incorrectly. */
export function isProviderAway(error: unknown): boolean {
  if (error instanceof Response) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return code === 'OAUTH_TIMEOUT' || error.message === 'fetch failed' || isProviderAway(error.cause);
}

/** Loaded only if a provider is configured. */
async function loadClient() {
  return await import('openid-client');
}
