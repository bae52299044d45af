/** Runs pipelines over the records that a caller may read, each as one statement. */
import { randomBytes } from 'node:crypto';
import { faultAt, ServiceError } from '../../base/errors.js';
import { type Expression, listExpressionPaths } from '../../base/model/expression.js';
import { allOf } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { queryOf } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import { accessOf, assertReadable, type Readable } from '../access/access.js';
import { hintAtPaths } from '../access/hint-at-paths.js';
import { type ResolveContext, resolveFilter } from '../access/resolve-filter.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import type { Transaction } from '../database/queryable.js';
import type { RecordStore } from '../record-store.js';
import { namedStatements } from '../sql/statement-name.js';
import { type Sql, sql } from '../sql.js';
import { compilePipeline, type PipelineOptions } from './compile-pipeline.js';
import type { Stage } from './mongo-pipeline.js';

export interface PipelinesOptions {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly store: Pick<RecordStore, 'findReadable' | 'scan' | 'spelling'>;
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
  readonly #nameOf = namedStatements();

  constructor(options: PipelinesOptions) {
    this.#options = options;
  }

  /**
   * The statement of a pipeline, which selects its documents as JSON text, the column `json`.
   *
   * @throws NOT_FOUND, GONE for a collection; FORBIDDEN, also for a hidden field that the pipeline names;
   * MALFORMED_FILTER
   */
  compile(scope: Scope, { collection, stages }: Pick<PipelineRun, 'collection' | 'stages'>): Sql {
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
    this.#scan(scope, run);
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
    const statement = sql`select d.json from (${this.compile(scope, run)}) as d limit ${most + 1}`;
    const rows = await (within ?? this.#options.database.reading(scope)).query<{ json: string }>(statement, {
      name: this.#nameOf(statement.text),
      signal,
      rows: this.#scan(scope, run),
    });
    if (rows.length > most) {
      const advice = 'narrow the query, or read it with findStream or agg';
      throw faultAt('LIMIT_EXCEEDED', `the answer has more than ${most} values; ${advice}`);
    }
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

  /** How many records it goes through, by the conditions, order and limit that it begins with. */
  #scan(scope: Scope, { collection, stages }: Pick<PipelineRun, 'collection' | 'stages'>): number {
    const end = stages.findIndex(({ kind }) => kind !== 'match');
    const filters = stages.slice(0, end === -1 ? stages.length : end);
    const rest = end === -1 ? [] : stages.slice(end);
    const [first] = rest;
    const sort = first?.kind === 'sort' ? first.keys : [];
    const ending = rest.find(({ kind }) => kind !== 'sort' && kind !== 'skip' && kind !== 'project');
    const filter = allOf(filters.flatMap((stage) => (stage.kind === 'match' ? [stage.filter] : [])));
    const query = { ...queryOf(collection), filter, sort };
    return this.#options.store.scan(scope, query, ending?.kind === 'limit' ? 'page' : 'all');
  }

  /** Reads by a cursor of its own, so that other statements of the transaction run between its batches. */
  async *#readWithin(within: Transaction, statement: Sql, signal: AbortSignal | undefined): Batches {
    const cursor = sql.raw(`pipeline_${randomBytes(8).toString('hex')}`);
    await within.query(sql`declare ${cursor} no scroll cursor for ${statement}`, { signal });
    try {
      for (;;) {
        const fetch = sql`fetch ${sql.raw(String(BATCH_ROWS))} from ${cursor}`;
        const rows = await within.query<{ json: string }>(fetch, { signal });
        if (rows.length > 0) yield rows.map(({ json }) => json);
        if (rows.length < BATCH_ROWS) return;
      }
    } finally {
      // The cursor of a failed transaction is closed already.
      await within.query(sql`close ${cursor}`).catch(() => {});
    }
  }

  #compileOptions(scope: Scope): PipelineOptions {
    const { database, store, now = () => new Date() } = this.#options;
    return {
      context: {
        isByteOrdered: database.isByteOrdered,
        now: now(),
        timeZone: scope.domain.timeZone,
        spelling: store.spelling(scope),
      },
      lookUp: (name) => this.#lookedUp(scope, name),
    };
  }

  #readable(scope: Scope, name: string): Readable {
    const collection = this.#options.catalog.get(name, scope);
    const readable = this.#options.store.findReadable(scope, name);
    // This throws the error with the reason.
    if (readable === undefined) accessOf(scope, collection, 'read');
    return readable ?? refuseCollection(name);
  }

  #lookedUp(scope: Scope, name: string): Readable {
    this.#options.catalog.get(name, scope);
    return this.#options.store.findReadable(scope, name) ?? refuseCollection(name);
  }
}

