/**
 * Joins reads of single records that different requests send at the same moment into one statement: most of
 * the cost of a look-up by id, here and in PostgreSQL, is the statement and not the record.
 *
 * Only reads that compile to the same statement, with the same values except the id, are joined, so nobody
 * gets anything that its own statement would not return.
 */

import type { Scope } from '../../base/model/scope.js';
import { Batcher } from '../../base/process/batcher.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { isTraced } from '../../base/process/traced.js';
import { wasRefused } from '../database/database-errors.js';
import type { Queryable, QueryOptions } from '../database/queryable.js';
import { assertStorableParameters } from '../database/server-statements.js';
import { type Sql, sql } from '../sql.js';
import type { Statement } from './statement-cache.js';

/** A row, which names its record by `id`. */
interface RecordRow {
  readonly id: string | Buffer;
}

/** A read of one record. */
export interface SingleRead {
  readonly id: string;
  readonly texts: NonNullable<QueryOptions['texts']>;
  /** The columns of its row with their types, as SQL. */
  readonly columns: string;
  /** The cached statement for the rows that satisfy this condition on `r.id`. */
  readonly statement: (isAsked: Sql) => Statement;
}

/**
 * A joined statement always has this many parameters, needed or not, so that PostgreSQL plans it once.
 * Duplicates are removed.
 */
const PLACES = 16;

interface Waiting {
  readonly scope: Scope;
  readonly read: SingleRead;
  readonly resolve: (row: RecordRow | undefined | Promise<RecordRow | undefined>) => void;
  readonly reject: (error: unknown) => void;
}

export class BatchedReads {
  readonly #database: Queryable;
  /** By the text of the statement and all of its values except the id; the caller makes no difference. */
  readonly #lines = new Map<string, Batcher<Waiting>>();

  constructor(database: Queryable) {
    this.#database = database;
  }

  /**
   * The row of the record; `undefined` if there is none. Reads `within` a transaction are not joined.
   *
   * @throws INVALID_VALUE, UNAVAILABLE
   */
  async read<Row extends RecordRow>(
    scope: Scope,
    read: SingleRead,
    within?: Queryable | undefined,
  ): Promise<Row | undefined> {
    const key = within === undefined ? keyOf(scope, read) : undefined;
    if (key === undefined) return await readAlone(within ?? this.#database, { scope, read });
    assertStorableParameters(sql`${read.id}`);
    return (await new Promise<RecordRow | undefined>((resolve, reject) => {
      this.#lineOf(key).add({ scope, read, resolve, reject });
    })) as Row | undefined;
  }

  #lineOf(key: string): Batcher<Waiting> {
    return getOrMake(this.#lines, key, () => {
      return new Batcher({
        takeNext: (waiting) => waiting.splice(0, PLACES),
        work: (served) => this.#serve(served),
        concurrency: 2,
        onIdle: () => this.#lines.delete(key),
      });
    });
  }

  async #serve(served: readonly Waiting[]): Promise<void> {
    const [first, second] = served;
    if (first === undefined) return;
    if (second === undefined) {
      first.resolve(readAlone(this.#database, first));
      return;
    }
    try {
      const rowsById = await this.#readTogether(first, served);
      for (const { read, resolve } of served) resolve(rowsById.get(read.id));
    } catch (error) {
      // One of the reads may have caused it; each is retried alone, and the culprit's own statement reports
      // it.
      const isToBeTriedAlone = wasRefused(error);
      for (const waiting of served) {
        if (isToBeTriedAlone) waiting.resolve(readAlone(this.#database, waiting));
        else waiting.reject(error);
      }
    }
  }

  async #readTogether(
    { scope, read }: Waiting,
    served: readonly Waiting[],
  ): Promise<ReadonlyMap<string, RecordRow>> {
    const ids = Array.from({ length: PLACES }, (_, place) => served[place]?.read.id ?? read.id);
    const { sql: statement, name } = read.statement(sql`r.id = any(array[${sql.join(ids)}])`);
    // A slow statement is logged under the first request.
    const { requestId, operation } = scope.call;
    const startedAt = performance.now();
    const rows = await this.#database.query<RecordRow>(statement, {
      name,
      texts: read.texts,
      call: { requestId, operation },
      shardLocal: { domain: scope.domain.id, columns: read.columns },
    });
    const durationMs = performance.now() - startedAt;
    for (const waiting of served) waiting.scope.call.onDuration?.(durationMs);
    return new Map(rows.map((row) => [row.id.toString(), row]));
  }
}

/** Reads with the same key can share a statement. `undefined`: this one must be read alone. */
function keyOf(scope: Scope, { statement }: SingleRead): string | undefined {
  // A listener must hear only the request's own statements, and a script's statement must end with the
  // script.
  if (scope.call.onStatement !== undefined || scope.call.scriptDepth !== undefined || isTraced())
    return undefined;
  // All of its values: those of the compiled statement, such as the domain, and those of the condition.
  const { values, text } = statement(sql`r.id = ${''}`).sql;
  return values.every(isPlain) ? `${JSON.stringify(values)} ${text}` : undefined;
}

/** Whether JSON represents the value unambiguously. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

async function readAlone<Row extends RecordRow>(
  queryable: Queryable,
  { scope, read }: Pick<Waiting, 'scope' | 'read'>,
): Promise<Row | undefined> {
  // When a script is ended, its statements are cancelled.
  const signal = scope.call.scriptDepth === undefined ? undefined : scope.call.signal;
  const { sql: statement, name } = read.statement(sql`r.id = ${read.id}`);
  const [row] = await queryable.query<Row>(statement, {
    ...{ name, call: scope.call, signal, texts: read.texts },
    shardLocal: { domain: scope.domain.id, columns: read.columns },
  });
  return row;
}
