import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedServer } from '../src/store/database/embedded-server.js';
import { applyMigrations } from '../src/store/database/migrations.js';

/** Where the workers find the server: the address of the migrated database that every test file gets a copy of. */
export const TEMPLATE_URL_VARIABLE = 'CAMPUS_TEST_TEMPLATE_URL';

/**
 * Starts the one server of a test run, in a temporary folder and without durability, and migrates its template
 * database. The answer stops it and removes the folder.
 */
export async function startTestServer(): Promise<() => Promise<void>> {
  const dataDirectory = await mkdtemp(path.join(os.tmpdir(), 'campus-test-'));
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
  process.env[TEMPLATE_URL_VARIABLE] = server.url;
  return async () => {
    await server.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  };
}
