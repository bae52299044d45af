/**
 * A PostgreSQL server in the data directory, created on the first start and reused afterwards.
 *
 * The server is a separate process (in a session of its own, so that Ctrl-C reaches only the gateway) and
 * survives a gateway that is killed; the next start finds it by its `postmaster.pid` and continues to use it.
 * Several gateways may share a data directory: each holds a shared advisory lock while it runs, and the last
 * one to leave stops the server. If the server dies, the first gateway to notice restarts it.
 */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type pg from 'pg';
import { ServiceError, unavailable } from '../../../base/errors.js';
import { closeInTurn } from '../../../base/process/close-in-turn.js';
import { makeDirectory } from '../../../base/process/make-directory.js';
import { memoryLimitBytes } from '../../../base/process/memory-limit.js';
import { unlessAborted } from '../../../base/process/unless-aborted.js';
import { sqlStateOf, translateDatabaseError } from '../database-errors.js';
import { withDeadline } from '../deadline.js';
import { assertRoomToStart, DISK_SETTINGS, DiskGuard, diskSizeOf } from '../disk-guard.js';
import { createLoneClient } from '../lone-client.js';
import { embeddedSettings } from './embedded-settings.js';
import { type Cluster, findCluster, writeCluster } from './find-cluster.js';
import { isProcessAlive, KeptPresence, Presence, withStartLock, withStopLock } from './kept-presence.js';
import {
  canReach,
  findServerPrograms,
  type ProgramResult,
  ROOT_FALLBACK_DIRECTORY,
  runProgram,
  type ServerPrograms,
} from './server-programs.js';

const USER = 'campus';
const DATABASE = 'campus';
/** An advisory lock in the database `postgres`, held shared by every gateway that uses the server. */
const PRESENCE_LOCK = 0x63616d70;
const READY_TIMEOUT_MS = 60_000;
/** How long a clean stop of PostgreSQL may take; after it, the next start recovers from the log. */
const STOP_TIMEOUT_MS = 30_000;
/** How long PostgreSQL may take to report whether others use it. */
const PRESENCE_TIMEOUT_MS = 5_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

export interface EmbeddedServerOptions {
  /** Contains `postgres/`, the cluster, and `postgres.json`, its port and password, readable by its owner. */
  readonly dataDirectory: string;
  /** Receives one line at a time for the operator. PostgreSQL's own log is `postgres/server.log`. */
  readonly onLog?: (line: string) => void;
  /** PostgreSQL settings that override ours; tests trade durability for speed. */
  readonly settings?: Readonly<Record<string, string>>;
  /** With less left on the disk, changes are refused; tests set it. Default: 64 MiB. */
  readonly diskReserveBytes?: number;
  /** Ends the start, with its reason; a server that was started is stopped again. */
  readonly signal?: AbortSignal | undefined;
}

export interface EmbeddedServer {
  /** The address of the database `campus` for its owner, PostgreSQL's superuser. */
  readonly url: string;
  /** Stops PostgreSQL cleanly, unless another gateway still uses it. Further calls do nothing. */
  stop(): Promise<void>;
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
  const { signal } = options;
  const log = options.onLog ?? (() => {});
  await makeDirectory(dataDirectory);
  const lockFile = path.join(dataDirectory, 'postgres.lock');
  const settings = {
    ...embeddedSettings({ memoryBytes: memoryLimitBytes(), diskBytes: await diskSizeOf(dataDirectory) }),
    ...DISK_SETTINGS,
    ...options.settings,
  };

  const begin = async () => {
    const programs = await findServerPrograms();
    const found = await findCluster(dataDirectory);
    if (found) await assertOwner(found, programs);
    const runningPort = found && (await findRunningServer(found, log, signal));
    if (runningPort === undefined) await assertRoomToStart(dataDirectory, found === undefined);
    const existing = found ?? (await createCluster(dataDirectory, programs, log));
    const port = runningPort ?? (await startServer(existing, programs, { settings, port: 'any', signal }));
    const cluster = { ...existing, port };
    if (port !== existing.port) await writeCluster(dataDirectory, cluster);
    if (runningPort !== undefined) log(`Joined the PostgreSQL that already runs in ${cluster.directory}`);
    return { cluster, presence: await announcePresence(cluster), programs };
  };
  const { cluster, presence, programs } = await withStartLock(lockFile, begin, signal);

