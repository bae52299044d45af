/**
 * The files of the domains, stored in Postgres or in a bucket, and streamed in and out.
 *
 * A file never changes; a new version is a new file. Its owner, admins, the roles it was given, and whoever
 * may read its record can read it; for everybody else, and in every other domain, it does not exist.
 */

import { Readable } from 'node:stream';
import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { assertIdOf, type KeysetPage, type KeysetRequest, withPlaces } from '../../store/database/keyset.js';
import { databaseTime, type Transaction } from '../../store/database/queryable.js';
import type { BlobKey, BlobReadOptions, BlobStore, ByteRange } from './blob-store.js';
import {
  assertAtMost,
  assertDescribed,
  CountedBytes,
  type DescribedFile,
  type MostBytes,
} from './described-file.js';
import { FileQuota, ResumableUploads, type ResumableUploadsOptions } from './resumable-uploads.js';
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
  takeForImport,
} from './stored-file.js';
import { isOwn, isReadable, visibleFiles } from './visible-files.js';

export interface NewFile extends DescribedFile {
  readonly stream: AsyncIterable<Uint8Array>;
  readonly link?: FileLink | undefined;
}

export type FilesOptions = Omit<ResumableUploadsOptions, 'quota'>;

export interface OpenedFile {
  readonly file: StoredFile;
  readonly range: ByteRange;
  /** The caller must read it to its end or destroy it. */
  readonly stream: Readable;
}

const BROKEN_OFF_MS = 3_600_000;

export class Files {
  readonly #options: FilesOptions;
  readonly #quota: FileQuota;
  /** Resumable uploads. */
  readonly uploads: ResumableUploads;

