/** Selects the records of a collection in a domain: the condition of every statement over the alias `r`. */
import { Prisma } from '../../generated/prisma/client.js';
import type { Collection } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';

type Sql = Prisma.Sql;

/** The alias of the table in the statement that includes the condition. */
type RecordAlias = 'r' | 's' | 'u' | 'd' | 'n' | 'o';

/**
 * The records of a collection in a domain, tombstones included. The name is a literal, so that Postgres
 * selects the partition while it plans. Declarations allow only letters, digits and `_` in it. The domain is
 * an id, or a column of the statement that holds one.
 */
export function recordsIn(domain: string | Sql, collection: string, alias: RecordAlias = 'r'): Sql {
  const table = Prisma.raw(alias);
  return Prisma.sql`${table}.domain = ${domain} and ${table}.collection = ${nameLiteral(collection)}`;
}

/** The live records, without the tombstones of removed ones. */
export function liveRecordsIn(domain: string | Sql, collection: string, alias: RecordAlias = 'r'): Sql {
  return Prisma.sql`${recordsIn(domain, collection, alias)} and ${Prisma.raw(alias)}.deleted_at is null`;
}

/** The records of a collection in the domain of the caller, over the alias `r`, tombstones included. */
export function recordsOf(scope: Scope, collection: Collection): Sql {
  return recordsIn(scope.domain.id, collection.name);
}

/** The live records. */
export function liveRecordsOf(scope: Scope, collection: Collection): Sql {
  return liveRecordsIn(scope.domain.id, collection.name);
}

/** A declared name (of a collection, field or rule) as an SQL literal. */
export function nameLiteral(name: string): Sql {
  return Prisma.raw(`'${name.replaceAll("'", "''")}'`);
}
