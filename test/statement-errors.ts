/**
 * Watches PostgreSQL's own log for statements that failed on one database: what a caller sent must not be
 * among the reasons.
 */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';

/** Conflicts, ended statements and ended connections: no text of a caller makes these. */
const EXPECTED =
  /duplicate key|could not serialize|deadlock detected|canceling statement|terminating connection|obtain lock/;

export interface StatementErrors {
  /** A line for each statement that failed since the watch began, with what PostgreSQL said of it. */
  list(): Promise<readonly string[]>;
}

/** The log is that of the embedded server, which names the database in every line. */
export async function watchStatementErrors(databaseUrl: string): Promise<StatementErrors> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'campus tests' });
  await client.connect();
  const { rows } = await client
    .query<{ data_directory: string }>('show data_directory')
    .finally(() => client.end());
  const logFile = path.join(rows[0]?.data_directory ?? '', 'server.log');
  let read = statSync(logFile).size;
  let begun = '';
  const database = new URL(databaseUrl).pathname.slice(1);
  const failed = new RegExp(`\\] ${database} (?:ERROR|FATAL|PANIC): `);
  const found: string[] = [];
  return {
    async list() {
      // Asked after every attempt, of a log that all tests write to: only what is new is read.
      if (statSync(logFile).size > read) {
        const bytes = await readFrom(logFile, read);
        read += bytes.length;
        const lines = `${begun}${bytes.toString('latin1')}`.split('\n');
        begun = lines.pop() ?? '';
        found.push(...lines.filter((line) => failed.test(line) && !EXPECTED.test(line)));
      }
      return found.map((line) => Buffer.from(line, 'latin1').toString('utf8'));
    },
  };
}

async function readFrom(file: string, start: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(size - start);
    await handle.read(bytes, 0, bytes.length, start);
    return bytes;
  } finally {
    await handle.close();
  }
}
