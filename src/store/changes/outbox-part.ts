/** The part of the outbox on one server, read and emptied there. */
import { createHash } from 'node:crypto';
import type { Queryable } from '../database/queryable.js';
import { type Sql, sql } from '../sql.js';

/**
 * Entries of the outbox, lowest versions first: the columns as array literals, which PostgreSQL reads and
 * prints with less work than JSON, and which are only passed on here.
 */
export interface OutboxPage extends Readonly<Record<OutboxColumn, string>> {
  readonly count: number;
}

const OUTBOX_COLUMNS = [
  'id',
  'at',
  'domain',
  'collection',
  'record_id',
  'operation',
  'to_version',
  'principal',
  'started',
  'announced',
] as const;
type OutboxColumn = (typeof OUTBOX_COLUMNS)[number];

const COLUMNS = sql.raw(OUTBOX_COLUMNS.join(', '));
/** In the order of the rows they are made of. */
const ARRAYS = sql.raw(
  OUTBOX_COLUMNS.map((column) => `array_agg(${column}::text)::text as ${column}`).join(', '),
);

export class OutboxPart {
  /** The name of the server, for messages. */
  readonly name: string;
  readonly #server: Queryable;
  readonly #tables: readonly Sql[];
  /** Identifies the tables in statement names. */
  readonly #key: string;

  /** @param tables the tables of the part: the outbox itself, or shards of it */
  constructor(name: string, server: Queryable, tables: readonly string[]) {
    this.name = name;
    this.#server = server;
    this.#tables = tables.map((table) => sql.raw(table));
    this.#key = createHash('sha256').update(tables.join()).digest('hex').slice(0, 16);
  }

  async isEmpty(): Promise<boolean> {
    const looks = this.#tables.map((table) => sql`(select 1 from ${table} limit 1)`);
    return (await this.#run('look', sql.join(looks, ' union all '))).length === 0;
  }

  /** At most `rows` entries with the lowest versions; `undefined` if there are none. */
  async readPage(rows: number): Promise<OutboxPage | undefined> {
    const parts = this.#tables.map((table) => sql`select ${COLUMNS} from ${table}`);
    const [page] = await this.#run<OutboxPage>(
      'read',
      sql`
      select count(*)::int as count, ${ARRAYS}
      from (
        select * from (${sql.join(parts, ' union all ')}) as o order by to_version, id limit ${rows}
      ) as o`,
    );
    return page === undefined || page.count === 0 ? undefined : page;
  }

  /** Looks up each entry once in each table: a list of them would be compared with every row. */
  async remove({ id, domain }: Pick<OutboxPage, 'id' | 'domain'>): Promise<void> {
    const removals = this.#tables.map(
      (table) => sql`delete from ${table} o using told t where o.id = t.id and o.domain = t.domain`,
    );
    const [first] = removals;
    if (first === undefined) return;
    const all = removals.map((removal, index) => sql`${sql.raw(`removed_${index}`)} as (${removal})`);
    await this.#run(
      'remove',
      sql`
      with told as materialized (
        select * from unnest(${id}::bigint[], ${domain}::text[]) as t (id, domain)
      )
      ${removals.length === 1 ? first : sql`, ${sql.join(all)} select`}`,
    );
  }

  async #run<Row extends object>(what: string, sql: Sql): Promise<Row[]> {
    return await this.#server.query<Row>(sql, { name: `outbox_${what}_${this.#key}` });
  }
}
