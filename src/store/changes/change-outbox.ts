/**
 * Moves what writers left in `change_outbox` to `told_changes`, where one transaction at a time puts it: on a
 * database that is spread over several servers, the transactions of the writers have no common order. With an
 * entry, what is to follow the write is begun.
 *
 * An entry is told in one transaction and taken out of the outbox behind it. Should something die in between,
 * it is found there again, and passed over for having been told: it is neither lost nor told twice. The
 * changes of a record come in the order of their versions: who sees a version in the outbox sees all before
 * it, because the writers of a record wait for each other, and the lowest versions are moved first.
 *
 * Each server is asked for its part by itself: one that is away keeps back what its own schools wrote alone.
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Database, Transaction } from '../database/database.js';
import { RegularWrites } from '../database/regular-writes.js';
import { inOwnTransaction } from '../writing/atomically.js';
import { OUTBOX_CHANNEL, PRINCIPALS_CHANNEL } from '../writing/record-statements.js';
import type { WriteTriggers } from '../writing/write-triggers.js';
import { type OutboxPage, OutboxPart } from './outbox-part.js';

export interface ChangeOutboxOptions {
  readonly database: Database;
  /** What begins the jobs that an entry says. */
  readonly triggers: Pick<WriteTriggers, 'begin'>;
  readonly onFault: (error: unknown) => void;
}

/** Held while entries are moved: one gateway does it at a time, and those that find it held do without. */
const MOVE_LOCK = 0x6f757462;
const PAGE_ROWS = 1_000;
const OUTBOX = 'change_outbox';

/** Waits for a move that is under way, and lets none begin before the transaction ends. */
export async function holdMoves(transaction: Transaction): Promise<void> {
  await transaction.query(Prisma.sql`select pg_advisory_xact_lock(${MOVE_LOCK}::int)`);
}

export class ChangeOutbox {
  readonly #options: ChangeOutboxOptions;
  readonly #regular: RegularWrites;
  /** The servers that could not be asked the last time. */
  readonly #away = new Set<string>();
  #moving: Promise<void> | undefined;
  #waking: Promise<void> | undefined;
  #isOut = false;
  #stopListening: (() => Promise<void>) | undefined;

  /** Empties the outbox every two seconds too, so that it stays small while nobody listens. */
  constructor(options: ChangeOutboxOptions) {
    this.#options = options;
    this.#regular = new RegularWrites(() => this.#moveOrTell());
  }

  /** Hears from now on of transactions that left something to be begun. */
  async listen(): Promise<void> {
    this.#stopListening = await this.#options.database.keepCurrent(OUTBOX_CHANNEL, async () => this.wake());
  }

  /** Moves what was committed until now, a moment later. */
  wake(): void {
    this.#waking ??= (async () => {
      // The move that is under way may have looked before.
      await this.#moving?.catch(() => {});
      this.#waking = undefined;
      await this.#moveOrTell();
    })();
  }

  /**
   * Moves all there is, unless another gateway is about it. A server that is away is passed over, and told of
   * once.
   */
  async moveAll(): Promise<void> {
    this.#moving ??= this.#move().finally(() => {
      this.#moving = undefined;
    });
    await this.#moving;
  }

  async close(): Promise<void> {
    await this.#stopListening?.();
    await this.#waking;
    await this.#regular.close();
  }

  /** Never throws. */
  async #moveOrTell(): Promise<void> {
    try {
      await this.moveAll();
      this.#isOut = false;
    } catch (error) {
      if (!this.#isOut) this.#options.onFault(error);
      this.#isOut = true;
    }
  }

  async #move(): Promise<void> {
    while (await this.#movePages());
  }

  /** Moves a page of each part. Whether there may be more. */
  async #movePages(): Promise<boolean> {
    const { database } = this.#options;
    const filled = await this.#ask(await this.#listParts(), async (part) =>
      (await part.isEmpty()) ? undefined : part,
    );
    if (filled.length === 0) return false;
    const pages = await inOwnTransaction(database, async (transaction) => {
      const [lock] = await transaction.query<{ isHeld: boolean }>(Prisma.sql`
        select pg_try_advisory_xact_lock(${MOVE_LOCK}::int) as "isHeld"`);
      if (lock?.isHeld !== true) return [];
      const read = await this.#ask(filled, async (part) => {
        const page = await part.readPage(PAGE_ROWS);
        return page && { part, page };
      });
      for (const { page } of read) await this.#tell(transaction, page);
      return read;
    });
    const pageByPart = new Map(pages.map(({ part, page }) => [part, page]));
    const emptied = await this.#ask([...pageByPart.keys()], async (part) => {
      const page = pageByPart.get(part);
      if (page !== undefined) await part.remove(page);
      return page;
    });
    return emptied.some(({ ids }) => ids.length === PAGE_ROWS);
  }

  async #tell(transaction: Transaction, { entries }: OutboxPage): Promise<void> {
    await transaction.query(Prisma.sql`
      with entry as (
        select *
        from rows from (
          json_to_recordset(${entries}::json)
          as (
            id bigint, at timestamptz, domain text, collection text, record_id text, operation text,
            to_version int, principal text, started json, announced text
          )
        ) with ordinality as o (
          id, at, domain, collection, record_id, operation, to_version, principal, started, announced, place
        )
      ),
      told as (
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
        from entry e join told t on t.entry_id = e.id and t.domain = e.domain
        where e.announced::json->>'ended' = 'true'
          and s.domain_id = e.domain and s.user_id = e.announced::json->>'user'
          and s.created_at <= e.at and s.revoked_at is null
      )
      select case when e.started is not null then ${this.#options.triggers.begin(Prisma.sql`e.started`)} end,
        case when e.announced is not null then pg_notify(${PRINCIPALS_CHANNEL}, e.announced)::text end
      from entry e join told t on t.entry_id = e.id and t.domain = e.domain
      where e.started is not null or e.announced is not null
      order by e.place`);
  }

  /** Those of servers that were never reached from here are asked for by the coordinator, as one. */
  async #listParts(): Promise<readonly OutboxPart[]> {
    const { database } = this.#options;
    const whole = new OutboxPart('coordinator', database, [OUTBOX]);
    if (database.home === undefined) return [whole];
    const placed = await database.home.listParts(OUTBOX);
    const parts = placed.flatMap(({ name, server, tables }) =>
      server === undefined ? [] : [new OutboxPart(name, server, tables)],
    );
    return parts.length === placed.length ? parts : [...parts, whole];
  }

  /** What those parts answer that have something to say; whose server is away has not. */
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
          if (database.home === undefined) throw error;
          if (!this.#away.has(part.name)) onFault(error);
          this.#away.add(part.name);
          return undefined;
        }
      }),
    );
    return answers.filter((answer) => answer !== undefined);
  }
}