  const kept = new KeptPresence({
    presence,
    log,
    revive: () =>
      withStartLock(lockFile, async () => {
        const port =
          (await findRunningServer(cluster, log)) ??
          (await startServer(cluster, programs, { settings, port: 'same' }));
        if (port === cluster.port) return await announcePresence(cluster);
        throw unavailable(`PostgreSQL runs on port ${port} now, no longer on ${cluster.port}; start again.`);
      }),
  });
  const guard = new DiskGuard({
    directory: cluster.directory,
    settingsFile: settingsFileOf(cluster),
    reload: () => runPgCtl(programs, 'reload', cluster),
    log,
    reserveBytes: options.diskReserveBytes,
  });
  const stopUnlessUsed = async () => {
    const last = await kept.end();
    await withStopLock(lockFile, async () => {
      if (await isUsedByOthers(last)) log('Left PostgreSQL running: another gateway uses it');
      else await stopServer(cluster, programs);
    });
  };
  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(cluster, DATABASE),
    stop() {
      stopped ??= closeInTurn([stopUnlessUsed, () => guard.close()]);
      return stopped;
    },
  };
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
    if (exitCode !== 0) throw unavailable(`PostgreSQL could not create its database: ${faultIn(output)}`);
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
  await makeDirectory(ROOT_FALLBACK_DIRECTORY, 0o755);
  const directory = await mkdtemp(path.join(ROOT_FALLBACK_DIRECTORY, 'data-'));
  await runProgram('chmod', ['755', directory], undefined);
  return directory;
}

/** PostgreSQL starts only for the owner of its files, and reports a refusal only in its log. */
async function assertOwner({ directory }: Cluster, { user }: ServerPrograms): Promise<void> {
  const runsAs = user?.uid ?? process.getuid?.();
  const { uid } = await stat(directory);
  if (runsAs === undefined || uid === runsAs) return;
  throw unavailable(
    `${directory} belongs to the user with the id ${uid}, and PostgreSQL would run as the user with the id ` +
      `${runsAs}; start the gateway as the owner, or change the owner: chown -R ${runsAs} ${directory}`,
  );
}

/** The port of the running server of the cluster; waits for one that is starting or stopping. */
async function findRunningServer(
  cluster: Cluster,
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const pidFile = path.join(cluster.directory, 'postmaster.pid');
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    signal?.throwIfAborted();
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
      throw unavailable(
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
  try {
    const client = await connect(cluster);
    await client.end();
    return true;
  } catch (error) {
    if (sqlStateOf(error) !== '28P01') return false;
    throw unavailable(`The PostgreSQL in ${cluster.directory} refuses the password of postgres.json.`, error);
  }
}

async function startServer(
  cluster: Cluster,
  programs: ServerPrograms,
  options: {
    readonly settings: Readonly<Record<string, string>>;
    readonly port: 'any' | 'same';
    readonly signal?: AbortSignal | undefined;
  },
): Promise<number> {
  const { settings, signal } = options;
  const logFile = path.join(cluster.directory, 'server.log');
  if ((await sizeOf(logFile)) > MAX_LOG_BYTES) await rm(logFile);
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort(attempt === 1 || options.port === 'same' ? cluster.port : 0);
    if (options.port === 'same' && port !== cluster.port) {
      throw unavailable(`Port ${cluster.port}, which PostgreSQL had, is taken by another program.`);
    }
    const lines = Object.entries({ ...settings, port: String(port) }).map(
      ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
    );
    const settingsFile = settingsFileOf(cluster);
    await writeFile(settingsFile, lines.join(''));
    await giveTo(settingsFile, programs);
    // Earlier starts have written to the same file.
    const logBytes = await sizeOf(logFile);
    const starting = runPgCtl(programs, 'start', cluster, [
      '--wait',
      `--timeout=${READY_TIMEOUT_MS / 1000}`,
      `--log=${logFile}`,
    ]);
    const { exitCode, output } = await unlessAborted(starting, signal).catch(async (reason: unknown) => {
      await stopServer(cluster, programs);
      throw reason;
    });
    if (exitCode === 0) return port;
    const bytes = await readFile(logFile).catch(() => Buffer.alloc(0));
    const serverLog = bytes.subarray(logBytes).toString();
    // The port may have been taken in between: try another one.
    if (attempt < 3 && /could not (bind|create any TCP)/.test(serverLog)) continue;
    throw unavailable(
      `PostgreSQL did not start: ${faultIn(serverLog.trim() === '' ? output : serverLog)} (see ${logFile})`,
    );
  }
}

