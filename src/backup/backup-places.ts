/** Where the backups by the clock are kept: a folder, or the bucket of the files. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Bucket } from '../files/blob-store.js';
import { PARTIAL_SUFFIX, saveBackup, toFileError } from './save-backup.js';

export interface BackupPlace {
  /** Keeps all of it under the name, or nothing. How many bytes it had. */
  write(name: string, bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<number>;
  /** The names of the backups there, of those that are known to have been made and others. */
  list(known: readonly string[]): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
}

/** Files that are not named like a backup by the clock are nobody's business here. */
const NAME = /^campus-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.campus$/;

/** Names made with it sort in the order in which the backups were made. */
export function backupName(at: Date): string {
  return `campus-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z.campus`;
}

/** The folder is made when the first backup is. */
export function folderPlace(folder: string): BackupPlace {
  return {
    async write(name, bytes) {
      const names = await listFolder(folder);
      // What a gateway that was killed has left; backups by the clock are made one after the other.
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

/** Below `backups/` in the bucket, which is not listed: it may hold a million files. */
export function bucketPlace(bucket: Bucket): BackupPlace {
  return {
    async write(name, bytes, signal) {
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
