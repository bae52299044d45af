/**
 * Restores a backup into an empty database in one transaction: tables, rows and files appear together or not
 * at all, whatever interrupts it. With them it writes a note of what is left to do.
 */

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { z } from 'zod';
import { invariant, ServiceError } from '../../base/errors.js';
import { assertDomainId } from '../../store/catalog/new-domain.js';
import { translateDatabaseError } from '../../store/database/database-errors.js';
import {
  applyNamedMigrations,
  assertNobodyElses,
  listKnownMigrations,
  lockMigrations,
} from '../../store/database/migrations.js';
import { newPartitionStatement, partitionName } from '../../store/database/partitions.js';
import { IN_TURN, isSharded } from '../../store/database/shards/table-places.js';
import type { Bucket } from '../files/blob-store.js';
import { DatabaseBlobs } from '../files/database-blobs.js';
import { countLines, type Manifest, type TableContent, type TransferStep } from './archive-writer.js';
import { domainNames, KEPT_TABLES, renameDomains } from './kept-tables.js';
import type { Archive } from './open-archive.js';
import { endConnection, newConnection, prepareForCopy } from './snapshot.js';

export interface RestoreOptions {
  readonly url: string;
  readonly archive: Archive;
  /** The new name of the top domain of the backup; default: its old name. */
  readonly into?: string | undefined;
  /** The store for files that were in a bucket; default: the database. */
  readonly bucket?: Bucket | undefined;
  /** Erasures to repeat before anything is served: lines of `campus person erasures`. */
  readonly erasures?: readonly Readonly<Record<string, string>>[] | undefined;
  /** `try` checks whether the restore is possible and changes nothing. */
  readonly mode: 'restore' | 'try';
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TransferStep) => void) | undefined;
}

/**
 * Restores an archive. Afterwards the database has the version of the archive: whoever opens it next
 * applies later migrations, builds the indexes of the collections and repeats the erasures. If an earlier
 * run of the same restore was committed, nothing is copied, and `continued` is returned. On Citus
 * everything stays on the coordinator until those migrations distribute it, because an older version may
 * have tables that cannot be distributed.
 *
 * @throws CONFLICT if the database is not empty or is in use, and for a backup of a newer version;
 *   UNAVAILABLE when the database is lost or full; the signal's reason
 */
export async function restoreArchive(options: RestoreOptions): Promise<'restored' | 'continued'> {
  await assertKnownVersion(options.archive.manifest);
  assertFreeName(options.archive.manifest, options.into);
  const client = newConnection(options.url, 'campus restore');
  const stop = () => endConnection(client);
  options.signal?.addEventListener('abort', stop, { once: true });
  try {
    options.signal?.throwIfAborted();
    await client.connect();
    await prepareForCopy(client);
    await client.query('begin');
    if (await isSharded(client)) await client.query(IN_TURN);
    await lockMigrations(client, options.signal);
    await assertUnused(client);
    const outcome = (await isCommitted(client, options)) ? 'continued' : 'restored';
    if (outcome === 'restored') await assertEmpty(client);
    if (options.mode === 'try') return outcome;
    if (outcome === 'restored') await writeAll(client, options);
    await noteUnfinishedRestore(client, noteOf(options));
    options.signal?.throwIfAborted();
    await client.query('commit');
    return outcome;
  } catch (error) {
    options.signal?.throwIfAborted();
    throw translateDatabaseError(error);
  } finally {
    options.signal?.removeEventListener('abort', stop);
    // The server rolls back uncommitted work when the connection ends.
    endConnection(client);
  }
}

function noteOf({ archive: { manifest }, into, erasures = [] }: RestoreOptions): UnfinishedRestore {
  const { createdAt } = manifest;
  return { restore: identifyRestore(manifest, into), createdAt, erasures: [...erasures] };
}

/**
 * Whether an earlier run of this restore was committed and not finished.
 *
 * @throws CONFLICT if that was the restore of another backup
 */
async function isCommitted(client: pg.Client, options: RestoreOptions): Promise<boolean> {
  const unfinished = await findUnfinishedRestore(client);
  if (unfinished === undefined) return false;
  if (unfinished.restore === noteOf(options).restore) return true;
  throw new ServiceError(
    'CONFLICT',
    `The database "${client.database}" holds an unfinished restore of another backup ` +
      `(of ${unfinished.createdAt}). Run that restore again or start the gateway to finish it, or name an ` +
      'empty database.',
  );
}

async function assertKnownVersion(manifest: Manifest): Promise<void> {
  const known = await listKnownMigrations();
  const unknown = manifest.migrations.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new ServiceError(
    'CONFLICT',
    `The backup was made by a newer gateway (${manifest.gatewayVersion}, migration ${unknown.at(-1)}); ` +
      'restore it with that version or a later one.',
  );
}

function assertFreeName({ domains }: Manifest, into: string | undefined): void {
  if (into === undefined) return;
  assertDomainId(into);
  const [head, ...branches] = domains;
  if (head === undefined)
    throw new ServiceError('INVALID_VALUE', 'The backup holds no domain to be renamed.');
  if (!branches.some(({ id }) => id === into)) return;
  throw new ServiceError('CONFLICT', `The backup has a branch "${into}"; the domain needs another name.`);
}

