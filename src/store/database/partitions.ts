/** Creates the partition of a collection and its indexes, when the collection is declared or altered. */

import { createHash } from 'node:crypto';
import pg from 'pg';
import { invariant } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import { sql } from '../sql.js';
import { lockUntilDisconnected } from './advisory-lock.js';
import { cancelOnAbort } from './cancellation.js';
import type { Database } from './database.js';
import { sqlStateOf, translateDatabaseError } from './database-errors.js';
import {
  ensureStatistics,
  type IndexDescription,
  isDeclaredIndexName,
  listDeclaredIndexes,
  listDeclaredStatistics,
} from './declared-indexes.js';
import { inTransaction } from './lone-client.js';
import type { RecordsPlace } from './shards/shard-statements.js';
import { distributedStatement, IN_TURN, isSharded } from './shards/table-places.js';

/** Held while partitions and indexes are created: gateways that start together do it one by one. */
const PARTITION_LOCK = 0x70617274;
/** How long a table change may block readers and writers before it gives way and retries. */
const LOCK_TIMEOUT_MS = 2_000;
const MAX_ATTEMPTS = 10;

export interface PartitionReport {
  readonly isCreated: boolean;
  readonly builtIndexes: readonly string[];
  /** Built for an earlier declaration. They slow down writes; the operator decides whether to drop them. */
  readonly undeclaredIndexes: readonly string[];
}

/** The part of a declaration that determines its partition. */
type Declaration = Pick<Collection, 'name' | 'fields' | 'indexes' | 'uniqueTogether'>;

/**
 * Creates what is missing of a collection's partition, indexes and statistics; drops nothing. Uses a
 * connection of its own without a time limit: an index on existing records is built concurrently, without
 * blocking readers and writers.
 *
 * @throws CONFLICT, with the index's name in its cause, if existing records violate a unique rule
 */
export async function ensurePartition(
  database: Pick<Database, 'openPool'>,
  collection: Declaration,
): Promise<PartitionReport> {
  const [report] = await ensurePartitions(database, [collection]);
  invariant(report, 'a collection has a report');
  return report;
}

