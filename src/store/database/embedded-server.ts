/**
 * A PostgreSQL server in the data directory, created on the first start and reused afterwards.
 *
 * The server is a separate process (in a session of its own, so that Ctrl-C reaches only the gateway) and
 * survives a gateway that is killed; the next start finds it by its `postmaster.pid` and continues to use it.
 * Several gateways may share a data directory: each holds a shared advisory lock while it runs, and the last
 * one to leave stops the server. If the server dies, the first gateway to notice restarts it.
 */
import { randomBytes } from 'node:crypto';
import {
  appendFile,
  chown,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ServiceError } from '../../errors.js';
import { faultIn } from './fault-in.js';
import { KeptPresence, Presence } from './kept-presence.js';
import {
  canReach,
  findServerPrograms,
  ROOT_FALLBACK_DIRECTORY,
  runProgram,
  type ServerPrograms,
} from './server-programs.js';
import { isProcessAlive, withStartLock } from './start-lock.js';
import { toStartRefusal } from './to-start-refusal.js';

const USER = 'campus';
const DATABASE = 'campus';
const MAJOR_VERSION = '18';
/** An advisory lock in the database `postgres`, held shared by every gateway that uses the server. */
const PRESENCE_LOCK = 0x63616d70;
const READY_TIMEOUT_MS = 60_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

export interface EmbeddedServerOptions {
  /**
   * Contains `postgres/` (the cluster) and `postgres.json` (its port and password, readable only by its
   * owner).
   */
  readonly dataDirectory: string;
  /** Receives one line at a time for the operator. PostgreSQL's own log is `postgres/server.log`. */
  readonly onLog?: (line: string) => void;
  /** PostgreSQL settings that override ours; tests trade durability for speed. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedServer {
  /** The address of the database `campus` for its owner, PostgreSQL's superuser. */
  readonly url: string;
  /** Stops PostgreSQL cleanly, unless another gateway still uses it. Further calls do nothing. */
  stop(): Promise<void>;
}

/** What must be remembered about the cluster, in `postgres.json`. */
interface Cluster {
  readonly directory: string;
  /** The last port, tried first, so that addresses people wrote down remain valid. */
  readonly port: number;
  readonly password: string;
}

