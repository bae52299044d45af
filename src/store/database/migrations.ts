/**
 * Applies prisma/migrations in order. Each is one transaction together with its row in `_prisma_migrations`,
 * the table that Prisma's own command line uses: a failed or interrupted migration leaves nothing behind, and
 * is retried.
 */

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type pg from 'pg';
import { z } from 'zod';
import { ServiceError, unavailable } from '../../base/errors.js';
import { findPackageDirectory } from '../../base/process/package-directory.js';
import { VERSION } from '../../base/process/version.js';
import { lockUntilCommit, lockUntilDisconnected } from './advisory-lock.js';
import { cancelOnAbort } from './cancellation.js';
import { sqlStateOf, translateDatabaseError } from './database-errors.js';
import { connectForOperator } from './inspect-server.js';
import { listCommands } from './list-commands.js';
import { endClient, inTransaction } from './lone-client.js';
import { distributeTables, isSharded } from './shards/table-places.js';

/** Held while migrations are applied; other gateways wait. */
const MIGRATION_LOCK = 0x6d696772;

/**
 * The checksums of earlier texts of three migrations. `0014_renew_functions` corrects a database that was
 * created by one of them.
 */
const RENEWED_BY = '0014_renew_functions';
const EARLIER_CHECKSUMS: ReadonlyMap<string, string> = new Map([
  ['0005_fee_months', 'e94fd89e2dc64bdbb4eee456e624dbe5de5616f660c2c3ccffaf117c92b3b8de'],
  ['0010_document_functions', '90d16f8057532dd44e004dec39066dc9426f3244cd1c18ea89215043df8c5c0a'],
  ['0013_attendance_months', '4a69459df018f5ab82cab39c8759475d02a967f1125a9426adb4e7eace9b17cb'],
]);

export interface MigrationOptions {
  readonly url: string;
  /** Default: `prisma/` of the package. */
  readonly prismaDirectory?: string;
  /** Receives one line at a time on the history of the database, for the operator. */
  readonly onNotice?: ((line: string) => void) | undefined;
  /** Ends the work, with its reason; the migration that is being applied is rolled back. */
  readonly signal?: AbortSignal | undefined;
}

export interface MigrationStatus {
  /** The migrations in their order. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Begun but not finished by an earlier version; retried with the pending ones. */
  readonly failed: readonly string[];
  /** Changed after they were applied, and not corrected by a later one. */
  readonly edited: readonly string[];
  /** Applied, but unknown to this version: the database belongs to a newer gateway. */
  readonly unknown: readonly string[];
}

/**
 * Applies the pending migrations in order and returns their names. Any number of gateways may call it at
 * once: one does the work, and the others wait and find nothing left to do. With Citus, the tables are
 * sharded.
 *
 * @throws CONFLICT if a newer version migrated the database, and this one does not work with it;
 *   ServiceError or Error whose message is one line for the operator; migrations applied before stay
 *   applied
 */
export async function applyMigrations(options: MigrationOptions): Promise<readonly string[]> {
  const { onNotice = () => {} } = options;
  const migrations = await readMigrations(options);
  const newest = migrations.at(-1)?.name;
  // The versions that work with this one.
  const own = newest && { newest, oldest: await readCompatibleFrom(prismaDirectoryOf(options)) };
  return withClient(options, async (client) => {
    await lockUntilDisconnected(client, MIGRATION_LOCK);
    const notes = await readNotes(client);
    if (notes === undefined) await assertNobodyElses(client);
    const history = compareHistory(migrations, notes ?? []);
    await assertCompatible(client, history, onNotice);
    const missing = migrations.filter(({ name }) => !history.applied.includes(name));
    for (const migration of missing) {
      const begun = notes?.filter((note) => note.name === migration.name) ?? [];
      while (!(await applyMigration(client, migration, begun))) {
        await sleep(LOCK_RETRY_MS, undefined, { signal: options.signal });
      }
    }
    // After an interruption before this, an older version sees a migration that no note is about, and
    // refuses.
    if (own) await noteCompatibility(client, own);
    reportHistoryFaults(history, missing, onNotice);
    const spread = await distributeTables(client);
    if (spread.length > 0) onNotice(`sharded by domain over the servers of Citus: ${spread.join(', ')}`);
    return missing.map(({ name }) => name);
  });
}

