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
import type { Prisma } from '../generated/prisma/client.js';
import type { Scope } from '../model/scope.js';
import type { Database, Transaction } from '../store/database/database.js';
import { type KeysetPage, type KeysetRequest, withPlaces } from '../store/database/keyset.js';
import type { RecordStore } from '../store/record-store.js';
import type { BlobKey, BlobReadOptions, BlobStore, ByteRange } from './blob-store.js';
import { assertDescribed, type DescribedFile } from './described-file.js';
import type { FileLimits } from './file-limits.js';
import { FileQuota } from './file-quota.js';
import { assertAtMost, type MostBytes } from './most-bytes.js';
import { takeForImport } from './open-upload.js';
import { ResumableUploads } from './resumable-uploads.js';
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
} from './stored-file.js';
import { assertMayCreate, assertMayLink, isOwn, isReadable, visibleFiles } from './visible-files.js';

export interface NewFile extends DescribedFile {
  readonly stream: AsyncIterable<Uint8Array>;
  readonly link?: FileLink | undefined;
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

const FILE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const BROKEN_OFF_MS = 3_600_000;

export class Files {
  readonly #options: FilesOptions;
  readonly #quota: FileQuota;
  /** Uploads that are sent piece by piece. */
  readonly uploads: ResumableUploads;

  constructor(options: FilesOptions) {
    this.#options = options;
    this.#quota = new FileQuota(options.database, options.limits.quotaBytes);
    this.uploads = new ResumableUploads({ ...options, quota: this.#quota });
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
    const { database, blobs } = this.#options;
    const { name, contentType } = assertDescribed(file);
    const left = await this.#quota.assertLeft(scope.domain.id, 1);
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
      const counted = new CountedBytes(file.stream, { most, left, quota: this.#quota });
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
   * Takes away uploads that were broken off and never gone on with, files that no import took, and files of
   * records that were purged; how many. Of one domain, or else of all.
   */
  async purge(domainId?: string): Promise<number> {
    const { database, limits } = this.#options;
    const now = Date.now();
    const orphans = await listOrphans(database, {
      domainId,
      whole: new Date(now - BROKEN_OFF_MS),
      resumable: new Date(now - limits.uploadHours * 3_600_000),
    });
    for (const orphan of orphans) await this.#remove(orphan, this.#blobsOf(orphan.storage));
    return orphans.length;
  }

  /**
   * Hands a file that was uploaded for an import to that import, which takes it away in the end. Whether it
   * was one that waited for an import.
   */
  async takeForImport(file: StoredFile): Promise<boolean> {
    return await takeForImport(this.#options.database, file);
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
    const [{ kind: storage }] = this.#options.blobs;
    return await this.#quota.inTurn(key.domainId, async (tx) => {
      await this.#quota.assertLeft(key.domainId, size, tx);
      const ready = await markReady(tx, { ...key, size, sha256, storage });
      if (ready) return ready;
      throw new ServiceError('UNAVAILABLE', 'The upload took too long; try again.', {
        retryAfterSeconds: RETRY_SOON_SECONDS,
      });
    });
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
  readonly #limits: { readonly most: MostBytes; readonly left: number; readonly quota: FileQuota };

  constructor(
    bytes: AsyncIterable<Uint8Array>,
    limits: { readonly most: MostBytes; readonly left: number; readonly quota: FileQuota },
  ) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  /** Once all have passed. */
  get sha256(): Buffer {
    return this.#hash.digest();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    const { most, quota, left } = this.#limits;
    for await (const chunk of this.#bytes) {
      this.size += chunk.length;
      assertAtMost(this.size, most);
      if (this.size > left) throw quota.refusal();
      this.#hash.update(chunk);
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  }
}

/** @throws INVALID_VALUE */
function assertFileCursor(cursor: string): string {
  if (FILE_ID.test(cursor)) return cursor;
  throw new ServiceError('INVALID_VALUE', `"${cursor.slice(0, 50)}" is not a cursor of files`);
}
