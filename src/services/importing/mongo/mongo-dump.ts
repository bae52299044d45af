/** Opens dumps and exports of MongoDB, in any layout, as a list of collections. */

import { type FileHandle, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { deserialize, Long } from 'bson';
import { ServiceError, tryTo } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, parsePlainJson } from '../../../base/json/json.js';
import { reasonOfDamage } from '../../../base/text/reason-of-damage.js';
import { readUnpacked, splitBson } from '../reading/bson-source.js';

/** A collection of a dump. */
export interface DumpedCollection {
  /** `undefined` where the file does not say. */
  readonly database: string | undefined;
  readonly name: string;
  /** The file with its documents: BSON (also gzipped), JSON, NDJSON, extended JSON. */
  readonly file: string;
}

/** The contents of a dump. The caller disposes of it, which deletes the files of an unpacked archive. */
export interface MongoDump extends AsyncDisposable {
  readonly collections: readonly DumpedCollection[];
  /** The parts of the dump that are not read, and why. */
  readonly warnings: readonly string[];
}

interface OpenDumpOptions {
  readonly signal?: AbortSignal;
  /** The folder to which an archive is unpacked; it needs room for all documents. */
  readonly workFolder: string;
}

const MAX_METADATA_BYTES = 16 * 1024 ** 2;
const DOCUMENTS = /\.(bson|json|ndjson|jsonl)(?:\.gz)?$/;
const METADATA = /\.metadata\.json(?:\.gz)?$/;

/**
 * Opens a dump folder, a folder of one database, an archive, or files of `mongodump` and `mongoexport`.
 * Collections of the server itself (`system.…`, `admin`, `config`, `local`) are left out and told.
 *
 * @throws NOT_FOUND for a path that is not there, MALFORMED_REQUEST for what cannot be read
 */
export async function openMongoDump(paths: readonly string[], options: OpenDumpOptions): Promise<MongoDump> {
  const found: DumpedCollection[] = [];
  const warnings: string[] = [];
  const folders: string[] = [];
  const dispose = async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const one of paths) {
      const isFolder = await isFolderAt(one);
      if (isFolder) found.push(...(await listFolder(one, warnings)));
      else if (await isArchive(one)) {
        const folder = await mkdtemp(path.join(options.workFolder, 'campus-archive-'));
        folders.push(folder);
        found.push(...(await listArchive(one, { folder, signal: options.signal }, warnings)));
      } else found.push(await listFile(one, undefined));
    }
    const collections = found.filter((collection) => isOfUsers(collection, warnings));
    if (collections.length === 0) {
      throw new ServiceError(
        'MALFORMED_REQUEST',
        'There are no collections here; name a folder or an archive of mongodump, or files of mongoexport.',
      );
    }
    return { collections, warnings, [Symbol.asyncDispose]: dispose };
  } catch (fault) {
    await dispose();
    throw fault;
  }
}

/** @throws NOT_FOUND */
async function isFolderAt(file: string): Promise<boolean> {
  const found = await stat(file).catch((cause: unknown) => {
    throw new ServiceError('NOT_FOUND', `${file} cannot be read.`, { cause });
  });
  return found.isDirectory();
}

/** A folder of a database, or one that has such folders. */
async function listFolder(
  folder: string,
  warnings: string[],
  database?: string,
): Promise<DumpedCollection[]> {
  const found: DumpedCollection[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const here = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (database === undefined) found.push(...(await listFolder(here, warnings, entry.name)));
      else warnings.push(`${here} is not read: a folder within that of a database.`);
    } else if (METADATA.test(entry.name))
      await noteWithoutDocuments(
        here,
        entries.map(({ name }) => name),
        warnings,
      );
    else if (/^prelude\.json(?:\.gz)?$/.test(entry.name)) continue;
    else if (/^oplog\.bson/.test(entry.name))
      warnings.push(`${here} is not read: it holds changes, no documents.`);
    else if (DOCUMENTS.test(entry.name))
      found.push(await listFile(here, database ?? path.basename(path.resolve(folder))));
    else warnings.push(`${here} is not read: it is no file of mongodump or mongoexport.`);
  }
  return found;
}

