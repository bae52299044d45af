/**
 * Which versions of the gateway work on a database. Whoever migrates it notes the oldest migration that a
 * version must know; an older version refuses to start on it. `prisma/compatible-from.txt` has the name of
 * that migration.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { z } from 'zod';

const SETTING = 'compatibility';

const Compatibility = z.object({
  /** The last migration that the note is about. */
  newest: z.string(),
  /** A version that knows this migration works on the database. */
  oldest: z.string(),
});
export type Compatibility = z.output<typeof Compatibility>;

type Connection = Pick<pg.ClientBase | pg.Pool, 'query'>;

/** The oldest migration that a version must know to work beside this one. */
export async function readCompatibleFrom(prismaDirectory: string): Promise<string> {
  return (await readFile(path.join(prismaDirectory, 'compatible-from.txt'), 'utf8')).trim();
}

/** Notes what this version requires, unless a newer one has. */
export async function noteCompatibility(connection: Connection, own: Compatibility): Promise<void> {
  await connection.query(
    `insert into settings as s (name, value, updated_at)
     values ($1, $2::jsonb, now())
     on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at
     where (s.value ->> 'newest', s.value ->> 'oldest')
       < (excluded.value ->> 'newest', excluded.value ->> 'oldest')`,
    [SETTING, JSON.stringify(own)],
  );
}

/** Whether a version with these migrations works on a database that has `unknown` ones, too. */
export async function isCompatible(
  connection: Connection,
  { known, unknown }: { readonly known: readonly string[]; readonly unknown: readonly string[] },
): Promise<boolean> {
  if (unknown.length === 0) return true;
  const { rows } = await connection.query<{ value: unknown }>('select value from settings where name = $1', [
    SETTING,
  ]);
  const { data: note } = Compatibility.safeParse(rows[0]?.value);
  return note !== undefined && known.includes(note.oldest) && unknown.every((name) => name <= note.newest);
}
