/**
 * Uploads sent piece by piece, which continue after a broken connection on any gateway. An upload is an
 * unfinished file; its bytes are in the database until it is complete, wherever files are stored in the end.
 */

import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import { ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { refusedByScopes } from '../../store/access/access.js';
import type { Database } from '../../store/database/database.js';
import { FairQueue } from '../../store/database/fair-queue.js';
import type { Queryable, Transaction } from '../../store/database/queryable.js';
import type { RecordStore } from '../../store/record-store.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { BlobStore } from './blob-store.js';
import { appendChunks, DatabaseBlobs } from './database-blobs.js';
import {
  assertAtMost,
  assertDescribed,
  CountedBytes,
  type DescribedFile,
  type MostBytes,
  whileAllowed,
} from './described-file.js';
import type { FileSettings } from './file-settings.js';
import {
  countOpenUploads,
  deleteFile,
  type FileLink,
  findOpenUpload,
  insertUploading,
  markReady,
  moveUpload,
  type OpenUpload,
  setUploadLength,
  takeUploadTurn,
  usedBytes,
} from './stored-file.js';
import { assertMayCreate, assertMayLink } from './visible-files.js';

export interface ResumableUploadsOptions {
  readonly database: Database;
  readonly store: RecordStore;
  /** The store for new files, then those that may have older ones. */
  readonly blobs: readonly [BlobStore, ...BlobStore[]];
  readonly config: FileSettings;
  readonly quota: FileQuota;
}

export interface UploadToOpen extends DescribedFile {
  /** Absent: announced with a later piece. */
  readonly length: number | undefined;
  readonly link?: FileLink | undefined;
  /** The sender's description, to be repeated verbatim. */
  readonly metadata?: string | undefined;
  /** Set for an import, whose rights were checked, with a limit of its own. */
  readonly importInto?: { readonly collection: string; readonly most: MostBytes } | undefined;
}

export interface UploadPiece {
  readonly offset: number;
  readonly bytes: AsyncIterable<Buffer>;
  /** The expected checksum: the piece counts as a whole, or not at all. */
  readonly checksum?: { readonly algorithm: string; readonly digest: Buffer } | undefined;
}

export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'sha512'] as const;

export class ResumableUploads {
  readonly #options: ResumableUploadsOptions;
  readonly #waiting: DatabaseBlobs;

  constructor(options: ResumableUploadsOptions) {
    this.#options = options;
    this.#waiting = new DatabaseBlobs(options.database);
  }

