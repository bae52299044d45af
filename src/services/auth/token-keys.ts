/** The secrets that sign access tokens: configured, or created once for all gateways. */
import { hash } from 'node:crypto';
import type { Database } from '../../store/database/database.js';
import { loadServiceSecret, parseSecrets } from './service-secret.js';

export interface TokenKey {
  /** The `kid` of its tokens. */
  readonly id: string;
  readonly secret: Buffer;
}

/** The setting that stores the secret if none is configured. */
const SETTING = 'tokenSecret';

/**
 * The keys for access tokens; the first one signs, all of them verify.
 *
 * `tokenSecret` (TOKEN_SECRET) contains one secret, or several separated by white space. To rotate, put the
 * new one first, and remove the old one once its tokens have expired. Without it a random secret is created
 * and stored in the database; gateways that start at the same time get the same one.
 */
export async function loadTokenKeys(
  database: Database,
  options: { tokenSecret: string | undefined },
): Promise<readonly TokenKey[]> {
  return parseTokenSecrets(options.tokenSecret ?? (await loadServiceSecret(database, SETTING)));
}

/** The id discloses nothing about 32 random characters. */
export function parseTokenSecrets(text: string): readonly TokenKey[] {
  return parseSecrets(text, 'TOKEN_SECRET').map((secret) => ({
    id: hash('sha256', `campus-gateway key id ${secret}`, 'base64url').slice(0, 8),
    secret: Buffer.from(secret, 'utf8'),
  }));
}
