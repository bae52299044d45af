/** The table of files. Every statement names the domain, or belongs to a task for all domains. */

import {
  type KeysetPage,
  type KeysetRequest,
  newestFirst,
  toKeysetPage,
} from '../../store/database/keyset.js';
import { countIn, fromRow, type Queryable, type RowOf } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import type { BlobKey } from './blob-store.js';

/** A file without its bytes. */
export interface StoredFile {
  readonly id: string;
  readonly domainId: string;
  readonly name: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** The hash of the bytes, from which the ETag is derived. */
  readonly sha256: Buffer;
  readonly storage: 'database' | 's3';
  /** The record it belongs to; whoever may read the record may read the file. */
  readonly link: FileLink | undefined;
  /** Roles that may read it, in addition to its owner and admins. */
  readonly roles: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
}

export interface FileLink {
  readonly collection: string;
  readonly recordId: string;
}

export interface FileFilter {
  readonly link?: FileLink | undefined;
  /** Files of any records of this collection; ignored beside a link. */
  readonly collection?: string | undefined;
  /** A part of the name, ignoring case. */
  readonly name?: string | undefined;
  readonly createdBy?: string | undefined;
}

type FileRow = RowOf<StoredFile>;

/** The record of a file `f`; null if it has none. */
const LINK = sql`case when f.collection is not null and f.record_id is not null
  then json_build_object('collection', f.collection, 'recordId', f.record_id) end as link`;

const COLUMNS = sql`f.id, f.domain as "domainId", f.name, f.content_type as "contentType", f.size, f.sha256,
  f.storage, ${LINK}, f.roles, f.created_by as "createdBy", f.created_at as "createdAt"`;

interface UploadingFile
  extends BlobKey,
    Pick<StoredFile, 'name' | 'contentType' | 'storage' | 'link' | 'roles' | 'createdBy'> {
  /** Absent: it comes in one request. */
  readonly upload?: Pick<OpenUpload, 'length' | 'isLengthDeferred' | 'metadata' | 'importInto'>;
}

export async function insertUploading(db: Queryable, { upload, ...file }: UploadingFile): Promise<void> {
  await db.query(sql`
    insert into files (id, domain, name, content_type, state, storage, collection, record_id, roles,
      created_by, upload_length, is_length_deferred, upload_metadata, import_into)
    values (
      ${file.id}::uuid, ${file.domainId}, ${file.name}, ${file.contentType}, 'uploading', ${file.storage},
      ${file.link?.collection ?? null}, ${file.link?.recordId ?? null}, ${file.roles}::text[],
      ${file.createdBy}, ${upload?.length ?? null}, ${upload?.isLengthDeferred ?? false},
      ${upload?.metadata ?? null}, ${upload?.importInto ?? null}
    )`);
}

/** `undefined` if the upload was purged meanwhile. */
export async function markReady(
  db: Queryable,
  options: BlobKey & Pick<StoredFile, 'size' | 'sha256' | 'storage'>,
): Promise<StoredFile | undefined> {
  const [row] = await db.query<FileRow>(sql`
    update files f
    set state = 'ready', size = ${options.size}, sha256 = ${options.sha256}, storage = ${options.storage},
      upload_metadata = null, updated_at = now()
    where f.domain = ${options.domainId} and f.id = ${options.id}::uuid and f.state = 'uploading'
    returning ${COLUMNS}`);
  return row && fromRow<StoredFile>(row);
}

export async function findFile(db: Queryable, domainId: string, id: string): Promise<StoredFile | undefined> {
  const [row] = await db.query<FileRow>(sql`
    select ${COLUMNS}
    from files f
    where f.domain = ${domainId} and f.id = ${id}::uuid and f.state = 'ready'`);
  return row && fromRow<StoredFile>(row);
}

/** Newest first; ids increase with time. */
export async function listFiles(
  db: Queryable,
  condition: Sql,
  request: KeysetRequest,
): Promise<KeysetPage<StoredFile>> {
  const page = newestFirst(request, sql`f.id`, 'uuid');
  const rows = await db.query<FileRow>(sql`
    select ${COLUMNS}
    from files f
    where ${condition} and f.state = 'ready' and ${page.condition}
    ${page.tail}`);
  return toKeysetPage(rows.map(fromRow<StoredFile>), request);
}

export async function countFiles(db: Queryable, condition: Sql): Promise<number> {
  return await countIn(db, sql`files f where ${condition} and f.state = 'ready'`);
}

/** The total bytes of a domain's files. */
export async function usedBytes(db: Queryable, domainId: string): Promise<number> {
  const [row] = await db.query<{ used: number }>(sql`
    select coalesce(sum(size), 0)::bigint as used
    from files
    where domain = ${domainId}`);
  return row?.used ?? 0;
}

/** Deletes a file with its chunks. */
export async function deleteFile(db: Queryable, { id, domainId }: BlobKey): Promise<void> {
  await db.query(sql`delete from files where domain = ${domainId} and id = ${id}::uuid`);
}

/**
 * Uploads without a sign of life since an instant (resumable ones since another), files that no import used
 * since then, and files whose record no longer exists, not even as a tombstone. In one domain, or in all.
 */
