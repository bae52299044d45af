/** Records which operations use which fields of collections, without delaying requests. */

import type { Scope } from '../../base/model/scope.js';
import type { StoredField } from '../../base/model/stored-field.js';
import type { Database } from '../database/database.js';
import { RegularWrites } from '../database/regular-writes.js';
import { sql } from '../sql.js';

/** A use is reported for this many days. */
export const KEPT_DAYS = 30;
/** Stands for all users without an API key: users come and go, but their programs stay. */
export const USERS = 'users';

const DAY_MS = 24 * 3_600_000;
/** Distinct operation names per credential and day; limited, because callers choose the names. */
const MOST_OPERATIONS = 100;
const LONGEST_NAME = 128;
/** How many recorded uses are remembered. Beyond it the memory is cleared, and they are written again. */
const MOST_NOTED = 100_000;
/** How many uses are held while the database is down. */
const MOST_WAITING = 20_000;
/** The rows of a domain; beyond it only known uses are updated. */
const MOST_OF_DOMAIN = 50_000;

interface FieldUse extends StoredField {
  readonly domain: string;
  readonly credential: string;
  readonly operation: string;
  readonly day: string;
}

/** The recorded uses of a credential in a domain on the present day. */
interface Known {
  /** Field lists that were already recorded; the same list adds nothing. */
  readonly lists: WeakMap<readonly StoredField[], string>;
  readonly operations: Set<string>;
  readonly noted: Set<string>;
}

/**
 * Collects uses in memory, each once a day, and writes them every two seconds. A killed gateway loses two
 * seconds of them. While the database is down they are held, up to a limit.
 *
 * Close it to write the rest.
 */
export class FieldMeter {
  readonly #database: Database;
  readonly #onFault: (error: unknown) => void;
  readonly #writes: RegularWrites;
  #day = '';
  #dayEndsAt = 0;
  #known = new Map<string, Known>();
  #notedCount = 0;
  #waiting: FieldUse[] = [];

  constructor(options: { readonly database: Database; readonly onFault: (error: unknown) => void }) {
    this.#database = options.database;
    this.#onFault = options.onFault;
    this.#writes = new RegularWrites(() => this.#write());
  }

  /**
   * Records what an operation uses; `''` if it has no name. The same list object again costs only two
   * look-ups, so a document should keep its list.
   */
  note(scope: Scope, operation: string, fields: readonly StoredField[]): void {
    this.#beginDay();
    const { credential } = scope.principal;
    const { id: domain } = scope.domain;
    const of = credential.kind === 'key' ? credential.id : USERS;
    const known = this.#knownOf(`${domain}/${of}`);
    if (known.lists.get(fields) === operation) return;
    const name = this.#nameIn(known, operation.slice(0, LONGEST_NAME));
    for (const { collection, field } of fields) {
      const use = `${name}/${collection}/${field}`;
      if (known.noted.has(use)) continue;
      if (this.#waiting.length >= MOST_WAITING) return;
      known.noted.add(use);
      this.#notedCount += 1;
      this.#waiting.push({ domain, credential: of, collection, field, operation: name, day: this.#day });
    }
    known.lists.set(fields, operation);
  }

  /** Writes what was collected since the last time. Called periodically; never throws. */
  async flush(): Promise<void> {
    await this.#writes.flush();
  }

  async close(): Promise<void> {
    await this.#writes.close();
  }

  /** Deletes uses that are too old to be reported. */
  async purge(now: Date): Promise<void> {
    const oldest = new Date(now.getTime() - KEPT_DAYS * DAY_MS).toISOString().slice(0, 10);
    await this.#database.query(sql`delete from field_uses where last_used_on < ${oldest}::date`);
  }

  #beginDay(): void {
    const now = Date.now();
    // A clock that was set back begins a day, too.
    const isSameDay = now < this.#dayEndsAt && now >= this.#dayEndsAt - DAY_MS;
    if (isSameDay && this.#notedCount < MOST_NOTED) return;
    this.#day = new Date(now).toISOString().slice(0, 10);
    this.#dayEndsAt = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
    this.#known = new Map();
    this.#notedCount = 0;
  }

  #knownOf(name: string): Known {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const made = { lists: new WeakMap(), operations: new Set<string>(), noted: new Set<string>() };
    this.#known.set(name, made);
    this.#notedCount += 1;
    return made;
  }

  /** Beyond the limit, an operation counts as unnamed. */
  #nameIn({ operations }: Known, operation: string): string {
    if (operations.has(operation)) return operation;
    if (operations.size >= MOST_OPERATIONS) return '';
    operations.add(operation);
    return operation;
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const uses = this.#waiting;
    this.#waiting = [];
    try {
      await this.#writeUses(uses);
    } catch (error) {
      this.#waiting = [...uses, ...this.#waiting].slice(0, MOST_WAITING);
      this.#onFault(error);
    }
  }

  async #writeUses(uses: readonly FieldUse[]): Promise<void> {
    // Skips domains that were deleted. Ordered, because two gateways lock the same rows.
    await this.#database.background.query(
      sql`
        with sent as (
          select domain, collection, field, credential, operation, max(day) as day
          from jsonb_to_recordset(${JSON.stringify(uses)}::jsonb)
            as n (domain text, collection text, field text, credential text, operation text, day date)
          where domain in (select id from domains)
          group by 1, 2, 3, 4, 5
        ), ranked as (
          select sent.*, known.domain is not null as is_known,
            row_number() over (
              partition by sent.domain, known.domain is null
              order by sent.collection, sent.field, sent.credential, sent.operation
            ) as rank
          from sent
          left join field_uses known using (domain, collection, field, credential, operation)
        ), counted as (
          select domain, count(*) as count
          from field_uses
          where domain in (select domain from sent)
          group by 1
        )
        insert into field_uses as u (domain, collection, field, credential, operation, last_used_on)
        select domain, collection, field, credential, operation, day
        from ranked
        left join counted using (domain)
        where is_known or coalesce(counted.count, 0) + rank <= ${MOST_OF_DOMAIN}::int
        order by 1, 2, 3, 4, 5
        on conflict (domain, collection, field, credential, operation) do update
        set last_used_on = excluded.last_used_on
        where u.last_used_on < excluded.last_used_on`,
      { name: 'field-uses' },
    );
  }
}
