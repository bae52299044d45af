/**
 * Moves the entries that writers leave in `change_outbox` to `told_changes`, one transaction at a time: on a
 * database sharded over several servers, the transactions of the writers have no common order. The follow-ups
 * of each write are started together with the move.
 *
 * An entry is announced in one transaction and then deleted from the outbox. After a crash in between it is
 * found again, and skipped because it was announced: it is neither lost nor announced twice. The changes of a
 * record arrive in the order of their versions: the writers of a record wait for each other, so whoever sees
 * a version in the outbox sees all earlier ones, and the lowest versions are moved first.
 *
 * Each server's part is read separately, so a server that is down holds back only what its own schools wrote.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../database/database.js';
import type { Queryable, Transaction } from '../database/queryable.js';
import { RepeatedWork } from '../database/repeated-work.js';
import { type Sql, sql } from '../sql.js';
import { inOwnTransaction } from '../writing/atomically.js';
import { OUTBOX_CHANNEL, PRINCIPALS_CHANNEL } from '../writing/record-statements.js';
import type { WriteTriggers } from '../writing/write-triggers.js';

/**
 * Entries of the outbox, lowest versions first: the columns as array literals, which PostgreSQL reads and
 * prints with less work than JSON, and which are only passed on here.
 */
export interface OutboxPage extends Readonly<Record<OutboxColumn, string>> {
  readonly count: number;
}

/** With their types. */
const OUTBOX_COLUMNS = {
  id: 'bigint',
  at: 'timestamptz',
  domain: 'text',
  collection: 'text',
  record_id: 'text',
  operation: 'text',
  to_version: 'int',
  principal: 'text',
  started: 'json',
  announced: 'text',
} as const;
type OutboxColumn = keyof typeof OUTBOX_COLUMNS;

const NAMES = Object.keys(OUTBOX_COLUMNS) as readonly OutboxColumn[];
const COLUMNS = sql.raw(NAMES.join(', '));
/** In the order of the rows they are made of. */
const ARRAYS = sql.raw(NAMES.map((column) => `array_agg(${column}::text)::text as ${column}`).join(', '));

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
      (table) => sql`delete from ${table} o using published t where o.id = t.id and o.domain = t.domain`,
    );
    const [first] = removals;
    if (first === undefined) return;
    const all = removals.map((removal, index) => sql`${sql.raw(`removed_${index}`)} as (${removal})`);
    await this.#run(
      'remove',
      sql`
      with published as materialized (
        select * from unnest(${id}::bigint[], ${domain}::text[]) as t (id, domain)
      )
      ${removals.length === 1 ? first : sql`, ${sql.join(all)} select`}`,
    );
  }

  async #run<Row extends object>(what: string, sql: Sql): Promise<Row[]> {
    return await this.#server.query<Row>(sql, { name: `outbox_${what}_${this.#key}` });
  }
}

export interface ChangeOutboxOptions {
  readonly database: Database;
  /** Starts the jobs in an entry. */
  readonly triggers: Pick<WriteTriggers, 'begin'>;
  readonly onFault: (error: unknown) => void;
}

/** Held while entries are moved: one gateway does so at a time, and others skip it. */
const MOVE_LOCK = 0x6f757462;
const PAGE_ROWS = 1_000;
const EVERY_MS = 2_000;
const OUTBOX = 'change_outbox';

/** Waits for a move in progress, and prevents further ones until the transaction ends. */
export async function holdMoves(transaction: Transaction): Promise<void> {
  await transaction.query(sql`select pg_advisory_xact_lock(${MOVE_LOCK}::int)`);
}

export class ChangeOutbox {
  readonly #options: ChangeOutboxOptions;
  /** Also empties the outbox every two seconds, so that it stays small without listeners. */
  readonly #moves: RepeatedWork;
  /** The servers that could not be reached the last time. */
  readonly #away = new Set<string>();
  #moving: Promise<void> | undefined;
  #stopListening: (() => Promise<void>) | undefined;

  constructor(options: ChangeOutboxOptions) {
    this.#options = options;
    const work = async () => {
      // The move in progress may have read the outbox earlier.
      await this.#moving?.catch(() => {});
      await this.moveAll();
    };
    this.#moves = new RepeatedWork({ work, everyMs: EVERY_MS, onFault: options.onFault });
  }

  /** From now on reacts to transactions that left follow-ups. */
  async listen(): Promise<void> {
    this.#stopListening = await this.#options.database.keepCurrent(OUTBOX_CHANNEL, async () => this.wake());
  }

