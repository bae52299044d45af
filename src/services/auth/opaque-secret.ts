/** Secrets that are only looked up: 256 random bits, stored as their SHA-256. */
import { hash, randomBytes } from 'node:crypto';

/**
 * An unguessable text: `<prefix>_` and 43 characters of base64url. The prefix identifies the kind of secret
 * to whoever finds it, and to scanners for leaked secrets: `cg` an API key, `cgr` a refresh token, `cgl` a
 * link that sets a password.
 */
export function createOpaqueSecret(prefix: 'cg' | 'cgr' | 'cgl'): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/**
 * The stored form of a secret. A look-up compares hashes, so its time discloses nothing about the secret; 256
 * random bits need neither salt nor a slow hash.
 */
export function hashOpaqueSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
