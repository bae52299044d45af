/**
 * The note of a restore that is committed but not finished. The transaction of the restore writes it; whoever
 * opens the database next builds the indexes, erases persons again, and deletes it. Nothing is served before.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import type { Manifest } from './archive-writer.js';

const SETTING = 'unfinishedRestore';

const UnfinishedRestore = z.object({
  /** The same for each run of the same restore. */
  restore: z.string(),
  /** When the backup was made. */
  createdAt: z.string(),
  /** Erasures to repeat: lines of `campus person erasures`. */
  erasures: z.array(z.record(z.string(), z.string())),
});
export type UnfinishedRestore = z.output<typeof UnfinishedRestore>;

type Connection = Pick<pg.ClientBase | pg.Pool, 'query'>;

/** Identifies a backup and the name under which it is restored. */
export function identifyRestore(manifest: Manifest, into: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([manifest, into ?? null]))
    .digest('hex');
}

export async function findUnfinishedRestore(connection: Connection): Promise<UnfinishedRestore | undefined> {
  const { rows: tables } = await connection.query(`select 1 where to_regclass('settings') is not null`);
  if (tables.length === 0) return undefined;
  const { rows } = await connection.query<{ value: unknown }>('select value from settings where name = $1', [
    SETTING,
  ]);
  return rows[0] === undefined ? undefined : UnfinishedRestore.parse(rows[0].value);
}

/** Writes the note; erasures that an earlier note asks for stay in it. */
export async function noteUnfinishedRestore(connection: Connection, note: UnfinishedRestore): Promise<void> {
  const earlier = await findUnfinishedRestore(connection);
  const lines = new Set([...(earlier?.erasures ?? []), ...note.erasures].map((one) => JSON.stringify(one)));
  const erasures = [...lines].map((line) => JSON.parse(line));
  await connection.query(
    `insert into settings (name, value, updated_at)
     values ($1, $2::jsonb, now())
     on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at`,
    [SETTING, JSON.stringify({ ...note, erasures })],
  );
}

export async function endUnfinishedRestore(connection: Connection): Promise<void> {
  await connection.query('delete from settings where name = $1', [SETTING]);
}