/** A running gateway caches much of the database, and would go on with what it has cached. */
async function assertUnused(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select 1
     from pg_stat_activity
     where datname = current_database() and application_name like 'campus-gateway%'
     limit 1`,
  );
  if (rows.length === 0) return;
  throw new ServiceError('CONFLICT', 'A gateway works on this database; stop it before restoring into it.');
}

/**
 * A database still counts as empty when a gateway has been started on it, which creates tables, declared
 * collections and perhaps a secret.
 */
async function assertEmpty(client: pg.Client): Promise<void> {
  const { rows: notes } = await client.query(`select 1 where to_regclass('_prisma_migrations') is not null`);
  if (notes.length === 0) return await assertNobodyElses(client);
  for (const { name } of KEPT_TABLES) {
    if (name === 'settings') continue;
    const { rows: tables } = await client.query('select 1 where to_regclass($1) is not null', [name]);
    if (tables.length === 0) continue;
    const own = name === 'collections' ? 'where not is_declared' : '';
    const { rows } = await client.query(`select 1 from ${pg.escapeIdentifier(name)} ${own} limit 1`);
    if (rows.length === 0) continue;
    throw new ServiceError(
      'CONFLICT',
      `The database "${client.database}" is not empty (it has ${name}); a backup is restored into an ` +
        'empty one.',
    );
  }
}

async function writeAll(client: pg.Client, options: RestoreOptions): Promise<void> {
  const { manifest } = options.archive;
  await dropTables(client);
  await applyNamedMigrations(client, manifest.migrations);
  for (const { collection } of manifest.tables) {
    if (collection !== undefined) await client.query(newPartitionStatement(collection));
  }
  const triggered = await listTriggeredTables(client);
  for (const table of triggered) await client.query(`alter table ${table} disable trigger user`);
  const total = manifest.tables.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  for (const table of await inOrderOfReferences(client, manifest.tables)) {
    const onRows = (rows: number) =>
      options.onProgress?.({ stage: table.collection ?? table.name, done: done + rows, total });
    await copyTable(client, table, { ...options, onRows });
    done += table.rows;
  }
  options.onProgress?.({ stage: 'files', done, total });
  await writeFiles(client, options);
  options.onProgress?.({ stage: 'checking references', done, total });
  await setSequences(client);
  await giveCollections(client, manifest);
  // Check deferred foreign keys now: a table with pending checks cannot be altered.
  await client.query('set constraints all immediate');
  for (const table of triggered) await client.query(`alter table ${table} enable trigger user`);
}

/** Declarations of domains that are not in the backup, or were renamed, go to its top domain. */
async function giveCollections(client: pg.Client, { migrations }: Manifest): Promise<void> {
  if (!migrations.includes('0030_collection_domains')) return;
  await client.query(
    `update collections
     set domain_id = (select id from domains where parent_id is null order by created_at, id limit 1)
     where domain_id not in (select id from domains where parent_id is null)`,
  );
}

/** Drops the tables of an empty database of the gateway, whose version may differ from that of the backup. */
async function dropTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('drop table %s cascade', c.oid::regclass) as statement
     from pg_class c
     where c.relnamespace = current_schema()::regnamespace
       and c.relkind in ('r', 'p')
       and not c.relispartition
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
     union all
     select format('drop routine %s cascade', p.oid::regprocedure)
     from pg_proc p
     where p.pronamespace = current_schema()::regnamespace
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
       -- The functions of an aggregate go with it.
       and p.prokind in ('f', 'a', 'p')
     order by 1 desc`,
  );
  for (const { statement } of rows)
    await client.query(statement.replace('drop routine', 'drop routine if exists'));
}

