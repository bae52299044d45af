import type { Database } from '../../store/database/database.js';
import type { Transaction } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { BlobKey } from './blob-store.js';
import type { DatabaseBlobs } from './database-blobs.js';
import { CHUNK_BYTES, inChunks } from './in-chunks.js';

export interface AppendedBytes {
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
  for await (const chunk of inChunks(withBegun())) {
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
