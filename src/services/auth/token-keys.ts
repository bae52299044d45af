/** The secrets that sign access tokens: configured, or created once for all gateways. */
import { hash } from 'node:crypto';
import { invariant } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import { loadServiceSecret } from './service-secret.js';

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
  if (options.tokenSecret !== undefined) return parseTokenSecrets(options.tokenSecret);
  return parseTokenSecrets(await loadServiceSecret(database, SETTING));
}

/** The secrets of a TOKEN_SECRET, in order. A secret has at least 32 characters. */
export function parseTokenSecrets(text: string): readonly TokenKey[] {
  const secrets = text.split(/\s+/).filter((secret) => secret !== '');
  invariant(secrets.length > 0, 'TOKEN_SECRET holds no secret');
  for (const secret of secrets)
    invariant(secret.length >= 32, 'a secret of TOKEN_SECRET has fewer than 32 characters');
  return secrets.map((secret) => ({ id: keyId(secret), secret: Buffer.from(secret, 'utf8') }));
}

/** Identifies a secret; discloses nothing about 32 random characters. */
function keyId(secret: string): string {
  return hash('sha256', `campus-gateway key id ${secret}`, 'base64url').slice(0, 8);
}
