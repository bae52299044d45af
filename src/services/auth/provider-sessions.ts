/**
 * Ends the session at the identity provider together with the one here: otherwise the next person at the same
 * computer would be logged in without a password.
 *
 * @see https://openid.net/specs/openid-connect-rpinitiated-1_0.html
 */
import type { IdentityProvider } from './identity-provider.js';
import type { TextEncryption } from './text-encryption.js';

/** The texts kept by browsers belong to no domain. */
const NO_DOMAIN = '';
/** A cookie holds 4096 bytes, and encryption adds a third. */
const LONGEST_HINT = 2500;

export class ProviderSessions {
  readonly #provider: Pick<IdentityProvider, 'addressOfEnd'>;
  readonly #encryption: TextEncryption;

  constructor(services: {
    readonly provider: Pick<IdentityProvider, 'addressOfEnd'>;
    readonly encryption: TextEncryption;
  }) {
    this.#provider = services.provider;
    this.#encryption = services.encryption;
  }

  /** The state of a login at the provider, kept by the browser and encrypted for this service only. */
  keep(idToken: string | undefined): string {
    const hint = idToken !== undefined && idToken.length <= LONGEST_HINT ? idToken : undefined;
    return this.#encryption.encrypt(NO_DOMAIN, JSON.stringify({ hint }));
  }

  /**
   * The logout page for what the browser kept; `undefined` if nothing is to be ended there, or if the
   * provider has no such page or cannot be reached, so that only the session here ends.
   */
  async addressOfEnd(kept: string): Promise<string | undefined> {
    try {
      const { hint } = JSON.parse(this.#encryption.decrypt(NO_DOMAIN, kept)) as { readonly hint?: string };
      return (await this.#provider.addressOfEnd(hint))?.href;
    } catch {
      return undefined;
    }
  }
}
