import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { makeSourceFolder, removeAbandonedFolders } from '../../../src/services/importing/import-source.js';

const folderOf = (owner: number) => mkdtemp(path.join(tmpdir(), `campus-import-${owner}-`));

it('takes away what processes left that are gone, and nothing of one that is there', async () => {
  const { pid: gone } = spawnSync(process.execPath, ['--version']);
  const ofGone = await folderOf(gone);
  await writeFile(path.join(ofGone, 'source'), 'name,phone');
  const ofForerunner = await makeSourceFolder();
  await utimes(ofForerunner, 0, 0);
  const own = await makeSourceFolder();
  const ofOther = await folderOf(process.ppid);
  try {
    await removeAbandonedFolders();
    expect([ofGone, ofForerunner, own, ofOther].map(existsSync)).toEqual([false, false, true, true]);
  } finally {
    for (const folder of [ofGone, ofForerunner, own, ofOther])
      await rm(folder, { recursive: true, force: true });
  }
});
