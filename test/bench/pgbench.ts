/** What pgbench, PostgreSQL's own benchmark, makes of the machine: a figure that other machines have too. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isNativeError } from 'node:util/types';
import pg from 'pg';

const run = promisify(execFile);
const DATABASE = 'pgbench';
const SECONDS = '3';

/**
 * The transactions a second of `pgbench -S` with one client, as text; why there is none, where it is not
 * installed.
 */
export async function selectsASecond(url: string): Promise<string> {
  const target = new URL(url);
  target.pathname = `/${DATABASE}`;
  try {
    if (await createDatabase(url)) await run('pgbench', ['-i', '-q', '-s', '10', target.href]);
    const { stdout } = await run('pgbench', [
      '-n',
      '-S',
      '-M',
      'prepared',
      '-c',
      '1',
      '-T',
      SECONDS,
      target.href,
    ]);
    const tps = /tps = ([\d.]+)/.exec(stdout)?.[1];
    return tps === undefined ? `not understood: ${stdout}` : `${Math.round(Number(tps))} a second`;
  } catch (error) {
    if (isNativeError(error) && 'code' in error && error.code === 'ENOENT')
      return 'not measured, for pgbench is not on the PATH (the embedded PostgreSQL has none)';
    throw error;
  }
}

/** Whether it had to be made. */
async function createDatabase(url: string): Promise<boolean> {
  await run('pgbench', ['--version']);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount !== 0) return false;
    await client.query(`create database ${DATABASE}`);
    return true;
  } finally {
    await client.end();
  }
}
