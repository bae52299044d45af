import { ServiceError } from '../../base/errors.js';

/** The size limit of a file, and the setting that defines it. */
export interface MostBytes {
  readonly bytes: number;
  readonly setting: string;
}

/** @throws TOO_LARGE */
export function assertAtMost(bytes: number, most: MostBytes): void {
  if (bytes <= most.bytes) return;
  throw new ServiceError('TOO_LARGE', `A file has at most ${most.bytes} bytes here (${most.setting}).`);
}
