/** Decides who may upload, read and delete files. */
import { ifRefused, OUT_OF_REACH, ServiceError } from '../../base/errors.js';
import type { Principal, Scope } from '../../base/model/scope.js';
import { refusedByScopes } from '../../store/access/access.js';
import type { Transaction } from '../../store/database/queryable.js';
import type { RecordStore } from '../../store/record-store.js';
import { allHold, type Sql, sql } from '../../store/sql.js';
import type { FileFilter, FileLink, StoredFile } from './stored-file.js';

/** Only the id is read, to find out whether a record may be read. */
const ID_ALONE = [['_id']];

/** @throws FORBIDDEN */
export function assertMayCreate({ principal }: Scope, roles: readonly string[]): void {
  if (principal.scopes !== undefined) {
    throw refusedByScopes(
      principal,
      "the API key's scopes allow uploads only to records (collection and recordId)",
    );
  }
  if (roles.some((role) => principal.roles.has(role))) return;
  throw new ServiceError(
    'FORBIDDEN',
    `you may not upload files; one of these roles is needed: ${roles.join(', ')}`,
  );
}

/**
 * Adding a file to a record counts as changing the record: the caller must be allowed to read and change it.
 *
 * @throws FORBIDDEN, NOT_FOUND, GONE
 */
export async function assertMayLink(
  store: RecordStore,
  scope: Scope,
  { collection, recordId }: FileLink,
): Promise<void> {
  await store.assertMayUpdate(scope, collection, recordId);
  await store.get(scope, collection, recordId, ID_ALONE);
}

export async function isReadable(
  store: RecordStore,
  scope: Scope,
  { file, within }: { readonly file: StoredFile; readonly within: Transaction | undefined },
): Promise<boolean> {
  const { roles, scopes } = scope.principal;
  if (isOwn(scope, file) || (scopes === undefined && file.roles.some((role) => roles.has(role)))) return true;
  if (file.link === undefined) return false;
  const { collection, recordId } = file.link;
  const found = store.get(scope, collection, recordId, ID_ALONE, { within });
  return (await found.catch(ifRefused(OUT_OF_REACH, undefined))) !== undefined;
}

/**
 * The files of a list, as a condition on `files f`. Without a link, only files that the caller may read
 * without regard to records: looking up the rights to a thousand records for a page would be too slow.
 *
 * @throws FORBIDDEN, NOT_FOUND, GONE for a record the caller may not read
 */
export async function visibleFiles(store: RecordStore, scope: Scope, filter: FileFilter): Promise<Sql> {
  const { link, collection, name, createdBy } = filter;
  const { principal, domain } = scope;
  if (link) await store.get(scope, link.collection, link.recordId, ID_ALONE);
  return allHold([
    sql`f.domain = ${domain.id}`,
    ...(link
      ? [sql`f.collection = ${link.collection} and f.record_id = ${link.recordId}`]
      : [ownFiles(principal)]),
    collection !== undefined && sql`f.collection = ${collection}`,
    name !== undefined && sql`position(lower(${name}) in lower(f.name)) > 0`,
    createdBy !== undefined && sql`f.created_by = ${createdBy}`,
  ]);
}

function ownFiles(principal: Principal): Sql {
  if (principal.scopes !== undefined) return sql`false`;
  if (principal.roles.has('admin')) return sql`true`;
  return sql`(f.created_by = ${principal.id} or f.roles && ${[...principal.roles]}::text[])`;
}

/** The scopes of an API key do not cover files: it may read those of records that it may read. */
export function isOwn({ principal }: Scope, file: StoredFile): boolean {
  if (principal.scopes !== undefined) return false;
  return principal.roles.has('admin') || file.createdBy === principal.id;
}
