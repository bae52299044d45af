/** Stores facts about single rows, in the transaction that checks or writes them. */

import { type JsonValue, printExactJson } from '../../base/json/json.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Queryable } from '../../store/database/queryable.js';
import type { StagingPlace } from '../../store/writing/staging-place.js';
import type { RefusedRow } from './preparing/row-preparer.js';
import type { StoredImport } from './stored-import.js';

export async function noteRefused(
  db: Queryable,
  importId: string,
  step: 'try' | 'run',
  refused: readonly RefusedRow[],
): Promise<void> {
  if (refused.length === 0) return;
  const rows = refused.map(({ number, errors, source }) => ({ number, errors, source }));
  await db.query(Prisma.sql`
    insert into import_errors (import_id, step, row_number, errors, source)
    select ${importId}::uuid, ${step}, (e->>'number')::bigint, e->'errors', e->'source'
    from jsonb_array_elements(${printExactJson(rows as unknown as JsonValue)}::jsonb) as e`);
}

type SeeingImport = Pick<StoredImport, 'id' | 'domainId'>;

/** Stores the ids of the records that the file has. */
export async function noteSeen(
  place: Pick<StagingPlace, 'run'>,
  one: SeeingImport,
  ids: Iterable<string>,
): Promise<void> {
  await place.run(Prisma.sql`
    insert into import_seen (domain, import_id, record_id)
    select ${one.domainId}, ${one.id}::uuid, seen.id
    from unnest(${[...ids]}::text[]) as seen (id)
    on conflict do nothing`);
}

/** The records `r` that the file does not have. */
export function unseen({ domainId, id }: SeeingImport): Prisma.Sql {
  return Prisma.sql`not exists (
    select 1
    from import_seen seen
    where seen.domain = ${domainId} and seen.import_id = ${id}::uuid and seen.record_id = r.id)`;
}

/** Deletes the ids that `noteSeen` has stored: the step begins anew, or has ended. */
export async function forgetSeen(db: Queryable, { domainId, id }: SeeingImport): Promise<void> {
  await db.query(Prisma.sql`
    delete from import_seen where domain = ${domainId} and import_id = ${id}::uuid`);
}