async function listTriggeredTables(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct t.tgrelid::regclass::text as name
     from pg_trigger t
     join pg_class c on c.oid = t.tgrelid
     where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace
     order by name`,
  );
  return rows.map(({ name }) => name);
}

/** Sorts the tables so that those that others reference come first. */
async function inOrderOfReferences(
  client: pg.Client,
  tables: readonly TableContent[],
): Promise<readonly TableContent[]> {
  const { rows } = await client.query<{ child: string; parent: string }>(
    `select conrelid::regclass::text as child, confrelid::regclass::text as parent
     from pg_constraint
     where contype = 'f' and conrelid <> confrelid and connamespace = current_schema()::regnamespace`,
  );
  const ordered: TableContent[] = [];
  let waiting = [...tables];
  while (waiting.length > 0) {
    const names = new Set(waiting.map(({ name }) => name));
    const isFree = ({ name }: TableContent) =>
      !rows.some(({ child, parent }) => child === name && names.has(parent));
    const free = waiting.filter(isFree);
    invariant(free.length > 0, 'tables that point to each other cannot be restored');
    ordered.push(...free);
    waiting = waiting.filter((table) => !isFree(table));
  }
  return ordered;
}

async function copyTable(
  client: pg.Client,
  table: TableContent,
  options: RestoreOptions & { readonly onRows: (rows: number) => void },
): Promise<void> {
  invariant(
    KEPT_TABLES.some(({ name }) => name === table.name),
    `a backup holds no table ${table.name}`,
  );
  const relation = table.collection === undefined ? table.name : partitionName(table.collection);
  const columns = table.columns.map((column) => pg.escapeIdentifier(column)).join(', ');
  const sink = client.query(copyFrom(`copy ${pg.escapeIdentifier(relation)} (${columns}) from stdin`));
  const names = domainNames(options.archive.manifest, options.into);
  const rows = renameDomains(table, names, options.archive.content(table.parts));
  const source = Readable.from(countRows(rows, options.onRows), { objectMode: false });
  await pipeline(source, sink, options.signal ? { signal: options.signal } : {});
  if (sink.rowCount === table.rows) return;
  throw new Error(`${relation}: ${sink.rowCount} rows were taken of ${table.rows}`);
}

async function* countRows(
  chunks: AsyncIterable<Buffer>,
  onRows: (rows: number) => void,
): AsyncGenerator<Buffer, void> {
  let rows = 0;
  onRows(rows);
  for await (const chunk of chunks) {
    rows += countLines(chunk);
    yield chunk;
    onRows(rows);
  }
}

async function writeFiles(client: pg.Client, { archive, bucket, signal }: RestoreOptions): Promise<void> {
  const inDatabase = new DatabaseBlobs(
    {
      query: async <Row extends object>(sql: { text: string; values: unknown[] }) =>
        (await client.query(sql.text, sql.values)).rows as Row[],
    },
    { isDomainKept: archive.manifest.migrations.includes('0025_domains_of_parts') },
  );
  // Older versions had no table of files.
  if (!archive.manifest.tables.some(({ name }) => name === 'files')) return;
  // A file that was removed from the bucket during the backup has a row and no bytes.
  await client.query(`delete from files where storage = 's3' and id <> all($1::uuid[])`, [
    archive.manifest.files.map(({ id }) => id),
  ]);
  for (const { id, parts } of archive.manifest.files) {
    const bytes = archive.content(parts) as AsyncIterable<Buffer>;
    if (bucket !== undefined) {
      await bucket.write({ id }, bytes, signal);
      continue;
    }
    const { rows } = await client.query<{ domainId: string }>(
      `update files set storage = 'database' where id = $1 returning domain as "domainId"`,
      [id],
    );
    const [file] = rows;
    invariant(file !== undefined, `the backup has the bytes of the file ${id} and not its row`);
    await inDatabase.write({ id, ...file }, bytes, signal);
  }
}

/** Sets each sequence so that its next number follows the restored ones. */
async function setSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format(
       'select setval(%L, coalesce(max(%I), 0) + 1, false) from %s',
       pg_get_serial_sequence(c.oid::regclass::text, a.attname), a.attname, c.oid::regclass
     ) as statement
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace
       and c.relkind in ('r', 'p')
       and not c.relispartition
       and pg_get_serial_sequence(c.oid::regclass::text, a.attname) is not null`,
  );
  for (const { statement } of rows) await client.query(statement);
}

const SETTING = 'unfinishedRestore';

const UnfinishedRestore = z.object({
  /** The same for each run of the same restore. */
  restore: z.string(),
  /** When the backup was made. */
  createdAt: z.string(),
  /** Erasures to repeat: lines of `campus person erasures`. */
  erasures: z.array(z.record(z.string(), z.string())),
});
export type UnfinishedRestore = z.output<typeof UnfinishedRestore>;

type Connection = Pick<pg.ClientBase | pg.Pool, 'query'>;

/** Identifies a backup and the name under which it is restored. */
function identifyRestore(manifest: Manifest, into: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([manifest, into ?? null]))
    .digest('hex');
}

export async function findUnfinishedRestore(connection: Connection): Promise<UnfinishedRestore | undefined> {
  const { rows: tables } = await connection.query(`select 1 where to_regclass('settings') is not null`);
  if (tables.length === 0) return undefined;
  const { rows } = await connection.query<{ value: unknown }>('select value from settings where name = $1', [
    SETTING,
  ]);
  return rows[0] === undefined ? undefined : UnfinishedRestore.parse(rows[0].value);
}

/** Writes the note; the erasures of an earlier note stay in it. */
async function noteUnfinishedRestore(connection: Connection, note: UnfinishedRestore): Promise<void> {
  const earlier = await findUnfinishedRestore(connection);
  const lines = new Set([...(earlier?.erasures ?? []), ...note.erasures].map((one) => JSON.stringify(one)));
  const erasures = [...lines].map((line) => JSON.parse(line));
  await connection.query(
    `insert into settings (name, value, updated_at)
     values ($1, $2::jsonb, now())
     on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at`,
    [SETTING, JSON.stringify({ ...note, erasures })],
  );
}

export async function endUnfinishedRestore(connection: Connection): Promise<void> {
  await connection.query('delete from settings where name = $1', [SETTING]);
}
