/** Secrets of the service that no environment variable sets; all gateways share them. */
import { randomBytes } from 'node:crypto';
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
