/** The daily partitions of API key figures: created when needed, dropped when old. */

import type { Database } from '../../store/database/database.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';

const DAY_MS = 24 * 3_600_000;
const KEPT_DAYS = 30;
const NAME = /^key_usage_(\d{4})(\d\d)(\d\d)$/;
/** Held while a day is created, so that two gateways do not create it at once. */
const DAY_LOCK = 0x64617973;

export class UsageDays {
  readonly #database: Database;
  /** Days known to exist; a day is dropped long after its last figures were written. */
  readonly #known = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Creates the missing days of these instants (milliseconds of Unix time). */
  async ensure(instants: readonly number[]): Promise<void> {
    const days = new Set(instants.map((instant) => new Date(instant).toISOString().slice(0, 10)));
    for (const day of days) {
      if (this.#known.has(day)) continue;
      await this.#make(day);
      this.#known.add(day);
    }
  }

  /** Drops the days older than a month. */
  async dropOld(now: Date): Promise<void> {
    const oldest = new Date(now.getTime() - KEPT_DAYS * DAY_MS).toISOString().slice(0, 10);
    const rows = await this.#database.query<{ name: string }>(sql`
      select c.relname::text as name
      from pg_inherits i
      join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'key_usage'::regclass`);
    for (const { name } of rows) {
      const [, year, month, day] = NAME.exec(name) ?? [];
      if (year === undefined || `${year}-${month}-${day}` >= oldest) continue;
      await this.#database.query(sql`drop table if exists ${sql.raw(`"${name}"`)}`);
    }
  }

  async #make(day: string): Promise<void> {
    const next = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
    const statement = `
      create table if not exists "key_usage_${day.replaceAll('-', '')}" partition of key_usage
      for values from ('${day}T00:00:00Z') to ('${next}T00:00:00Z')`;
    await inOwnTransaction(this.#database.background, async (transaction) => {
      await transaction.query(sql`select pg_advisory_xact_lock(${DAY_LOCK}::int)`);
      await transaction.query(sql.raw(statement));
    });
  }
}
