import { ServiceError } from '../errors.js';

/** The limit of one file, and the setting that says it. */
export interface MostBytes {
  readonly bytes: number;
  readonly setting: string;
}

/** @throws TOO_LARGE */
export function assertAtMost(bytes: number, most: MostBytes): void {
  if (bytes <= most.bytes) return;
  throw new ServiceError('TOO_LARGE', `A file has at most ${most.bytes} bytes here (${most.setting}).`);
}
