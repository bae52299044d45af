/**
 * Which rows are the records of a collection in a domain: the condition of every statement over the alias
 * `r`.
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Collection } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';

type Sql = Prisma.Sql;

/**
 * The records of a collection in the caller's domain, over the alias `r`, tombstones included. The name is a
 * literal, so that Postgres finds the partition while it plans; declarations allow letters, digits and `_`
 * alone.
 */
export function recordsOf(scope: Scope, collection: Collection): Sql {
  return Prisma.sql`r.domain = ${scope.domain.id} and r.collection = ${nameLiteral(collection.name)}`;
}

/** Those that are there: without the tombstones of removed ones. */
export function liveRecordsOf(scope: Scope, collection: Collection): Sql {
  return Prisma.sql`${recordsOf(scope, collection)} and r.deleted_at is null`;
}

/** A declared name (of a collection, field or rule) as an SQL literal. */
export function nameLiteral(name: string): Sql {
  return Prisma.raw(`'${name.replaceAll("'", "''")}'`);
}
