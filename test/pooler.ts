/** PgBouncer before the database, where the machine has it (Debian: `apt install pgbouncer`). */
import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { overTcp } from './spread-databases.js';

const PROGRAM = 'pgbouncer';
/** It is no program of users, and refuses to run as root. */
const SEARCHED = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` };

/** Whether the machine has the program; nothing is installed by a test. */
export function hasPooler(): boolean {
  return spawnSync(PROGRAM, ['--version'], { env: SEARCHED }).status === 0;
}

export interface Pooler {
  /** The address of the database through it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** In front of the server of a database's address. The caller stops it. */
export async function startPooler(
  databaseUrl: string,
  mode: 'session' | 'transaction' | 'statement',
): Promise<Pooler> {
  const target = overTcp(databaseUrl);
  const url = overTcp(databaseUrl);
  url.port = String(await freePort());
  const login = [`host=${target.hostname}`, `port=${target.port}`, `user=${target.username}`];
  if (target.password !== '') login.push(`password=${target.password}`);
  const directory = await mkdtemp(path.join(os.tmpdir(), 'campus-pooler-'));
  const settings = path.join(directory, 'pgbouncer.ini');
  await chmod(directory, 0o755);
  await writeFile(
    settings,
    `[databases]
* = ${login.join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${url.port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 60
`,
  );
  const user = process.getuid?.() === 0 ? ['--user', 'postgres'] : [];
  const child = spawn(PROGRAM, ['--quiet', ...user, settings], { env: SEARCHED, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await eventually(() => answers(url));
  return {
    url: url.href,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

async function answers(url: URL): Promise<boolean> {
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => {});
  return await client.connect().then(
    async () => {
      await client.end();
      return true;
    },
    () => false,
  );
}
