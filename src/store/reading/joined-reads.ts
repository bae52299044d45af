/**
 * Single records that are asked for at the same moment, each by a request of its own, read by one statement:
 * most of what a look-up by id costs, here and in PostgreSQL, is the statement and not the record.
 *
 * Only reads that compile to the same statement with the same values but the id are joined, so that nobody is
 * given what its own statement would not give.
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Scope } from '../../model/scope.js';
import { isTraced } from '../../traced.js';
import type { Queryable } from '../database/database.js';
import { wasRefused } from '../database/database-errors.js';
import { GatheringLine } from '../database/gathering-line.js';
import type { QueryOptions } from '../database/query-options.js';
import { assertStorableParameters } from '../database/storable-parameters.js';
import type { FilledStatement } from './kept-reads.js';

/** A row tells by `id` which record it is of. */
interface RecordRow {
  readonly id: string | Buffer;
}

/** A read of one record. */
export interface LoneRead {
  readonly id: string;
  /** The values of its conditions, the id left out. */
  readonly values: readonly unknown[];
  readonly texts: NonNullable<QueryOptions['texts']>;
  /** The columns of its row with their types, as SQL. */
  readonly columns: string;
  /** The kept statement that gives the rows with this condition on `r.id`. */
  readonly statement: (isAsked: Prisma.Sql) => FilledStatement;
}

/**
 * A statement of several ids has so many places, whether they are needed or not: so it is one statement, and
 * PostgreSQL plans it once. It leaves out what is there twice.
 */
const PLACES = 16;

interface Waiting {
  readonly scope: Scope;
  readonly read: LoneRead;
  /** For the case that it is served alone. */
  readonly statement: FilledStatement;
  readonly resolve: (row: RecordRow | undefined | Promise<RecordRow | undefined>) => void;
  readonly reject: (error: unknown) => void;
}

type Line = GatheringLine<Waiting>;

export class JoinedReads {
  readonly #database: Queryable;
  readonly #lines = new WeakMap<object, Map<string, Line>>();

  constructor(database: Queryable) {
    this.#database = database;
  }

  /**
   * The row of the record; `undefined`: there is none. `within`: the transaction to read in, where nobody
   * else is.
   *
   * @throws INVALID_VALUE, UNAVAILABLE
   */
  async read<Row extends RecordRow>(
    scope: Scope,
    read: LoneRead,
    within?: Queryable | undefined,
  ): Promise<Row | undefined> {
    const statement = read.statement(Prisma.sql`r.id = ${read.id}`);
    const key = within === undefined ? keyOf(scope, read) : undefined;
    if (key === undefined) return await readAlone(within ?? this.#database, { scope, read, statement });
    assertStorableParameters(statement.sql);
    return (await new Promise<RecordRow | undefined>((resolve, reject) => {
      this.#lineOf(statement, key).join({ scope, read, statement, resolve, reject });
    })) as Row | undefined;
  }

  #lineOf({ template }: FilledStatement, key: string): Line {
    const lines = this.#lines.get(template) ?? new Map<string, Line>();
    this.#lines.set(template, lines);
    const known = lines.get(key);
    if (known !== undefined) return known;
    const line = new GatheringLine<Waiting>({
      takeNext: (waiting) => waiting.splice(0, PLACES),
      serve: (served) => this.#serve(served),
      onEmpty: () => lines.delete(key),
    });
    lines.set(key, line);
    return line;
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
      // It may be the fault of one of them, and its own statement tells of which.
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
    const { sql, name } = read.statement(Prisma.sql`r.id = any(array[${Prisma.join(ids)}])`);
    // What is slow is told in the name of the first of them.
    const { requestId, operation } = scope;
    const startedAt = performance.now();
    const rows = await this.#database.query<RecordRow>(sql, {
      name,
      texts: read.texts,
      caller: { requestId, operation },
      home: { domain: scope.domain.id, columns: read.columns },
    });
    const durationMs = performance.now() - startedAt;
    for (const waiting of served) waiting.scope.onDuration?.(durationMs);
    return new Map(rows.map((row) => [row.id.toString(), row]));
  }
}

/** What reads of the same statement have to have in common. `undefined`: this one is to be read alone. */
function keyOf(scope: Scope, { values }: LoneRead): string | undefined {
  // Whoever hears of its statements hears of its own; a statement of a script ends with the script.
  if (scope.onStatement !== undefined || scope.scriptDepth !== undefined || isTraced()) return undefined;
  return values.every(isPlain) ? JSON.stringify(values) : undefined;
}

/** Whether JSON tells the value from all others. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

async function readAlone<Row extends RecordRow>(
  queryable: Queryable,
  { scope, read, statement }: Pick<Waiting, 'scope' | 'read' | 'statement'>,
): Promise<Row | undefined> {
  // The run of a script that is ended takes its statements with it.
  const signal = scope.scriptDepth === undefined ? undefined : scope.signal;
  const { sql, name } = statement;
  const [row] = await queryable.query<Row>(sql, {
    ...{ name, caller: scope, signal, texts: read.texts },
    home: { domain: scope.domain.id, columns: read.columns },
  });
  return row;
}
