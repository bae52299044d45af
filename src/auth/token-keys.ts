/**
 * The secrets that sign access tokens: from the settings of the service, or made once for all its gateways.
 */
import { hash } from 'node:crypto';
import { invariant } from '../errors.js';
import type { Database } from '../store/database/database.js';
import { loadServiceSecret } from './service-secret.js';

export interface TokenKey {
  /** The `kid` of its tokens. */
  readonly id: string;
  readonly secret: Buffer;
}

/** Name of the setting that holds the secret when none is configured. */
const SETTING = 'tokenSecret';

/**
 * The keys of access tokens; the first one signs, all of them verify.
 *
 * `tokenSecret` (TOKEN_SECRET) holds one secret, or several separated by white space: to rotate, put the new
 * one first and take the old one out once its tokens have expired. Without it a random secret is made and
 * kept in the database; gateways that start at the same time end up with the same one.
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

/** Tells the secrets of one instance apart; of a secret of 32 random characters it gives nothing away. */
function keyId(secret: string): string {
  return hash('sha256', `campus-gateway key id ${secret}`, 'base64url').slice(0, 8);
}
