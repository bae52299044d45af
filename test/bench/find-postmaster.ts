import pg from 'pg';
import { parentOf } from './process-usage.js';

/** The id of the process of PostgreSQL that has started all others of it. */
export async function findPostmaster(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return await parentOf(rows[0]?.pid ?? 0);
  } finally {
    await client.end();
  }
}
