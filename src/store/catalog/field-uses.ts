/** The operations that recently used a field of a collection, as far as a caller may know. */
import type { ErrorDetail } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import { type Scope, topDomainIdOf } from '../../base/model/scope.js';
import type { StoredField } from '../../base/model/stored-field.js';
import type { Queryable } from '../database/queryable.js';
import { sql } from '../sql.js';
import { KEPT_DAYS, USERS } from './field-meter.js';

export interface FieldUse {
  /** `undefined`: operations without a name. */
  readonly operation: string | undefined;
  /** `undefined`: logged-in users. */
  readonly keyId: string | undefined;
  /** `undefined`: the key was deleted, or belongs to another domain. */
  readonly keyName: string | undefined;
  /** A day in UTC, e.g. `2026-07-01`. */
  readonly lastUsedOn: string;
}

const MOST_LISTED = 1_000;
/** How many the error about a dropped field names; `fieldUses` lists all. */
const MOST_NAMED = 10;

const isRecent = sql`u.last_used_on >= (now() at time zone 'utc')::date - ${KEPT_DAYS}::int`;

/** The uses in the caller's domain, latest first. */
export async function listFieldUses(
  queryable: Queryable,
  { domain, principal }: Scope,
  { collection, field }: StoredField,
): Promise<readonly FieldUse[]> {
  const rows = await queryable.query<{
    operation: string;
    credential: string;
    key_name: string | null;
    last_used_on: string;
  }>(sql`
    select u.operation, u.credential, k.name as key_name, u.last_used_on::text as last_used_on
    from field_uses u
    left join api_keys k
      on k.id::text = u.credential and k.domain_id in (${domain.id}, ${principal.domainId})
    where u.domain = ${domain.id} and u.collection = ${collection} and u.field = ${field} and ${isRecent}
    order by u.last_used_on desc, u.operation, k.name, u.credential
    limit ${MOST_LISTED}::int`);
  return rows.map((row) => ({
    operation: row.operation === '' ? undefined : row.operation,
    keyId: row.credential === USERS ? undefined : row.credential,
    keyName: row.key_name ?? undefined,
    lastUsedOn: row.last_used_on,
  }));
}

/**
 * The reasons against dropping used fields: the operations of the caller's domain by name, and the fact that
 * other domains of the collection use a field, without naming them.
 */
export async function findUseFaults(
  queryable: Queryable,
  scope: Scope,
  { before, after }: { readonly before: Collection; readonly after: Collection },
): Promise<readonly ErrorDetail[]> {
  const faults: ErrorDetail[] = [];
  for (const { name: field } of before.fields) {
    if (after.fieldsByName.has(field)) continue;
    const uses = await listFieldUses(queryable, scope, { collection: before.name, field });
    const said = uses.slice(0, MOST_NAMED).map(describe);
    if (uses.length > MOST_NAMED) said.push(`${uses.length - MOST_NAMED} more (see fieldUses)`);
    if (await isUsedElsewhere(queryable, scope, { collection: before, field })) {
      said.push('operations of other domains');
    }
    if (said.length === 0) continue;
    faults.push({
      pointer: '/fields',
      detail:
        `${field} would go, and within ${KEPT_DAYS} days it was used by ${said.join('; ')}. ` +
        'Send dropUsedFields: true to let it go all the same',
      expected: field,
    });
  }
  return faults;
}

function describe({ operation, keyId, keyName, lastUsedOn }: FieldUse): string {
  const by = keyId === undefined ? 'users' : `the key ${keyName === undefined ? keyId : `"${keyName}"`}`;
  return `${operation ?? 'operations without a name'} by ${by}, last on ${lastUsedOn}`;
}

/** Other top domains count only if they have the collection too. */
async function isUsedElsewhere(
  queryable: Queryable,
  { domain }: Scope,
  { collection, field }: { readonly collection: Collection; readonly field: string },
): Promise<boolean> {
  const isShared = collection.domainId === undefined;
  const [row] = await queryable.query<{ found: boolean }>(sql`
    select exists (
      select from field_uses u
      join domains d on d.id = u.domain
      where u.domain <> ${domain.id} and u.collection = ${collection.name} and u.field = ${field}
        and ${isRecent} and (${isShared} or coalesce(d.parent_id, d.id) = ${topDomainIdOf(domain)})
    ) as found`);
  return row?.found ?? false;
}