export interface PartitionOptions {
  /** Receives a line for each collection with records whose indexes are built. */
  readonly onProgress?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The same for several collections, in order and on one connection. @throws the signal's reason, too */
export async function ensurePartitions(
  database: Pick<Database, 'openPool'>,
  collections: readonly Declaration[],
  options: PartitionOptions = {},
): Promise<readonly PartitionReport[]> {
  const pool = database.openPool({ size: 1, applicationName: 'campus indexes', statementTimeoutMs: 0 });
  try {
    const client = await pool.connect();
    return await cancelOnAbort(client, options.signal, () => ensureOn(client, collections, options));
  } catch (error) {
    options.signal?.throwIfAborted();
    throw translateDatabaseError(error);
  } finally {
    await pool.end();
  }
}

/** The connection ends with the work, and its lock with it. */
async function ensureOn(
  client: pg.PoolClient,
  collections: readonly Declaration[],
  { onProgress }: PartitionOptions,
): Promise<readonly PartitionReport[]> {
  try {
    await lockUntilDisconnected(client, PARTITION_LOCK);
    const reports: PartitionReport[] = [];
    for (const [index, collection] of collections.entries()) {
      const place = `${collection.name} (${index + 1} of ${collections.length})`;
      const onBuild = (count: number) => onProgress?.(`building ${count} indexes of ${place}`);
      reports.push(await ensureOne(client, collection, onBuild));
    }
    return reports;
  } finally {
    client.release(true);
  }
}

async function ensureOne(
  client: pg.PoolClient,
  collection: Declaration,
  onBuild: (count: number) => void,
): Promise<PartitionReport> {
  const table = pg.escapeIdentifier(partitionName(collection.name));
  const indexes = listDeclaredIndexes(collection);
  const ensureRest = async () => {
    const report = await ensureIndexes(client, table, { indexes, onBuild });
    await ensureStatistics(client, table, listDeclaredStatistics(collection));
    return report;
  };
  const created = await createPartition(client, collection.name, ensureRest);
  return { isCreated: created !== undefined, ...(created ?? (await ensureRest())) };
}

/** The name of the partition's table. That of the collection can be too long or taken, e.g. `default`. */
export function partitionName(collection: string): string {
  const name = `records_${collection}`;
  if (name.length <= 63 && collection !== 'default') return name;
  return `records_${createHash('sha256').update(collection).digest('hex').slice(0, 32)}`;
}

/** Creates the partition directly, while nobody reads the table and there are no such records. */
export function newPartitionStatement(collection: string): string {
  const table = pg.escapeIdentifier(partitionName(collection));
  return `create table ${table} partition of records for values in (${pg.escapeLiteral(collection)})`;
}

/**
 * Creates the partition if it is missing, and moves its records there from the default one. `undefined` if it
 * was there, otherwise the result of `ensureRest`, which makes everything else that the table needs.
 */
async function createPartition<Rest>(
  client: pg.Client,
  collection: string,
  ensureRest: () => Promise<Rest>,
): Promise<Rest | undefined> {
  const name = partitionName(collection);
  const found = await client.query('select 1 from pg_inherits where inhrelid = to_regclass($1)', [
    pg.escapeIdentifier(name),
  ]);
  if (found.rowCount !== 0) return undefined;
  const table = pg.escapeIdentifier(name);
  const value = pg.escapeLiteral(collection);
  const { rowCount: recordCount } = await client.query(
    `select 1 from records_default where collection = ${value} limit 1`,
  );
  // The partition is created separately and attached: CREATE TABLE … PARTITION OF would block every reader of
  // every collection, after waiting for the longest stream. The check constraint saves ATTACH from scanning
  // the table.
  // Records are moved, not deleted: rows that triggers derive from them must stay as they are. A distributed
  // table has no triggers, and its partition must be on the same servers as the records of each domain.
  const [before, after] = (await isSharded(client))
    ? [[IN_TURN, distributedStatement(name, { column: 'domain' })], []]
    : [
        ['alter table records_default disable trigger user'],
        ['alter table records_default enable trigger user'],
      ];
  const rest = await retryOnLockTimeout(client, async () => {
    await client.query(`create table ${table} (like records including all)`);
    const check = `check (collection = ${value})`;
    await client.query(`alter table ${table} add constraint partition_value ${check}`);
    // Citus commits each change of a distributed table in two phases on all servers, so an empty table gets
    // everything before it is distributed. Many records get their indexes after the move, while nobody waits.
    const early = recordCount === 0 ? await ensureRest() : undefined;
    const statements = [
      ...before,
      `with moved as (delete from records_default where collection = ${value} returning *)
        insert into ${table} select * from moved`,
      ...after,
      `alter table records attach partition ${table} for values in (${value})`,
      `alter table ${table} drop constraint partition_value`,
    ];
    for (const statement of statements) await client.query(statement);
    return early;
  });
  return rest ?? (await ensureRest());
}

async function retryOnLockTimeout<Result>(client: pg.Client, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(client, LOCK_TIMEOUT_MS, work);
    } catch (error) {
      if (sqlStateOf(error) !== '55P03' || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

interface ExistingIndex {
  readonly name: string;
  readonly isValid: boolean;
}

async function ensureIndexes(
  client: pg.Client,
  table: string,
  {
    indexes: wanted,
    onBuild,
  }: { readonly indexes: readonly IndexDescription[]; readonly onBuild: (count: number) => void },
): Promise<Omit<PartitionReport, 'isCreated'>> {
  const existing = await listIndexes(client, table);
  const valid = new Set(existing.filter((index) => index.isValid).map((index) => index.name));
  const missing = wanted.filter((index) => !valid.has(index.name));
  if (missing.length > 0) {
    const { rowCount } = await client.query(`select 1 from ${table} limit 1`);
    const how = rowCount === 0 ? 'at once' : 'concurrently';
    if (rowCount !== 0) onBuild(missing.length);
    for (const index of missing) {
      // An interrupted build leaves an index that is maintained but never used.
      if (existing.some(({ name }) => name === index.name)) await dropIndex(client, index.name);
      await buildIndex(client, table, index, how);
    }
  }
  const names = new Set(wanted.map((index) => index.name));
  return {
    builtIndexes: missing.map((index) => index.name),
    undeclaredIndexes: existing
      .map((index) => index.name)
      .filter((name) => isDeclaredIndexName(name) && !names.has(name)),
  };
}

async function listIndexes(client: pg.Client, table: string): Promise<ExistingIndex[]> {
  const { rows } = await client.query<ExistingIndex>(
    `select c.relname as name, i.indisvalid as "isValid"
       from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = to_regclass($1)
      order by c.relname`,
    [table],
  );
  return rows;
}

async function buildIndex(
  client: pg.Client,
  table: string,
  index: IndexDescription,
  how: 'at once' | 'concurrently',
): Promise<void> {
  const create = index.isUnique ? 'create unique index' : 'create index';
  const concurrently = how === 'concurrently' ? ' concurrently' : '';
  const name = pg.escapeIdentifier(index.name);
  try {
    await client.query(`${create}${concurrently} ${name} on ${table} ${index.definition}`);
  } catch (error) {
    await dropIndex(client, index.name).catch(() => {});
    throw error;
  }
}

async function dropIndex(client: pg.Client, name: string): Promise<void> {
  await client.query(`drop index if exists ${pg.escapeIdentifier(name)}`);
}

/** Statistics contain proportions, so they remain valid while a collection grows. */
const MOST_GROWTH = 10;
/** A quarter of PostgreSQL's default: the writer waits. Autovacuum analyzes more thoroughly later. */
const STATISTICS_TARGET = 25;

/**
 * Analyzes the records if that was never done, or if their number has grown many times. Within a transaction
 * it counts the records written by it. It does not wait for a concurrent analyze or vacuum.
 */
export async function renewStatistics(place: RecordsPlace, collection: string): Promise<void> {
  const name = await place.tableName(pg.escapeIdentifier(partitionName(collection)));
  const [partition] = await place.query<{ isStale: boolean }>(sql`
    select size > 0 and (not is_known or size > ${MOST_GROWTH}::int * known_size) as "isStale"
    from pg_class c
    cross join lateral (
      select pg_relation_size(c.oid) as size,
        c.relpages * current_setting('block_size')::bigint as known_size,
        exists (
          select from pg_stats s
          where s.schemaname = c.relnamespace::regnamespace::text and s.tablename = c.relname
        ) as is_known
    ) as sizes
    where c.oid = to_regclass(${name})`);
  if (partition?.isStale === true) {
    await setStatisticsTarget(place, String(STATISTICS_TARGET));
    await place.run(sql`analyze (skip_locked) ${sql.raw(name)}`);
    await setStatisticsTarget(place, null);
  }
}

/** Within the transaction; `null`: what it is otherwise. */
async function setStatisticsTarget(place: RecordsPlace, target: string | null): Promise<void> {
  await place.run(sql`select set_config('default_statistics_target', ${target}::text, true)`);
}
