/**
 * Where the bytes of files are: two places with one contract, chosen by the settings; a file says in which of
 * them it is.
 */
import type { Readable } from 'node:stream';
import type { Transaction } from '../store/database/database.js';

/** A range from byte `start` to byte `end`, both counted in, as HTTP counts. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface BlobReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** The transaction its reader is in, which has no other connection to wait for. */
  readonly within?: Transaction | undefined;
}

export interface BlobStore {
  readonly kind: 'database' | 's3';
  /**
   * Keeps what comes, in constant memory. When it throws, or the bytes end early, nothing of it is to stay.
   */
  write(id: string, bytes: AsyncIterable<Buffer>, signal: AbortSignal | undefined): Promise<void>;
  /** The bytes, read as they are taken. A stream that is left early ends the reading. */
  read(id: string, range: ByteRange, options: BlobReadOptions): Readable;
  /** Removing a blob that does not exist is not an error. */
  delete(id: string): Promise<void>;
  close(): Promise<void>;
}
