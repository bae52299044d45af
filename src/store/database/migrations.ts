/**
 * The tables' history: prisma/migrations applied in process by Prisma's own engine, compiled to WebAssembly. It
 * needs no download and no CLI, and writes the `_prisma_migrations` the CLI would.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isNativeError } from 'node:util/types';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlQuery,
} from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine, SchemaFilter } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { ServiceError } from '../../errors.js';
import { findPackageDirectory } from '../../package-directory.js';
import { lockUntilDisconnected } from './advisory-lock.js';

/** Held by whoever applies migrations; the others wait. */
const MIGRATION_LOCK = 0x6d696772;
/** The type "char": one byte, used by the system catalog alone. */
const CHAR_OID = 18;
const NO_FILTER: SchemaFilter = { externalTables: [], externalEnums: [] };

export interface MigrationOptions {
  readonly url: string;
  /** Default: `prisma/` of the package. */
  readonly prismaDirectory?: string;
}

export interface MigrationStatus {
  /** In order. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Started once and not finished: an operator must look. */
  readonly failed: readonly string[];
  /** Changed after they were applied. */
  readonly edited: readonly string[];
  /** Applied to the database and unknown here: the database belongs to a newer gateway. */
  readonly unknown: readonly string[];
}

/**
 * Applies the pending migrations in order and returns their names. Any number of gateways may call it at once: one
 * works, the others wait and find nothing left to do.
 */
export async function applyMigrations(options: MigrationOptions): Promise<readonly string[]> {
  return withMigrationLock(options.url, async (client) => {
    if (await isUpToDate(client, await readMigrations(options))) return [];
    return withSchemaEngine(options, async (engine, { migrationsList }, adapterFactory) => {
      try {
        const { appliedMigrationNames } = await engine.applyMigrations({
          migrationsList,
          filters: NO_FILTER,
        });
        return appliedMigrationNames;
      } catch (error) {
        throw toMigrationError(error, adapterFactory.scriptError);
      }
    });
  });
}

/** Whether just these migrations are applied, to the letter. Asked first, for the engine takes most of a second to say the same. */
async function isUpToDate(client: pg.Client, migrations: MigrationList): Promise<boolean> {
  const { rows: tables } = await client.query(`select 1 where to_regclass('_prisma_migrations') is not null`);
  if (tables.length === 0) return false;
  const { rows } = await client.query<{ name: string; checksum: string; isApplied: boolean }>(
    `select migration_name as name, checksum, finished_at is not null as "isApplied"
       from _prisma_migrations where rolled_back_at is null`,
  );
  const applied = new Map(rows.filter((row) => row.isApplied).map((row) => [row.name, row.checksum]));
  const { migrationDirectories } = migrations;
  return (
    rows.length === migrationDirectories.length &&
    migrationDirectories.every(({ path: name, migrationFile: { content } }) => {
      const script = content.tag === 'ok' ? content.value : '';
      return applied.get(name) === createHash('sha256').update(script).digest('hex');
    })
  );
}

/** What is applied and what is not; changes nothing. */
export async function listMigrations(options: MigrationOptions): Promise<MigrationStatus> {
  return withSchemaEngine(options, async (engine, { migrationsList }) => {
    const { history, failedMigrationNames, editedMigrationNames } = await engine.diagnoseMigrationHistory({
      migrationsList,
      optInToShadowDatabase: false,
      filters: NO_FILTER,
    });
    const pending = history && 'unappliedMigrationNames' in history ? history.unappliedMigrationNames : [];
    const unknown =
      history && 'unpersistedMigrationNames' in history ? history.unpersistedMigrationNames : [];
    const applied = migrationsList.migrationDirectories
      .map((directory) => directory.path)
      .filter((name) => !pending.includes(name) && !failedMigrationNames.includes(name));
    return { applied, pending, unknown, failed: failedMigrationNames, edited: editedMigrationNames };
  });
}

/**
 * Where a database made by the migrations and schema.prisma disagree, as the SQL that would bring the database to
 * schema.prisma; `undefined` where they agree. Partitions and what Prisma cannot describe do not count.
 */
export async function findDrift(options: MigrationOptions): Promise<string | undefined> {
  return withSchemaEngine(options, async (engine, { schema }) => {
    const externalTables = await listPartitions(options.url);
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', configDir: '.', files: [schema] },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: null,
      filters: { externalTables, externalEnums: [] },
    });
    const script = stdout?.trim() ?? '';
    return script === '' || script.startsWith('-- This is an empty migration') ? undefined : script;
  });
}

/** The engine's message, a trace of its own functions, as one line for the operator. */
function toMigrationError(error: unknown, scriptError: unknown): unknown {
  // In PostgreSQL 15 and later only a database's owner may make tables in it.
  const [denied] =
    (isNativeError(error) &&
      /permission denied for [^\n]+|no schema has been selected[^\n]*/.exec(error.message)) ||
    [];
  if (denied !== undefined) {
    return new ServiceError(
      'UNAVAILABLE',
      `The user in DATABASE_URL may not make the tables (${denied}); make it the owner of the database.`,
      { cause: error },
    );
  }
  if (!isNativeError(error) || !isNativeError(scriptError)) return error;
  const [, name = 'of this database'] = /migration_name="([^"]+)"/.exec(error.message) ?? [];
  return new Error(`The migration ${name} failed: ${scriptError.message}`, { cause: error });
}

interface PrismaFolder {
  readonly migrationsList: MigrationList;
  readonly schema: { readonly path: string; readonly content: string };
}

