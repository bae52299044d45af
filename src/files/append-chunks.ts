import { Prisma } from '../generated/prisma/client.js';
import type { Database, Transaction } from '../store/database/database.js';
import { inOwnTransaction } from '../store/writing/atomically.js';
import type { BlobKey } from './blob-store.js';
import type { DatabaseBlobs } from './database-blobs.js';
import { CHUNK_BYTES, inChunks } from './in-chunks.js';

export interface AppendedBytes {
  readonly bytes: AsyncIterable<Buffer>;
  /** How many bytes of the file are there. What is there beyond them is written over. */
  readonly offset: number;
  /** Is told, in the transaction that keeps a chunk, how many bytes there are then; refuses by throwing. */
  readonly note: (transaction: Transaction, offset: number) => Promise<void>;
}

/** Adds to the bytes of a file in the database, in chunks as `DatabaseBlobs` has them. */
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
        Prisma.sql`
          insert into file_chunks (file_id, position, bytes, domain)
          values (${key.id}::uuid, ${position}, ${chunk}, ${key.domainId})
          on conflict (file_id, position, domain) do update set bytes = excluded.bytes`,
        { name: 'appended-file-chunk' },
      );
    });
    position += 1;
  }

  /** The bytes after those of the last chunk that is not full: it is written again as a whole. */
  async function* withBegun(): AsyncGenerator<Buffer, void> {
    const start = first * CHUNK_BYTES;
    if (offset > start) yield* blobs.read(key, { start, end: offset - 1 }, {});
    yield* bytes;
  }
}
