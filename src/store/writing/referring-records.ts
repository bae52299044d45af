/**
 * The records that point to others by references that refuse the removal of their target (`onDelete`). They
 * are counted within the transaction that removes the targets, after the removal: what the transaction has
 * removed itself points to nothing any more.
 *
 * A concurrent write that stores such a reference holds a key-share lock on the target
 * (`references.ts`), so whoever removes the target has locked it `for update` before.
 */
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { Prisma } from '../../generated/prisma/client.js';
import { findAccess } from '../access/access.js';
import { isAdmin } from '../access/admin.js';
import type { GuardingField } from '../catalog/guarding-fields.js';
import { isIndexedPath } from '../database/declared-indexes.js';
import type { Queryable } from '../database/queryable.js';
import { fieldJson } from '../sql/names.js';
import { liveRecordsByKey, nameLiteral } from '../sql/records-of.js';
import type { RecordEnvironment } from './record-environment.js';

type Sql = Prisma.Sql;

/** How many records point to others, by collection; of those that the caller may read. */
export interface ReferringRecords {
  readonly counts: readonly { readonly collection: string; readonly field: string; readonly count: number }[];
  /** Whether there are records that the caller may not read. */
  readonly hasOthers: boolean;
}

export interface RemovedRecords {
  readonly scope: Scope;
  readonly collection: Collection;
  readonly ids: readonly string[];
  /** An admin removes them although records point to them. */
  readonly force?: boolean | undefined;
}

/** Counting ends here, so that a refusal does not take longer than the removal. */
const MOST_COUNTED = 10_000;

/** Whether a removal from the collection can be refused because of records that point to it. */
export function isGuarded({ catalog }: Pick<RecordEnvironment, 'catalog'>, { name }: Collection): boolean {
  return catalog.fieldsGuarding(name).length > 0;
}

/**
 * Refuses a removal that leaves references to nothing; called after it, in its transaction.
 *
 * @throws CONFLICT with the number of records that point there, by collection; FORBIDDEN for `force`, unless
 *   the caller is an admin
 */
export async function assertUnreferenced(
  environment: RecordEnvironment,
  queryable: Queryable,
  { scope, collection, ids, force = false }: RemovedRecords,
): Promise<void> {
  if (force) {
    assertMayForce(scope);
    return;
  }
  if (ids.length === 0) return;
  const asked = Prisma.sql`select unnest(${[...ids]}::text[])`;
  const referrers = await countReferrers(environment, queryable, { scope, collection, ids: asked });
  const errors = describeReferrers(referrers);
  if (errors.length === 0) return;
  const [only = ''] = ids;
  const found = errors.map(({ detail }) => detail).join(', ');
  const inUse =
    ids.length === 1
      ? `The record "${only}" of ${collection.name} is still in use: ${found}`
      : `Records of ${collection.name} are still in use: ${found}`;
  const detail = `${inUse}. Remove or change these first. An admin may pass force: true.`;
  throw new ServiceError('CONFLICT', detail, { errors });
}

/** @throws FORBIDDEN unless the caller is an admin */
export function assertMayForce({ principal }: Scope): void {
  if (isAdmin(principal)) return;
  const detail = '`force` is for admins: it removes a record although others point to it.';
  throw new ServiceError('FORBIDDEN', detail, { errors: [{ parameter: 'force', detail }] });
}

export function describeReferrers({ counts, hasOthers }: ReferringRecords): readonly ErrorDetail[] {
  const errors = counts.map(({ collection, field, count }): ErrorDetail => {
    const number = count >= MOST_COUNTED ? `${MOST_COUNTED} or more` : String(count);
    return {
      detail:
        count === 1
          ? `1 record of ${collection} points to it (${field})`
          : `${number} records of ${collection} point to it (${field})`,
      expected: `no record of ${collection} that points to it`,
    };
  });
  if (!hasOthers) return errors;
  const detail = errors.length === 0 ? 'other records point to it' : 'and other records';
  return [...errors, { detail, expected: 'no record that points to it' }];
}

/**
 * Counts the live records that point to one of the ids, a query of one text column. Each id is looked up by
 * an index: a b-tree of the field, or the document index for fields without one and for lists.
 */
export async function countReferrers(
  environment: RecordEnvironment,
  queryable: Queryable,
  {
    scope,
    collection,
    ids,
    first = Prisma.empty,
    removed,
  }: {
    readonly scope: Scope;
    readonly collection: Collection;
    readonly ids: Sql;
    /** CTEs that `ids` needs: `with …`. */
    readonly first?: Sql;
    /** The records of the collection that will be removed together, as a query of ids: they do not count. */
    readonly removed?: Sql;
  },
): Promise<ReferringRecords> {
  const guarding = environment.catalog.fieldsGuarding(collection.name);
  if (guarding.length === 0) return { counts: [], hasOthers: false };
  const selects = guarding.map((field, index) => {
    const counting = field.collection.name === collection.name ? removed : undefined;
    return selectReferrers(environment, scope, { field, ids, index, removed: counting });
  });
  const rows = await environment.run<{ index: number; readable: number; hidden: number }>(
    queryable,
    Prisma.sql`${first} ${Prisma.join(selects, ' union all ')}`,
    scope,
  );
  const counts = rows.flatMap(({ index, readable: count }) => {
    const field = guarding[index];
    if (field === undefined || count === 0) return [];
    return [{ collection: field.collection.name, field: pathOf(field).join('.'), count }];
  });
  return { counts, hasOthers: rows.some(({ hidden }) => hidden > 0) };
}

function selectReferrers(
  environment: RecordEnvironment,
  scope: Scope,
  {
    field,
    ids,
    index,
    removed,
  }: {
    readonly field: GuardingField;
    readonly ids: Sql;
    readonly index: number;
    readonly removed: Sql | undefined;
  },
): Sql {
  const { collection } = field;
  const access = findAccess(scope, collection, 'read');
  const [top = ''] = pathOf(field);
  const isReadable =
    access === undefined || access.hiddenFields.has(top)
      ? Prisma.sql`false`
      : Prisma.sql`(${environment.rowsOf(scope, collection, access) ?? Prisma.sql`true`}) is true`;
  const place = { domain: scope.domain.id, isRouted: environment.database.home !== undefined };
  return Prisma.sql`
select ${Prisma.raw(String(index))} as index, (count(*) filter (where f.is_readable))::int as readable,
  (count(*) filter (where not f.is_readable))::int as hidden
from (
  select p.is_readable
  from (${ids}) as target(id)
  cross join lateral (
    select ${isReadable} as is_readable
    from records r
    where ${liveRecordsByKey(place, collection.name, pointsTo(field))}
      ${removed === undefined ? Prisma.empty : Prisma.sql`and r.id <> all(array(${removed}))`}
    offset 0
  ) as p
  limit ${MOST_COUNTED}
) as f`;
}

function pointsTo(field: GuardingField): Sql {
  const { collection, fields } = field;
  const path = [...pathOf(field), 'value'];
  if (isIndexedPath(collection, path))
    return Prisma.sql`${fieldJson(collection, path)} = to_jsonb(target.id)`;
  const reference = Prisma.sql`jsonb_build_object('value', target.id)`;
  const holder = fields.reduceRight((value, { name, isList }) => {
    const held = isList ? Prisma.sql`jsonb_build_array(${value})` : value;
    return Prisma.sql`jsonb_build_object(${nameLiteral(name)}, ${held})`;
  }, reference);
  return Prisma.sql`r.data @> ${holder}`;
}

function pathOf({ fields }: GuardingField): readonly string[] {
  return fields.map(({ name }) => name);
}
