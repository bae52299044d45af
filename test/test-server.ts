import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { migrateJobQueue } from '../src/services/jobs/job-queue.js';
import { startEmbeddedServer } from '../src/store/database/embedded/embedded-server.js';
import { isProcessAlive } from '../src/store/database/embedded/kept-presence.js';
import { applyMigrations } from '../src/store/database/migrations.js';
import { logSeconds, PROCESSOR_LOG_VARIABLE, serverSeconds } from './processor-seconds.mjs';
import {
  createShardedDatabase,
  dropDatabase,
  findServers,
  listDatabases,
  sealTemplate,
} from './spread-databases.js';

/**
 * Where the workers find the server: the address of the migrated database that every test file gets a copy
 * of.
 */
export const TEMPLATE_URL_VARIABLE = 'CAMPUS_TEST_TEMPLATE_URL';

/** A data directory of a test run, by the process that runs it. */
const DIRECTORY_NAME = /^campus-test-([0-9]+)-/;

/**
 * Names a database of another server to run the tests on, as a user who may make databases and roles: an
 * older PostgreSQL, for example. Tests that stop a server, or that are about the embedded one, start their
 * own all the same.
 */
const OTHER_SERVER_VARIABLE = 'TEST_DATABASE_URL';

/**
 * Where Linux keeps files in memory. Every copy of a database makes many hundreds of files, which takes the
 * kernel a tenth of the processor time that it takes on a disk.
 */
const MEMORY_FOLDER = '/dev/shm';
/** The databases of a run are never as large together. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/** Gets a server for a test run and migrates its template database. The answer takes both away again. */
export async function startTestServer(): Promise<() => Promise<void>> {
  const otherServer = process.env[OTHER_SERVER_VARIABLE];
  return otherServer === undefined ? await startOwnServer() : await useOtherServer(otherServer);
}

async function useOtherServer(serverUrl: string): Promise<() => Promise<void>> {
  const name = `campus_test_template_${process.pid}`;
  await findServers(serverUrl);
  await createShardedDatabase(name);
  const url = Object.assign(new URL(serverUrl), { pathname: name }).href;
  try {
    await migrateTemplate(url);
    await sealTemplate(name);
  } catch (error) {
    await dropDatabase(name);
    throw error;
  }
  return async () => {
    for (const template of await listDatabases(`${name}_`)) await dropDatabase(template);
    await dropDatabase(name);
  };
}

async function migrateTemplate(url: string): Promise<void> {
  await applyMigrations({ url });
  await migrateJobQueue(url);
  process.env[TEMPLATE_URL_VARIABLE] = url;
}

/** A server in a temporary folder and without durability. */
async function startOwnServer(): Promise<() => Promise<void>> {
  const folder = await findFolder();
  await removeLeftOvers(folder);
  const dataDirectory = await mkdtemp(path.join(folder, `campus-test-${process.pid}-`));
  // Open to the user PostgreSQL runs as when the tests run as root.
  await chmod(dataDirectory, 0o777);
  const server = await startEmbeddedServer({
    dataDirectory,
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      shared_buffers: '128MB',
      max_connections: '400',
      // No database lives long enough for it.
      autovacuum: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      wal_init_zero: 'off',
      unix_socket_directories: dataDirectory,
    },
  });
  // A query takes a third less of the processor by a socket of Unix.
  const url = Object.assign(new URL(server.url), { hostname: encodeURIComponent(dataDirectory) }).href;
  await findServers(url);
  await migrateTemplate(url);
  return async () => {
    await logServerSeconds(dataDirectory);
    await server.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  };
}

async function findFolder(): Promise<string> {
  const memory = await statfs(MEMORY_FOLDER).catch(() => undefined);
  return memory && memory.bavail * memory.bsize >= NEEDED_BYTES ? MEMORY_FOLDER : os.tmpdir();
}

/** When measured (processor-seconds.mjs): the processor time of the server of this run. */
async function logServerSeconds(dataDirectory: string): Promise<void> {
  if (process.env[PROCESSOR_LOG_VARIABLE] === undefined) return;
  const file = (await readdir(dataDirectory, { recursive: true })).find((name) =>
    name.endsWith('postmaster.pid'),
  );
  if (file === undefined) return;
  const [processId] = (await readFile(path.join(dataDirectory, file), 'utf8')).split('\n');
  logSeconds({ server: serverSeconds(Number(processId)) });
}

/** A run that was killed could not stop its server: the next one does. */
async function removeLeftOvers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const processId = Number(DIRECTORY_NAME.exec(name)?.[1]);
    if (!processId || isProcessAlive(processId)) continue;
    const dataDirectory = path.join(folder, name);
    // Starting is how one gets hold of a server that runs. Two runs may be at it at once, and one of them
    // fails.
    const leftOver = await startEmbeddedServer({ dataDirectory }).catch(() => undefined);
    await leftOver?.stop();
    await rm(dataDirectory, { recursive: true, force: true }).catch(() => {});
  }
}
