/** Notes which fields of collections are used by which operations, away from the requests themselves. */
import { Prisma } from '../../generated/prisma/client.js';
import type { Scope } from '../../model/scope.js';
import type { StoredField } from '../../model/stored-field.js';
import type { Database } from '../database/database.js';
import { RegularWrites } from '../database/regular-writes.js';

/** A use is told for so many days after the last time. */
export const KEPT_DAYS = 30;
/** The credential of everybody who has no API key: users come and go, and their programs stay. */
export const USERS = 'users';

const DAY_MS = 24 * 3_600_000;
/** Names are made up by callers: of a credential, so many are told apart in a day. */
const MOST_OPERATIONS = 100;
const LONGEST_NAME = 128;
/** What is remembered as noted already. Beyond it all is forgotten, and written again. */
const MOST_NOTED = 100_000;
/** What waits for a database that is away. */
const MOST_WAITING = 20_000;
/** Rows of a domain: beyond them only known uses are renewed. */
const MOST_OF_DOMAIN = 50_000;

interface FieldUse extends StoredField {
  readonly domain: string;
  readonly credential: string;
  readonly operation: string;
  readonly day: string;
}

/** What is known of a credential in a domain on the running day. */
interface Known {
  /** The uses of a document that came before: the same list again says nothing new. */
  readonly lists: WeakMap<readonly StoredField[], string>;
  readonly operations: Set<string>;
  readonly noted: Set<string>;
}

/**
 * Takes the uses in memory, each once a day, and writes what came together every two seconds. A gateway that
 * is killed loses two seconds of them. While the database is away they wait, up to a bound.
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
   * Takes what an operation uses; `''`: it has no name. The same list of fields again costs two look-ups, so
   * a document had better keep its own.
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

  /** Writes what has come since the last time. Runs by itself; never throws. */
  async flush(): Promise<void> {
    await this.#writes.flush();
  }

  async close(): Promise<void> {
    await this.#writes.close();
  }

  /** Forgets the uses that are longer ago than they are told. */
  async purge(now: Date): Promise<void> {
    const oldest = new Date(now.getTime() - KEPT_DAYS * DAY_MS).toISOString().slice(0, 10);
    await this.#database.query(Prisma.sql`delete from field_uses where last_used_on < ${oldest}::date`);
  }

  #beginDay(): void {
    const now = Date.now();
    if (now < this.#dayEndsAt && this.#notedCount < MOST_NOTED) return;
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

  /** Beyond the bound an operation counts as one without a name. */
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
    // A domain that is gone meanwhile has no more uses. In one order, for two gateways lock the same rows.
    await this.#database.query(
      Prisma.sql`
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
