/** Makes a backup: the rows of a snapshot by COPY on several connections, and the files of a bucket. */
import { Readable } from 'node:stream';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { invariant, ServiceError } from '../../base/errors.js';
import { VERSION } from '../../base/process/version.js';
import { translateDatabaseError } from '../../store/database/database-errors.js';
import { partitionName } from '../../store/database/partitions.js';
import type { Bucket } from '../files/blob-store.js';
import {
  ArchiveWriter,
  countLines,
  FORMAT_VERSION,
  type Manifest,
  type Part,
  type TableContent,
  type TransferStep,
} from './archive-writer.js';
import { conditionOf, KEPT_TABLES, type KeptTable } from './kept-tables.js';
import { newConnection, openSnapshot } from './snapshot.js';

export interface BackupOptions {
  readonly url: string;
  /** The store of the files whose bytes are not in the database. */
  readonly bucket?: Bucket | undefined;
  /** This domain and its branches; default: the whole instance. */
  readonly domain?: string | undefined;
  /** How many connections read at once. Default 3. */
  readonly readers?: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TransferStep) => void) | undefined;
}

interface Backup {
  /** The bytes of the file. A reader that stops early ends the backup. */
  readonly bytes: AsyncIterable<Buffer>;
  /** The contents of the backup; known once all bytes have been read. */
  manifest(): Manifest;
}

const DEFAULT_READERS = 3;

/**
 * The backup begins when its first byte is read. Others go on reading and writing the database; what they
 * change after that moment is not in the backup.
 *
 * @throws from its bytes: NOT_FOUND for an unknown domain, UNAVAILABLE when the database or the bucket
 * is lost, the signal's reason
 */
export function createBackup(options: BackupOptions): Backup {
  let manifest: Manifest | undefined;
  const onManifest = (finished: Manifest) => {
    manifest = finished;
  };
  return {
    bytes: readBackup(options, onManifest),
    manifest: () => {
      invariant(manifest !== undefined, 'the manifest of a backup was requested before its end');
      return manifest;
    },
  };
}

async function* readBackup(
  options: BackupOptions,
  onManifest: (manifest: Manifest) => void,
): AsyncGenerator<Buffer, void> {
  options.signal?.throwIfAborted();
  const snapshot = await openSnapshot(options.url, options.readers ?? DEFAULT_READERS);
  const writer = new ArchiveWriter();
  const stop = () => writer.fail(options.signal?.reason as Error);
  options.signal?.addEventListener('abort', stop, { once: true });
  const writing = writeParts(snapshot.clients, writer, options)
    .then(async (manifest) => {
      await writer.finish(manifest);
      onManifest(manifest);
    })
    .catch((error: unknown) => {
      writer.fail(error as Error);
      throw error;
    });
  // `bytes` reports the error; this promise is awaited again at the end.
  writing.catch(() => {});
  try {
    yield* writer.bytes();
    await writing;
  } catch (error) {
    options.signal?.throwIfAborted();
    throw translateDatabaseError(error);
  } finally {
    options.signal?.removeEventListener('abort', stop);
    writer.fail(new Error('the backup was left'));
    await snapshot.close();
    await writing.catch(() => {});
  }
}

async function writeParts(
  clients: readonly pg.Client[],
  writer: ArchiveWriter,
  options: BackupOptions,
): Promise<Manifest> {
  const [client] = clients;
  invariant(client, 'a snapshot has a connection');
  const createdAt = new Date().toISOString();
  const { rows: facts } = await client.query<{ server_version: string }>('show server_version');
  const domains = await listDomains(client, options.domain);
  const sources = await listSources(client, options.domain === undefined ? undefined : domains);
  const migrations = await listAppliedMigrations(client);
  const blobs = await listBlobs(client, options.domain === undefined ? undefined : domains);

  const onRows = countProgress(options, sources);
  const waiting = [...sources].sort((one, other) => other.estimatedRows - one.estimatedRows);
  const tables = new Map<TableSource, TableContent>();
  await Promise.all(
    clients.map(async (reader) => {
      for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
        tables.set(source, await copyTable(reader, writer, source, onRows));
      }
    }),
  );
  const files: Manifest['files'] = [];
  for (const blob of blobs) {
    const file = await copyBlob(writer, blob, options);
    if (file !== undefined) files.push(file);
  }
  return {
    format: 'campus-backup',
    formatVersion: FORMAT_VERSION,
    createdAt,
    gatewayVersion: VERSION,
    postgresVersion: facts[0]?.server_version ?? '',
    migrations: [...migrations],
    ...(options.domain !== undefined && { domain: options.domain }),
    domains: [...domains],
    tables: sources.flatMap((source) => tables.get(source) ?? []),
    files,
  };
}

