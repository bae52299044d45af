/** The place of scheduled backups: a folder, or the bucket of the files. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Bucket } from '../files/blob-store.js';
import { PARTIAL_SUFFIX, saveBackup, toFileError } from './save-backup.js';

export interface BackupPlace {
  /** Stores the whole content under the name, or nothing. Returns its size in bytes. */
  write(name: string, bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<number>;
  /** The names of the backups there. A place that cannot be listed looks for the known ones alone. */
  list(known: readonly string[]): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
}

/** Files with other names are not scheduled backups, and are left alone. */
const NAME = /^campus-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.campus$/;

/** Names that contain this sort by the time the backups were made. */
export function backupName(at: Date): string {
  return `campus-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.campus`;
}

/** The first backup creates the folder. */
export function folderPlace(folder: string): BackupPlace {
  return {
    async write(name, bytes) {
      const names = await listFolder(folder);
      // A killed gateway has left this behind: scheduled backups run one at a time, so no other one writes
      // it.
      const left = names.filter((one) => one.startsWith('campus-') && one.endsWith(PARTIAL_SUFFIX));
      for (const one of left) await rm(path.join(folder, one), { force: true });
      return await saveBackup(path.join(folder, name), bytes);
    },
    list: async () => (await listFolder(folder)).filter((name) => NAME.test(name)),
    remove: (name) => rm(path.join(folder, name), { force: true }),
  };
}

async function listFolder(folder: string): Promise<readonly string[]> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await readdir(folder);
  } catch (error) {
    throw toFileError(folder, error);
  }
}

/**
 * Keeps backups below `backups/` in the bucket. The bucket is never listed, as it may hold a million files.
 */
export function bucketPlace(bucket: Bucket): BackupPlace {
  return {
    async write(name, bytes, signal) {
      // Scheduled backups run one at a time, so nobody else writes here.
      await bucket.endWrites('backups/campus-').catch(() => {});
      let size = 0;
      const counted = async function* () {
        for await (const chunk of bytes) {
          size += chunk.length;
          yield chunk;
        }
      };
      await bucket.write({ id: `backups/${name}` }, counted(), signal);
      return size;
    },
    list: async (known) => known.filter((name) => NAME.test(name)),
    remove: (name) => bucket.delete({ id: `backups/${name}` }),
  };
}