/**
 * Starts the server of a data directory, or joins a running one. The first start takes about a second, later
 * ones about a tenth.
 *
 * @throws UNAVAILABLE whose message is one line for the operator
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const dataDirectory = path.resolve(options.dataDirectory);
  try {
    return await startServerOf(dataDirectory, options);
  } catch (error) {
    throw toStartRefusal(error, dataDirectory);
  }
}

async function startServerOf(dataDirectory: string, options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const log = options.onLog ?? (() => {});
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  await mkdir(dataDirectory, { recursive: true });
  const lockFile = path.join(dataDirectory, 'postgres.lock');

  const { cluster, presence, programs } = await withStartLock(lockFile, async () => {
    const programs = await findServerPrograms();
    const existing =
      (await findCluster(dataDirectory)) ?? (await createCluster(dataDirectory, programs, log));
    const runningPort = await findRunningServer(existing, log);
    const port = runningPort ?? (await startServer(existing, programs, { settings, port: 'any' }));
    const cluster = { ...existing, port };
    if (port !== existing.port) await writeCluster(dataDirectory, cluster);
    if (runningPort !== undefined) log(`Joined the PostgreSQL that already runs in ${cluster.directory}`);
    return { cluster, presence: await announcePresence(cluster), programs };
  });

  const kept = new KeptPresence({
    presence,
    log,
    revive: () =>
      withStartLock(lockFile, async () => {
        const port =
          (await findRunningServer(cluster, log)) ??
          (await startServer(cluster, programs, { settings, port: 'same' }));
        if (port === cluster.port) return await announcePresence(cluster);
        throw new ServiceError(
          'UNAVAILABLE',
          `PostgreSQL runs on port ${port} now, no longer on ${cluster.port}; start again.`,
        );
      }),
  });
  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(cluster, DATABASE),
    stop() {
      stopped ??= kept.end().then((last) =>
        withStartLock(lockFile, async () => {
          if (await isUsedByOthers(last)) {
            log('Left PostgreSQL running: another gateway uses it');
            return;
          }
          await stopServer(cluster, programs);
        }),
      );
      return stopped;
    },
  };
}

// None of these reduces durability: fsync, full_page_writes and synchronous_commit stay on.
const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // The path of a data directory may be too long for a socket.
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: os.totalmem() >= 4 * 1024 ** 3 ? '512MB' : '128MB',
  effective_cache_size: `${Math.max(256, Math.floor(os.totalmem() / 1024 ** 2 / 2))}MB`,
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Deadlocked writes are retried, so they should be detected early.
  deadlock_timeout: '250ms',
  log_min_messages: 'warning',
  log_line_prefix: '%m [%p] %d ',
};

async function findCluster(dataDirectory: string): Promise<Cluster | undefined> {
  const text = await readFile(clusterFile(dataDirectory), 'utf8').catch(() => undefined);
  if (text === undefined) {
    const orphan = path.join(dataDirectory, 'postgres');
    if (await exists(orphan)) {
      throw new ServiceError(
        'UNAVAILABLE',
        `${clusterFile(dataDirectory)} is missing: it holds the password of the database in ${orphan}.`,
      );
    }
    return undefined;
  }
  const { port, password, directory } = JSON.parse(text) as Cluster;
  const cluster = { port, password, directory: path.resolve(dataDirectory, directory) };
  const version = await readFile(path.join(cluster.directory, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version === undefined) return undefined;
  if (version.trim() !== MAJOR_VERSION) {
    throw new ServiceError(
      'UNAVAILABLE',
      `The database in ${cluster.directory} is of PostgreSQL ${version.trim()}, this gateway brings ` +
        `${MAJOR_VERSION}: back it up with the version of the gateway that made it (campus backup), and ` +
        'restore the backup into a new data directory (campus restore).',
    );
  }
  return cluster;
}

async function createCluster(
  dataDirectory: string,
  programs: ServerPrograms,
  log: (line: string) => void,
): Promise<Cluster> {
  const parent = (await canReach(dataDirectory, programs.user))
    ? dataDirectory
    : await createReachableDirectory();
  const directory = path.join(parent, 'postgres');
  if (parent !== dataDirectory) {
    log(`The database is kept in ${directory}: ${dataDirectory} is closed to the user PostgreSQL runs as`);
  }
  const password = randomBytes(24).toString('base64url');
  const staging = `${directory}.new`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  const secretDirectory = await mkdtemp(path.join(parent, 'password-'));
  try {
    const passwordFile = path.join(secretDirectory, 'password');
    await writeFile(passwordFile, password, { mode: 0o600 });
    for (const owned of [staging, secretDirectory, passwordFile]) await giveTo(owned, programs);
    const { exitCode, output } = await runProgram(
      programs.initdb,
      [
        `--pgdata=${staging}`,
        `--username=${USER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
      ],
      programs.user,
    );
    if (exitCode !== 0)
      throw new ServiceError('UNAVAILABLE', `PostgreSQL could not create its database: ${faultIn(output)}`);
  } finally {
    await rm(secretDirectory, { recursive: true, force: true });
  }
  await appendFile(path.join(staging, 'postgresql.conf'), "\ninclude_if_exists = 'campus.conf'\n");
  const cluster = { directory, password, port: 0 };
  // In this order, so that a cluster in its place always has a known password.
  await writeCluster(dataDirectory, cluster);
  await rename(staging, directory);
  return cluster;
}

async function createReachableDirectory(): Promise<string> {
  await mkdir(ROOT_FALLBACK_DIRECTORY, { recursive: true, mode: 0o755 });
  const directory = await mkdtemp(path.join(ROOT_FALLBACK_DIRECTORY, 'data-'));
  await runProgram('chmod', ['755', directory], undefined);
  return directory;
}

/** The port of the running server of the cluster; waits for one that is starting or stopping. */
async function findRunningServer(cluster: Cluster, log: (line: string) => void): Promise<number | undefined> {
  const pidFile = path.join(cluster.directory, 'postmaster.pid');
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n');
    const processId = Number(lines[0]);
    if (!Number.isInteger(processId) || processId <= 0 || !isProcessAlive(processId)) return undefined;
    if (!(await isServerOf(cluster, processId))) {
      // After a crash of the machine or container, the process id may belong to any program, and PostgreSQL
      // would mistake it for its own.
      log(`Removed the left-over ${pidFile}`);
      await rm(pidFile, { force: true });
      return undefined;
    }
    const port = Number(lines[3]);
    if (port > 0 && (await answers({ ...cluster, port }))) return port;
    if (Date.now() > deadline) {
      throw new ServiceError(
        'UNAVAILABLE',
        `The PostgreSQL of ${cluster.directory} (process ${processId}) does not answer; end that ` +
          'process and start again.',
      );
    }
    await sleep(50);
  }
}

async function isServerOf(cluster: Cluster, processId: number): Promise<boolean> {
  if (process.platform === 'win32') return true;
  const command =
    process.platform === 'linux'
      ? await readFile(`/proc/${processId}/cmdline`, 'utf8').catch(() => '')
      : (await runProgram('ps', ['-o', 'command=', '-p', String(processId)], undefined)).output;
  return command.includes(cluster.directory);
}

async function answers(cluster: Cluster): Promise<boolean> {
  const client = await connect(cluster).catch((error: Error & { code?: string }) => {
    if (error.code === '28P01') {
      throw new ServiceError(
        'UNAVAILABLE',
        `The PostgreSQL in ${cluster.directory} refuses the password of postgres.json.`,
        {
          cause: error,
        },
      );
    }
    return undefined;
  });
  await client?.end();
  return client !== undefined;
}

