/** A secret of the service that no setting of the environment says: all its gateways share it. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.js';
import type { Database } from '../store/database/database.js';

const STORED_SECRET = z.tuple([z.object({ value: z.string() })]);

/**
 * Gives the secret of this name, 32 random bytes as text; made and kept in the database when it is first
 * asked for. Gateways that start at the same time end up with the same one.
 *
 * By plain SQL: every start reads them, and the first question to a model loads Prisma's query compiler.
 */
export async function loadServiceSecret(database: Database, name: string): Promise<string> {
  const secret = JSON.stringify(randomBytes(32).toString('base64url'));
  await database.query(
    Prisma.sql`
      insert into settings (name, value, updated_at)
      values (${name}, ${secret}::jsonb, now())
      on conflict (name) do nothing
    `,
  );
  const rows = await database.query(Prisma.sql`select value from settings where name = ${name}`);
  const [{ value }] = STORED_SECRET.parse(rows);
  return value;
}
