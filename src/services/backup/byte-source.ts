import { type FileHandle, open } from 'node:fs/promises';

/** Bytes that can be read at any offset, e.g. of a file. */
export interface ByteSource {
  readonly size: number;
  /** Reads the bytes from `start` up to, not including, `end`. @throws if some of them are missing */
  read(start: number, end: number): Promise<Buffer>;
  close(): Promise<void>;
}

const READ_BYTES = 1024 * 1024;

/** The caller closes it. */
export async function openFileSource(file: string): Promise<ByteSource> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    return { size, read: (start, end) => readExactly(handle, start, end), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readExactly(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(end - start);
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start + filled);
    if (bytesRead === 0) throw new Error('the file ends earlier than it did');
    filled += bytesRead;
  }
  return bytes;
}

/** Yields the bytes of a range in order, piece by piece. */
export async function* streamBytes(
  source: ByteSource,
  start: number,
  end: number,
): AsyncGenerator<Buffer, void> {
  for (let at = start; at < end; at += READ_BYTES)
    yield await source.read(at, Math.min(at + READ_BYTES, end));
}