async function copyTable(
  client: pg.Client,
  writer: ArchiveWriter,
  source: TableSource,
  onRows: (source: TableSource, rows: number) => void,
): Promise<TableContent> {
  const copy = client.query(copyTo(source.statement));
  let rows = 0;
  const parts = await writer.addParts(copy, { prefix: source.path, suffix: '.copy.gz' }, (raw) => {
    const more = countLines(raw);
    rows += more;
    onRows(source, more);
  });
  // The rows end before the server confirms that they were complete: wait for the confirmation.
  await client.query('select 1');
  if (copy.rowCount !== rows) {
    throw new ServiceError('UNAVAILABLE', `The database broke off in the middle of ${source.path}.`);
  }
  return {
    name: source.name,
    ...(source.collection !== undefined && { collection: source.collection }),
    columns: [...source.columns],
    rows,
    parts,
  };
}

interface Blob {
  readonly id: string;
  readonly size: number;
}

async function listBlobs(
  client: pg.Client,
  domains: readonly { readonly id: string }[] | undefined,
): Promise<readonly Blob[]> {
  const { rows: tables } = await client.query(`select 1 where to_regclass('files') is not null`);
  if (tables.length === 0) return [];
  const { rows } = await client.query<{ id: string; size: string }>(
    `select id, size
     from files
     where storage = 's3' and state = 'ready' and ($1::text[] is null or domain = any($1))
     order by id`,
    [domains?.map(({ id }) => id) ?? null],
  );
  return rows.map(({ id, size }) => ({ id, size: Number(size) }));
}

/** `undefined` for a file that was removed after the snapshot. */
async function copyBlob(
  writer: ArchiveWriter,
  { id, size }: Blob,
  options: BackupOptions,
): Promise<Manifest['files'][number] | undefined> {
  if (options.bucket === undefined) {
    throw new ServiceError(
      'UNAVAILABLE',
      `The bytes of the file ${id} are in a bucket; FILES_S3_URL must name it.`,
    );
  }
  options.onProgress?.({ stage: 'files', done: 0, total: 0 });
  const { signal, bucket } = options;
  const bytes = size === 0 ? Readable.from([]) : bucket.read({ id }, { start: 0, end: size - 1 }, { signal });
  let read = 0;
  let parts: Part[];
  try {
    parts = await writer.addParts(bytes, { prefix: `files/${id}`, suffix: '.gz' }, (raw) => {
      read += raw.length;
    });
  } catch (error) {
    if (read > 0 || (await isFileThere(options.url, id))) throw error;
    return undefined;
  }
  if (read !== size) {
    throw new ServiceError('UNAVAILABLE', `The bucket gave ${read} of the ${size} bytes of the file ${id}.`);
  }
  return { id, size, parts };
}

/** Tells whether the file exists now, whatever the snapshot shows. */
async function isFileThere(url: string, id: string): Promise<boolean> {
  const client = newConnection(url, 'campus backup');
  try {
    await client.connect();
    return (await client.query('select from files where id = $1', [id])).rows.length > 0;
  } finally {
    await client.end();
  }
}

function countProgress(
  { onProgress }: BackupOptions,
  sources: readonly TableSource[],
): (source: TableSource, rows: number) => void {
  const total = sources.reduce((sum, { estimatedRows }) => sum + estimatedRows, 0);
  let done = 0;
  return ({ collection, name }, rows) => {
    done += rows;
    onProgress?.({ stage: collection ?? name, done, total: Math.max(done, total) });
  };
}

interface TableSource {
  readonly name: string;
  /** For `records`: the collection of the partition; absent for the partition of all other collections. */
  readonly collection?: string;
  /** The folder of its parts in the archive. */
  readonly path: string;
  readonly columns: readonly string[];
  readonly statement: string;
  readonly estimatedRows: number;
}

interface BackedUpDomain {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
}

/** The domain and its branches, or all domains; top domains first. @throws NOT_FOUND */
async function listDomains(
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
async function listAppliedMigrations(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct migration_name as name
     from _prisma_migrations
     where rolled_back_at is null and finished_at is not null
     order by name`,
  );
  return rows.map(({ name }) => name);
}

/** `domains` limits the rows to those of some domains; `undefined` means all rows. */
async function listSources(
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