  /** The limit of a file that is not for an import. */
  get most(): MostBytes {
    return { bytes: this.#options.config.fileMaxBytes, setting: 'FILE_MAX_BYTES' };
  }

  /**
   * Creates an empty upload.
   *
   * @throws INVALID_VALUE for a name or type; TOO_LARGE; LIMIT_EXCEEDED over the quota, or if the caller has
   *   too many open; FORBIDDEN; NOT_FOUND for its record
   */
  async open(scope: Scope, sent: UploadToOpen): Promise<OpenUpload> {
    const { config, quota } = this.#options;
    const described = assertDescribed(sent);
    const { length, link, metadata, importInto } = sent;
    if (importInto === undefined) await this.assertMayUpload(scope, link);
    else assertIsWhole(scope);
    const most = importInto?.most ?? this.most;
    if (length !== undefined) assertAtMost(length, most);
    const key = { id: uuidv7(), domainId: scope.domain.id };
    const createdBy = scope.principal.id;
    await quota.inTurn(key.domainId, async (tx) => {
      await quota.assertLeft(key.domainId, length ?? 0, tx);
      const open = await countOpenUploads(tx, { ...key, createdBy, hours: config.fileUploadHours });
      if (open >= config.fileUploadsOpen) throw tooManyOpen(config.fileUploadsOpen);
      const pieces = { length: length ?? most.bytes, isLengthDeferred: length === undefined, metadata };
      const upload = { ...pieces, importInto: importInto?.collection };
      const file = { ...key, ...described, storage: 'database', link, createdBy } as const;
      await insertUploading(tx, { ...file, upload });
    });
    return await this.get(scope, key.id);
  }

  /**
   * The progress of an upload. One that has all its bytes is first completed, if the request that sent the
   * last ones could not do so.
   *
   * @throws NOT_FOUND, also for one of another caller, and one that was idle for too long
   */
  async get(scope: Scope, id: string): Promise<OpenUpload> {
    const upload = await this.#find(scope, id);
    const isWhole = !upload.isLengthDeferred && upload.offset >= upload.length;
    if (upload.expiresAt === undefined || !isWhole) return upload;
    try {
      await this.#finish(scope, upload);
    } catch (fault) {
      // A concurrent request may already have moved the bytes to storage.
      const now = await this.#find(scope, id);
      if (now.expiresAt === undefined) return now;
      throw fault;
    }
    return await this.#find(scope, id);
  }

  /**
   * Appends a piece. What arrived before an interruption is kept, unless there is a checksum; only the latest
   * request may write.
   *
   * @throws NOT_FOUND as `get`; CONFLICT for a wrong offset, or if another request continues it; TOO_LARGE
   *   beyond the length; LIMIT_EXCEEDED over the quota; CHECKSUM_MISMATCH; FORBIDDEN if the right to upload
   *   was revoked meanwhile
   */
  async append(scope: Scope, id: string, { offset, bytes, checksum }: UploadPiece): Promise<OpenUpload> {
    const { database, quota } = this.#options;
    const upload = await this.#find(scope, id);
    if (upload.importInto === undefined) await this.assertMayUpload(scope, upload.link);
    const turn = await takeUploadTurn(database, upload, offset);
    if (turn === undefined) {
      const now = await this.#find(scope, id);
      if (now.expiresAt === undefined && offset === now.length) return now;
      throw elsewhere(now.offset, offset);
    }
    const left = await quota.assertLeft(upload.domainId, 0);
    let cut: unknown;
    // On an interruption the bytes end normally, so that nothing received is lost.
    const untilCut = async function* () {
      try {
        yield* whileAllowed(bytes, scope);
      } catch (fault) {
        cut = fault;
      }
    };
    const piece = new CountedBytes(untilCut(), checksum?.algorithm, (size) => {
      if (offset + size > upload.length) {
        assertAtMost(offset + size, { bytes: upload.length, setting: 'Upload-Length' });
      }
      if (size > left) throw quota.refusal();
    });
    const blobs = this.#waiting;
    await appendChunks({ database, blobs }, upload, {
      offset,
      bytes: piece,
      note: async (tx, reached) => {
        const moved = await moveUpload(tx, upload, { turn, offset: checksum ? undefined : reached });
        if (!moved) throw overtaken();
      },
    });
    if (cut !== undefined) throw cut;
    if (checksum !== undefined) {
      if (!piece.digest.equals(checksum.digest)) throw mismatch(checksum.algorithm);
      if (!(await moveUpload(database, upload, { turn, offset: offset + piece.size }))) throw overtaken();
    }
    return await this.get(scope, id);
  }

  /**
   * Sets the length of an upload that was created without one; it cannot be changed.
   *
   * @throws NOT_FOUND as `get`; MALFORMED_REQUEST for a different length, or one below what has arrived;
   *   TOO_LARGE; LIMIT_EXCEEDED over the quota; CONFLICT if another request continues it
   */
  async sayLength(scope: Scope, id: string, length: number): Promise<OpenUpload> {
    const { database, quota } = this.#options;
    const upload = await this.#find(scope, id);
    const { offset, isLengthDeferred } = upload;
    if (!isLengthDeferred && length === upload.length) return upload;
    if (!isLengthDeferred || length < offset) throw otherLength(upload);
    // Until then, the length is the limit with which it was created.
    const setting = upload.importInto === undefined ? this.most.setting : 'IMPORT_MAX_BYTES';
    assertAtMost(length, { bytes: upload.length, setting });
    await quota.assertLeft(upload.domainId, length - offset);
    if (!(await setUploadLength(database, upload, length))) throw overtaken();
    return await this.#find(scope, id);
  }

  /** Deletes an incomplete upload. @throws NOT_FOUND as `get` */
  async delete(scope: Scope, id: string): Promise<'gone' | 'is a file'> {
    const { database } = this.#options;
    const upload = await this.#find(scope, id);
    if (upload.expiresAt === undefined) return 'is a file';
    await this.#waiting.delete(upload);
    await deleteFile(database, upload);
    return 'gone';
  }

  async #find(scope: Scope, id: string): Promise<OpenUpload> {
    const { database, config } = this.#options;
    const owner = { createdBy: scope.principal.id, hours: config.fileUploadHours };
    const key = { id, domainId: scope.domain.id };
    const upload = isUuid(id) ? await findOpenUpload(database, key, owner) : undefined;
    // The scopes of an API key do not cover files: it may continue uploads to records, as it may read their
    // files.
    const isHidden = scope.principal.scopes !== undefined && upload?.link === undefined;
    if (upload !== undefined && !isHidden) return upload;
    throw new ServiceError('NOT_FOUND', `you have no upload "${id.slice(0, 50)}"; start it again`);
  }

