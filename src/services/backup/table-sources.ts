/** The sources of a backup: one COPY statement for each table and for each partition of the records. */
import pg from 'pg';
import { ServiceError } from '../../base/errors.js';
import { partitionName } from '../../store/database/partitions.js';
import { conditionOf, KEPT_TABLES, type KeptTable } from './kept-tables.js';

export interface TableSource {
  readonly name: string;
  /** For `records`: the collection of the partition; absent for the partition of all other collections. */
  readonly collection?: string;
  /** The folder of its parts in the archive. */
  readonly path: string;
  readonly columns: readonly string[];
  readonly statement: string;
  readonly estimatedRows: number;
}

export interface BackedUpDomain {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
}

/** The domain and its branches, or all domains; top domains first. @throws NOT_FOUND */
export async function listDomains(
  client: pg.Client,
  domain: string | undefined,
): Promise<readonly BackedUpDomain[]> {
  const { rows } = await client.query<BackedUpDomain>(
    `with recursive branches as (
       select id, name, parent_id, 0 as depth
       from domains
       where case when $1::text is null then parent_id is null else id = $1 end
       union all
       select d.id, d.name, d.parent_id, depth + 1
       from domains d
       join branches on branches.id = d.parent_id
     )
     select id, name, parent_id as "parentId" from branches order by depth, id`,
    [domain ?? null],
  );
  if (rows.length > 0 || domain === undefined) return rows;
  throw new ServiceError('NOT_FOUND', `There is no domain "${domain}".`);
}

/** The applied migrations, in order. */
export async function listAppliedMigrations(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct migration_name as name
     from _prisma_migrations
     where rolled_back_at is null and finished_at is not null
     order by name`,
  );
  return rows.map(({ name }) => name);
}

/** `domains` limits the rows to those of some domains; `undefined` means all rows. */
export async function listSources(
  client: pg.Client,
  domains: readonly BackedUpDomain[] | undefined,
): Promise<readonly TableSource[]> {
  const literals = domains?.map(({ id }) => pg.escapeLiteral(id)).join(', ');
  const { rows: collections } = await client.query<{ name: string }>(
    'select name from collections order by name',
  );
  const sources: TableSource[] = [];
  for (const table of KEPT_TABLES) {
    if (table.name !== 'records') {
      const place = { relation: table.name, path: table.name, literals };
      const found = await sourceOf(client, table, place);
      sources.push(
        ...(table.name === 'properties' ? found.map((one) => withInherited(one, domains)) : found),
      );
      continue;
    }
    for (const collection of [undefined, ...collections.map(({ name }) => name)]) {
      const relation = collection === undefined ? 'records_default' : partitionName(collection);
      const place = { relation, path: `records/${relation}`, literals };
      const [source] = await sourceOf(client, table, place);
      if (source) sources.push(collection === undefined ? source : { ...source, collection });
    }
  }
  return sources;
}

/** A branch that is backed up alone includes what it inherits from its parent, e.g. the time zone. */
function withInherited(source: TableSource, domains: readonly BackedUpDomain[] | undefined): TableSource {
  const [branch] = domains ?? [];
  if (branch === undefined || branch.parentId === null) return source;
  const [id, parentId] = [pg.escapeLiteral(branch.id), pg.escapeLiteral(branch.parentId)];
  const inherited = source.columns.map((column) =>
    column === 'domain_id' ? id : pg.escapeIdentifier(column),
  );
  const own = `select from properties own where own.domain_id = ${id} and own.name = inherited.name`;
  return {
    ...source,
    statement: source.statement.replace(
      ') to stdout',
      () =>
        ` union all select ${inherited.join(', ')} from properties inherited` +
        ` where domain_id = ${parentId} and not exists (${own})) to stdout`,
    ),
  };
}

interface Place {
  readonly relation: string;
  readonly path: string;
  readonly literals: string | undefined;
}

/** Empty if the database is of a version without such a table. */
async function sourceOf(client: pg.Client, table: KeptTable, place: Place): Promise<TableSource[]> {
  const relation = pg.escapeIdentifier(place.relation);
  const { rows: columns } = await client.query<{ name: string; type: string; rows: number }>(
    `select a.attname as name, format_type(a.atttypid, null) as type, greatest(c.reltuples, 0) as rows
     from pg_attribute a
     join pg_class c on c.oid = a.attrelid
     where c.oid = to_regclass($1) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     order by a.attnum`,
    [relation],
  );
  if (columns.length === 0) return [];
  // Transaction ids belong to the old server: on another one they would lie in the future.
  const selected = columns.map(({ name, type }) => (type === 'xid8' ? 'null' : pg.escapeIdentifier(name)));
  const condition = conditionOf(table, place.literals);
  return [
    {
      name: table.name,
      path: place.path,
      columns: columns.map(({ name }) => name),
      statement: `copy (select ${selected.join(', ')} from only ${relation} where ${condition}) to stdout`,
      estimatedRows: columns[0]?.rows ?? 0,
    },
  ];
}
