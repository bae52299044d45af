/** A temporary file for data that does not fit in memory. It need not be deleted. */
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Creates a file, removes its name, and returns its handle: the system deletes the file when the handle is
 * closed, also when the process is killed.
 */
export function openNamelessFile(): number {
  const folder = mkdtempSync(path.join(tmpdir(), 'campus-import-'));
  try {
    return openSync(path.join(folder, 'held'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
