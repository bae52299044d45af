/**
 * Whether the tables that the migrations make are those that schema.prisma describes, asked of Prisma's own
 * engine, compiled to WebAssembly: it needs no download and no CLI.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlQuery,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { findPackageDirectory } from '../../../src/base/process/package-directory.js';

/** The type "char": one byte, used by the system catalog alone. */
const CHAR_OID = 18;

export interface DriftOptions {
  readonly url: string;
  /** Default: `prisma/` of the package. */
  readonly prismaDirectory?: string;
}

/**
 * Finds where a database made by the migrations and schema.prisma disagree, as the SQL that would bring the
 * database to schema.prisma; `undefined` where they agree. Partitions and what Prisma cannot describe do not
 * count.
 */
export async function findSchemaDrift(options: DriftOptions): Promise<string | undefined> {
  return withSchemaEngine(options, async (engine, schema) => {
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

interface SchemaFile {
  readonly path: string;
  readonly content: string;
}

async function withSchemaEngine<T>(
  options: DriftOptions,
  work: (engine: SchemaEngine, schema: SchemaFile) => Promise<T>,
): Promise<T> {
  const directory = options.prismaDirectory ?? path.join(findPackageDirectory(), 'prisma');
  const content = await readFile(path.join(directory, 'schema.prisma'), 'utf8');
  const schema = { path: 'schema.prisma', content };
  const { SchemaEngine } = await loadSchemaEngine();
  const pool = new pg.Pool({ connectionString: options.url, max: 2 });
  // A broken idle connection shows in the next query; without a listener it would end the process.
  pool.on('error', () => {});
  try {
    const engine = await SchemaEngine.new(
      { datamodels: [[schema.path, schema.content]] },
      () => {},
      bindMigrationAwareSqlAdapterFactory(new CatalogPrismaPg(pool)),
    );
    try {
      return await work(engine, schema);
    } finally {
      engine.free();
    }
  } finally {
    await pool.end();
  }
}

/**
 * `PrismaPg` that can read the type "char" too, which the engine's own question about constraints selects,
 * and tells the key of an index from what it carries.
 */
class CatalogPrismaPg extends PrismaPg {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    super(pool);
    this.#pool = pool;
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const charColumns = await this.#findCharColumns(query);
      if (charColumns.size === 0) return withoutCarriedColumns(await queryRaw(query));
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

/**
 * What an index carries beside its key (`include`) has no operator class. The engine would take it for a part
 * of the key.
 */
function withoutCarriedColumns(result: SqlResultSet): SqlResultSet {
  const place = result.columnNames.indexOf('opclass');
  return place === -1 ? result : { ...result, rows: result.rows.filter((row) => row[place] !== null) };
}

/** The one function we need of it: Node has it, its type packages leave it to the DOM's. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, unknown>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

let engineModule: ReturnType<typeof instantiateSchemaEngine> | undefined;

/**
 * Once a process: the engine's JavaScript half keeps its WebAssembly half in a module variable, a second one
 * would replace it.
 */
function loadSchemaEngine(): ReturnType<typeof instantiateSchemaEngine> {
  engineModule ??= instantiateSchemaEngine();
  return engineModule;
}

// The package's main module imports its .wasm as an ES module, which Node does only behind a flag.
async function instantiateSchemaEngine(): Promise<typeof import('@prisma/schema-engine-wasm')> {
  // The engine leaves the message of a panic here; without it a panic is a TypeError that says nothing.
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

/**
 * The engine never clears the ten-second timer of its own lock, and a command that migrates would wait for it
 * at its end.
 */
function withoutLingering(glue: object): Record<string, unknown> {
  const imports = Object.entries(glue).map(([name, value]) =>
    name.startsWith('__wbg_setTimeout_')
      ? [name, (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref()]
      : [name, value],
  );
  return Object.fromEntries(imports);
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
