/**
 * File contents in Postgres, in chunks, so that there is nothing else to run or back up. Each chunk is a
 * statement of its own: neither a slow sender nor a slow reader holds a connection.
 */

import { Readable } from 'node:stream';
import type { EndSignal } from '../../base/model/end-signal.js';
import type { Database } from '../../store/database/database.js';
import type { Transaction } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import {
  type BlobKey,
  type BlobReadOptions,
  type BlobStore,
  type ByteRange,
  inPieces,
} from './blob-store.js';

/** Chunks per read: fewer round trips, for 1 MiB of memory per reader. */
const CHUNKS_PER_READ = 4;

export class DatabaseBlobs implements BlobStore {
  readonly kind = 'database';
  readonly #database: Pick<Database, 'query'>;

  readonly #isDomainKept: boolean;

  /** @param options.isDomainKept false for tables as they were before each chunk had its domain */
  constructor(database: Pick<Database, 'query'>, options = { isDomainKept: true }) {
    this.#database = database;
    this.#isDomainKept = options.isDomainKept;
  }

  async write(
    { id, domainId }: BlobKey,
    bytes: AsyncIterable<Buffer>,
    signal: EndSignal | undefined,
  ): Promise<void> {
    const column = this.#isDomainKept ? sql`, domain` : sql.empty;
    const value = this.#isDomainKept ? sql`, ${domainId}` : sql.empty;
    let position = 0;
    for await (const chunk of inPieces(bytes, CHUNK_BYTES)) {
      // Also updates the file's sign of life, so that an upload in progress is not taken for an abandoned
      // one.
      await this.#database.query(
        sql`
          with alive as (
            update files
            set updated_at = now()
            where domain = ${domainId} and id = ${id}::uuid and ${position % 64 === 0}
          )
          insert into file_chunks (file_id, position, bytes ${column})
          values (${id}::uuid, ${position}, ${chunk} ${value})`,
        { name: 'file-chunk', signal },
      );
      position++;
    }
  }

  read(key: BlobKey, range: ByteRange, options: BlobReadOptions): Readable {
    return Readable.from(this.#chunksOf(key, range, options), {
      objectMode: false,
      highWaterMark: CHUNK_BYTES,
    });
  }

  async delete({ id, domainId }: BlobKey): Promise<void> {
    await this.#database.query(sql`
      delete from file_chunks where domain = ${domainId} and file_id = ${id}::uuid`);
  }

  /** Data written by a gateway that was killed is deleted like any other. */
  async endWrites(): Promise<void> {}

  async close(): Promise<void> {}

  async *#chunksOf(
    { id, domainId }: BlobKey,
    { start, end }: ByteRange,
    { signal, within }: BlobReadOptions,
  ) {
    const last = Math.floor(end / CHUNK_BYTES);
    for (let first = Math.floor(start / CHUNK_BYTES); first <= last; first += CHUNKS_PER_READ) {
      const rows = await (within ?? this.#database).query<{ position: number; bytes: Buffer }>(
        sql`
          select position, bytes
          from file_chunks
          where domain = ${domainId} and file_id = ${id}::uuid
            and position between ${first} and ${Math.min(first + CHUNKS_PER_READ - 1, last)}
          order by position`,
        { name: 'file-chunks', signal },
      );
      if (rows.length === 0) throw new Error(`the file ${id} was removed while it was read`);
      for (const { position, bytes } of rows) {
        const offset = position * CHUNK_BYTES;
        yield bytes.subarray(Math.max(0, start - offset), Math.min(bytes.length, end + 1 - offset));
      }
    }
  }
}

/** Must never change: the position of a byte in storage follows from it. */
const CHUNK_BYTES = 256 * 1024;

interface AppendedBytes {
  readonly bytes: AsyncIterable<Buffer>;
  /** How many bytes of the file are stored. Anything beyond them is overwritten. */
  readonly offset: number;
  /** Called in the transaction that stores a chunk, with the new number of bytes; throws to refuse it. */
  readonly note: (transaction: Transaction, offset: number) => Promise<void>;
}

/** Appends to the bytes of a file in the database, in chunks as `DatabaseBlobs` has them. */
export async function appendChunks(
  { database, blobs }: { readonly database: Database; readonly blobs: DatabaseBlobs },
  key: BlobKey,
  { bytes, offset, note }: AppendedBytes,
): Promise<void> {
  const first = Math.floor(offset / CHUNK_BYTES);
  let position = first;
  for await (const chunk of inPieces(withBegun(), CHUNK_BYTES)) {
    const end = position * CHUNK_BYTES + chunk.length;
    await inOwnTransaction(database, async (tx) => {
      await note(tx, end);
      await tx.query(
        sql`
          insert into file_chunks (file_id, position, bytes, domain)
          values (${key.id}::uuid, ${position}, ${chunk}, ${key.domainId})
          on conflict (file_id, position, domain) do update set bytes = excluded.bytes`,
        { name: 'appended-file-chunk' },
      );
    });
    position += 1;
  }

  /** Begins with the bytes of a last, incomplete chunk, which is rewritten as a whole. */
  async function* withBegun(): AsyncGenerator<Buffer, void> {
    const start = first * CHUNK_BYTES;
    if (offset > start) yield* blobs.read(key, { start, end: offset - 1 }, {});
    yield* bytes;
  }
}
