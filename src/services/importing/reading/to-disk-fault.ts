/** Recognizes that the disk has no room for the temporary files of an import. */
import { tmpdir } from 'node:os';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../../base/errors.js';

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Returns UNAVAILABLE if the disk is full, any other fault as it is. */
export function toDiskFault(cause: unknown): unknown {
  if (!(cause instanceof Error) || !('code' in cause) || !FULL.has(cause.code)) return cause;
  const detail = `the disk of this gateway has no room for the file (${tmpdir()})`;
  return new ServiceError('UNAVAILABLE', detail, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
