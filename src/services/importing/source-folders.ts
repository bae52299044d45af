/** The folders with the files of running imports; each belongs to the process that works on the import. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isProcessAlive } from '../../store/database/embedded/start-lock.js';

const FOLDER = /^campus-import-([0-9]+)-/;

/** Creates a folder. The caller removes it. */
export async function makeSourceFolder(): Promise<string> {
  return await mkdtemp(path.join(tmpdir(), `campus-import-${process.pid}-`));
}

/**
 * Removes the folders of processes that were killed: they hold personal data, and would fill the disk. A
 * folder that cannot be removed belongs to another user of the machine, and stays.
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

/** In a container each first process has the same id: an older folder belongs to an earlier process. */
async function isAbandoned(folder: string, owner: number): Promise<boolean> {
  if (owner !== process.pid) return !isProcessAlive(owner);
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined && found.mtimeMs < Date.now() - process.uptime() * 1_000;
}