async function readPrismaFolder(options: MigrationOptions): Promise<PrismaFolder> {
  const content = await readFile(path.join(prismaDirectoryOf(options), 'schema.prisma'), 'utf8');
  return { migrationsList: await readMigrations(options), schema: { path: 'schema.prisma', content } };
}

function prismaDirectoryOf(options: MigrationOptions): string {
  return options.prismaDirectory ?? path.join(findPackageDirectory(), 'prisma');
}

async function readMigrations(options: MigrationOptions): Promise<MigrationList> {
  const baseDir = path.join(prismaDirectoryOf(options), 'migrations');
  const entries = await readdir(baseDir, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const migrationDirectories = await Promise.all(
    names.map(async (name) => {
      const value = await readFile(path.join(baseDir, name, 'migration.sql'), 'utf8');
      return { path: name, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } };
    }),
  );
  const lockfile = {
    path: 'migration_lock.toml',
    content: await readFile(path.join(baseDir, 'migration_lock.toml'), 'utf8'),
  };
  return { baseDir, lockfile, shadowDbInitScript: '', migrationDirectories };
}

async function withSchemaEngine<T>(
  options: MigrationOptions,
  work: (engine: SchemaEngine, folder: PrismaFolder, adapterFactory: MigrationPrismaPg) => Promise<T>,
): Promise<T> {
  const folder = await readPrismaFolder(options);
  const { SchemaEngine } = await loadSchemaEngine();
  const pool = new pg.Pool({ connectionString: options.url, max: 2 });
  // A broken idle connection shows in the next query; without a listener it would end the process.
  pool.on('error', () => {});
  try {
    const adapterFactory = new MigrationPrismaPg(pool);
    const engine = await SchemaEngine.new(
      { datamodels: [[folder.schema.path, folder.schema.content]] },
      () => {},
      bindMigrationAwareSqlAdapterFactory(adapterFactory),
    );
    try {
      return await work(engine, folder, adapterFactory);
    } finally {
      engine.free();
    }
  } finally {
    await pool.end();
  }
}

/**
 * `PrismaPg` with two traps taken out. It splits a script at every `;`, which tears `$$ … ; … $$` bodies apart: this
 * one sends it whole. And it cannot read the type "char", which the engine's own question about constraints selects.
 */
class MigrationPrismaPg extends PrismaPg {
  /** What Postgres said to the last migration that failed; the engine keeps it to itself. */
  scriptError: unknown;
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    super(pool);
    this.#pool = pool;
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    adapter.executeScript = async (script) => {
      try {
        await this.#pool.query(script);
      } catch (error) {
        this.scriptError = error;
        throw error;
      }
    };
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const charColumns = await this.#findCharColumns(query);
      if (charColumns.size === 0) return queryRaw(query);
      const sql = `select * from (${query.sql.replace(/;\s*$/, '')}) described`;
      const columns = [...charColumns].map(([name, isChar]) => (isChar ? `"${name}"::text` : `"${name}"`));
      const result = await queryRaw({ ...query, sql: sql.replace('*', columns.join(', ')) });
      const columnTypes = result.columnTypes.map((type, i) =>
        charColumns.get(result.columnNames[i] ?? '') ? ColumnTypeEnum.Character : type,
      );
      return { ...result, columnTypes };
    };
    return adapter;
  }

  /** The columns of a question to the catalog, with whether they are of type "char"; empty where none is. */
  async #findCharColumns({ sql, args }: SqlQuery): Promise<ReadonlyMap<string, boolean>> {
    if (!/\bpg_(constraint|class|proc|trigger)\b/i.test(sql)) return new Map();
    const { fields } = await this.#pool.query({ text: sql, values: args });
    if (!fields.some((field) => field.dataTypeID === CHAR_OID)) return new Map();
    return new Map(fields.map((field) => [field.name, field.dataTypeID === CHAR_OID]));
  }
}

/** The one function we need of it: Node has it, its type packages leave it to the DOM's. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

let engineModule: ReturnType<typeof instantiateSchemaEngine> | undefined;

/** Once a process: the engine's JavaScript half keeps its WebAssembly half in a module variable, a second one would replace it. */
function loadSchemaEngine(): ReturnType<typeof instantiateSchemaEngine> {
  engineModule ??= instantiateSchemaEngine();
  return engineModule;
}

// The package's main module imports its .wasm as an ES module, which Node does only behind a flag.
async function instantiateSchemaEngine(): Promise<typeof import('@prisma/schema-engine-wasm')> {
  // Where the engine leaves the message of a panic; without it a panic is a TypeError that says nothing.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: console.error } });
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const location = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bytes = await readFile(location.replace(/\.js$/, '.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': withoutLingering(glue),
  });
  glue.__wbg_set_wasm(instance.exports);
  const start = instance.exports.__wbindgen_start;
  if (typeof start === 'function') start();
  return glue;
}

/** The engine never clears the ten-second timer of its own lock, and a command that migrates would wait for it at its end. */
function withoutLingering(glue: object): Record<string, unknown> {
  const imports = Object.entries(glue).map(([name, value]) =>
    name.startsWith('__wbg_setTimeout_')
      ? [name, (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref()]
      : [name, value],
  );
  return Object.fromEntries(imports);
}

async function withMigrationLock<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'campus migrations' });
  client.on('error', () => {});
  await client.connect();
  try {
    await lockUntilDisconnected(client, MIGRATION_LOCK);
    return await work(client);
  } finally {
    await client.end();
  }
}

async function listPartitions(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select n.nspname || '.' || c.relname as name
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relispartition and c.relkind in ('r', 'p')`,
    );
    return rows.map((row) => row.name);
  } finally {
    await client.end();
  }
}
