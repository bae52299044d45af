/**
 * Follows an append-only table, and delivers every row once, after its commit.
 *
 * It compares snapshots: a row is new if it is visible now but was not in the previous snapshot, because its
 * transaction was running then or had not begun. No row is lost or duplicated however late a transaction
 * commits, and a long transaction delays nobody else. The rows of a poll are ordered by id; writes to the
 * same record wait for each other, so theirs are in the order of their versions.
 *
 * Each gateway with subscribers polls the table a few times a second; writers pay for one index entry. NOTIFY
 * would be faster to arrive, but transactions that use it commit one after the other, including their flush
 * to disk: of 16 writers, an eighth gets through.
 *
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT
 */
import type { Database } from '../database/database.js';
import { RepeatedWork } from '../database/repeated-work.js';
import { type Sql, sql } from '../sql.js';
import type { ChangeOutbox } from './change-outbox.js';

/** A row of the statement: its `columns` and id. */
export interface NewsRow {
  readonly id: string;
}

export interface CommitFollowerOptions<Row extends NewsRow, News> {
  readonly database: Pick<Database, 'background'> & Partial<Pick<Database, 'replicas'>>;
  /**
   * A table with the columns `id` (bigserial) and `transaction_id` (xid8, by default `pg_current_xact_id()`,
   * indexed).
   */
  readonly table: 'audit_entries' | 'told_changes' | 'topic_messages';
  /** The columns to read beside the id. */
  readonly columns: Sql;
  /** Picks what the listeners get: the row has further members. */
  readonly toNews: (row: Row) => News;
  readonly pollMs: number;
  /** Called before every poll, e.g. to move rows into the table. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** The most rows in memory at once: a load of a million records adds a million rows. */
  readonly pageRows: number;
  /** Receives an outage once, not at every poll, and errors of listeners. */
  readonly onFault: (error: unknown) => void;
}

export type NewsListener<News> = (news: readonly News[]) => void;

/** A snapshot as Postgres prints it: `xmin:xmax:xip,xip,…`. */
interface Snapshot {
  readonly text: string;
  /** The first transaction number not assigned yet. */
  readonly end: string;
  /** The numbers below it whose transactions were running. */
  readonly underWay: readonly string[];
}

/** The rest of a result longer than a page: everything up to `snapshot`, after the row `after`. */
interface Rest {
  readonly snapshot: Snapshot;
  readonly after: string;
}

export class CommitFollower<Row extends NewsRow, News> {
  readonly #options: CommitFollowerOptions<Row, News>;
  readonly #listeners = new Set<{ readonly listen: NewsListener<News> }>();
  #following: RepeatedWork | undefined;
  #isClosed = false;

  constructor(options: CommitFollowerOptions<Row, News>) {
    this.#options = options;
  }

  /**
   * Calls the listener with everything committed from now on. It must return soon, and limit what it keeps.
   * `ready` resolves when nothing committed later can be missed; until then the position is being read.
   * `stop` unsubscribes.
   */
  subscribe(listen: NewsListener<News>): { readonly ready: Promise<void>; stop(): void } {
    const listener = { listen };
    this.#listeners.add(listener);
    this.#following ??= this.#isClosed ? undefined : this.#follow();
    return {
      ready: this.#following?.ready ?? Promise.resolve(),
      stop: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size > 0) return;
        void this.#following?.close();
        this.#following = undefined;
      },
    };
  }

  /** Like `subscribe`, but resolves when every row committed from then on will be delivered. */
  async follow(listen: NewsListener<News>): Promise<() => void> {
    const { ready, stop } = this.subscribe(listen);
    await ready;
    return stop;
  }

  /**
   * Polls now instead of at the next interval: for a writer in this process. Costs nothing without listeners.
   */
  wake(): void {
    this.#following?.wake();
  }

  /** Waits for a poll in progress; no listener is called afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    const following = this.#following;
    this.#following = undefined;
    await following?.close();
  }

  #follow(): RepeatedWork {
    const { pollMs: everyMs, onFault, toNews } = this.#options;
    const reader = new NewsReader<Row>(this.#options, (rows) => this.#deliver(rows.map(toNews)));
    return new RepeatedWork({ everyMs, onFault, work: (isWanted) => reader.advance(isWanted) });
  }

  #deliver(news: readonly News[]): void {
    for (const { listen } of [...this.#listeners]) {
      try {
        listen(news);
      } catch (error) {
        this.#options.onFault(error);
      }
    }
  }
}

type NewsReaderOptions<Row extends NewsRow> = Pick<
  CommitFollowerOptions<Row, unknown>,
  'database' | 'table' | 'columns' | 'pageRows' | 'prepare'
>;

/** Remembers what a follower has seen, and the rest of a result it has begun to deliver. */
class NewsReader<Row extends NewsRow> {
  readonly #options: NewsReaderOptions<Row>;
  readonly #deliver: (rows: readonly Row[]) => void;
  readonly #table: Sql;
  #seen: Snapshot | undefined;
  #rest: Rest | undefined;

