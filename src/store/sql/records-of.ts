/** Selects the records of a collection in a domain: the condition of every statement over the alias `r`. */

import type { Collection } from '../../base/model/collection.js';
import { foldedKey } from '../../base/model/keys-of.js';
import type { Scope } from '../../base/model/scope.js';
import { nameLiteral, type Sql, sql } from '../sql.js';

/** The alias of the table in the statement that includes the condition. */
type RecordAlias = 'r' | 's' | 'u' | 'd' | 'n' | 'o';

/**
 * The records of a collection in a domain, tombstones included. The name is a literal, so that Postgres
 * selects the partition while it plans. Declarations allow only letters, digits and `_` in it. The domain is
 * an id, or a column of the statement that holds one.
 */
export function recordsIn(domain: string | Sql, collection: string, alias: RecordAlias = 'r'): Sql {
  const table = sql.raw(alias);
  return sql`${table}.domain = ${domain} and ${table}.collection = ${nameLiteral(collection)}`;
}

/** The live records, without the tombstones of removed ones. */
export function liveRecordsIn(domain: string | Sql, collection: string, alias: RecordAlias = 'r'): Sql {
  return sql`${recordsIn(domain, collection, alias)} and ${sql.raw(alias)}.deleted_at is null`;
}

/** The records of a collection in the domain of the caller, over the alias `r`, tombstones included. */
export function recordsOf(scope: Scope, collection: Collection): Sql {
  return recordsIn(scope.domain.id, collection.name);
}

/** The live records. */
export function liveRecordsOf(scope: Scope, collection: Collection): Sql {
  return liveRecordsIn(scope.domain.id, collection.name);
}

/**
 * The live records with an id; `id` continues `r.id`, as in `= any(…)`. Only the primary key can serve this
 * way to write "not removed". The other indexes are partial, and begin with the domain: when the statistics
 * of PostgreSQL do not contain the domain, for example because the school is new, it expects one record in
 * each of them, and would read all records of the domain through any of them to find one by its id.
 */
export function liveRecordsById(
  domain: string | Sql,
  collection: string,
  id: Sql,
  alias: RecordAlias = 'r',
): Sql {
  const table = sql.raw(alias);
  return sql`${recordsIn(domain, collection, alias)} and (${table}.deleted_at is null) is true
    and ${table}.id ${id}`;
}

/**
 * The live records with a value of a unique index; `key` is the rest of its condition. The domain is hidden
 * from the planner, which otherwise, when the statistics do not contain it, expects one record in each index
 * of the collection, and may read all records of the domain through another one. Where Citus plans the
 * statement it needs the domain: `isRouted`.
 */
export function liveRecordsByKey(
  { domain, isRouted = false }: { readonly domain: string; readonly isRouted?: boolean | undefined },
  collection: string,
  key: Sql,
): Sql {
  const isOfDomain = isRouted ? sql`= ${domain}` : sql`= any(array(select ${domain}::text))`;
  return sql`r.domain ${isOfDomain} and r.collection = ${nameLiteral(collection)}
    and r.deleted_at is null and ${key}`;
}

/**
 * The live records whose unique field that ignores case has this text, in any spelling. A record without
 * keys, because another record has the same key or because it was written past the gateway, is found by its
 * text. One query for each index: of an `or` PostgreSQL may read all records. Either index then serves the
 * second, as few records have no keys.
 */
export function liveRecordsNamed(
  place: { readonly domain: string; readonly isRouted?: boolean | undefined },
  collection: string,
  { field, text }: { readonly field: string; readonly text: string },
): Sql {
  const name = nameLiteral(field);
  const idsBy = (key: Sql) =>
    sql`select r.id from records r where ${liveRecordsByKey(place, collection, key)}`;
  const byKey = idsBy(sql`r.keys->>${name} = ${foldedKey(text)}`);
  const byText = idsBy(sql`r.keys->>${name} is null and r.data->${name} = ${JSON.stringify(text)}::jsonb`);
  const ids = sql`= any(array(${byKey} union all ${byText}))`;
  return liveRecordsById(place.domain, collection, ids);
}
