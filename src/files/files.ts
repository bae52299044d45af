/**
 * The files of the domains: kept in chunks in Postgres, or in a bucket; streamed in and out.
 *
 * A file never changes: what is to be different is a new file. It is read by its owner, by admins, by the
 * roles it was given, and by whoever may read the record it belongs to; for everybody else, and in every
 * other domain, it is not there.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { RETRY_SOON_SECONDS, ServiceError } from '../errors.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Scope } from '../model/scope.js';
import type { Database, Transaction } from '../store/database/database.js';
import { type KeysetPage, type KeysetRequest, withPlaces } from '../store/database/keyset.js';
import { WaitingLine } from '../store/database/waiting-line.js';
import type { RecordStore } from '../store/record-store.js';
import { inOwnTransaction } from '../store/writing/atomically.js';
import type { BlobKey, BlobReadOptions, BlobStore, ByteRange } from './blob-store.js';
import {
  countFiles,
  deleteFile,
  type FileFilter,
  type FileLink,
  findFile,
  insertUploading,
  listFiles,
  listOrphans,
  markReady,
  type StoredFile,
  usedBytes,
} from './stored-file.js';
import { assertMayCreate, assertMayLink, isOwn, isReadable, visibleFiles } from './visible-files.js';

export interface NewFile {
  readonly name: string;
  /** Default `application/octet-stream`. */
  readonly contentType?: string | undefined;
  readonly stream: AsyncIterable<Uint8Array>;
  readonly link?: FileLink | undefined;
  readonly roles?: readonly string[] | undefined;
}

export interface FileLimits {
  readonly maxBytes: number;
  /** The limit for all files of a domain together. */
  readonly quotaBytes: number;
  /** Roles that may upload files that belong to no record. */
  readonly uploadRoles: readonly string[];
}

/** The limit of one file, and the setting that says it. */
export interface MostBytes {
  readonly bytes: number;
  readonly setting: string;
}

export interface FilesOptions {
  readonly database: Database;
  readonly store: RecordStore;
  /** Where new files go, then where older ones may be. */
  readonly blobs: readonly [BlobStore, ...BlobStore[]];
  readonly limits: FileLimits;
}

export interface OpenedFile {
  readonly file: StoredFile;
  readonly range: ByteRange;
  /** The caller reads it to its end or destroys it. */
  readonly stream: Readable;
}

const MAX_NAME = 255;
const MAX_ROLES = 20;
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:;\s*[\w-]+=[\w."+/ -]{1,100})*$/;
const FILE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they would end a header
const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029\ud800-\udfff]/;
const BROKEN_OFF_MS = 3_600_000;

