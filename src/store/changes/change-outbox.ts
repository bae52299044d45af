/**
 * Moves what writers left in `change_outbox` to `told_changes`, where one transaction at a time puts it: on a
 * database that is spread over several servers, the transactions of the writers have no common order.
 *
 * An entry is moved in one transaction, so it is neither lost nor told twice, whatever dies in between. The
 * changes of a record come in the order of their versions: who sees a version in the outbox sees all before
 * it, because the writers of a record wait for each other, and the lowest versions are moved first.
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Database, Transaction } from '../database/database.js';
import { RegularWrites } from '../database/regular-writes.js';
import { inOwnTransaction } from '../writing/atomically.js';

export interface ChangeOutboxOptions {
  readonly database: Database;
  readonly onFault: (error: unknown) => void;
}

/** Held while entries are moved: one gateway does it at a time, and those that find it held do without. */
const MOVE_LOCK = 0x6f757462;
const PAGE_ROWS = 1_000;

/** Waits for a move that is under way, and lets none begin before the transaction ends. */
export async function holdMoves(transaction: Transaction): Promise<void> {
  await transaction.query(Prisma.sql`select pg_advisory_xact_lock(${MOVE_LOCK}::int)`);
}

export class ChangeOutbox {
  readonly #database: Database;
  readonly #regular: RegularWrites;
  #moving: Promise<void> | undefined;
  #isOut = false;

  /** Empties the outbox every two seconds too, so that it stays small while nobody listens. */
  constructor({ database, onFault }: ChangeOutboxOptions) {
    this.#database = database;
    this.#regular = new RegularWrites(async () => {
      try {
        await this.moveAll();
        this.#isOut = false;
      } catch (error) {
        if (!this.#isOut) onFault(error);
        this.#isOut = true;
      }
    });
  }

  /** Moves all there is, unless another gateway is about it. */
  async moveAll(): Promise<void> {
    this.#moving ??= this.#move().finally(() => {
      this.#moving = undefined;
    });
    await this.#moving;
  }

  async close(): Promise<void> {
    await this.#regular.close();
  }

  async #move(): Promise<void> {
    while ((await this.#movePage()) === PAGE_ROWS);
  }

  /** How many were moved. */
  async #movePage(): Promise<number> {
    const [any] = await this.#database.query(Prisma.sql`select 1 from change_outbox limit 1`);
    if (any === undefined) return 0;
    return await inOwnTransaction(this.#database, async (transaction) => {
      const [lock] = await transaction.query<{ isHeld: boolean }>(Prisma.sql`
        select pg_try_advisory_xact_lock(${MOVE_LOCK}::int) as "isHeld"`);
      if (lock?.isHeld !== true) return 0;
      const [page] = await transaction.query<{ ids: string[]; entries: string }>(Prisma.sql`
        select array_agg(id::text) as ids, json_agg(o order by to_version, id)::text as entries
        from (select * from change_outbox order by to_version, id limit ${PAGE_ROWS}) as o`);
      if (page === undefined || page.ids === null) return 0;
      await transaction.query(Prisma.sql`
        insert into told_changes
          (entry_id, at, domain, collection, record_id, operation, to_version, principal)
        select o.id, o.at, o.domain, o.collection, o.record_id, o.operation, o.to_version, o.principal
        from rows from (
          json_to_recordset(${page.entries}::json)
          as (
            id bigint, at timestamptz, domain text, collection text, record_id text, operation text,
            to_version int, principal text
          )
        ) with ordinality as o (
          id, at, domain, collection, record_id, operation, to_version, principal, place
        )
        order by o.place`);
      await transaction.query(Prisma.sql`
        delete from change_outbox where id = any(${page.ids}::bigint[])`);
      return page.ids.length;
    });
  }
}