/** A view has metadata and no documents. */
async function noteWithoutDocuments(
  file: string,
  names: readonly string[],
  warnings: string[],
): Promise<void> {
  const base = path.basename(file).replace(METADATA, '');
  if (names.some((name) => name === `${base}.bson` || name === `${base}.bson.gz`)) return;
  warnings.push(`${base} has no documents in the dump: it is a view, and is not read.`);
}

async function listFile(file: string, database: string | undefined): Promise<DumpedCollection> {
  const base = file.replace(DOCUMENTS, '');
  const metadata =
    (await readMetadata(`${base}.metadata.json`)) ?? (await readMetadata(`${base}.metadata.json.gz`));
  // Names that are too long for a file are cut there, and whole in the metadata.
  const name = typeof metadata?.collectionName === 'string' ? metadata.collectionName : nameOfFile(base);
  return { database, name, file };
}

/** Characters that no name of a file may have are written as `%2F`. */
function nameOfFile(base: string): string {
  const name = path.basename(base);
  return tryTo(() => decodeURIComponent(name)) ?? name;
}

async function readMetadata(file: string): Promise<JsonObject | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of readUnpacked(file)) {
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_METADATA_BYTES)
        throw new ServiceError('LIMIT_EXCEEDED', `${file} is too large for metadata.`);
    }
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined;
    throw fault;
  }
  try {
    const parsed = parsePlainJson(Buffer.concat(parts).toString());
    return isJsonObject(parsed) ? parsed : undefined;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ServiceError('MALFORMED_REQUEST', `The metadata of ${file} are not JSON (${cause.message}).`, {
      cause,
    });
  }
}

async function listArchive(
  archive: string,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal | undefined },
  warnings: string[],
): Promise<DumpedCollection[]> {
  const listed = await splitArchive(archive, folder, signal);
  return listed.flatMap(({ database, collection, file }) => {
    if (file !== undefined) return [{ database, name: collection, file }];
    warnings.push(
      `${database}.${collection} has no documents in the archive: it is a view, and is not read.`,
    );
    return [];
  });
}

const DATABASES_OF_THE_SERVER: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

function isOfUsers({ database, name }: DumpedCollection, warnings: string[]): boolean {
  const isOfServer =
    name.startsWith('system.') || (database !== undefined && DATABASES_OF_THE_SERVER.has(database));
  if (isOfServer) warnings.push(`${database ?? ''}.${name} is not read: it is the server's own.`);
  return !isOfServer;
}

/** A collection of an archive: what the archive says of it, and the file its documents are in. */
interface ArchivedCollection {
  readonly database: string;
  readonly collection: string;
  readonly type: string;
  /** `undefined` where the archive holds no documents of it. */
  readonly file: string | undefined;
}

const MAGIC = Buffer.from([0x6d, 0xe2, 0x99, 0x81]);
const TERMINATOR_BYTES = 4;
/** The largest document of BSON that the tools of MongoDB write: 16 MiB and 16 KiB. */
const MAX_DOCUMENT_BYTES = 16 * 1024 ** 2 + 16 * 1024;
const MAX_COLLECTIONS = 10_000;

/** Whether a file begins as an archive does, unpacked where it is gzipped. */
async function isArchive(file: string): Promise<boolean> {
  for await (const chunk of readUnpacked(file)) return chunk.subarray(0, MAGIC.length).equals(MAGIC);
  return false;
}

/**
 * Writes the documents of each collection of an archive to a file of the folder, and tells what there is.
 * The archive is
 *
 *   archive : magic prelude block*
 *   prelude : header collection* terminator      what there is, each with its metadata
 *   block   : namespace document* terminator     documents of one collection; those of several take turns
 *
 * and a namespace with `EOF` ends its collection, with the checksum of all its documents.
 *
 * @throws MALFORMED_REQUEST where the archive is none, is cut, or a checksum is another
 * @see https://github.com/mongodb/mongo-tools/tree/master/common/archive
 */