  constructor(options: NewsReaderOptions<Row>, deliver: (rows: readonly Row[]) => void) {
    this.#options = options;
    this.#deliver = deliver;
    this.#table = sql.raw(options.table);
  }

  /** Delivers all new rows. After a failure, the next call continues. */
  async advance(isWanted: () => boolean): Promise<void> {
    await this.#options.prepare?.();
    if (this.#seen === undefined) {
      this.#seen = await this.#begin();
      return;
    }
    while (isWanted()) {
      if (this.#rest === undefined) await this.#readNews(this.#seen);
      else await this.#readRest(this.#seen, this.#rest);
      if (this.#rest === undefined) return;
    }
  }

  /**
   * The present position. Rows restored from a dump have transaction numbers of another server, which ours
   * has yet to reach; they are not new.
   */
  async #begin(): Promise<Snapshot> {
    const [row] = await this.#options.database.background.query<{ snapshot: string }>(sql`
      with foreign_rows as (
        update ${this.#table}
        set transaction_id = null
        where transaction_id >= pg_snapshot_xmax(pg_current_snapshot())
      )
      select pg_current_snapshot()::text as snapshot`);
    return parseSnapshot(row?.snapshot ?? '');
  }

  async #readNews(seen: Snapshot): Promise<void> {
    // Ordered by an expression: by the plain column, Postgres would scan all ids instead of sorting the few
    // rows.
    const rows = await this.#options.database.background.query<WithSnapshot & (Row | NoRow)>(sql`
      select pg_current_snapshot()::text as snapshot,
        case when not pg_is_in_recovery() then pg_current_wal_insert_lsn() end::text as position, news.*
      from (select) as one
      left join lateral (
        select id::text as id, ${this.#options.columns}
        from ${this.#table}
        where ${isNewSince(seen)}
        order by ${this.#table}.id + 0
        limit ${this.#options.pageRows}
      ) as news on true`);
    const [first] = rows;
    if (first === undefined) return;
    const snapshot = parseSnapshot(first.snapshot);
    // A listener that reads after hearing of a change must find it.
    if (isNews(first) && first.position !== null) this.#options.database.replicas?.requireAll(first.position);
    this.#settle(isSetBack(seen, snapshot) ? [] : rows.filter(isNews), snapshot);
  }

  async #readRest(seen: Snapshot, { snapshot, after }: Rest): Promise<void> {
    const rows = await this.#options.database.background.query<Row>(sql`
      select id::text as id, ${this.#options.columns}
      from ${this.#table}
      where ${this.#table}.id > ${after}::bigint
        and not pg_visible_in_snapshot(transaction_id, ${seen.text}::pg_snapshot)
        and pg_visible_in_snapshot(transaction_id, ${snapshot.text}::pg_snapshot)
      order by ${this.#table}.id
      limit ${this.#options.pageRows}`);
    this.#settle(rows, snapshot);
  }

  /**
   * The position advances before any listener is called, so that a failing listener cannot duplicate a row.
   */
  #settle(rows: readonly Row[], snapshot: Snapshot): void {
    const last = rows.at(-1);
    const isPage = last !== undefined && rows.length === this.#options.pageRows;
    this.#rest = isPage ? { snapshot, after: last.id } : undefined;
    if (!isPage) this.#seen = snapshot;
    if (rows.length > 0) this.#deliver(rows);
  }
}

interface WithSnapshot {
  readonly snapshot: string;
  /** The log position at that time. */
  readonly position: string | null;
}

/** A result without rows, with its snapshot. */
interface NoRow {
  readonly id: null;
}

function isNews<Row extends NewsRow>(row: WithSnapshot & (Row | NoRow)): row is WithSnapshot & Row {
  return row.id !== null;
}

/** The condition that a visible row was not visible in a snapshot. */
export function isNewSince({ end, underWay }: Snapshot): Sql {
  return sql`(transaction_id >= ${end}::xid8 or transaction_id = any(${underWay}::xid8[]))`;
}

/** Whether the server was reset to an earlier time, or is another one: a follower continues from there. */
export function isSetBack(seen: Snapshot, present: Snapshot): boolean {
  return BigInt(present.end) < BigInt(seen.end);
}

export function parseSnapshot(text: string): Snapshot {
  const [, end = '0', underWay = ''] = text.split(':');
  return { text, end, underWay: underWay === '' ? [] : underWay.split(',') };
}

/** The feed of committed changes by any gateway, the command line, a script or a bulk load. */
export interface RecordChange {
  readonly domainId: string;
  readonly collection: string;
  readonly id: string;
  readonly operation: 'created' | 'updated' | 'deleted';
  /** The version of the record after the change. */
  readonly version: number;
  readonly at: Date;
  /** The `_id` of the user, or the name of the system task. */
  readonly principal: string;
  /** The id of the audit entry: unique, and the same on every gateway. */
  readonly entryId: string;
}

export interface ChangeFeedOptions {
  readonly database: Pick<Database, 'background'> & Partial<Pick<Database, 'replicas'>>;
  /** How often the database is polled while there are listeners. */
  readonly pollMs: number;
  readonly onFault: (error: unknown) => void;
  /** The outbox, if changes are announced by it; it must be moved before each poll. */
  readonly outbox?: Pick<ChangeOutbox, 'moveAll'> | undefined;
}

const PAGE_ROWS = 1_000;

/**
 * Delivers every committed change of a record, of all domains, once to every listener of this process; at
 * most 1,000 at a time, those of one record in order. It follows the audit entries that are written with the
 * changes: nothing that was rolled back is delivered, and an outage of the database delays changes but loses
 * none. If transactions have no common order, it follows what was moved from the outbox.
 *
 * @see decisions 10
 */
export class ChangeFeed extends CommitFollower<ChangeRow, RecordChange> {
  constructor({ outbox, ...options }: ChangeFeedOptions) {
    const columns = sql`at, domain as "domainId", collection, record_id as "recordId", operation,
      to_version as version, principal`;
    super({
      ...options,
      ...(outbox === undefined
        ? { table: 'audit_entries', columns: sql`id::text as "entryId", ${columns}` }
        : {
            table: 'told_changes',
            columns: sql`entry_id::text as "entryId", ${columns}`,
            prepare: () => outbox.moveAll(),
          }),
      pageRows: PAGE_ROWS,
      toNews: ({ recordId: id, entryId, domainId, collection, operation, version, at, principal }) => {
        return { id, entryId, domainId, collection, operation, version, at, principal };
      },
    });
  }
}

/** `id` is that of the row, not of the record. */
interface ChangeRow extends RecordChange {
  readonly recordId: string;
}
