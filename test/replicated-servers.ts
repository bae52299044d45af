/**
 * A primary and standbys that follow it, of the embedded PostgreSQL's programs: they are there to be stopped,
 * promoted and held up. Without durability: what is tested is what the servers keep while they live.
 */
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { migrateJobQueue } from '../src/services/jobs/job-queue.js';
import {
  findServerPrograms,
  runProgram,
  type ServerPrograms,
} from '../src/store/database/embedded/server-programs.js';
import { applyMigrations } from '../src/store/database/migrations.js';
import { freePort } from './free-port.js';

const USER = 'campus';
const DATABASE = 'campus';

const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
full_page_writes = off
shared_buffers = 32MB
max_connections = 100
hot_standby_feedback = on
wal_receiver_status_interval = 1s
wal_retrieve_retry_interval = 200ms
timezone = 'UTC'
`;

/** One server of the test's own. */
class TestServer {
  readonly #directory: string;
  readonly #programs: ServerPrograms;
  readonly port: number;

  constructor(directory: string, port: number, programs: ServerPrograms) {
    this.#directory = directory;
    this.port = port;
    this.#programs = programs;
  }

  /** The address of the database. */
  get url(): string {
    return `postgresql://${USER}@127.0.0.1:${this.port}/${DATABASE}`;
  }

  async start(): Promise<void> {
    await this.#control('start', '--wait', '--silent', `--log=${this.#directory}/server.log`);
  }

  /** `immediate`: as it ends when its machine does. */
  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.#control('stop', '--wait', '--silent', `--mode=${mode}`);
  }

  /** Runs a statement, past any gateway. */
  async query<Row extends object>(text: string, database = DATABASE): Promise<Row[]> {
    const url = Object.assign(new URL(this.url), { pathname: database }).href;
    const client = new pg.Client({ connectionString: url, application_name: 'campus tests' });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** A standby of this server, which must be stopped: its folder is copied. Neither is started. */
  async copyAsStandby(): Promise<TestServer> {
    const directory = `${this.#directory}-standby-${await freePort()}`;
    await this.#run('cp', '--archive', this.#directory, directory);
    const standby = await configured(directory, this.#programs);
    await appendFile(
      path.join(directory, 'postgresql.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${this.port} user=${USER} application_name=standby'\n`,
    );
    const signal = path.join(directory, 'standby.signal');
    await writeFile(signal, '');
    if (this.#programs.user) await chown(signal, this.#programs.user.uid, this.#programs.user.gid);
    return standby;
  }

  async #control(command: string, ...words: readonly string[]): Promise<void> {
    await this.#run(this.#programs.pgCtl, command, `--pgdata=${this.#directory}`, ...words);
  }

  async #run(program: string, ...words: readonly string[]): Promise<void> {
    const { exitCode, output } = await runProgram(program, words, this.#programs.user);
    if (exitCode !== 0) throw new Error(`${program} ${words.join(' ')}: ${output}`);
  }
}

export interface ReplicatedServers {
  readonly primary: TestServer;
  readonly standbys: readonly TestServer[];
  /** Stops those that still run, and removes their files. */
  close(): Promise<void>;
}

/** Starts a primary with a migrated database and standbys that stream from it. The caller closes them. */
export async function startReplicatedServers(standbyCount: number): Promise<ReplicatedServers> {
  const programs = await findServerPrograms();
  const parent = await mkdtemp(path.join(os.tmpdir(), 'campus-replicas-'));
  if (programs.user) await chown(parent, programs.user.uid, programs.user.gid);
  await chmod(parent, 0o755);
  const directory = path.join(parent, 'data');
  const made = await runProgram(
    programs.initdb,
    [
      `--pgdata=${directory}`,
      `--username=${USER}`,
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    programs.user,
  );
  if (made.exitCode !== 0) throw new Error(made.output);
  const primary = await configured(directory, programs);
  await primary.start();
  await primary.query(`create database ${DATABASE}`, 'postgres');
  await applyMigrations({ url: primary.url });
  await migrateJobQueue(primary.url);
  await primary.stop();
  const standbys: TestServer[] = [];
  for (let made = 0; made < standbyCount; made++) standbys.push(await primary.copyAsStandby());
  for (const server of [primary, ...standbys]) await server.start();
  return {
    primary,
    standbys,
    async close() {
      for (const server of [...standbys, primary]) await server.stop('immediate').catch(() => {});
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** The folder as a server on a port of its own. */
async function configured(directory: string, programs: ServerPrograms): Promise<TestServer> {
  const port = await freePort();
  await appendFile(path.join(directory, 'postgresql.conf'), `${SETTINGS}port = ${port}\n`);
  return new TestServer(directory, port, programs);
}
