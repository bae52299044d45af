/** Finds what belongs to a person: the records about the person, and the records about those. */
import { ServiceError } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Queryable } from '../../store/database/queryable.js';
import { recordsOf } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';

/** Records of a collection, including removed ones that are not purged yet. */
export interface Belongings {
  readonly collection: Collection;
  readonly ids: readonly string[];
}

/** A longer chain of collections must be a cycle that goes through different records. */
const MOST_STEPS = 8;
/** No person has more records than this. More means a wrong declaration, and would take too much memory. */
const MOST_RECORDS = 200_000;

/**
 * The records that belong to the person, by collection, without the record of the person itself.
 *
 * @throws LIMIT_EXCEEDED for more records than any person can have
 */
export async function findBelongings(
  db: Queryable,
  scope: Scope,
  catalog: Pick<Catalog, 'list'>,
  person: { readonly collection: string; readonly id: string },
): Promise<readonly Belongings[]> {
  const found = new Map<Collection, Set<string>>();
  let newest = new Map<string, readonly string[]>([[person.collection, [person.id]]]);
  let total = 0;
  for (let step = 0; step < MOST_STEPS && newest.size > 0; step += 1) {
    const next = new Map<string, readonly string[]>();
    for (const collection of catalog.list()) {
      const known = found.get(collection) ?? new Set();
      const ids = (await listAbout(db, scope, collection, newest)).filter(
        (id) => !known.has(id) && !(collection.name === person.collection && id === person.id),
      );
      if (ids.length === 0) continue;
      found.set(collection, new Set([...known, ...ids]));
      next.set(collection.name, ids);
      total += ids.length;
      if (total > MOST_RECORDS) {
        throw new ServiceError('LIMIT_EXCEEDED', `more than ${MOST_RECORDS} records belong to the person`);
      }
    }
    newest = next;
  }
  return [...found].map(([collection, ids]) => ({ collection, ids: [...ids].sort() }));
}

/** The records of a collection that its declaration says are about one of these. */
async function listAbout(
  db: Queryable,
  scope: Scope,
  collection: Collection,
  targets: ReadonlyMap<string, readonly string[]>,
): Promise<readonly string[]> {
  const conditions = (collection.personal?.about ?? []).flatMap((name) => {
    const ids = (collection.fieldsByName.get(name)?.targets ?? []).flatMap(
      (target) => targets.get(target) ?? [],
    );
    const values = ids.map((id) => JSON.stringify(id));
    return ids.length === 0 ? [] : [sql`r.data->${name}::text->'value' = any(${values}::text[]::jsonb[])`];
  });
  if (conditions.length === 0) return [];
  const rows = await db.query<{ id: string }>(sql`
    select r.id
    from records r
    where ${recordsOf(scope, collection)} and (${sql.join(conditions, ' or ')})
    order by r.id`);
  return rows.map(({ id }) => id);
}