/**
 * Creates the tables as of these migrations, all known to this version, in an empty schema; within the
 * transaction of `client`, and under the lock that starting gateways wait for.
 */
export async function applyNamedMigrations(
  client: pg.ClientBase,
  names: readonly string[],
  options: PrismaOptions = {},
): Promise<void> {
  await client.query(CREATE_NOTES);
  for (const migration of await readMigrations(options)) {
    if (!names.includes(migration.name)) continue;
    await runScript(client, migration.script);
    await writeNote(client, migration, []);
  }
}

/** Takes the migration lock until the transaction of `client` ends. */
export async function lockMigrations(client: pg.ClientBase, signal?: AbortSignal): Promise<void> {
  await lockUntilCommit(client, MIGRATION_LOCK, signal);
}

/** The names of all migrations of this version, in order. */
export async function listKnownMigrations(options: PrismaOptions = {}): Promise<readonly string[]> {
  return (await readMigrations(options)).map(({ name }) => name);
}

/** Lists applied and other migrations; changes nothing. */
export async function listMigrations(options: MigrationOptions): Promise<MigrationStatus> {
  const migrations = await readMigrations(options);
  return withClient(options, async (client) => {
    const { renewed, ...status } = compareHistory(migrations, (await readNotes(client)) ?? []);
    return status;
  });
}

/** @throws CONFLICT */
async function assertCompatible(
  client: pg.Client,
  { applied, pending, failed, unknown }: MigrationStatus,
  onNotice: (line: string) => void,
): Promise<void> {
  if (unknown.length === 0) return;
  if (await isCompatible(client, { known: [...applied, ...pending, ...failed], unknown })) {
    onNotice(
      `a newer version of the gateway has migrated the database (${unknown.join(', ')}); ` +
        'this one works on it',
    );
    return;
  }
  throw new ServiceError(
    'CONFLICT',
    `A newer version of the gateway has migrated the database (${unknown.join(', ')}), and version ` +
      `${VERSION} does not work on it. Start that version or a later one, or restore a backup from before ` +
      'the upgrade.',
  );
}

interface Migration {
  readonly name: string;
  readonly script: string;
  readonly checksum: string;
}

/** A row of `_prisma_migrations` that was not rolled back. */
interface Note {
  readonly id: string;
  readonly name: string;
  readonly checksum: string;
  readonly isApplied: boolean;
  /** PostgreSQL's error. */
  readonly fault: string | null;
}

interface History extends MigrationStatus {
  /** Applied with an earlier text, which a later migration corrects. */
  readonly renewed: readonly string[];
}

type PrismaOptions = Pick<MigrationOptions, 'prismaDirectory'>;

async function readMigrations(options: PrismaOptions): Promise<readonly Migration[]> {
  const directory = path.join(prismaDirectoryOf(options), 'migrations');
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  return await Promise.all(
    names.map(async (name) => {
      const script = await readFile(path.join(directory, name, 'migration.sql'), 'utf8');
      return { name, script, checksum: createHash('sha256').update(script).digest('hex') };
    }),
  );
}

function prismaDirectoryOf({ prismaDirectory }: PrismaOptions): string {
  return prismaDirectory ?? path.join(findPackageDirectory(), 'prisma');
}

/** `undefined` for a database without any migration. */
async function readNotes(client: pg.Client): Promise<readonly Note[] | undefined> {
  const { rows: tables } = await client.query(`select 1 where to_regclass('_prisma_migrations') is not null`);
  if (tables.length === 0) return undefined;
  const { rows } = await client.query<Note>(
    `select id, migration_name as name, checksum, finished_at is not null as "isApplied", logs as fault
       from _prisma_migrations
      where rolled_back_at is null
      order by started_at, migration_name`,
  );
  return rows;
}