async function splitArchive(
  file: string,
  folder: string,
  signal?: AbortSignal,
): Promise<readonly ArchivedCollection[]> {
  await using parts = new ArchiveParts(folder);
  const bytes = withoutMagic(readUnpacked(file));
  for await (const items of splitBson(bytes, { maxLength: MAX_DOCUMENT_BYTES, isArchive: true })) {
    signal?.throwIfAborted();
    for (const item of items) await parts.take(item.bytes);
    await parts.flush();
  }
  return parts.finish();
}

async function* withoutMagic(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of chunks) {
    if (!isFirst) yield chunk;
    else if (chunk.subarray(0, MAGIC.length).equals(MAGIC)) yield chunk.subarray(MAGIC.length);
    else throw new ServiceError('MALFORMED_REQUEST', 'The file is no archive of mongodump.');
    isFirst = false;
  }
}

interface OpenCollection {
  readonly name: string;
  readonly file: string;
  readonly handle: FileHandle;
  readonly crc: Crc64;
  pending: Buffer[];
}

class ArchiveParts implements AsyncDisposable {
  readonly #folder: string;
  readonly #listed: Omit<ArchivedCollection, 'file'>[] = [];
  readonly #filesByName = new Map<string, string>();
  readonly #open = new Map<string, OpenCollection>();
  #place: 'header' | 'prelude' | 'block' | 'documents' | 'ended' = 'header';
  #current: OpenCollection | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async take(bytes: Buffer): Promise<void> {
    const isTerminator = bytes.length === TERMINATOR_BYTES;
    switch (this.#place) {
      case 'header':
        if (isTerminator) throw damaged('it begins with no header');
        this.#place = 'prelude';
        return;
      case 'prelude':
        if (isTerminator) this.#place = 'block';
        else this.#list(bytes);
        return;
      case 'block':
        if (isTerminator) throw damaged('a block has no header');
        await this.#beginBlock(bytes);
        return;
      case 'documents':
      case 'ended':
        if (isTerminator) this.#place = 'block';
        else if (this.#place === 'ended') throw damaged('there are documents behind the end of a collection');
        else this.#current?.pending.push(bytes);
    }
  }

