/** Makes a backup: the rows of a snapshot by COPY on several connections, and the files of a bucket. */
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { invariant, ServiceError } from '../../base/errors.js';
import { VERSION } from '../../base/process/version.js';
import { translateDatabaseError } from '../../store/database/database-errors.js';
import type { Bucket } from '../files/blob-store.js';
import {
  ArchiveWriter,
  FORMAT_VERSION,
  type Manifest,
  type Part,
  type TableContent,
  type TransferStep,
} from './archive-writer.js';
import { openSnapshot } from './snapshot.js';
import { listAppliedMigrations, listDomains, listSources, type TableSource } from './table-sources.js';

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

export interface Backup {
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
      invariant(manifest !== undefined, 'a backup was asked for its manifest before its end');
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

  const tell = countProgress(options, sources);
  const waiting = [...sources].sort((one, other) => other.estimatedRows - one.estimatedRows);
  const tables: TableContent[] = [];
  await Promise.all(
    clients.map(async (reader) => {
      for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
        tables.push(await copyTable(reader, writer, source, tell));
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
    tables: tables.sort((one, other) => sources.findIndex(isOf(one)) - sources.findIndex(isOf(other))),
    files,
  };
}

function isOf(table: TableContent): (source: TableSource) => boolean {
  return ({ name, collection }) => name === table.name && collection === table.collection;
}

async function copyTable(
  client: pg.Client,
  writer: ArchiveWriter,
  source: TableSource,
  tell: (source: TableSource, rows: number) => void,
): Promise<TableContent> {
  const copy = client.query(copyTo(source.statement));
  let rows = 0;
  const parts = await writer.addParts(copy, { prefix: source.path, suffix: '.copy.gz' }, (chunk) => {
    const before = rows;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows++;
    tell(source, rows - before);
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
  const signal = options.signal;
  const bytes =
    size === 0
      ? emptyBytes()
      : options.bucket.read({ id }, { start: 0, end: size - 1 }, signal ? { signal } : {});
  let read = 0;
  let parts: Part[];
  try {
    parts = await writer.addParts(bytes, { prefix: `files/${id}`, suffix: '.gz' }, (chunk) => {
      read += chunk.length;
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
  const client = new pg.Client({ connectionString: url, application_name: 'campus backup' });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query('select from files where id = $1', [id])).rows.length > 0;
  } finally {
    await client.end();
  }
}

async function* emptyBytes(): AsyncGenerator<Buffer, void> {}

function countProgress(
  { onProgress }: BackupOptions,
  sources: readonly TableSource[],
): (source: TableSource, rows: number) => void {
  let total = 0;
  for (const { estimatedRows } of sources) total += estimatedRows;
  let done = 0;
  return ({ collection, name }, rows) => {
    done += rows;
    onProgress?.({ stage: collection ?? name, done, total: Math.max(done, total) });
  };
}