function compareHistory(migrations: readonly Migration[], notes: readonly Note[]): History {
  const names = migrations.map(({ name }) => name);
  const checksums = new Map(notes.filter((note) => note.isApplied).map((note) => [note.name, note.checksum]));
  const applied = names.filter((name) => checksums.has(name));
  const failed = names.filter((name) => !checksums.has(name) && notes.some((note) => note.name === name));
  const differing = migrations
    .filter(({ name, checksum }) => checksums.has(name) && checksums.get(name) !== checksum)
    .map(({ name }) => name);
  const isRenewed = (name: string) =>
    names.includes(RENEWED_BY) && checksums.get(name) === EARLIER_CHECKSUMS.get(name);
  return {
    applied,
    pending: names.filter((name) => !applied.includes(name) && !failed.includes(name)),
    failed,
    edited: differing.filter((name) => !isRenewed(name)),
    renewed: differing.filter(isRenewed),
    unknown: [...new Set(notes.map(({ name }) => name))].filter((name) => !names.includes(name)),
  };
}

/** Refuses a database with somebody else's tables; tables of extensions do not count. */
export async function assertNobodyElses(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name
       from pg_class c
      where c.relnamespace = current_schema()::regnamespace
        and c.relkind in ('r', 'p')
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
      order by c.relname
      limit 3`,
  );
  if (rows.length === 0) return;
  throw new ServiceError(
    'CONFLICT',
    `The database "${client.database}" holds tables that are not the gateway's ` +
      `(${rows.map(({ name }) => name).join(', ')}); ` +
      'DATABASE_URL must name one that is empty, or one that a gateway made.',
  );
}

/** The table as Prisma's own engine creates it. */
const CREATE_NOTES = `
create table if not exists _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`;

/** While a migration waits for a table, all others wait behind it: after this it lets them pass. */
const LOCK_TIMEOUT_MS = 10_000;
const LOCK_RETRY_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** `begun`: attempts of an earlier version. False if others hold a lock on a table that it changes. */
async function applyMigration(
  client: pg.Client,
  migration: Migration,
  begun: readonly Note[],
): Promise<boolean> {
  try {
    await inTransaction(client, LOCK_TIMEOUT_MS, async () => {
      await client.query(CREATE_NOTES);
      await runScript(client, migration.script);
      await writeNote(client, migration, begun);
    });
    return true;
  } catch (error) {
    if (sqlStateOf(error) === LOCK_NOT_AVAILABLE) return false;
    if (wasAppliedWhole(begun, error)) {
      await inTransaction(client, LOCK_TIMEOUT_MS, () => writeNote(client, migration, begun));
      return true;
    }
    throw toMigrationError(migration, error);
  }
}

/** Command by command: Citus forwards some commands with the whole text that they arrived in. */
async function runScript(client: pg.ClientBase, script: string): Promise<void> {
  const parts = (await isSharded(client)) ? listCommands(script) : [script];
  for (const part of parts) await client.query(part);
}

