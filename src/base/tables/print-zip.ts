/** A zip file whose entries are written one after the other while it is read. */
import { Zip, ZipDeflate } from 'fflate';

export interface ZipEntry {
  /** Its path in the file, folders with `/`. */
  readonly path: string;
  readonly content: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
}

/** Bytes are passed on in chunks of at least this size: one chunk for each row would cost too much. */
const CHUNK_BYTES = 64 * 1024;

export async function* printZip(
  entries: AsyncIterable<ZipEntry>,
  writtenAt: Date,
): AsyncGenerator<Uint8Array, void> {
  const ready: Uint8Array[] = [];
  let readyBytes = 0;
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    ready.push(chunk);
    readyBytes += chunk.length;
  });
  for await (const { path, content } of entries) {
    const entry = new ZipDeflate(path, { level: 6 });
    entry.mtime = writtenAt;
    zip.add(entry);
    for await (const chunk of content) {
      entry.push(typeof chunk === 'string' ? Buffer.from(chunk) : new Uint8Array(chunk));
      if (readyBytes < CHUNK_BYTES) continue;
      readyBytes = 0;
      yield Buffer.concat(ready.splice(0));
    }
    entry.push(new Uint8Array(0), true);
  }
  zip.end();
  yield Buffer.concat(ready);
}
