/** Backups of a database, and new databases made of them. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { Manifest } from '../../../src/services/backup/archive-writer.js';
import { type BackupOptions, createBackup } from '../../../src/services/backup/backup.js';
import { openArchive, openFileSource } from '../../../src/services/backup/open-archive.js';
import { type RestoreOptions, restoreArchive } from '../../../src/services/backup/restore.js';
import { saveBackup } from '../../../src/services/backup/save-backup.js';
import { createTestDatabase, type TestDatabase } from '../../database.js';

/** A folder for the tests of this file, which goes with them. */
export function useFolder(): { file(name: string): string } {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'campus-backups-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return { file: (name) => path.join(folder, name) };
}

export async function backUpTo(file: string, options: BackupOptions): Promise<Manifest> {
  const backup = createBackup(options);
  await saveBackup(file, backup.bytes);
  return backup.manifest();
}

/** Reads a backup to its end. @throws when it is not whole */
export async function verify(file: string): Promise<Manifest> {
  await using source = await openFileSource(file);
  return (await openArchive(source)).manifest;
}

export async function restoreFrom(
  file: string,
  options: Omit<RestoreOptions, 'archive' | 'mode'> & { readonly mode?: RestoreOptions['mode'] },
): ReturnType<typeof restoreArchive> {
  await using source = await openFileSource(file);
  return await restoreArchive({ mode: 'restore', ...options, archive: await openArchive(source) });
}

/** Lends empty databases and drops them after the tests of the file. */
export function useEmptyDatabases(): { create(): Promise<TestDatabase> } {
  const made: TestDatabase[] = [];
  afterAll(async () => {
    for (const database of made) await database.drop();
  });
  return {
    async create() {
      const database = await createTestDatabase();
      made.push(database);
      return database;
    },
  };
}
