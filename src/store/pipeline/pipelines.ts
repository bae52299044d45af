/** Runs pipelines over the records that a caller may read, each as one statement. */
import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import type { Stage } from '../../base/languages/mongo/mongo-pipeline.js';
import type { Scope } from '../../base/model/scope.js';
import { Prisma } from '../../generated/prisma/client.js';
import { accessOf } from '../access/access.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import type { Transaction } from '../database/queryable.js';
import type { RecordStore } from '../record-store.js';
import {
  compilePipeline,
  type PipelineOptions,
  type PipelineSource,
} from '../sql/pipeline/compile-pipeline.js';
import {
  assertPipelineReadable,
  type ReadableCollection,
  refuseCollection,
} from './assert-pipeline-readable.js';
import { StatementShapes } from './statement-shapes.js';

export interface PipelinesOptions {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly store: Pick<RecordStore, 'findReadable'>;
  readonly now?: () => Date;
}

export interface PipelineRun {
  readonly collection: string;
  readonly stages: readonly Stage[];
  /** The transaction whose writes the pipeline sees. The whole result is read within it. */
  readonly within?: Transaction | undefined;
  readonly signal?: AbortSignal | undefined;
}

const BATCH_ROWS = 500;

type Batches = AsyncIterable<readonly string[]>;

export class Pipelines {
  readonly #options: PipelinesOptions;
  readonly #shapes = new StatementShapes();

  constructor(options: PipelinesOptions) {
    this.#options = options;
  }

  /**
   * The statement of a pipeline, which selects its documents as JSON text, the column `json`.
   *
   * @throws NOT_FOUND, GONE for a collection; FORBIDDEN, also for a hidden field that the pipeline names;
   * MALFORMED_FILTER
   */
  compile(scope: Scope, { collection, stages }: Pick<PipelineRun, 'collection' | 'stages'>): Prisma.Sql {
    const start = this.#readable(scope, collection);
    assertPipelineReadable(stages, start, (name) => this.#lookedUp(scope, name), scope);
    return compilePipeline(stages, start, this.#compileOptions(scope));
  }

  /**
   * Returns the documents as JSON text, in batches. Rejects an invalid pipeline at once. Reading starts with
   * the loop of the caller and stops when the caller leaves that loop.
   *
   * @throws as `compile` does; INVALID_VALUE for documents that a stage refuses
   */
  run(scope: Scope, { within, signal, ...run }: PipelineRun): Batches {
    const sql = this.compile(scope, run);
    return within === undefined
      ? this.#options.database.reading(scope).stream(sql, { signal, batchRows: BATCH_ROWS })
      : this.#readWithin(within, sql, signal);
  }

  /**
   * Returns all documents, in one round trip.
   *
   * @throws as `run` does; LIMIT_EXCEEDED for more than `most` documents
   */
  async collect(
    scope: Scope,
    { within, signal, ...run }: PipelineRun,
    most: number,
  ): Promise<readonly string[]> {
    const sql = Prisma.sql`select d.json from (${this.compile(scope, run)}) as d limit ${most + 1}`;
    const rows = await (within ?? this.#options.database.reading(scope)).query<{ json: string }>(sql, {
      name: this.#shapes.nameOf(sql.text),
      signal,
    });
    if (rows.length > most) throw tooMany(most);
    return rows.map(({ json }) => json);
  }

  /**
   * Runs stages over documents given as JSON text.
   *
   * @throws MALFORMED_FILTER, FORBIDDEN for a collection that is looked up
   */
  async transform(
    { scope, within, signal }: Pick<PipelineRun, 'within' | 'signal'> & { readonly scope: Scope },
    documents: readonly string[],
    stages: readonly Stage[],
  ): Promise<readonly string[]> {
    const source = { documents: `[${documents.join(',')}]` };
    const sql = compilePipeline(stages, source, this.#compileOptions(scope));
    const rows = await (within ?? this.#options.database).query<{ json: string }>(sql, { signal });
    return rows.map(({ json }) => json);
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

function tooMany(most: number): ServiceError {
  const advice = 'narrow the query, or read it with findStream or agg';
  const detail = `the answer has more than ${most} values; ${advice}`;
  return new ServiceError('LIMIT_EXCEEDED', detail, { errors: [{ detail }] });
}
