/** Resumable uploads in the table of files. Every statement names the domain. */

import type { Queryable } from '../../store/database/queryable.js';
import { fromRow, type RowOf } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import type { BlobKey } from './blob-store.js';
import { type FileLink, LINK, type StoredFile } from './stored-file.js';

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

export interface NewUpload
  extends Pick<OpenUpload, 'length' | 'isLengthDeferred' | 'metadata' | 'importInto'> {
  readonly name: string;
  readonly contentType: string;
  readonly link: FileLink | undefined;
  readonly roles: readonly string[];
  readonly createdBy: string;
}

export async function insertOpenUpload(db: Queryable, key: BlobKey, upload: NewUpload): Promise<void> {
  await db.query(sql`
    insert into files (id, domain, name, content_type, state, storage, collection, record_id, roles,
      created_by, upload_length, is_length_deferred, upload_metadata, import_into)
    values (
      ${key.id}::uuid, ${key.domainId}, ${upload.name}, ${upload.contentType}, 'uploading', 'database',
      ${upload.link?.collection ?? null}, ${upload.link?.recordId ?? null}, ${upload.roles}::text[],
      ${upload.createdBy}, ${upload.length}, ${upload.isLengthDeferred}, ${upload.metadata ?? null},
      ${upload.importInto ?? null}
    )`);
}

/** How many uploads of a caller are in progress. */
export async function countOpenUploads(
  db: Queryable,
  { domainId, createdBy, hours }: { domainId: string; createdBy: string; hours: number },
): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::int as count
    from files f
    where f.domain = ${domainId} and f.state = 'uploading' and f.created_by = ${createdBy}
      and f.upload_length is not null and f.updated_at > now() - make_interval(hours => ${hours}::int)`);
  return row?.count ?? 0;
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
export async function sayUploadLength(
  db: Queryable,
  { id, domainId, offset }: BlobKey & Pick<OpenUpload, 'offset'>,
  length: number,
): Promise<boolean> {
  const said = await db.query(sql`
    update files
    set upload_length = ${length}, is_length_deferred = false, upload_turn = upload_turn + 1,
      updated_at = now()
    where domain = ${domainId} and id = ${id}::uuid and state = 'uploading' and is_length_deferred
      and size = ${offset}
    returning 1`);
  return said.length > 0;
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
