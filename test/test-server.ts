import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { migrateJobQueue } from '../src/messaging/job-queue.js';
import { startEmbeddedServer } from '../src/store/database/embedded-server.js';
import { applyMigrations } from '../src/store/database/migrations.js';
import { isProcessAlive } from '../src/store/database/start-lock.js';

/** Where the workers find the server: the address of the migrated database that every test file gets a copy of. */
export const TEMPLATE_URL_VARIABLE = 'CAMPUS_TEST_TEMPLATE_URL';

/** A data directory of a test run, by the process that runs it. */
const DIRECTORY_NAME = /^campus-test-([0-9]+)-/;

/**
 * Starts the one server of a test run, in a temporary folder and without durability, and migrates its template
 * database. The answer stops it and removes the folder.
 */
export async function startTestServer(): Promise<() => Promise<void>> {
  await removeLeftOvers();
  const dataDirectory = await mkdtemp(path.join(os.tmpdir(), `campus-test-${process.pid}-`));
  // Open to the user PostgreSQL runs as when the tests run as root.
  await chmod(dataDirectory, 0o755);
  const server = await startEmbeddedServer({
    dataDirectory,
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      shared_buffers: '128MB',
      max_connections: '400',
    },
  });
  await applyMigrations({ url: server.url });
  await migrateJobQueue(server.url);
  process.env[TEMPLATE_URL_VARIABLE] = server.url;
  return async () => {
    await server.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  };
}

/** A run that was killed could not stop its server: the next one does. */
async function removeLeftOvers(): Promise<void> {
  for (const name of await readdir(os.tmpdir())) {
    const processId = Number(DIRECTORY_NAME.exec(name)?.[1]);
    if (!processId || isProcessAlive(processId)) continue;
    const dataDirectory = path.join(os.tmpdir(), name);
    // Starting is how one gets hold of a server that runs. Two runs may be at it at once, and one of them fails.
    const leftOver = await startEmbeddedServer({ dataDirectory }).catch(() => undefined);
    await leftOver?.stop();
    await rm(dataDirectory, { recursive: true, force: true }).catch(() => {});
  }
}