async function startServer(
  cluster: Cluster,
  programs: ServerPrograms,
  options: { readonly settings: Readonly<Record<string, string>>; readonly port: 'any' | 'same' },
): Promise<number> {
  const { settings } = options;
  const logFile = path.join(cluster.directory, 'server.log');
  const logBytes = await stat(logFile).then(
    ({ size }) => size,
    () => 0,
  );
  if (logBytes > MAX_LOG_BYTES) await rm(logFile);
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort(attempt === 1 || options.port === 'same' ? cluster.port : 0);
    if (options.port === 'same' && port !== cluster.port) {
      throw new ServiceError(
        'UNAVAILABLE',
        `Port ${cluster.port}, which PostgreSQL had, is taken by another program.`,
      );
    }
    const lines = Object.entries({ ...settings, port: String(port) }).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
    );
    const settingsFile = path.join(cluster.directory, 'campus.conf');
    await writeFile(settingsFile, lines.join(''));
    await giveTo(settingsFile, programs);
    const { exitCode, output } = await runProgram(
      programs.pgCtl,
      [
        'start',
        '--wait',
        `--timeout=${READY_TIMEOUT_MS / 1000}`,
        '--silent',
        `--pgdata=${cluster.directory}`,
        `--log=${logFile}`,
      ],
      programs.user,
    );
    if (exitCode === 0) return port;
    const serverLog = await readFile(logFile, 'utf8').catch(() => output);
    // The port may have been taken in between: try another one.
    if (attempt < 3 && /could not (bind|create any TCP)/.test(serverLog.slice(-2000))) continue;
    throw new ServiceError('UNAVAILABLE', `PostgreSQL did not start: ${faultIn(serverLog)} (see ${logFile})`);
  }
}

async function stopServer(cluster: Cluster, programs: ServerPrograms): Promise<void> {
  if (!(await exists(path.join(cluster.directory, 'postmaster.pid')))) return;
  const { exitCode, output } = await runProgram(
    programs.pgCtl,
    [
      'stop',
      '--wait',
      '--mode=fast',
      '--silent',
      `--timeout=${READY_TIMEOUT_MS / 1000}`,
      `--pgdata=${cluster.directory}`,
    ],
    programs.user,
  );
  if (exitCode !== 0 && (await exists(path.join(cluster.directory, 'postmaster.pid')))) {
    throw new ServiceError('UNAVAILABLE', `PostgreSQL did not stop: ${faultIn(output)}`);
  }
}

async function announcePresence(cluster: Cluster): Promise<Presence> {
  const client = await connect(cluster);
  const presence = new Presence(client);
  await client.query('select pg_advisory_lock_shared($1)', [PRESENCE_LOCK]);
  const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
  if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
  return presence;
}

async function isUsedByOthers({ client: presence }: Presence): Promise<boolean> {
  try {
    await presence.query('select pg_advisory_unlock_shared($1)', [PRESENCE_LOCK]);
    const { rows } = await presence.query('select pg_try_advisory_lock($1) as "isAlone"', [PRESENCE_LOCK]);
    return rows[0]?.isAlone === false;
  } catch {
    return false;
  } finally {
    await presence.end().catch(() => {});
  }
}

async function connect(cluster: Cluster): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: urlOf(cluster, 'postgres'),
    application_name: 'campus embedded server',
    connectionTimeoutMillis: 5_000,
  });
  // The connection may break at any time; the next query reports it, but an unhandled error event would end
  // the process.
  client.on('error', () => {});
  await client.connect();
  return client;
}

function urlOf(cluster: Cluster, database: string): string {
  return `postgresql://${USER}:${cluster.password}@127.0.0.1:${cluster.port}/${database}`;
}

function clusterFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'postgres.json');
}

async function writeCluster(dataDirectory: string, cluster: Cluster): Promise<void> {
  const target = clusterFile(dataDirectory);
  const relative = path.relative(dataDirectory, cluster.directory);
  const directory = relative.startsWith('..') ? cluster.directory : relative;
  {
    await using file = await open(`${target}.new`, 'w', 0o600);
    await file.writeFile(
      `${JSON.stringify({ directory, port: cluster.port, password: cluster.password }, undefined, 2)}\n`,
    );
    await file.sync();
  }
  await rename(`${target}.new`, target);
}

/** A free port on the loopback address, `wanted` if possible. */
async function findFreePort(wanted: number): Promise<number> {
  const server = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address ? address.port : wanted);
      });
    });
  } catch (error) {
    if (wanted === 0) throw error;
    return await findFreePort(0);
  } finally {
    server.close();
  }
}

async function giveTo(location: string, { user }: ServerPrograms): Promise<void> {
  if (user) await chown(location, user.uid, user.gid);
}

async function exists(location: string): Promise<boolean> {
  return stat(location).then(
    () => true,
    () => false,
  );
}