export async function listOrphans(
  db: Queryable,
  before: { readonly domainId: string | undefined; readonly whole: Date; readonly resumable: Date },
): Promise<(BlobKey & { readonly storage: StoredFile['storage'] })[]> {
  const [whole, resumable] = [before.whole.toISOString(), before.resumable.toISOString()];
  const { domainId } = before;
  const isOfDomain = (column: string) =>
    domainId === undefined ? sql`true` : sql`${sql.raw(column)} = ${domainId}`;
  return await db.query(sql`
    select f.id, f.domain as "domainId", f.storage
    from files f
    where ${isOfDomain('f.domain')} and (
      (f.state = 'uploading' and f.upload_length is null and f.updated_at < ${whole}::timestamptz)
      or (f.state = 'uploading' and f.upload_length is not null and f.updated_at < ${resumable}::timestamptz)
      or (f.import_into is not null and f.updated_at < ${resumable}::timestamptz)
      or (
        f.collection is not null
        and not exists (
          select
          from records r
          where r.domain = f.domain and ${isOfDomain('r.domain')}
            and r.collection = f.collection and r.id = f.record_id
        )
      )
    )
    limit 1000`);
}

/** An upload in progress, or completed. */
export interface OpenUpload extends BlobKey, Pick<StoredFile, 'name' | 'createdBy' | 'link' | 'roles'> {
  /** The final number of bytes; until the sender announces it, the maximum allowed. */
  readonly length: number;
  readonly isLengthDeferred: boolean;
  /** The bytes received so far. */
  readonly offset: number;
  /** The sender's description, verbatim. */
  readonly metadata: string | undefined;
  /** The collection to import it into. */
  readonly importInto: string | undefined;
  /** When it is deleted, unless more arrives. Absent: it is complete. */
  readonly expiresAt: Date | undefined;
}

/** How many uploads of a caller are in progress. */
export async function countOpenUploads(
  db: Queryable,
  { domainId, createdBy, hours }: { domainId: string; createdBy: string; hours: number },
): Promise<number> {
  return await countIn(
    db,
    sql`files f
    where f.domain = ${domainId} and f.state = 'uploading' and f.created_by = ${createdBy}
      and f.upload_length is not null and f.updated_at > now() - make_interval(hours => ${hours}::int)`,
  );
}

/** An upload of this caller; one that was idle for too long no longer exists. */
export async function findOpenUpload(
  db: Queryable,
  { id, domainId }: BlobKey,
  { createdBy, hours }: { readonly createdBy: string; readonly hours: number },
): Promise<OpenUpload | undefined> {
  const [row] = await db.query<RowOf<OpenUpload>>(sql`
    select f.id, f.domain as "domainId", f.name, f.created_by as "createdBy", ${LINK}, f.roles,
      case f.state when 'ready' then f.size else f.upload_length end as length, f.size as "offset",
      f.upload_metadata as metadata, f.is_length_deferred as "isLengthDeferred",
      f.import_into as "importInto",
      case f.state when 'uploading' then f.updated_at + make_interval(hours => ${hours}::int) end
        as "expiresAt"
    from files f
    where f.domain = ${domainId} and f.id = ${id}::uuid and f.created_by = ${createdBy}
      and (
        f.state = 'ready'
        or (f.upload_length is not null and f.updated_at > now() - make_interval(hours => ${hours}::int))
      )`);
  return row && fromRow<OpenUpload>(row);
}

/**
 * Claims the upload for a request that sends more: from now on, earlier requests can no longer write. Returns
 * the turn; `undefined` if the upload is complete, or beyond the offset that the request assumes.
 */
export async function takeUploadTurn(
  db: Queryable,
  { id, domainId }: BlobKey,
  offset: number,
): Promise<number | undefined> {
  const [row] = await db.query<{ turn: number }>(sql`
    update files
    set upload_turn = upload_turn + 1, updated_at = now()
    where domain = ${domainId} and id = ${id}::uuid and state = 'uploading' and upload_length is not null
      and size = ${offset}
    returning upload_turn as turn`);
  return row?.turn;
}

/**
 * Sets a deferred length; earlier requests can no longer write. Returns whether the length was still open and
 * the upload at this offset.
 */
export async function setUploadLength(
  db: Queryable,
  { id, domainId, offset }: BlobKey & Pick<OpenUpload, 'offset'>,
  length: number,
): Promise<boolean> {
  const changed = await db.query(sql`
    update files
    set upload_length = ${length}, is_length_deferred = false, upload_turn = upload_turn + 1,
      updated_at = now()
    where domain = ${domainId} and id = ${id}::uuid and state = 'uploading' and is_length_deferred
      and size = ${offset}
    returning 1`);
  return changed.length > 0;
}

/** Records the progress of an upload, or a sign of life. Returns whether the request still has its turn. */
export async function moveUpload(
  db: Queryable,
  { id, domainId }: BlobKey,
  { turn, offset }: { readonly turn: number; readonly offset: number | undefined },
): Promise<boolean> {
  const moved = await db.query(sql`
    update files
    set size = coalesce(${offset ?? null}::bigint, size), updated_at = now()
    where domain = ${domainId} and id = ${id}::uuid and state = 'uploading' and upload_turn = ${turn}
    returning 1`);
  return moved.length > 0;
}

/** Assigns a file stored for an import to it. Returns whether the file was waiting for one. */
export async function takeForImport(db: Queryable, { id, domainId }: BlobKey): Promise<boolean> {
  const taken = await db.query(sql`
    update files
    set import_into = null
    where domain = ${domainId} and id = ${id}::uuid and state = 'ready' and import_into is not null
    returning 1`);
  return taken.length > 0;
}
