/**
 * The file of a backup: a tar of gzipped parts, its manifest last, and after the end of the tar a block with
 * the SHA-256 of all bytes before it. `tar -x` and `gunzip` read it without us.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { z } from 'zod';
import { inPieces } from '../files/blob-store.js';

/** The size of a part before compression. Readers and writers hold one part in memory. */
export const PART_BYTES = 4 * 1024 * 1024;
/** This level compresses text to a sixth, three times as fast as the default level. */
const GZIP_LEVEL = 3;
const TRAILER_BYTES = 512;

const compress = promisify(gzip);

/** Several callers may add parts at once; each waits until its part has been read. */
export class ArchiveWriter {
  readonly #tar: Pack = pack();
  #turn: Promise<unknown> = Promise.resolve();

  /** The bytes of the file, as they are written. A reader that stops early ends the writing. */
  async *bytes(): AsyncGenerator<Buffer, void> {
    const hash = createHash('sha256');
    for await (const chunk of this.#tar) {
      hash.update(chunk as Buffer);
      yield chunk as Buffer;
    }
    yield printTrailer(hash.digest('hex'));
  }

  /**
   * Adds what a source yields as parts `<prefix>/000001<suffix>` and so on, of `PART_BYTES` each but the
   * last. `onPart` receives the content of each.
   */
  async addParts(
    source: AsyncIterable<Buffer>,
    name: { readonly prefix: string; readonly suffix: string },
    onPart: (raw: Buffer) => void,
  ): Promise<Part[]> {
    const parts: Part[] = [];
    for await (const raw of inPieces(source, PART_BYTES)) {
      onPart(raw);
      const number = String(parts.length + 1).padStart(6, '0');
      const bytes = await compress(raw, { level: GZIP_LEVEL });
      const part = {
        name: `${name.prefix}/${number}${name.suffix}`,
        bytes: bytes.length,
        rawBytes: raw.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      };
      await this.#add(part.name, bytes);
      parts.push(part);
    }
    return parts;
  }

  /** Adds the manifest. It must be the last part. */
  async finish(manifest: Manifest): Promise<void> {
    await this.#add(MANIFEST_NAME, Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`));
    this.#tar.finalize();
  }

  /** Makes `bytes` fail with an error. */
  fail(error: Error): void {
    this.#tar.destroy(error);
  }

  async #add(name: string, bytes: Buffer): Promise<void> {
    const turn = this.#turn.then(() => this.#addNow(name, bytes));
    this.#turn = turn.catch(() => {});
    await turn;
  }

  async #addNow(name: string, bytes: Buffer): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const entry = this.#tar.entry({ name, size: bytes.length, mode: 0o600 }, (error) =>
        error ? reject(error) : resolve(),
      );
      entry.end(bytes);
    });
  }
}

/** How many lines end in the bytes: each row of COPY is one. */
export function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
}

/** The block that ends a file of this SHA-256. */
export function printTrailer(sha256: string): Buffer {
  const block = Buffer.alloc(TRAILER_BYTES);
  block.write(`campus-backup 1 sha256 ${sha256}\n`);
  return block;
}

export const MANIFEST_NAME = 'manifest.json';
/** Raised whenever older gateways could no longer read what this one writes. */
export const FORMAT_VERSION = 1;

const Count = z.number().int().min(0);

const Part = z.object({
  name: z.string().regex(/^[A-Za-z0-9/._-]{1,99}$/),
  /** The compressed size of the part in the archive. */
  bytes: Count,
  /** The size of its content before compression. */
  rawBytes: Count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const TableContent = z.object({
  name: z.string(),
  /** For `records`: the collection of the partition; absent for the partition of all other collections. */
  collection: z.string().optional(),
  columns: z.array(z.string()).min(1),
  rows: Count,
  parts: z.array(Part),
});

export const Manifest = z.object({
  format: z.literal('campus-backup'),
  formatVersion: z.number().int(),
  createdAt: z.iso.datetime(),
  gatewayVersion: z.string(),
  postgresVersion: z.string(),
  /** All applied migrations in order; the last one is the version of the tables. */
  migrations: z.array(z.string()).min(1),
  /** Absent in a backup of the whole instance. */
  domain: z.string().optional(),
  /** The domains in the backup, the top one first. */
  domains: z.array(z.object({ id: z.string(), name: z.string(), parentId: z.string().nullable() })),
  tables: z.array(TableContent),
  /** The files whose bytes were in a bucket; those in the database are rows of `file_chunks`. */
  files: z.array(z.object({ id: z.uuid(), size: Count, parts: z.array(Part) })),
});

export type Manifest = z.output<typeof Manifest>;
export type Part = z.output<typeof Part>;
export type TableContent = z.output<typeof TableContent>;

/** All parts that the manifest names, in no particular order. */
export function partsOf(manifest: Manifest): readonly Part[] {
  return [...manifest.tables, ...manifest.files].flatMap(({ parts }) => parts);
}

/** The progress of a backup or a restore, in rows. */
export interface TransferStep {
  /** The collection or table being copied. */
  readonly stage: string;
  readonly done: number;
  /** All rows; an estimate during a backup. */
  readonly total: number;
}
