/**
 * Opens a backup after reading and verifying every byte of it, so that a restore begins only with a file that
 * is known to be complete.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Extract, extract } from 'tar-stream';
import { ServiceError } from '../../base/errors.js';
import { reasonOfDamage } from '../../base/text/reason-of-damage.js';
import {
  countLines,
  FORMAT_VERSION,
  MANIFEST_NAME,
  Manifest,
  PART_BYTES,
  type Part,
  partsOf,
  printTrailer,
} from './archive-writer.js';

export interface Archive {
  readonly manifest: Manifest;
  /** The content of the parts, one after the other. */
  content(parts: readonly Part[]): AsyncIterable<Buffer>;
}

interface OpenArchiveOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
}

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

const BLOCK_BYTES = 512;
/** Compression makes incompressible content a little larger. */
const MAX_PART_BYTES = PART_BYTES + 64 * 1024;
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

const decompress = promisify(gunzip);

/**
 * Reads the whole file once, in bounded memory.
 *
 * @throws INVALID_VALUE for a file that is not a backup, is damaged or cut off; CONFLICT for the format of a
 * newer gateway; the signal's reason
 */
export async function openArchive(source: ByteSource, options: OpenArchiveOptions = {}): Promise<Archive> {
  let found: Found;
  try {
    found = await readWhole(source, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof ServiceError) throw error;
    throw damaged(reasonOfDamage(error), error);
  }
  const { manifest, places } = found;
  return {
    manifest,
    content: async function* (parts) {
      for (const part of parts) {
        const start = places.get(part.name)?.start ?? 0;
        yield await decompressPart(part, await source.read(start, start + part.bytes));
      }
    },
  };
}

interface Found {
  readonly manifest: Manifest;
  readonly places: ReadonlyMap<string, Place>;
}

/** The position of a part in the archive, and its content. */
interface Place {
  readonly start: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly rawBytes: number;
  readonly lines: number;
}

async function readWhole(source: ByteSource, options: OpenArchiveOptions): Promise<Found> {
  const end = source.size - BLOCK_BYTES;
  if (end < BLOCK_BYTES) throw damaged('it is too short to be a backup');
  const hash = createHash('sha256');
  const places = new Map<string, Place>();
  let manifest: Manifest | undefined;
  const tar = extract();
  const feeding = pipeline(hashed(), tar);
  feeding.catch(() => {});
  for await (const entry of tar) {
    const { name } = entry.header;
    if (manifest !== undefined || places.has(name)) throw damaged(`${name} is at an unexpected place`);
    if (name === MANIFEST_NAME) manifest = parseManifest(await readEntry(entry, MAX_MANIFEST_BYTES));
    else places.set(name, await inspectPart(entry));
  }
  await feeding;
  const trailer = await source.read(end, source.size);
  if (!trailer.equals(printTrailer(hash.digest('hex')))) {
    throw damaged('its bytes are not those that were written');
  }
  if (manifest === undefined) throw damaged('it has no manifest');
  assertSame(manifest, places);
  return { manifest, places };

  async function* hashed(): AsyncGenerator<Buffer, void> {
    let done = 0;
    for await (const bytes of streamBytes(source, 0, end)) {
      options.signal?.throwIfAborted();
      hash.update(bytes);
      done += bytes.length;
      options.onProgress?.({ done, total: end });
      yield bytes;
    }
  }
}

async function readEntry(entry: Entry, maxBytes: number): Promise<Buffer> {
  if (entry.header.size > maxBytes) throw damaged(`${entry.header.name} is too large`);
  return await buffer(entry as AsyncIterable<Buffer>);
}

async function inspectPart(entry: Entry): Promise<Place> {
  const bytes = await readEntry(entry, MAX_PART_BYTES);
  const raw = await decompress(bytes, { maxOutputLength: PART_BYTES });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const start = entry.offset + BLOCK_BYTES;
  return { start, bytes: bytes.length, sha256, rawBytes: raw.length, lines: countLines(raw) };
}

function parseManifest(bytes: Buffer): Manifest {
  const written: unknown = JSON.parse(bytes.toString('utf8'));
  const version = (written as { formatVersion?: unknown } | null)?.formatVersion;
  if (typeof version === 'number' && version > FORMAT_VERSION) {
    throw new ServiceError('CONFLICT', 'The backup was made by a newer gateway, in a format unknown here.');
  }
  return Manifest.parse(written);
}

/** The manifest must name exactly the parts in the archive. */
function assertSame(manifest: Manifest, places: ReadonlyMap<string, Place>): void {
  const parts = partsOf(manifest);
  if (parts.length !== places.size) throw damaged('the manifest names other parts than there are');
  for (const { name, bytes, rawBytes, sha256 } of parts) {
    const place = places.get(name);
    const isSame = place?.sha256 === sha256 && place.bytes === bytes && place.rawBytes === rawBytes;
    if (!isSame) throw damaged(`${name} does not match the manifest`);
  }
  for (const { name, rows, parts: own } of manifest.tables) {
    const lines = own.reduce((sum, part) => sum + (places.get(part.name)?.lines ?? 0), 0);
    if (lines !== rows) throw damaged(`${name} has ${lines} rows, and the manifest has ${rows}`);
  }
}

async function decompressPart(part: Part, bytes: Buffer): Promise<Buffer> {
  if (createHash('sha256').update(bytes).digest('hex') !== part.sha256) {
    throw damaged(`${part.name} was changed since the file was compared`);
  }
  return await decompress(bytes, { maxOutputLength: PART_BYTES });
}

function damaged(what: string, cause?: unknown): ServiceError {
  return new ServiceError('INVALID_VALUE', `The file is damaged, or is not a backup: ${what}.`, { cause });
}

/** Bytes that can be read at any offset, e.g. of a file. */
export interface ByteSource extends AsyncDisposable {
  readonly size: number;
  /** Reads the bytes from `start` up to, not including, `end`. @throws if some of them are missing */
  read(start: number, end: number): Promise<Buffer>;
}

const READ_BYTES = 1024 * 1024;

/** The caller closes it. */
export async function openFileSource(file: string): Promise<ByteSource> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    return {
      size,
      read: (start, end) => readExactly(handle, start, end),
      [Symbol.asyncDispose]: () => handle.close(),
    };
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
