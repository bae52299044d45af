/**
 * The storage of file contents: two implementations with one contract, chosen by the settings; each file
 * records which one has it.
 */

import type { Readable } from 'node:stream';
import type { EndSignal } from '../../base/model/end-signal.js';
import type { Transaction } from '../../store/database/queryable.js';

/** A range of bytes from `start` to `end`, both inclusive, as in HTTP. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The file that the bytes belong to. */
export interface BlobKey {
  readonly id: string;
  readonly domainId: string;
}

export interface BlobReadOptions {
  readonly signal?: EndSignal | undefined;
  /** The transaction of the reader, which must not wait for another connection. */
  readonly within?: Transaction | undefined;
}

/** A store that finds bytes by the id alone. */
export type Bucket = BlobStore<Pick<BlobKey, 'id'>>;

export interface BlobStore<Key = BlobKey> {
  readonly kind: 'database' | 's3';
  /** Stores the bytes in constant memory. If it throws, or the bytes end early, nothing must remain. */
  write(key: Key, bytes: AsyncIterable<Buffer>, signal: EndSignal | undefined): Promise<void>;
  /** The bytes, read as they are consumed. Leaving the stream early ends the reading. */
  read(key: Key, range: ByteRange, options: BlobReadOptions): Readable;
  /** Removing a blob that does not exist is not an error. */
  delete(key: Key): Promise<void>;
  /**
   * Ends the writes of a killed gateway, whose ids begin like this: a bucket keeps, and charges for, what
   * arrived of them.
   */
  endWrites(idPrefix: string): Promise<void>;
  close(): Promise<void>;
}

/** Cuts bytes into pieces of one size; only the last may be shorter. */
export async function* inPieces(bytes: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const part of bytes) {
    let rest = part;
    while (length + rest.length >= size) {
      const needed = size - length;
      yield Buffer.concat([...parts, rest.subarray(0, needed)], size);
      rest = rest.subarray(needed);
      parts = [];
      length = 0;
    }
    if (rest.length === 0) continue;
    parts.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(parts, length);
}
