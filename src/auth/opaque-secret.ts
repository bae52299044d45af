/** Secrets that are only ever looked up: 256 random bits, of which the database keeps the SHA-256. */
import { hash, randomBytes } from 'node:crypto';

/**
 * Text that nobody can guess, `<prefix>_` and 43 characters of base64url. The prefix says what it is to
 * whoever finds it, and to scanners for leaked secrets: `cg` an API key, `cgr` a refresh token, `cgl`
 * a link that sets a password.
 */
export function createOpaqueSecret(prefix: 'cg' | 'cgr' | 'cgl'): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/**
 * What is stored of a secret. Looking one up by this compares hashes, so the time a comparison takes
 * tells nothing about the secret; with 256 random bits it needs neither salt nor a slow hash.
 */
export function hashOpaqueSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