export class Files {
  /** The uploads wait by domain, whose row is locked meanwhile. */
  readonly #finishing = new WaitingLine({
    atOnce: 2,
    mostWaiting: 200,
    patienceMs: 10_000,
    refusal: 'Too many uploads of this school are ending',
  });
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  get limits(): FileLimits {
    return this.#options.limits;
  }

  /**
   * Keeps a file, streamed: of one that is broken off, too large or over the quota nothing stays.
   *
   * @throws INVALID_VALUE for a name or type; TOO_LARGE; LIMIT_EXCEEDED over the quota; FORBIDDEN; NOT_FOUND
   * for the record it is to belong to
   */
  async create(scope: Scope, file: NewFile): Promise<StoredFile> {
    const { store, limits } = this.#options;
    if (file.link) await assertMayLink(store, scope, file.link);
    else assertMayCreate(scope, limits.uploadRoles);
    return await this.#keep(scope, file, { bytes: limits.maxBytes, setting: 'FILE_MAX_BYTES' });
  }

  /**
   * Does as `create` for a task whose callers were judged by other rights than those of uploads, within a
   * limit of its own.
   */
  async createForTask(scope: Scope, file: NewFile, most: MostBytes): Promise<StoredFile> {
    return await this.#keep(scope, file, most);
  }

  async #keep(scope: Scope, file: NewFile, most: MostBytes): Promise<StoredFile> {
    const { database, blobs, limits } = this.#options;
    const { name, contentType } = assertDescribed(file);
    const left = limits.quotaBytes - (await usedBytes(database, scope.domain.id));
    if (left <= 0) throw overQuota(limits.quotaBytes);
    const [blobStore] = blobs;
    const key = { id: uuidv7(), domainId: scope.domain.id };
    await insertUploading(database, {
      ...key,
      name,
      contentType,
      storage: blobStore.kind,
      link: file.link,
      roles: file.roles ?? [],
      createdBy: scope.principal.id,
    });
    try {
      const counted = new CountedBytes(file.stream, {
        most,
        quotaBytes: limits.quotaBytes,
        left,
      });
      await blobStore.write(key, counted, scope.signal);
      scope.signal?.throwIfAborted();
      return await this.#finish(key, counted);
    } catch (error) {
      // What cannot be taken away now (the database is gone) is purged later.
      await this.#remove(key, blobStore).catch(() => {});
      throw error;
    }
  }

  /** @throws NOT_FOUND also for a file of another domain, and one the caller may not read */
  async get(scope: Scope, id: string, within?: Transaction): Promise<StoredFile> {
    const { database, store } = this.#options;
    const file = FILE_ID.test(id) ? await findFile(within ?? database, scope.domain.id, id) : undefined;
    if (file && (await isReadable(store, scope, { file, within }))) return file;
    throw new ServiceError('NOT_FOUND', `there is no file "${id.slice(0, 50)}"`);
  }

  /** The bytes of a file, or a range of them; the range must lie in it. @throws NOT_FOUND as `get` */
  async read(scope: Scope, id: string, range?: ByteRange): Promise<OpenedFile> {
    return this.open(await this.get(scope, id), { signal: scope.signal, range });
  }

  /** Opens a file that was got already, as `read` does. */
  open(file: StoredFile, options: BlobReadOptions & { readonly range?: ByteRange | undefined }): OpenedFile {
    const whole = { start: 0, end: file.size - 1 };
    const { start, end } = options.range ?? whole;
    if (file.size === 0) return { file, range: whole, stream: Readable.from([]) };
    const stream = this.#blobsOf(file.storage).read(file, { start, end }, options);
    return { file, range: { start, end }, stream };
  }

  /**
   * The newest first, those the caller may read. With a link, those of that record. @throws FORBIDDEN,
   * NOT_FOUND for that record
   */
  async list(
    scope: Scope,
    { filter, ...page }: KeysetRequest & { readonly filter: FileFilter },
  ): Promise<KeysetPage<StoredFile>> {
    const checked = withPlaces(page, assertFileCursor);
    const condition = await this.#conditionOf(scope, filter);
    return await listFiles(this.#options.database, condition, checked);
  }

  async count(scope: Scope, filter: FileFilter): Promise<number> {
    return await countFiles(this.#options.database, await this.#conditionOf(scope, filter));
  }

  /**
   * Takes a file away for good, and gives it back as it was. @throws NOT_FOUND; FORBIDDEN unless its owner or
   * an admin
   */
  async delete(scope: Scope, id: string): Promise<StoredFile> {
    const file = await this.get(scope, id);
    if (!isOwn(scope, file)) {
      throw new ServiceError('FORBIDDEN', 'only its owner and admins take a file away');
    }
    await this.#remove(file, this.#blobsOf(file.storage));
    return file;
  }

  /**
   * Takes away uploads that the end of a gateway broke off, and files of records that were purged; how many.
   */
  async purge(now: Date = new Date()): Promise<number> {
    const orphans = await listOrphans(this.#options.database, new Date(now.getTime() - BROKEN_OFF_MS));
    for (const orphan of orphans) await this.#remove(orphan, this.#blobsOf(orphan.storage));
    return orphans.length;
  }

  /** Takes away a file that a task has kept for itself. Whether there was one. */
  async removeOfTask(domainId: string, id: string): Promise<boolean> {
    const file = await findFile(this.#options.database, domainId, id);
    if (file === undefined) return false;
    await this.#remove(file, this.#blobsOf(file.storage));
    return true;
  }

  async close(): Promise<void> {
    await Promise.all(this.#options.blobs.map((blobs) => blobs.close()));
  }

  /** One file of a domain after the other, so that together they keep to the quota. */
  async #finish(key: BlobKey, { size, sha256 }: CountedBytes): Promise<StoredFile> {
    const { database, limits } = this.#options;
    const finish = async (tx: Transaction): Promise<StoredFile> => {
      await tx.query(Prisma.sql`select 1 from domains where id = ${key.domainId} for no key update`);
      const used = await usedBytes(tx, key.domainId);
      if (used + size > limits.quotaBytes) throw overQuota(limits.quotaBytes);
      const ready = await markReady(tx, { ...key, size, sha256 });
      if (ready) return ready;
      throw new ServiceError('UNAVAILABLE', 'The upload took too long; try again.', {
        retryAfterSeconds: RETRY_SOON_SECONDS,
      });
    };
    return await this.#finishing.run(key.domainId, () => inOwnTransaction(database, finish));
  }

  async #conditionOf(scope: Scope, filter: FileFilter): Promise<Prisma.Sql> {
    return await visibleFiles(this.#options.store, scope, filter);
  }

  async #remove(key: BlobKey, blobs: BlobStore): Promise<void> {
    // The bytes first: what is left over by a failure in between is found again by its row.
    await blobs.delete(key);
    await deleteFile(this.#options.database, key);
  }

  #blobsOf(kind: BlobStore['kind']): BlobStore {
    const blobs = this.#options.blobs.find((store) => store.kind === kind);
    if (blobs) return blobs;
    throw new ServiceError('UNAVAILABLE', 'The storage this file is in is not configured (FILES_S3_URL).');
  }
}

/** The bytes as they pass: counted, hashed, and stopped when they are too many. */
class CountedBytes implements AsyncIterable<Buffer> {
  size = 0;
  readonly #hash = createHash('sha256');
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #limits: { readonly most: MostBytes; readonly quotaBytes: number; readonly left: number };

  constructor(
    bytes: AsyncIterable<Uint8Array>,
    limits: { readonly most: MostBytes; readonly quotaBytes: number; readonly left: number },
  ) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  /** Once all have passed. */
  get sha256(): Buffer {
    return this.#hash.digest();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    const { most, quotaBytes, left } = this.#limits;
    for await (const chunk of this.#bytes) {
      this.size += chunk.length;
      if (this.size > most.bytes)
        throw new ServiceError('TOO_LARGE', `A file has at most ${most.bytes} bytes here (${most.setting}).`);
      if (this.size > left) throw overQuota(quotaBytes);
      this.#hash.update(chunk);
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  }
}

function overQuota(quotaBytes: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `The files of this school may have ${quotaBytes} bytes together (FILES_QUOTA_BYTES), and have.`,
  );
}

/** @throws INVALID_VALUE */
function assertDescribed(file: NewFile): { readonly name: string; readonly contentType: string } {
  // A path is somebody's own business; its last part is the name.
  const name = (file.name.split(/[/\\]/).at(-1) ?? '').trim().normalize('NFC');
  if (name === '' || name === '.' || name === '..' || name.length > MAX_NAME || CONTROL.test(name)) {
    throw invalid('name', 'not the name of a file', `1 to ${MAX_NAME} characters in one line`, file.name);
  }
  const contentType = file.contentType || 'application/octet-stream';
  if (!MEDIA_TYPE.test(contentType)) {
    throw invalid('contentType', 'not a media type', 'e.g. application/pdf', contentType);
  }
  const roles = file.roles ?? [];
  if (roles.length > MAX_ROLES || !roles.every((role) => /^[\w.-]{1,64}$/.test(role))) {
    throw invalid('roles', 'not names of roles', `at most ${MAX_ROLES} names`, roles.join(','));
  }
  return { name, contentType };
}

function invalid(parameter: string, detail: string, expected: string, sent: string): ServiceError {
  return new ServiceError('INVALID_VALUE', `this file cannot be kept: ${parameter} is ${detail}`, {
    errors: [{ parameter, detail, expected, sent: sent.slice(0, 100) }],
  });
}

/** @throws INVALID_VALUE */
function assertFileCursor(cursor: string): string {
  if (FILE_ID.test(cursor)) return cursor;
  throw new ServiceError('INVALID_VALUE', `"${cursor.slice(0, 50)}" is not a cursor of files`);
}