async function writeNote(client: pg.ClientBase, migration: Migration, begun: readonly Note[]): Promise<void> {
  await client.query('update _prisma_migrations set rolled_back_at = now() where id = any($1)', [
    begun.map(({ id }) => id),
  ]);
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at,
      applied_steps_count)
     values (gen_random_uuid(), $1, $2, now(), clock_timestamp(), 1)`,
    [migration.checksum, migration.name],
  );
}

const EXISTS_ALREADY: ReadonlySet<unknown> = new Set(['42P07', '42701', '42710', '42723']);

/**
 * Earlier versions wrote the row in a transaction of its own after the script. If an attempt was interrupted
 * between the two, the script has been applied as a whole, and no error was recorded.
 */
function wasAppliedWhole(begun: readonly Note[], error: unknown): boolean {
  const wasInterrupted = begun.length > 0 && begun.every(({ fault }) => fault === null);
  return wasInterrupted && EXISTS_ALREADY.has(sqlStateOf(error));
}

const INSUFFICIENT_PRIVILEGE = '42501';
const INVALID_SCHEMA_NAME = '3F000';

function toMigrationError({ name }: Migration, error: unknown): unknown {
  if (!isNativeError(error)) return error;
  const code = sqlStateOf(error);
  // Since PostgreSQL 15, only the owner of a database may create tables in it.
  if (code === INSUFFICIENT_PRIVILEGE || code === INVALID_SCHEMA_NAME) {
    return unavailable(
      `The user in DATABASE_URL may not make the tables (${error.message}); make it the owner of the ` +
        'database.',
      error,
    );
  }
  const detail = `The migration ${name} failed: ${error.message}`;
  // The database is down or full, which is not the migration's fault.
  const translated = translateDatabaseError(error);
  if (translated instanceof ServiceError && translated.code === 'UNAVAILABLE') {
    return unavailable(`${detail}; the next start tries it again`, error);
  }
  return code === undefined ? error : new Error(detail, { cause: error });
}

function reportHistoryFaults(
  { renewed, edited }: History,
  applied: readonly Migration[],
  onNotice: (line: string) => void,
): void {
  if (renewed.length > 0 && applied.some(({ name }) => name === RENEWED_BY)) {
    onNotice(`${RENEWED_BY} renewed the functions that earlier texts of ${renewed.join(' and ')} had made`);
  }
  for (const name of edited) {
    onNotice(
      `the migration ${name} was applied with another text than this version has; compare the ` +
        'database with one made anew',
    );
  }
}

async function withClient<T>(
  { url, signal }: MigrationOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectForOperator(url, 'campus migrations', signal);
  try {
    return await cancelOnAbort(client, signal, () => work(client));
  } finally {
    await endClient(client);
  }
}

/**
 * Which versions of the gateway work on a database. Whoever migrates it notes the oldest migration that a
 * version must know; an older version refuses to start on it. `prisma/compatible-from.txt` has the name of
 * that migration.
 */
const SETTING = 'compatibility';

const Compatibility = z.object({
  /** The last migration that the note is about. */
  newest: z.string(),
  /** A version that knows this migration works on the database. */
  oldest: z.string(),
});
type Compatibility = z.output<typeof Compatibility>;

type Connection = Pick<pg.ClientBase | pg.Pool, 'query'>;

/** The oldest migration that a version must know to work beside this one. */
export async function readCompatibleFrom(prismaDirectory: string): Promise<string> {
  return (await readFile(path.join(prismaDirectory, 'compatible-from.txt'), 'utf8')).trim();
}

/** Notes what this version requires, unless a newer one has. */
async function noteCompatibility(connection: Connection, own: Compatibility): Promise<void> {
  await connection.query(
    `insert into settings as s (name, value, updated_at)
     values ($1, $2::jsonb, now())
     on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at
     where (s.value ->> 'newest', s.value ->> 'oldest')
       < (excluded.value ->> 'newest', excluded.value ->> 'oldest')`,
    [SETTING, JSON.stringify(own)],
  );
}

/** Whether a version with these migrations works on a database that has `unknown` ones, too. */
export async function isCompatible(
  connection: Connection,
  { known, unknown }: { readonly known: readonly string[]; readonly unknown: readonly string[] },
): Promise<boolean> {
  if (unknown.length === 0) return true;
  const { rows } = await connection.query<{ value: unknown }>('select value from settings where name = $1', [
    SETTING,
  ]);
  const { data: note } = Compatibility.safeParse(rows[0]?.value);
  return note !== undefined && known.includes(note.oldest) && unknown.every((name) => name <= note.newest);
}
