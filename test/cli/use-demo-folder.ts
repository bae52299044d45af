import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { DEMO_DEFAULTS, type DemoOptions } from '../../src/school/demo/demo-options.js';
import type { TestDatabase } from '../database.js';
import { createDemoDatabase } from '../demo-template.js';
import type { Ended } from './campus.js';
import { useCampus } from './use-campus.js';

interface DemoFolder {
  /** The address of the database. */
  readonly url: string;
  readonly directory: string;
  /** Straight to the database, past the command. */
  readonly sql: pg.Client;
  /** Runs `campus` with words that are separated by a blank. */
  run(words: string): Promise<Ended>;
  /** Writes a file into the folder, and returns its path. */
  fileOf(name: string, ...lines: readonly string[]): Promise<string>;
  /** Counts the rows of a table and what follows it, e.g. `records where …`. */
  count(rows: string): Promise<number>;
}

/** The command line on a small demo school, and a folder for the files that it reads and writes. */
export function useDemoFolder(size: Pick<DemoOptions, 'students' | 'today'>): DemoFolder {
  const campus = useCampus();
  let database: TestDatabase | undefined;
  let directory = '';
  let sql: pg.Client | undefined;
  const get = () => {
    if (!database || !sql) throw new Error('The demo school exists only while tests run');
    return { url: database.url, sql };
  };
  beforeAll(async () => {
    database = await createDemoDatabase({ ...DEMO_DEFAULTS, ...size });
    directory = await mkdtemp(path.join(tmpdir(), 'campus-demo-folder-'));
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
  });
  afterAll(async () => {
    await sql?.end();
    await rm(directory, { recursive: true, force: true });
    await database?.drop();
  });
  return {
    get url() {
      return get().url;
    },
    get directory() {
      return directory;
    },
    get sql() {
      return get().sql;
    },
    run: (words) => campus(words.split(' '), { environment: { DATABASE_URL: get().url } }),
    async fileOf(name, ...lines) {
      const file = path.join(directory, name);
      await writeFile(file, `${lines.join('\n')}\n`);
      return file;
    },
    async count(counted) {
      const { rows } = await get().sql.query<{ count: number }>(
        `select count(*)::int as count from ${counted}`,
      );
      return rows[0]?.count ?? Number.NaN;
    },
  };
}
