import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ServiceError } from '../../base/errors.js';
import { succeeds } from '../../base/process/succeeds.js';
import { isProcessAlive } from '../../store/database/embedded/kept-presence.js';
import type { Bucket } from '../files/blob-store.js';
import { CountedBytes } from '../files/described-file.js';
import { type ByteSource, openFileSource } from './open-archive.js';

/**
 * Saves a backup as `saveWhole` does, unless a file of that name exists.
 *
 * @throws CONFLICT if the file exists, UNAVAILABLE if it cannot be written
 */
export async function saveBackup(file: string, bytes: AsyncIterable<Buffer>): Promise<number> {
  await assertFree(file);
  return await saveWhole(file, bytes, () => assertFree(file));
}

/**
 * Writes bytes to a file that gets its name only when all of them are on the disk, so that nobody ever sees
 * an incomplete one. Only its owner can read it. Returns its size in bytes. `beforeNaming` may still refuse;
 * otherwise an existing file of that name is replaced.
 *
 * @throws UNAVAILABLE if it cannot be written
 */
export async function saveWhole(
  file: string,
  bytes: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  beforeNaming?: () => Promise<void>,
): Promise<number> {
  const partial = `${file}.${HOST}-${process.pid}${PARTIAL_SUFFIX}`;
  let size = 0;
  try {
    await removeAbandoned(file);
    const handle = await open(partial, 'w', 0o600);
    try {
      for await (const chunk of bytes) {
        await handle.appendFile(chunk);
        size += Buffer.byteLength(chunk);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await beforeNaming?.();
    await rename(partial, file);
    await syncFolder(path.dirname(file));
    return size;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    throw toFileError(file, error);
  }
}

/** The suffix of a file that is being written. A killed process leaves such a file behind. */
const PARTIAL_SUFFIX = '.partial';

const HOST = os.hostname();

/** Removes what killed processes of this machine have left of the file; those of others may be at work. */
async function removeAbandoned(file: string): Promise<void> {
  const folder = path.dirname(file);
  const start = `${path.basename(file)}.${HOST}-`;
  for (const name of await readdir(folder)) {
    if (!name.startsWith(start) || !name.endsWith(PARTIAL_SUFFIX)) continue;
    const processId = Number(name.slice(start.length, -PARTIAL_SUFFIX.length));
    if (!isProcessAlive(processId)) await rm(path.join(folder, name), { force: true });
  }
}

async function assertFree(file: string): Promise<void> {
  if (await succeeds(stat(file)))
    throw new ServiceError('CONFLICT', `${file} exists; a backup never overwrites a file.`);
}

/** A new name is durable once its folder is synced. Not every system can sync folders. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EFBIG: 'it is larger than a file may be here',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the disk is read-only',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
};

/**
 * Turns errors of the file system into one line for whoever named the file; returns other errors unchanged.
 */
export function toFileError(file: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = FILE_FAULTS[code];
  if (reason === undefined) return error;
  return new ServiceError('UNAVAILABLE', `${file} cannot be read or written: ${reason}.`, { cause: error });
}

/** The bytes of a file. @throws UNAVAILABLE */
export async function readNamedFile(file: string): Promise<Buffer> {
  return await readFile(file).catch((fault: unknown) => {
    throw toFileError(file, fault);
  });
}

/** Makes a folder, and those around it. @throws UNAVAILABLE */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((fault: unknown) => {
    throw toFileError(folder, fault);
  });
}

export interface BackupPlace {
  /** Stores the whole content under the name, or nothing. Returns its size in bytes. */
  write(name: string, bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<number>;
  /** The names of the backups there. A place that cannot be listed looks for the known ones alone. */
  list(known: readonly string[]): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
  /** Opens one of this size, to be read at any offset. @throws UNAVAILABLE, NOT_FOUND */
  open(name: string, size: number): Promise<ByteSource>;
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
    open: (name) =>
      openFileSource(path.join(folder, name)).catch((error: unknown) => {
        throw toFileError(path.join(folder, name), error);
      }),
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
      const counted = new CountedBytes(bytes, undefined, () => {});
      await bucket.write({ id: `backups/${name}` }, counted, signal);
      return counted.size;
    },
    list: async (known) => known.filter((name) => NAME.test(name)),
    remove: (name) => bucket.delete({ id: `backups/${name}` }),
    open: async (name, size) => ({
      size,
      read: (start, end) => buffer(bucket.read({ id: `backups/${name}` }, { start, end: end - 1 }, {})),
      [Symbol.asyncDispose]: async () => {},
    }),
  };
}
