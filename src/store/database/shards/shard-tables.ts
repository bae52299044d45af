/** The tables of a shard of Citus, and the statements that are about them instead of the spread ones. */
import { LRUCache } from 'lru-cache';
import { Sql } from '../../sql.js';

/** A statement has some kilobytes of text. */
const MOST_REMEMBERED = 500;

export class ShardTables {
  readonly #names: Readonly<Record<string, string>>;
  readonly #mention: RegExp;
  readonly #partsByName = new LRUCache<string, readonly string[]>({ max: MOST_REMEMBERED });

  /** @param names of the tables of the shard, by those of the spread tables */
  constructor(names: Readonly<Record<string, string>>) {
    this.#names = names;
    this.#mention = new RegExp(
      `(?=\\w)(?<=\\b(?:from|join|into|update)\\s+)(?:${Object.keys(names).join('|')})\\b`,
      'g',
    );
  }

  /** The statement about the shard. With a name, which always means the same text, it is remembered. */
  statement(sql: Sql, name: string | undefined): Sql {
    const remembered = name === undefined ? undefined : this.#partsByName.get(name);
    const parts = remembered ?? this.#partsOf(sql);
    if (remembered === undefined && name !== undefined) this.#partsByName.set(name, parts);
    return new Sql(parts, sql.values);
  }

  #partsOf(sql: Sql): readonly string[] {
    return sql.strings.map((part) => part.replace(this.#mention, (table) => this.#names[table] ?? table));
  }
}
