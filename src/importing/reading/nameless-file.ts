/** A file for what is too much for memory, which nobody has to tidy up after. */
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * The handle of a new file that has no name any more: the system takes it away when the handle is closed, and
 * with the process that is killed.
 */
export function openNamelessFile(): number {
  const folder = mkdtempSync(path.join(tmpdir(), 'campus-import-'));
  try {
    return openSync(path.join(folder, 'held'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