  /** Writes the documents taken since the last call, those of a chunk at once. */
  async flush(): Promise<void> {
    for (const one of this.#open.values()) await write(one);
  }

  finish(): readonly ArchivedCollection[] {
    const [unfinished] = this.#open.values();
    if (unfinished) throw damaged(`it ends within the documents of ${unfinished.name}`);
    if (this.#place !== 'block') throw damaged('it is cut');
    const missing = this.#listed.find((one) => !this.#filesByName.has(nameOf(one)) && !mayBeAbsent(one));
    if (missing) throw damaged(`it ends before ${nameOf(missing)}`);
    const listed = this.#listed.map((one) => ({ ...one, file: this.#filesByName.get(nameOf(one)) }));
    const names = new Set(this.#listed.map(nameOf));
    const others = [...this.#filesByName].filter(([name]) => !names.has(name));
    return [...listed, ...others.map(([name, file]) => ({ ...partsOf(name), type: '', file }))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { handle } of this.#open.values()) await handle.close();
  }

  #list(bytes: Buffer): void {
    const { db, collection, type } = read(bytes);
    if (typeof db !== 'string' || typeof collection !== 'string')
      throw damaged('its prelude names no collection');
    if (this.#listed.length === MAX_COLLECTIONS) throw tooMany();
    this.#listed.push({
      database: db,
      collection,
      type: typeof type === 'string' ? type : '',
    });
  }

  async #beginBlock(bytes: Buffer): Promise<void> {
    const { db, collection, EOF, CRC } = read(bytes);
    if (typeof db !== 'string' || typeof collection !== 'string')
      throw damaged('a block names no collection');
    const name = `${db}.${collection}`;
    const one = this.#open.get(name) ?? (await this.#begin(name));
    if (EOF !== true) {
      this.#current = one;
      this.#place = 'documents';
      return;
    }
    await write(one);
    await one.handle.close();
    this.#open.delete(name);
    this.#place = 'ended';
    const { high, low } = one.crc.sum;
    if (!(CRC instanceof Long) || CRC.high !== high || CRC.low !== low) {
      throw damaged(`the checksum of ${name} is another than that of its documents`);
    }
  }

  async #begin(name: string): Promise<OpenCollection> {
    if (this.#filesByName.has(name)) throw damaged(`${name} begins twice`);
    if (this.#filesByName.size === MAX_COLLECTIONS) throw tooMany();
    // A name in the archive may contain any character, so it is not used as the name of a file.
    const file = path.join(this.#folder, `${this.#filesByName.size}.bson`);
    const one = { name, file, handle: await open(file, 'wx', 0o600), crc: new Crc64(), pending: [] };
    this.#filesByName.set(name, file);
    this.#open.set(name, one);
    return one;
  }
}

async function write(one: OpenCollection): Promise<void> {
  if (one.pending.length === 0) return;
  const bytes = Buffer.concat(one.pending);
  one.pending = [];
  one.crc.update(bytes);
  await one.handle.writeFile(bytes);
}

function read(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    return deserialize(bytes, { promoteLongs: false });
  } catch (cause) {
    throw damaged(reasonOfDamage(cause));
  }
}

/** A view has no documents, and those of a time series are under another name. */
function mayBeAbsent({ type }: Pick<ArchivedCollection, 'type'>): boolean {
  return type === 'view' || type === 'timeseries';
}

function nameOf({ database, collection }: Pick<ArchivedCollection, 'database' | 'collection'>): string {
  return `${database}.${collection}`;
}

function partsOf(name: string): Pick<ArchivedCollection, 'database' | 'collection'> {
  const [database = ''] = name.split('.', 1);
  return { database, collection: name.slice(database.length + 1) };
}

function damaged(reason: string): ServiceError {
  return new ServiceError('MALFORMED_REQUEST', `The archive is damaged: ${reason}. Dump it again.`);
}

function tooMany(): ServiceError {
  return new ServiceError('LIMIT_EXCEEDED', `The archive has more than ${MAX_COLLECTIONS} collections.`);
}

/**
 * The checksum of an archive of `mongodump` is the CRC-64 of ECMA-182 with reflected bits, as Go computes it.
 * This is its polynomial 0xC96C5795D7870F42, as two halves.
 */
const HIGH = 0xc96c5795;
const LOW = 0xd7870f42;

const HIGH_BY_BYTE = new Uint32Array(256);
const LOW_BY_BYTE = new Uint32Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  let high = 0;
  let low = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    const isOdd = (low & 1) === 1;
    low = (low >>> 1) | (high << 31);
    high >>>= 1;
    if (isOdd) {
      high ^= HIGH;
      low ^= LOW;
    }
  }
  HIGH_BY_BYTE[byte] = high;
  LOW_BY_BYTE[byte] = low;
}

/** Takes bytes one chunk after the other. Numbers of 64 bits would take ten times as long. */
export class Crc64 {
  #high = ~0;
  #low = ~0;

  update(bytes: Uint8Array): void {
    let high = this.#high;
    let low = this.#low;
    for (let at = 0; at < bytes.length; at += 1) {
      const index = (low ^ (bytes[at] ?? 0)) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (LOW_BY_BYTE[index] ?? 0);
      high = (high >>> 8) ^ (HIGH_BY_BYTE[index] ?? 0);
    }
    this.#high = high;
    this.#low = low;
  }

  /** Both halves, as signed numbers of 32 bits. */
  get sum(): { readonly high: number; readonly low: number } {
    return { high: ~this.#high, low: ~this.#low };
  }
}
