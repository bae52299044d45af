/**
 * Runs pipelines over the records that a caller may read. The leading stages that SQL supports run in one
 * statement. The remaining stages run in memory on its result: batch by batch if a stage maps documents one
 * by one, otherwise on all documents within a limit.
 */
import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Stage } from '../../languages/mongo/mongo-pipeline.js';
import type { Scope } from '../../model/scope.js';
import { accessOf } from '../access/access.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import type { Transaction } from '../database/queryable.js';
import type { RecordStore } from '../record-store.js';
import {
  type CompiledPipeline,
  compilePipeline,
  type PipelineOptions,
  type PipelineSource,
} from '../sql/pipeline/compile-pipeline.js';
import { areAlone, assertComputable } from './assert-computable.js';
import {
  assertPipelineReadable,
  type ReadableCollection,
  refuseCollection,
} from './assert-pipeline-readable.js';
import { StageProcesses } from './stage-processes.js';
import { StatementShapes } from './statement-shapes.js';

export interface PipelinesOptions {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly store: Pick<RecordStore, 'findReadable'>;
  /** The most JSON text, in bytes, that stages outside the database may hold. */
  readonly memoryBytes: number;
  /** The most time that these stages may take for one batch. */
  readonly timeoutMs: number;
  readonly now?: () => Date;
}

export interface PipelineRun {
  readonly collection: string;
  readonly stages: readonly Stage[];
  /** The transaction whose writes the pipeline sees. The whole result is read within it. */
  readonly within?: Transaction | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The parts of a pipeline, and where each part runs. */
export interface PipelinePlan {
  readonly compiled: CompiledPipeline;
  readonly inSql: readonly Stage[];
  readonly inMemory: readonly Stage[];
}

const BATCH_ROWS = 500;

type Batches = AsyncIterable<readonly string[]>;

export class Pipelines {
  readonly #options: PipelinesOptions;
  readonly #shapes = new StatementShapes();
  readonly #processes: StageProcesses;

