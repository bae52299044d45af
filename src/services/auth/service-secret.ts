/** Secrets of the service that no environment variable sets; all gateways share them. */
import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { invariant } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import { sql } from '../../store/sql.js';

const STORED_SECRET = z.tuple([z.object({ value: z.string() })]);

/**
 * Returns the secret of this name, 32 random bytes as text; created on first use and stored in the database.
 * Gateways that start at the same time get the same one.
 *
 * Plain SQL, because every start reads them, and the first use of a model loads Prisma's query compiler.
 */
export async function loadServiceSecret(database: Database, name: string): Promise<string> {
  const secret = JSON.stringify(randomBytes(32).toString('base64url'));
  await database.query(
    sql`
      insert into settings (name, value, updated_at)
      values (${name}, ${secret}::jsonb, now())
      on conflict (name) do nothing
    `,
  );
  const rows = await database.query(sql`select value from settings where name = ${name}`);
  const [{ value }] = STORED_SECRET.parse(rows);
  return value;
}

/** The secrets of a setting, in order, separated by white space. A secret has at least 32 characters. */
export function parseSecrets(text: string, variable: string): readonly string[] {
  const secrets = text.split(/\s+/).filter((secret) => secret !== '');
  invariant(secrets.length > 0, `${variable} holds no secret`);
  for (const secret of secrets)
    invariant(secret.length >= 32, `a secret of ${variable} has fewer than 32 characters`);
  return secrets;
}

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

/**
 * The credential in a header `Authorization: Bearer <token>`; `undefined` where there is none.
 * @see RFC 6750, section 2.1
 */
export function parseBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** How API keys begin. */
export const KEY_PREFIX = 'cg_';

/**
 * An API key that is sent as `X-API-Key`, or as the password or the user name of HTTP Basic, which programs
 * such as Excel and Power BI keep in their own store; `undefined` where there is none.
 */
export function findApiKey(authorization: string | undefined, header: unknown): string | undefined {
  if (authorization === undefined)
    return typeof header === 'string' && header.startsWith(KEY_PREFIX) ? header : undefined;
  const basic = /^basic +(\S+) *$/i.exec(authorization)?.[1];
  if (basic === undefined) return undefined;
  const [userName = '', ...password] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return [password.join(':'), userName].find((text) => text.startsWith(KEY_PREFIX));
}