  async assertMayUpload(scope: Scope, link: FileLink | undefined): Promise<void> {
    const { store, config } = this.#options;
    if (link) await assertMayLink(store, scope, link);
    else assertMayCreate(scope, config.fileRoles);
  }

  /** Completes an upload: hashes it, and moves it to storage. */
  async #finish(scope: Scope, upload: OpenUpload): Promise<void> {
    const { blobs, quota } = this.#options;
    const [place] = blobs;
    await quota.assertLeft(upload.domainId, 0);
    const stored = this.#waiting.read(upload, { start: 0, end: upload.length - 1 }, {});
    const bytes = new CountedBytes(stored, 'sha256', () => {});
    if (place.kind === 'database') for await (const _ of bytes);
    else await place.write(upload, bytes, scope.call.signal);
    const ready = { ...upload, size: upload.length, sha256: bytes.digest, storage: place.kind };
    await quota.inTurn(upload.domainId, async (tx) => {
      await quota.assertLeft(upload.domainId, 0, tx);
      await markReady(tx, ready);
    });
    if (place.kind !== 'database') await this.#waiting.delete(upload);
  }
}

/** @throws FORBIDDEN */
function assertIsWhole({ principal }: Scope): void {
  if (principal.scopes === undefined) return;
  throw refusedByScopes(
    principal,
    "the API key's scopes do not allow uploads: send the file to import as the body of POST /imports",
  );
}

function elsewhere(offset: number, sent: number): ServiceError {
  return new ServiceError('CONFLICT', `The upload is at ${offset}, not at ${sent}; get its offset by HEAD.`);
}

function otherLength({ isLengthDeferred, length, offset }: OpenUpload): ServiceError {
  const detail = isLengthDeferred
    ? `${offset} bytes are there already`
    : `it was declared as ${length}, and cannot change`;
  return new ServiceError('MALFORMED_REQUEST', `Upload-Length: ${detail}.`);
}

function overtaken(): ServiceError {
  return new ServiceError('CONFLICT', 'Another request continues this upload; get its offset by HEAD.');
}

function mismatch(algorithm: string): ServiceError {
  return new ServiceError(
    'CHECKSUM_MISMATCH',
    `The ${algorithm} of this part is not the one you sent, so it was discarded; send it again.`,
  );
}

function tooManyOpen(most: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `You have ${most} uploads open (FILE_UPLOADS_OPEN); finish or delete one of them.`,
  );
}

/** The storage quota of a domain, including unfinished uploads. */
export class FileQuota {
  /** Queues uploads by domain, whose row is locked meanwhile. */
  readonly #line = new FairQueue({
    perCaller: 2,
    waitingPerCaller: 200,
    waitMs: 10_000,
    refusal: 'Too many uploads of this school are beginning or ending',
  });
  readonly #database: Database;
  readonly #bytes: number;

  constructor(database: Database, bytes: number) {
    this.#database = database;
    this.#bytes = bytes;
  }

  /** The remaining bytes. @throws LIMIT_EXCEEDED if fewer than `needed` remain */
  async assertLeft(domainId: string, needed: number, db: Queryable = this.#database): Promise<number> {
    const left = this.#bytes - (await usedBytes(db, domainId));
    if (left < needed) throw this.refusal();
    return left;
  }

  /** Runs work in a transaction during which no other file of the domain begins or ends. */
  async inTurn<T>(domainId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return await this.#line.run(domainId, () =>
      inOwnTransaction(this.#database, async (transaction) => {
        await transaction.query(sql`select 1 from domains where id = ${domainId} for no key update`);
        return await work(transaction);
      }),
    );
  }

  refusal(): ServiceError {
    return new ServiceError(
      'LIMIT_EXCEEDED',
      `The files of this school have reached their quota of ${this.#bytes} bytes (FILES_QUOTA_BYTES).`,
    );
  }
}
