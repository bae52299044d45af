/**
 * Ends the session that people have at the provider of identities with the one they have here: otherwise the
 * next one at the same computer is let in as they, without a password.
 *
 * @see https://openid.net/specs/openid-connect-rpinitiated-1_0.html
 */
import type { IdentityProvider } from './identity-provider.js';
import type { TextEncryption } from './text-encryption.js';

/** The texts that browsers keep are of no domain. */
const NO_DOMAIN = '';
/** A cookie has 4096 bytes, and what is encrypted is a third longer. */
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

  /** What the browser is to keep of a login there: nothing that anybody but this service can read. */
  keep(idToken: string | undefined): string {
    const hint = idToken !== undefined && idToken.length <= LONGEST_HINT ? idToken : undefined;
    return this.#encryption.encrypt(NO_DOMAIN, JSON.stringify({ hint }));
  }

  /**
   * Where the browser goes to be logged out, by what it kept; `undefined`: nothing is to be ended there, or
   * the provider has no such address or cannot be asked for it, so that the session ends here alone.
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