/** A server that cannot stop cleanly, e.g. on a full disk, is ended, and recovers at the next start. */
async function stopServer(cluster: Cluster, programs: ServerPrograms): Promise<void> {
  const isRunning = () => existsSync(path.join(cluster.directory, 'postmaster.pid'));
  const timeout = `--timeout=${STOP_TIMEOUT_MS / 1000}`;
  let fault = '';
  for (const mode of ['fast', 'immediate']) {
    if (!isRunning()) return;
    const { exitCode, output } = await runPgCtl(programs, 'stop', cluster, [
      '--wait',
      `--mode=${mode}`,
      timeout,
    ]);
    if (exitCode === 0) return;
    fault ||= faultIn(output);
  }
  if (isRunning()) throw unavailable(`PostgreSQL did not stop: ${fault}`);
}

async function runPgCtl(
  { pgCtl, user }: ServerPrograms,
  command: 'start' | 'stop' | 'reload',
  cluster: Cluster,
  options: readonly string[] = [],
): Promise<ProgramResult> {
  return await runProgram(pgCtl, [command, '--silent', `--pgdata=${cluster.directory}`, ...options], user);
}

function settingsFileOf({ directory }: Cluster): string {
  return path.join(directory, 'campus.conf');
}

async function sizeOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
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
    return await withDeadline(presence, PRESENCE_TIMEOUT_MS, async () => {
      await presence.query('select pg_advisory_unlock_shared($1)', [PRESENCE_LOCK]);
      const { rows } = await presence.query('select pg_try_advisory_lock($1) as "isAlone"', [PRESENCE_LOCK]);
      return rows[0]?.isAlone === false;
    });
  } catch {
    return false;
  } finally {
    await presence.end().catch(() => {});
  }
}

async function connect(cluster: Cluster): Promise<pg.Client> {
  const client = createLoneClient(urlOf(cluster, 'postgres'), 'campus embedded server', 5_000);
  await client.connect();
  return client;
}

function urlOf(cluster: Cluster, database: string): string {
  return `postgresql://${USER}:${cluster.password}@127.0.0.1:${cluster.port}/${database}`;
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

/**
 * Extracts the reason why a PostgreSQL program failed from its output or log: the last line that reports an
 * error, because lines after it report the clean-up; if there is none, the last line.
 */
export function faultIn(output: string): string {
  const lines = output.trim().split('\n');
  const fault = lines.findLast((line) => /FATAL|PANIC|error:|could not/.test(line)) ?? lines.at(-1) ?? '';
  return fault.replace(/\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] +/, '');
}

/**
 * Turns an obstacle to the start of the embedded PostgreSQL that is not our fault into one line for the
 * operator: a data directory that this user may not enter, that is not a directory or is on a full disk, or
 * no room for the database. Returns any other error unchanged.
 */
export function toStartRefusal(error: unknown, dataDirectory: string): unknown {
  if (!isNativeError(error) || error instanceof ServiceError) return error;
  if ('syscall' in error) {
    const detail = `DATA_DIRECTORY, ${dataDirectory}, cannot be used: ${error.message}`;
    return unavailable(detail, error);
  }
  const translated = translateDatabaseError(error);
  if (!(translated instanceof ServiceError)) return error;
  const detail = `The PostgreSQL in ${dataDirectory} cannot be used: ${error.message}`;
  return new ServiceError(translated.code, detail, { cause: error });
}