/**
 * Rejects a pipeline that names a field which the caller may not read, in its own collection or in one that
 * it looks up. No stage sees hidden fields in any case. The error keeps callers from mistaking a hidden
 * field for an absent one. Undeclared names are pointed out to the caller.
 *
 * @throws FORBIDDEN (403) naming the field, or the collection, as `findReadable` does
 */
function assertPipelineReadable(
  stages: readonly Stage[],
  start: Readable,
  findReadable: (collection: string) => Readable,
  scope: Scope,
): void {
  /** Fields that hold values made by a stage or found by a `$lookup`. */
  const own = new Map<string, Readable | undefined>();
  const { timeZone } = scope.domain;
  const context = { collection: start.collection, timeZone, now: new Date() };
  for (const stage of stages) {
    const paths = pathsOf(stage, context);
    assertPathsReadable(paths, { start, own, scope });
    // Values made by a stage are not of a declared field.
    if (stage.kind === 'match' && !paths.some(([name = '']) => own.has(name))) {
      resolveFilter(stage.filter, context, start.access);
    }
    if (stage.kind === 'facet') {
      for (const facet of stage.facets) assertPipelineReadable(facet.stages, start, findReadable, scope);
    }
    if (stage.kind === 'lookup') {
      const foreign = findReadable(stage.collection);
      if (stage.fields !== undefined) assertNamed([stage.fields.foreign], foreign, scope);
      assertPipelineReadable(stage.stages, foreign, findReadable, scope);
      own.set(stage.as[0] ?? '', foreign);
    }
    if (stage.kind === 'set') for (const { path } of stage.members) own.set(path[0] ?? '', undefined);
    if (stage.kind === 'project' && stage.projection.kind === 'only') {
      for (const { path } of stage.projection.computed) own.set(path[0] ?? '', undefined);
    }
    if (['group', 'bucket', 'count', 'facet', 'replaceRoot'].includes(stage.kind)) return;
  }
}

function assertPathsReadable(
  paths: readonly Path[],
  { start, own, scope }: { start: Readable; own: ReadonlyMap<string, Readable | undefined>; scope: Scope },
): void {
  for (const path of paths) {
    const [name, ...rest] = path;
    if (name === undefined) continue;
    if (!own.has(name)) {
      assertNamed([path], start, scope);
      continue;
    }
    const found = own.get(name);
    // A step that is the number of an element leads into the record that was found.
    const inner = rest.filter((step) => !/^\d+$/.test(step));
    if (found !== undefined && inner.length > 0) assertNamed([inner], found, scope);
  }
}

function assertNamed(paths: readonly Path[], { collection, access }: Readable, scope: Scope): void {
  assertReadable(paths, access, collection);
  hintAtPaths(paths, scope, collection);
}

function pathsOf(stage: Stage, context: ResolveContext): readonly Path[] {
  switch (stage.kind) {
    case 'match':
      return resolveFilter(stage.filter, context).paths;
    case 'sort':
      return stage.keys.map(({ path }) => path);
    case 'unwind':
      return [stage.path];
    case 'lookup':
      return [
        ...(stage.fields === undefined ? [] : [stage.fields.local]),
        ...expressionsOf(stage).flatMap(listExpressionPaths),
      ];
    case 'project':
      if (stage.projection.kind === 'all but') return [];
      return [
        ...[...stage.projection.fields.keys()].map((name) => [name]),
        ...expressionsOf(stage).flatMap(listExpressionPaths),
      ];
    default:
      return expressionsOf(stage).flatMap(listExpressionPaths);
  }
}

/** The expressions of the stage itself, without those of its inner pipelines. */
function expressionsOf(stage: Stage): readonly Expression[] {
  switch (stage.kind) {
    case 'project':
      return stage.projection.kind === 'only' ? stage.projection.computed.map(({ value }) => value) : [];
    case 'set':
      return stage.members.map(({ value }) => value);
    case 'group':
    case 'bucket':
      return [stage.key, ...stage.members.map(({ operand }) => operand)];
    case 'replaceRoot':
      return [stage.root];
    case 'lookup':
      return stage.variables.map(({ value }) => value);
    default:
      return [];
  }
}

/** @throws FORBIDDEN */
function refuseCollection(name: string): never {
  throw new ServiceError('FORBIDDEN', `you may not read records of ${name}, so you may not look them up`);
}