  /** Moves, a moment later, what has been committed until now. */
  wake(): void {
    this.#moves.wake();
  }

  /**
   * Moves everything, unless another gateway is doing so. A server that is down is skipped, and reported
   * once.
   */
  async moveAll(): Promise<void> {
    this.#moving ??= this.#move().finally(() => {
      this.#moving = undefined;
    });
    await this.#moving;
  }

  /** Moves the rest. */
  async close(): Promise<void> {
    await this.#stopListening?.();
    await this.#moves.close();
    await this.moveAll().catch(this.#options.onFault);
  }

  async #move(): Promise<void> {
    while (await this.#movePages());
  }

  /** Moves a page of each part. Returns whether there may be more. */
  async #movePages(): Promise<boolean> {
    const { database } = this.#options;
    const filled = await this.#ask(await this.#listParts(), async (part) =>
      (await part.isEmpty()) ? undefined : part,
    );
    if (filled.length === 0) return false;
    const pages = await inOwnTransaction(database.background, async (transaction) => {
      const [lock] = await transaction.query<{ isHeld: boolean }>(sql`
        select pg_try_advisory_xact_lock(${MOVE_LOCK}::int) as "isHeld"`);
      if (lock?.isHeld !== true) return [];
      const read = await this.#ask(filled, async (part) => {
        const page = await part.readPage(PAGE_ROWS);
        return page && { part, page };
      });
      for (const { page } of read) await this.#publish(transaction, page);
      return read;
    });
    const pageByPart = new Map(pages.map(({ part, page }) => [part, page]));
    const emptied = await this.#ask([...pageByPart.keys()], async (part) => {
      const page = pageByPart.get(part);
      if (page !== undefined) await part.remove(page);
      return page;
    });
    return emptied.some(({ count }) => count === PAGE_ROWS);
  }

  async #publish(transaction: Transaction, page: OutboxPage): Promise<void> {
    const arrays = NAMES.map((name) => sql`${page[name]}::${sql.raw(OUTBOX_COLUMNS[name])}[]`);
    await transaction.query(sql`
      with entry as (
        select * from unnest(${sql.join(arrays)}) with ordinality as o (${COLUMNS}, place)
      ),
      published as (
        insert into told_changes
          (entry_id, at, domain, collection, record_id, operation, to_version, principal)
        select id, at, domain, collection, record_id, operation, to_version, principal
        from entry
        order by place
        on conflict (entry_id, domain) do nothing
        returning entry_id, domain
      ),
      -- What a trigger does where there is one server: made active again, no old token comes back to life.
      ended as (
        update sessions s
        set revoked_at = now()
        from entry e join published t on t.entry_id = e.id and t.domain = e.domain
        where e.announced::json->>'ended' = 'true'
          and s.domain_id = e.domain and s.user_id = e.announced::json->>'user'
          and s.created_at <= e.at and s.revoked_at is null
      )
      select case when e.started is not null then ${this.#options.triggers.begin(sql`e.started`)} end,
        case when e.announced is not null
          then pg_notify(campus_channel(${PRINCIPALS_CHANNEL}), e.announced)::text end
      from entry e join published t on t.entry_id = e.id and t.domain = e.domain
      where e.started is not null or e.announced is not null
      order by e.place`);
  }

  /** Servers that cannot be reached from here are read through the coordinator, as one part. */
  async #listParts(): Promise<readonly OutboxPart[]> {
    const { database } = this.#options;
    const whole = new OutboxPart('coordinator', database.background, [OUTBOX]);
    if (database.shards === undefined) return [whole];
    const placed = await database.shards.listParts(OUTBOX);
    const parts = placed.flatMap(({ name, server, tables }) =>
      server === undefined ? [] : [new OutboxPart(name, server, tables)],
    );
    return parts.length === placed.length ? parts : [...parts, whole];
  }

  /** The answers of the parts that have entries; a server that is down gives none. */
  async #ask<Asked extends OutboxPart, Answer>(
    parts: readonly Asked[],
    ask: (part: Asked) => Promise<Answer | undefined>,
  ): Promise<readonly Answer[]> {
    const { database, onFault } = this.#options;
    const answers = await Promise.all(
      parts.map(async (part) => {
        try {
          const answer = await ask(part);
          this.#away.delete(part.name);
          return answer;
        } catch (error) {
          if (database.shards === undefined) throw error;
          if (!this.#away.has(part.name)) onFault(error);
          this.#away.add(part.name);
          return undefined;
        }
      }),
    );
    return answers.filter((answer) => answer !== undefined);
  }
}
