import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isNativeError } from 'node:util/types';

/**
 * Creates a directory and the missing ones above it. Unlike `mkdir` with `recursive`, which tries again for
 * ever below `/proc` and reports a read-only file system as a missing file, it fails with what the system
 * reports.
 */
export async function makeDirectory(directory: string, mode?: number): Promise<void> {
  const target = path.resolve(directory);
  if (await isDirectory(target)) return;
  const parent = path.dirname(target);
  if (parent !== target) await makeDirectory(parent, mode);
  try {
    await mkdir(target, mode);
  } catch (error) {
    // Another process may have been quicker.
    if (
      !(isNativeError(error) && 'code' in error && error.code === 'EEXIST' && (await isDirectory(target)))
    ) {
      throw error;
    }
  }
}

/** False if it is missing or a file; `mkdir` then reports the error. */
async function isDirectory(location: string): Promise<boolean> {
  return await stat(location).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
