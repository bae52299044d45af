/** Where the file of an import lies while it is worked on: a folder of the process that does it. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isProcessAlive } from '../store/database/start-lock.js';

const FOLDER = /^campus-import-([0-9]+)-/;

/** A new folder, which whoever asked for it takes away. */
export async function makeSourceFolder(): Promise<string> {
  return await mkdtemp(path.join(tmpdir(), `campus-import-${process.pid}-`));
}

/**
 * Takes away the folders of processes that were killed and could not: they hold what people sent, and a disk
 * has not room for all of them. What cannot be taken away is another user's, and stays.
 */
export async function removeAbandonedFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = Number(FOLDER.exec(name)?.[1]);
    const folder = path.join(tmpdir(), name);
    if (!Number.isNaN(owner) && (await isAbandoned(folder, owner))) {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  }
}

/** In a container the first process always has one number: what is older than it was its forerunner's. */
async function isAbandoned(folder: string, owner: number): Promise<boolean> {
  if (owner !== process.pid) return !isProcessAlive(owner);
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined && found.mtimeMs < Date.now() - process.uptime() * 1_000;
}