  constructor(options: PipelinesOptions) {
    this.#options = options;
    this.#processes = new StageProcesses({
      memoryBytes: options.memoryBytes,
      timeoutMs: options.timeoutMs,
    });
  }

  /**
   * Splits a pipeline into the parts for SQL and for memory, and runs nothing.
   *
   * @throws NOT_FOUND, GONE for a collection; FORBIDDEN, also for a hidden field that the pipeline names;
   * MALFORMED_FILTER
   */
  plan(scope: Scope, { collection, stages }: Pick<PipelineRun, 'collection' | 'stages'>): PipelinePlan {
    const start = this.#readable(scope, collection);
    assertPipelineReadable(stages, start, (name) => this.#lookedUp(scope, name), scope);
    const compiled = compilePipeline(stages, start, this.#compileOptions(scope));
    const inMemory = stages.slice(compiled.stageCount);
    if (compiled.reason !== undefined) assertComputable(withoutLookups(inMemory), compiled.reason);
    return { compiled, inSql: stages.slice(0, compiled.stageCount), inMemory };
  }

  /**
   * Returns the documents as JSON text, in batches. Rejects an invalid pipeline at once. Reading starts with
   * the loop of the caller and stops when the caller leaves that loop.
   *
   * @throws as `plan` does; LIMIT_EXCEEDED if stages outside the database need more memory than allowed
   */
  run(scope: Scope, run: PipelineRun): Batches {
    const { compiled, inMemory } = this.plan(scope, run);
    return this.#continued(scope, this.#read(scope, run, compiled.sql), { run, stages: inMemory });
  }

  /**
   * Returns all documents. It takes one round trip if SQL supports all stages.
   *
   * @throws as `run` does; LIMIT_EXCEEDED for more than `most` documents
   */
  async collect(scope: Scope, run: PipelineRun, most: number): Promise<readonly string[]> {
    const { compiled, inMemory } = this.plan(scope, run);
    if (inMemory.length === 0) {
      const { within, signal } = run;
      const sql = Prisma.sql`select d.json from (${compiled.sql}) as d limit ${most + 1}`;
      const rows = await (within ?? this.#options.database.reading(scope)).query<{ json: string }>(sql, {
        name: this.#shapes.nameOf(sql.text),
        signal,
      });
      if (rows.length > most) throw tooMany(most);
      return rows.map(({ json }) => json);
    }
    const documents: string[] = [];
    const batches = this.#continued(scope, this.#read(scope, run, compiled.sql), { run, stages: inMemory });
    for await (const batch of batches) {
      documents.push(...batch);
      if (documents.length > most) throw tooMany(most);
    }
    return documents;
  }

  #continued(
    scope: Scope,
    start: Batches,
    { run, stages }: { readonly run: PipelineRun; readonly stages: readonly Stage[] },
  ): Batches {
    return partsOf(stages).reduce(
      (documents, part) =>
        part.isLookup
          ? this.#lookUp(scope, documents, { stages: part.stages, run })
          : this.#compute(documents, { stages: part.stages, signal: run.signal }),
      start,
    );
  }

  /**
   * Runs stages that SQL supports over documents given as JSON text.
   *
   * @throws MALFORMED_FILTER for other stages, FORBIDDEN for a collection that is looked up
   */
  async transform(
    { scope, within, signal }: Pick<PipelineRun, 'within' | 'signal'> & { readonly scope: Scope },
    documents: readonly string[],
    stages: readonly Stage[],
  ): Promise<readonly string[]> {
    const source = { documents: `[${documents.join(',')}]` };
    const { sql, reason } = compilePipeline(stages, source, this.#compileOptions(scope));
    if (reason !== undefined) throw reason;
    const rows = await (within ?? this.#options.database).query<{ json: string }>(sql, { signal });
    return rows.map(({ json }) => json);
  }

  async *#read(scope: Scope, { within, signal }: PipelineRun, sql: Prisma.Sql): Batches {
    if (within === undefined) {
      yield* this.#options.database.reading(scope).stream(sql, { signal, batchRows: BATCH_ROWS });
    } else yield* this.#readWithin(within, sql, signal);
  }

  /**
   * A transaction has one connection. Each reading has a cursor of its own, so that other statements can run
   * between its batches.
   */
  async *#readWithin(within: Transaction, sql: Prisma.Sql, signal: AbortSignal | undefined): Batches {
    const cursor = Prisma.raw(`pipeline_${randomBytes(8).toString('hex')}`);
    await within.query(Prisma.sql`declare ${cursor} no scroll cursor for ${sql}`, { signal });
    try {
      for (;;) {
        const fetch = Prisma.sql`fetch ${Prisma.raw(String(BATCH_ROWS))} from ${cursor}`;
        const rows = await within.query<{ json: string }>(fetch, { signal });
        if (rows.length > 0) yield rows.map(({ json }) => json);
        if (rows.length < BATCH_ROWS) return;
      }
    } finally {
      // The cursor of a failed transaction is closed already.
      await within.query(Prisma.sql`close ${cursor}`).catch(() => {});
    }
  }

  async *#compute(
    documents: Batches,
    { stages, signal }: { readonly stages: readonly Stage[]; readonly signal: AbortSignal | undefined },
  ): Batches {
    const batches = areAlone(stages) ? documents : this.#gathered(documents, stages);
    const stagesAtWork = this.#processes.start(stages);
    try {
      for await (const batch of batches) {
        const made = await stagesAtWork.run(batch, signal);
        for (let at = 0; at < made.length; at += BATCH_ROWS) yield made.slice(at, at + BATCH_ROWS);
      }
    } finally {
      stagesAtWork.end();
    }
  }

  /** All documents as one batch. */
  async *#gathered(documents: Batches, stages: readonly Stage[]): Batches {
    const all: string[] = [];
    let length = 0;
    for await (const batch of documents) {
      for (const text of batch) length += text.length;
      if (length > this.#options.memoryBytes) throw tooMuch(stages, this.#options.memoryBytes);
      all.push(...batch);
    }
    yield all;
  }

  /**
   * Runs a `$lookup` that follows a stage in memory: sends the documents back to the database, one batch at
   * a time.
   */
  async *#lookUp(
    scope: Scope,
    documents: Batches,
    { stages, run }: { readonly stages: readonly Stage[]; readonly run: PipelineRun },
  ): Batches {
    for await (const batch of documents) {
      yield await this.transform({ scope, within: run.within, signal: run.signal }, batch, stages);
    }
  }

  #compileOptions(scope: Scope): PipelineOptions {
    const { database, now = () => new Date() } = this.#options;
    return {
      context: { isByteOrdered: database.isByteOrdered, now: now() },
      lookUp: (name) => this.#lookedUp(scope, name),
    };
  }

  #readable(scope: Scope, name: string): ReadableCollection & PipelineSource {
    const collection = this.#options.catalog.get(name, scope);
    const readable = this.#options.store.findReadable(scope, name);
    // This throws the error that says why.
    if (readable === undefined) accessOf(scope, collection, 'read');
    if (readable === undefined) refuseCollection(name);
    const { access, condition } = readable;
    return { collection, access, condition, hiddenFields: access.hiddenFields };
  }

  #lookedUp(scope: Scope, name: string): ReadableCollection & PipelineSource {
    this.#options.catalog.get(name, scope);
    if (this.#options.store.findReadable(scope, name) === undefined) refuseCollection(name);
    return this.#readable(scope, name);
  }
}

interface Part {
  readonly isLookup: boolean;
  readonly stages: readonly Stage[];
}

/**
 * Groups of stages that run together: those that map documents one by one, those that need all documents,
 * and each `$lookup` by itself.
 */
function partsOf(stages: readonly Stage[]): readonly Part[] {
  const parts: { isLookup: boolean; stages: Stage[]; isAlone: boolean }[] = [];
  for (const stage of stages) {
    const isLookup = stage.kind === 'lookup';
    const isAlone = areAlone([stage]);
    const last = parts.at(-1);
    if (last !== undefined && last.isLookup === isLookup && (last.isAlone === isAlone || !last.isAlone)) {
      last.stages.push(stage);
    } else parts.push({ isLookup, stages: [stage], isAlone });
  }
  return parts;
}

/** The database checks the operators of a `$lookup` when that stage runs. */
function withoutLookups(stages: readonly Stage[]): readonly Stage[] {
  return stages.filter(({ kind }) => kind !== 'lookup');
}

function tooMany(most: number): ServiceError {
  const advice = 'narrow the query, or read it with findStream or agg';
  const detail = `the answer has more than ${most} values; ${advice}`;
  return new ServiceError('LIMIT_EXCEEDED', detail, { errors: [{ detail }] });
}

function tooMuch(stages: readonly Stage[], bytes: number): ServiceError {
  const name = stages.find((stage) => !areAlone([stage]))?.name ?? 'a stage';
  const detail =
    `${name} needs all documents in memory, and they take more than ${bytes} bytes: what is not ` +
    'computed by the ' +
    'database is bounded. Put $match, $project or $group with operators of the database before it.';
  return new ServiceError('LIMIT_EXCEEDED', detail, { errors: [{ detail, parameter: 'pipeline' }] });
}
