/** The operations that recently used a field of a collection, as far as a caller may know. */

import type { ErrorDetail } from '../../base/errors.js';
import type { JsonObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { type Scope, topDomainIdOf } from '../../base/model/scope.js';
import type { StoredField } from '../../base/model/stored-field.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import type { Database } from '../database/database.js';
import type { Queryable } from '../database/queryable.js';
import { RegularWrites } from '../database/repeated-work.js';
import { sql } from '../sql.js';

export interface FieldUse {
  /** `undefined`: operations without a name. */
  readonly operation: string | undefined;
  /** `undefined`: logged-in users. */
  readonly keyId: string | undefined;
  /** `undefined`: the key was deleted, or belongs to another domain. */
  readonly keyName: string | undefined;
  /** A day in UTC, e.g. `2026-07-01`. */
  readonly lastUsedOn: string;
}

const MOST_LISTED = 1_000;
/** How many the error about a dropped field names; `fieldUses` lists all. */
const MOST_NAMED = 10;

/** A use is reported for this many days. */
const KEPT_DAYS = 30;

const isRecent = sql`u.last_used_on >= (now() at time zone 'utc')::date - ${KEPT_DAYS}::int`;

/** The uses in the caller's domain, latest first. */
export async function listFieldUses(
  queryable: Queryable,
  { domain, principal }: Scope,
  { collection, field }: StoredField,
): Promise<readonly FieldUse[]> {
  const rows = await queryable.query<{
    operation: string;
    credential: string;
    key_name: string | null;
    last_used_on: string;
  }>(sql`
    select u.operation, u.credential, k.name as key_name, u.last_used_on::text as last_used_on
    from field_uses u
    left join api_keys k
      on k.id::text = u.credential and k.domain_id in (${domain.id}, ${principal.domainId})
    where u.domain = ${domain.id} and u.collection = ${collection} and u.field = ${field} and ${isRecent}
    order by u.last_used_on desc, u.operation, k.name, u.credential
    limit ${MOST_LISTED}::int`);
  return rows.map((row) => ({
    operation: row.operation === '' ? undefined : row.operation,
    keyId: row.credential === USERS ? undefined : row.credential,
    keyName: row.key_name ?? undefined,
    lastUsedOn: row.last_used_on,
  }));
}

/**
 * The reasons against dropping used fields: the operations of the caller's domain by name, and the fact that
 * other domains of the collection use a field, without naming them.
 */
export async function findUseFaults(
  queryable: Queryable,
  scope: Scope,
  { before, after }: { readonly before: Collection; readonly after: Collection },
): Promise<readonly ErrorDetail[]> {
  const faults: ErrorDetail[] = [];
  for (const { name: field } of before.fields) {
    if (after.fieldsByName.has(field)) continue;
    const uses = await listFieldUses(queryable, scope, { collection: before.name, field });
    const users = uses.slice(0, MOST_NAMED).map(describe);
    if (uses.length > MOST_NAMED) users.push(`${uses.length - MOST_NAMED} more (see fieldUses)`);
    if (await isUsedElsewhere(queryable, scope, { collection: before, field })) {
      users.push('operations of other domains');
    }
    if (users.length === 0) continue;
    faults.push({
      pointer: '/fields',
      detail:
        `this removes ${field}, which was used within ${KEPT_DAYS} days by ${users.join('; ')}. ` +
        'Send dropUsedFields: true to remove it anyway',
      expected: field,
    });
  }
  return faults;
}

function describe({ operation, keyId, keyName, lastUsedOn }: FieldUse): string {
  const by = keyId === undefined ? 'users' : `the key ${keyName === undefined ? keyId : `"${keyName}"`}`;
  return `${operation ?? 'operations without a name'} by ${by}, last on ${lastUsedOn}`;
}

/** Other top domains count only if they have the collection too. */
async function isUsedElsewhere(
  queryable: Queryable,
  { domain }: Scope,
  { collection, field }: { readonly collection: Collection; readonly field: string },
): Promise<boolean> {
  const isShared = collection.domainId === undefined;
  const [row] = await queryable.query<{ found: boolean }>(sql`
    select exists (
      select from field_uses u
      join domains d on d.id = u.domain
      where u.domain <> ${domain.id} and u.collection = ${collection.name} and u.field = ${field}
        and ${isRecent} and (${isShared} or coalesce(d.parent_id, d.id) = ${topDomainIdOf(domain)})
    ) as found`);
  return row?.found ?? false;
}

/** Stands for all users without an API key: users come and go, but their programs stay. */
const USERS = 'users';

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

interface NotedUse extends StoredField {
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
  #waiting: NotedUse[] = [];

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
    return getOrMake(this.#known, name, () => {
      this.#notedCount += 1;
      return { lists: new WeakMap(), operations: new Set(), noted: new Set() };
    });
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

  async #writeUses(uses: readonly NotedUse[]): Promise<void> {
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

/** The fields of a few records nearly always represent those of all. */
const MOST_RECORDS = 20;

/** The fields at which the paths begin. */
export function namedFieldsAt({ name, fieldsByName }: Collection, paths: readonly Path[]): StoredField[] {
  return paths.flatMap(([field = '']) => (fieldsByName.has(field) ? [{ collection: name, field }] : []));
}

/** The fields of the first records. */
export function namedFieldsOf({ name, fields }: Collection, records: readonly JsonObject[]): StoredField[] {
  const first = records.slice(0, MOST_RECORDS);
  const named = fields.filter((field) => first.some((record) => Object.hasOwn(record, field.name)));
  return named.map((field) => ({ collection: name, field: field.name }));
}
