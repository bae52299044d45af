/** A zip file whose entries are written one after the other while it is read. */
import { Zip, ZipDeflate } from 'fflate';

export interface ZipEntry {
  /** Its path in the file, folders with `/`. */
  readonly path: string;
  readonly content: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
}

export async function* printZip(
  entries: AsyncIterable<ZipEntry>,
  writtenAt: Date,
): AsyncGenerator<Uint8Array, void> {
  const ready: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    ready.push(chunk);
  });
  for await (const { path, content } of entries) {
    const entry = new ZipDeflate(path, { level: 6 });
    entry.mtime = writtenAt;
    zip.add(entry);
    for await (const chunk of content) {
      entry.push(typeof chunk === 'string' ? Buffer.from(chunk) : new Uint8Array(chunk));
      yield* ready.splice(0);
    }
    entry.push(new Uint8Array(0), true);
  }
  zip.end();
  yield* ready.splice(0);
}
