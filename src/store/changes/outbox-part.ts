/** The part of the outbox on one server, read and emptied there. */
import { createHash } from 'node:crypto';
import { Prisma } from '../../generated/prisma/client.js';
import type { Queryable } from '../database/database.js';

export interface OutboxPage {
  /** The ids of the entries and, in parallel, their domains. */
  readonly ids: readonly string[];
  readonly domains: readonly string[];
  /** The entries as a JSON array, lowest versions first. */
  readonly entries: string;
}

const COLUMNS = Prisma.raw(
  'id, at, domain, collection, record_id, operation, to_version, principal, started, announced',
);

export class OutboxPart {
  /** The name of the server, for messages. */
  readonly name: string;
  readonly #server: Queryable;
  readonly #tables: readonly Prisma.Sql[];
  /** Identifies the tables in statement names. */
  readonly #key: string;

  /** @param tables the tables of the part: the outbox itself, or shards of it */
  constructor(name: string, server: Queryable, tables: readonly string[]) {
    this.name = name;
    this.#server = server;
    this.#tables = tables.map((table) => Prisma.raw(table));
    this.#key = createHash('sha256').update(tables.join()).digest('hex').slice(0, 16);
  }

  async isEmpty(): Promise<boolean> {
    const looks = this.#tables.map((table) => Prisma.sql`(select 1 from ${table} limit 1)`);
    return (await this.#run('look', Prisma.join(looks, ' union all '))).length === 0;
  }

  /** At most `rows` entries with the lowest versions; `undefined` if there are none. */
  async readPage(rows: number): Promise<OutboxPage | undefined> {
    const parts = this.#tables.map((table) => Prisma.sql`select ${COLUMNS} from ${table}`);
    const [page] = await this.#run<Nullable<OutboxPage>>(
      'read',
      Prisma.sql`
      select array_agg(id::text order by to_version, id) as ids,
        array_agg(domain order by to_version, id) as domains,
        json_agg(o order by to_version, id)::text as entries
      from (
        select * from (${Prisma.join(parts, ' union all ')}) as o order by to_version, id limit ${rows}
      ) as o`,
    );
    if (page?.ids == null || page.domains === null || page.entries === null) return undefined;
    return { ids: page.ids, domains: page.domains, entries: page.entries };
  }

  async remove({ ids, domains }: OutboxPage): Promise<void> {
    const keys = ids.map((id, index) => `${id} ${domains[index]}`);
    const removals = this.#tables.map(
      (table) => Prisma.sql`delete from ${table}
        where id = any(${[...ids]}::bigint[]) and id::text || ' ' || domain = any(${keys}::text[])`,
    );
    const [first] = removals;
    if (first === undefined) return;
    const all = removals.map(
      (removal, index) => Prisma.sql`${Prisma.raw(`removed_${index}`)} as (${removal})`,
    );
    await this.#run('remove', removals.length === 1 ? first : Prisma.sql`with ${Prisma.join(all)} select`);
  }

  async #run<Row extends object>(what: string, sql: Prisma.Sql): Promise<Row[]> {
    return await this.#server.query<Row>(sql, { name: `outbox_${what}_${this.#key}` });
  }
}

type Nullable<Row> = { [name in keyof Row]: Row[name] | null };
