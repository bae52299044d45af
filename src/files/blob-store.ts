/**
 * Where the bytes of files are: two places with one contract, chosen by the settings; a file says in which of
 * them it is.
 */

import type { Readable } from 'node:stream';
import type { EndSignal } from '../model/end-signal.js';
import type { Transaction } from '../store/database/database.js';

/** A range from byte `start` to byte `end`, both counted in, as HTTP counts. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The file whose bytes they are. */
export interface BlobKey {
  readonly id: string;
  readonly domainId: string;
}

export interface BlobReadOptions {
  readonly signal?: EndSignal | undefined;
  /** The transaction its reader is in, which has no other connection to wait for. */
  readonly within?: Transaction | undefined;
}

/** A place that finds bytes by the id alone. */
export type Bucket = BlobStore<Pick<BlobKey, 'id'>>;

export interface BlobStore<Key = BlobKey> {
  readonly kind: 'database' | 's3';
  /**
   * Keeps what comes, in constant memory. When it throws, or the bytes end early, nothing of it is to stay.
   */
  write(key: Key, bytes: AsyncIterable<Buffer>, signal: EndSignal | undefined): Promise<void>;
  /** The bytes, read as they are taken. A stream that is left early ends the reading. */
  read(key: Key, range: ByteRange, options: BlobReadOptions): Readable;
  /** Removing a blob that does not exist is not an error. */
  delete(key: Key): Promise<void>;
  close(): Promise<void>;
}