  constructor(options: FilesOptions) {
    this.#options = options;
    this.#quota = new FileQuota(options.database, options.config.filesQuotaBytes);
    this.uploads = new ResumableUploads({ ...options, quota: this.#quota });
  }

  /**
   * Stores a file as a stream. Nothing remains of one that is interrupted, too large or over the quota.
   *
   * @throws INVALID_VALUE for a name or type; TOO_LARGE; LIMIT_EXCEEDED over the quota; FORBIDDEN; NOT_FOUND
   *   for its record
   */
  async create(scope: Scope, file: NewFile): Promise<StoredFile> {
    await this.uploads.assertMayUpload(scope, file.link);
    return await this.createForTask(scope, file, this.uploads.most);
  }

  /**
   * Like `create`, for a task that has checked other rights than those of uploads, with a limit of its own.
   */
  async createForTask(scope: Scope, file: NewFile, most: MostBytes): Promise<StoredFile> {
    const { database, blobs } = this.#options;
    const described = assertDescribed(file);
    const left = await this.#quota.assertLeft(scope.domain.id, 1);
    const [blobStore] = blobs;
    const key = { id: uuidv7(), domainId: scope.domain.id };
    const place = { storage: blobStore.kind, link: file.link, createdBy: scope.principal.id };
    await insertUploading(database, { ...key, ...described, ...place });
    try {
      const counted = new CountedBytes(file.stream, 'sha256', (size) => {
        assertAtMost(size, most);
        if (size > left) throw this.#quota.refusal();
      });
      await blobStore.write(key, counted, scope.call.signal);
      scope.call.signal?.throwIfAborted();
      await scope.call.assertRights?.();
      return await this.#finish(key, counted);
    } catch (error) {
      // The purge deletes later what cannot be deleted now (the database is down).
      await this.#remove(key, blobStore).catch(() => {});
      throw error;
    }
  }

  /** @throws NOT_FOUND, also for a file of another domain, and one the caller may not read */
  async get(scope: Scope, id: string, within?: Transaction): Promise<StoredFile> {
    const { database, store } = this.#options;
    const file = isUuid(id) ? await findFile(within ?? database, scope.domain.id, id) : undefined;
    if (file && (await isReadable(store, scope, { file, within }))) return file;
    throw new ServiceError('NOT_FOUND', `there is no file "${id.slice(0, 50)}"`);
  }

  /** The bytes of a file, or a range within it. @throws NOT_FOUND as `get` */
  async read(scope: Scope, id: string, range?: ByteRange): Promise<OpenedFile> {
    return this.open(await this.get(scope, id), { signal: scope.call.signal, range });
  }

  /** Opens a file that `get` returned, like `read`. */
  open(file: StoredFile, options: BlobReadOptions & { readonly range?: ByteRange | undefined }): OpenedFile {
    const whole = { start: 0, end: file.size - 1 };
    const { start, end } = options.range ?? whole;
    if (file.size === 0) return { file, range: whole, stream: Readable.from([]) };
    const stream = this.#blobsOf(file.storage).read(file, { start, end }, options);
    return { file, range: { start, end }, stream };
  }

  /**
   * The files that the caller may read, newest first; with a link, those of that record. @throws FORBIDDEN,
   * NOT_FOUND for that record
   */
  async list(
    scope: Scope,
    { filter, ...page }: KeysetRequest & { readonly filter: FileFilter },
  ): Promise<KeysetPage<StoredFile>> {
    const checked = withPlaces(page, assertIdOf('a file'));
    const condition = await visibleFiles(this.#options.store, scope, filter);
    return await listFiles(this.#options.database, condition, checked);
  }

  async count(scope: Scope, filter: FileFilter): Promise<number> {
    return await countFiles(this.#options.database, await visibleFiles(this.#options.store, scope, filter));
  }

  /**
   * Deletes a file for good, and returns its description. @throws NOT_FOUND; FORBIDDEN unless the caller is
   * its owner or an admin
   */
  async delete(scope: Scope, id: string): Promise<StoredFile> {
    const file = await this.get(scope, id);
    if (!isOwn(scope, file)) {
      throw new ServiceError('FORBIDDEN', 'only the owner of a file and admins may remove it');
    }
    await this.#remove(file, this.#blobsOf(file.storage));
    return file;
  }

  /**
   * Deletes abandoned uploads, files that no import used, and files of purged records, in one domain or in
   * all; returns their number.
   */
  async purge(domainId?: string): Promise<number> {
    const { database, config } = this.#options;
    const now = (await databaseTime(database)).getTime();
    const orphans = await listOrphans(database, {
      domainId,
      whole: new Date(now - BROKEN_OFF_MS),
      resumable: new Date(now - config.fileUploadHours * 3_600_000),
    });
    for (const orphan of orphans) {
      const blobs = this.#blobsOf(orphan.storage);
      // A bucket may not let us list what is open; then its own rules end it.
      await blobs.endWrites(orphan.id).catch(() => {});
      await this.#remove(orphan, blobs);
    }
    return orphans.length;
  }

  /**
   * Hands a file uploaded for an import over to it; the import deletes it in the end. Returns whether the
   * file was waiting for an import.
   */
  async takeForImport(file: StoredFile): Promise<boolean> {
    return await takeForImport(this.#options.database, file);
  }

  /** Deletes a file that a task stored for itself. Returns whether there was one. */
  async removeOfTask(domainId: string, id: string): Promise<boolean> {
    const file = await findFile(this.#options.database, domainId, id);
    if (file === undefined) return false;
    await this.#remove(file, this.#blobsOf(file.storage));
    return true;
  }

  async close(): Promise<void> {
    await Promise.all(this.#options.blobs.map((blobs) => blobs.close()));
  }

  /** One file of a domain after the other, so that together they respect the quota. */
  async #finish(key: BlobKey, { size, digest: sha256 }: CountedBytes): Promise<StoredFile> {
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

  async #remove(key: BlobKey, blobs: BlobStore): Promise<void> {
    // The bytes first: if the deletion fails in between, the row still leads to the rest.
    await blobs.delete(key);
    await deleteFile(this.#options.database, key);
  }

  #blobsOf(kind: BlobStore['kind']): BlobStore {
    const blobs = this.#options.blobs.find((store) => store.kind === kind);
    if (blobs) return blobs;
    throw new ServiceError('UNAVAILABLE', 'The storage this file is in is not configured (FILES_S3_URL).');
  }
}
