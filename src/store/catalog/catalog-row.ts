/** The rows of the catalog in the database. */

import type { Collection } from '../../base/model/collection.js';
import { type Scope, topDomainIdOf } from '../../base/model/scope.js';
import type { Queryable } from '../database/queryable.js';
import { type Sql, sql } from '../sql.js';
import type { CollectionDefinition } from './collection-definition.js';
import { parseCollection } from './parse-collection.js';

/** Notified with the name of each collection that changed. */
export const CATALOG_CHANNEL = 'campus_catalog';

/** A collection as the table `collections` holds it. */
export interface CatalogRow {
  readonly name: string;
  /** JSON text. */
  readonly definition: string;
  readonly is_declared: boolean;
  /** The top domain that registered it; `null`: it belongs to all domains. */
  readonly domain_id: string | null;
  readonly version: number;
  readonly dropped: boolean;
}

const LIST_ROWS = sql`
  select name, definition::text as definition, is_declared, domain_id, version,
    dropped_at is not null as dropped
  from collections
  order by name`;

export async function listCatalogRows(database: Queryable): Promise<readonly CatalogRow[]> {
  return await database.query<CatalogRow>(LIST_ROWS);
}

/** @throws INVALID_VALUE for a definition that is no longer valid */
export function toCollection(row: CatalogRow): Collection {
  return parseCollection(JSON.parse(row.definition), {
    source: `the stored definition of ${row.name}`,
    isDeclared: row.is_declared,
    version: row.version,
    domainId: row.domain_id ?? undefined,
  });
}

/** The definition of the name, unless it is that of another school, or was dropped. */
export function findOwnRow(
  { domain }: Scope,
  rows: readonly CatalogRow[],
  sought: string,
): CatalogRow | undefined {
  const owners = [null, topDomainIdOf(domain)];
  return rows.find(
    ({ name, dropped, domain_id: owner }) => name === sought && !dropped && owners.includes(owner),
  );
}

/** The definitions of collections that are not dropped, whose names are taken. */
export function definitionsIn(rows: readonly CatalogRow[]): readonly CollectionDefinition[] {
  return rows.filter(({ dropped }) => !dropped).map((row) => JSON.parse(row.definition));
}

/**
 * Stores a definition; an existing identical one that is not dropped is left unchanged, and nobody is
 * notified.
 */
export function upsertDefinition(
  definition: CollectionDefinition,
  origin: 'declared' | { readonly domainId: string; readonly note: Sql },
): Sql {
  const { $schema: _where, ...stored } = definition;
  const domainId = origin === 'declared' ? null : origin.domainId;
  return sql`
    with changed as (
      insert into collections (name, definition, is_declared, domain_id, version, updated_at)
      values (${definition.name}, ${JSON.stringify(stored)}::jsonb, ${origin === 'declared'}, ${domainId}, 1,
        now())
      on conflict (name) do update
        set definition = excluded.definition,
          is_declared = excluded.is_declared,
          domain_id = excluded.domain_id,
          version = collections.version + 1,
          updated_at = excluded.updated_at,
          dropped_at = null
        where collections.definition is distinct from excluded.definition
          or collections.is_declared is distinct from excluded.is_declared
          or collections.dropped_at is not null
      returning name
    )${origin === 'declared' ? sql.empty : sql`, noted as (${origin.note})`}
    select pg_notify(campus_channel(${CATALOG_CHANNEL}), name) from changed`;
}
