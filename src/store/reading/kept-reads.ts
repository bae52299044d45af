/**
 * Statements that were compiled for a read, kept for the next that asks for the same: dashboards and legacy
 * clients send the same few requests all day, and compiling one costs more than running it.
 *
 * What is kept belongs to one principal (a change of rights makes another one), to one state of the catalog,
 * and to one minute of the clock: the days and months of a filter begin and end at minutes.
 */
import { LRUCache } from 'lru-cache';
import type { Prisma } from '../../generated/prisma/client.js';
import type { RecordQuery } from '../../model/record-query.js';
import type { Scope } from '../../model/scope.js';
import type { Member, PageShape } from '../sql/shape.js';
import { statementName } from '../sql/statement-name.js';

/** A statement whose text was put together once: `Prisma.Sql` does so whenever it is asked. */
export interface Statement {
  readonly sql: Prisma.Sql;
  readonly name: string | undefined;
}

export interface ReadIdentity {
  readonly scope: Scope;
  readonly query: RecordQuery;
  /** An object that is another one after any change of the catalog. */
  readonly revision: object;
  readonly now: Date;
}

const MAX_KEPT = 2_000;
const MINUTE_MS = 60_000;

export class KeptReads {
  readonly #reads = new LRUCache<string, KeptRead>({ max: MAX_KEPT });
  readonly #numbers = new WeakMap<object, number>();
  #lastNumber = 0;

  /** What is kept of this read; `compileWhere` throws what is wrong with it. */
  find({ scope, query, revision, now }: ReadIdentity, compileWhere: () => Prisma.Sql): KeptRead {
    const minute = Math.floor(now.getTime() / MINUTE_MS);
    const asker = `${this.#numberOf(scope.principal)} ${this.#numberOf(revision)} ${minute} ${scope.domain.id}`;
    const key = `${asker} ${scope.domain.timeZone} ${JSON.stringify(query)}`;
    const known = this.#reads.get(key);
    if (known) return known;
    const made = new KeptRead(compileWhere());
    this.#reads.set(key, made);
    return made;
  }

  /** Tells objects apart for as long as they live. */
  #numberOf(object: object): number {
    const known = this.#numbers.get(object);
    if (known !== undefined) return known;
    this.#lastNumber += 1;
    this.#numbers.set(object, this.#lastNumber);
    return this.#lastNumber;
  }
}

export class KeptRead {
  readonly #statements = new Map<string, Statement>();
  readonly #printed = new WeakMap<PageShape | readonly Member[], Statement>();

  constructor(readonly where: Prisma.Sql) {}

  /** The statement for one use of the read. */
  statement(
    use: 'json list' | 'ndjson list' | 'stream' | 'page' | 'count',
    compile: () => Prisma.Sql,
  ): Statement {
    const known = this.#statements.get(use);
    if (known) return known;
    const made = toStatement(compile());
    this.#statements.set(use, made);
    return made;
  }

  /**
   * The statement that prints the read in a shape, of a page or of one record. Shapes live as long as the
   * documents they come from.
   */
  print(shape: PageShape | readonly Member[], compile: () => Prisma.Sql): Statement {
    const known = this.#printed.get(shape);
    if (known) return known;
    const made = toStatement(compile());
    this.#printed.set(shape, made);
    return made;
  }
}

export function toStatement(sql: Prisma.Sql): Statement {
  const { text } = sql;
  Object.defineProperty(sql, 'text', { value: text });
  return { sql, name: statementName(text) };
}
