/**
 * Caches the compiled statements of reads for the next read of the same form, whatever its values: compiling
 * a statement costs more than everything else a read does here.
 *
 * Entries belong to one principal (a change of rights creates another), one state of the catalog, and one
 * minute of the clock, because a selection may contain a filter whose days begin and end at minutes.
 */

import { LRUCache } from 'lru-cache';
import type { Path } from '../../base/model/path.js';
import type { RecordQuery } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import type { Member, PageShape } from '../sql/shape.js';
import { statementName } from '../sql/statement-name.js';
import { Sql } from '../sql.js';

/** A statement with its text; `Sql` would assemble the text at every access. */
export interface Statement {
  readonly sql: Sql;
  readonly name: string | undefined;
}

/** The key of a read, beside its compiled condition. */
export interface ReadIdentity {
  readonly scope: Scope;
  readonly query: Omit<RecordQuery, 'filter'>;
  /** A different object after every change of the catalog. */
  readonly revision: object;
  readonly now: Date;
}

const MAX_KEPT = 2_000;
const MINUTE_MS = 60_000;

export class StatementCache {
  readonly #reads = new LRUCache<string, KeptRead>({ max: MAX_KEPT });
  readonly #projections = new WeakMap<readonly Path[], string>();
  readonly #numbers = new WeakMap<object, number>();
  #lastNumber = 0;

  /** The cache entry of a read with this condition, whatever its values. */
  find({ scope, query, revision, now }: ReadIdentity, where: Sql): KeptRead {
    const minute = Math.floor(now.getTime() / MINUTE_MS);
    const { principal, domain } = scope;
    const reader = `${this.#numberOf(principal)} ${this.#numberOf(revision)} ${minute} ${domain.id}`;
    const { collection, sort, projection, limit, skip, after, before, fromEnd } = query;
    const isPlain = sort.length === 0 && after === undefined && before === undefined;
    // Printing an empty list for the most frequent reads would take longer than everything else here.
    const place = isPlain ? '' : JSON.stringify([sort, after, before]);
    // All requests with the same document share the selection's path objects.
    const shown = projection && getOrMake(this.#projections, projection, () => JSON.stringify(projection));
    const shape = `${collection} ${limit} ${skip} ${fromEnd} ${place} ${shown}`;
    const key = `${reader} ${domain.timeZone} ${shape} ${where.text}`;
    return getOrMake<string, KeptRead>(this.#reads, key, () => new KeptRead());
  }

  /** Numbers objects by identity for as long as they live. */
  #numberOf(object: object): number {
    return getOrMake(this.#numbers, object, () => ++this.#lastNumber);
  }
}

type Use = 'json list' | 'ndjson list' | 'texts' | 'stream' | 'page' | 'count' | 'record';

/** Builds a statement around a condition. It must not look at the values, which are filled in later. */
type Compile = (where: Sql) => Sql;

export class KeptRead {
  readonly #statements = new Map<Use, StatementTemplate>();
  readonly #printed = new WeakMap<PageShape | readonly Member[], StatementTemplate>();

  /** The statement for one use of the read, with the values of this condition. */
  statement(use: Use, where: Sql, compile: Compile): Statement {
    return getOrMake(this.#statements, use, () => new StatementTemplate(where, compile)).fill(where);
  }

  /**
   * The statement that prints the read in a shape, for a page or a single record. Shapes live as long as
   * their documents.
   */
  print(shape: PageShape | readonly Member[], where: Sql, compile: Compile): Statement {
    return getOrMake(this.#printed, shape, () => new StatementTemplate(where, compile)).fill(where);
  }
}

/** Stands for a value of the condition. */
class Slot {
  constructor(readonly index: number) {}
}

/** A statement around a condition whose values are filled in later. */
class StatementTemplate {
  readonly #statement: Statement;
  readonly #values: readonly unknown[];

  constructor(where: Sql, compile: Compile) {
    const slots = where.values.map((_, index) => new Slot(index));
    const { sql, name } = toStatement(compile(new Sql(where.strings, slots)));
    this.#statement = { sql, name };
    this.#values = sql.values;
  }

  fill({ values }: Sql): Statement {
    const { sql, name } = this.#statement;
    const filled = this.#values.map((value) => (value instanceof Slot ? values[value.index] : value));
    return { sql: new FilledSql(sql, filled), name };
  }
}

/** A statement with other values. It shares the text of the template, which is assembled once. */
class FilledSql extends Sql {
  override readonly values: Sql['values'];
  override readonly strings: string[];
  readonly #template: Sql;

  constructor(template: Sql, values: Sql['values']) {
    super([''], []);
    this.#template = template;
    this.values = values;
    this.strings = template.strings;
  }

  override get sql(): string {
    return this.#template.sql;
  }

  override get statement(): string {
    return this.#template.statement;
  }

  override get text(): string {
    return this.#template.text;
  }
}

export function toStatement(sql: Sql): Statement {
  const { text } = sql;
  Object.defineProperty(sql, 'text', { value: text });
  return { sql, name: statementName(text) };
}
