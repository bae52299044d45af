/** A temporary file for data that does not fit in memory. It need not be deleted. */

import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../../base/errors.js';

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

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Returns UNAVAILABLE if the disk is full, any other fault as it is. */
export function toDiskFault(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('code' in cause) || !FULL.has(cause.code)) return cause;
  const detail = `the disk of this gateway has no room for the file (${tmpdir()})`;
  return new ServiceError('UNAVAILABLE', detail, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
