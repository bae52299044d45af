/**
 * The domains of the instance with their properties, held in memory, and reloaded when any gateway changes
 * them.
 *
 * The top domain is the one without a parent; sub-domains inherit its properties unless they set their own.
 *
 * @see decisions 7
 */

import { faultAt, invalidAt, ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonValue, printExactJson } from '../../base/json/json.js';
import { toNormalText } from '../../base/model/normal-text.js';
import { DEFAULT_CALLING_CODE } from '../../base/model/phone-number.js';
import type { Domain, Scope } from '../../base/model/scope.js';
import { findUnstorableText } from '../../base/model/unstorable-text.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { isAdmin, isTopDomainAdmin } from '../access/access.js';
import { auditedAct } from '../audited-act.js';
import type { Database } from '../database/database.js';
import type { Transaction } from '../database/queryable.js';
import { sql } from '../sql.js';
import {
  assertPropertyValue,
  BOOKS_CLOSED_UNTIL,
  DEFAULT_TIME_ZONE,
  findKnownProperty,
  hintAtPropertyName,
  KNOWN_PROPERTIES,
  type KnownProperty,
} from './known-properties.js';
import { assertNewDomain, isDomainId, type NewDomain } from './new-domain.js';

/** A property in a list; the value of a secret never leaves the service. */
export interface ListedProperty {
  readonly name: string;
  /** `********` for a secret. */
  readonly value: JsonValue;
  readonly isSecret: boolean;
  /** Inherited from the top domain. */
  readonly isInherited: boolean;
}

/** A property that the service reads, with its setting; absent: the default applies. */
export interface KnownPropertyInForce {
  readonly known: KnownProperty;
  readonly inForce: ListedProperty | undefined;
  /** The ETag of the domain's own setting, which changes with it; `none` if there is none. */
  readonly etag: string;
}

/** The ETag of a property that is not set in the domain itself. */
const NOT_SET = 'none';
const CHANNEL = 'campus_domains';
const MASK = '********';
const PROPERTY_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/;
/** Limited, because all gateways hold all properties in memory. */
const MAX_PROPERTIES = 500;
const MAX_VALUE_BYTES = 65_536;

/**
 * Held until the end of a transaction that creates a domain: otherwise two that find no top domain would both
 * create one. It does not block readers and references.
 */
export const LOCK_DOMAINS = sql`lock table domains in share row exclusive mode`;

/**
 * The ETag of a row `p` of `properties`; in UTC, because Citus requires an expression that no setting can
 * change.
 */
const ETAG = sql`extract(epoch from p.updated_at at time zone 'UTC')::text`;

interface PropertyChange {
  readonly name: string;
  readonly value: JsonValue | undefined;
  readonly isSecret?: boolean | undefined;
  readonly ifMatch?: string | undefined;
}

type FillDomain = (transaction: Transaction, domain: Domain) => Promise<void>;

interface Property {
  readonly value: JsonValue;
  readonly isSecret: boolean;
  readonly etag: string;
}

interface Snapshot {
  readonly domains: ReadonlyMap<string, Domain>;
  readonly properties: ReadonlyMap<string, ReadonlyMap<string, Property>>;
  readonly topId: string | undefined;
}

export class Domains {
  readonly #database: Database;
  #snapshot: Snapshot;
  readonly #callingCode: string;
  #reading: Promise<unknown> = Promise.resolve();
  #stopListening: () => Promise<void> = async () => {};

  private constructor(database: Database, snapshot: Snapshot, callingCode: string) {
    this.#database = database;
    this.#callingCode = callingCode;
    this.#snapshot = snapshot;
  }

  /**
   * Loads all domains, and listens for changes until `close`. `callingCode` is that of schools without the
   * property.
   */
  static async load(database: Database, callingCode = DEFAULT_CALLING_CODE): Promise<Domains> {
    const domains = new Domains(database, await readSnapshot(database, callingCode), callingCode);
    domains.#stopListening = await database.keepCurrent(CHANNEL, () => domains.refresh());
    // Includes changes between the first reading and the listening.
    await domains.refresh();
    return domains;
  }

  async close(): Promise<void> {
    await this.#stopListening();
  }

  /** Reloads everything, after a reload in progress: the last one to end is the last one begun. */
  async refresh(): Promise<void> {
    const reading = this.#reading.catch(() => {}).then(() => readSnapshot(this.#database, this.#callingCode));
    this.#reading = reading;
    this.#snapshot = await reading;
  }

  /** @throws NOT_FOUND */
  get(id: string): Domain {
    const domain = this.find(id);
    if (domain !== undefined) return domain;
    throw new ServiceError(
      'NOT_FOUND',
      `there is no domain "${id}".${didYouMean(id, this.#snapshot.domains.keys())}`,
    );
  }

  find(id: string): Domain | undefined {
    return this.#snapshot.domains.get(id);
  }

  /**
   * Reloads if one of these domains is unknown but exists: another gateway has just created it, and the
   * notification has not arrived yet. Call it before `find` when a caller names a domain.
   */
  async assureKnown(...ids: readonly (string | undefined)[]): Promise<void> {
    for (const id of ids) {
      if (id === undefined || id === '' || this.find(id) !== undefined) continue;
      const [row] = await this.#database.query(
        sql`select 1 as found from domains where id = ${isDomainId(id) ? id : ''}`,
        { name: 'domain-known' },
      );
      if (row !== undefined) await this.refresh();
    }
  }

  /** The top domain; `undefined` before it is created. */
  top(): Domain | undefined {
    return this.#snapshot.topId === undefined ? undefined : this.find(this.#snapshot.topId);
  }

  /** All domains, the top domain first. For services; callers see `listFor`. */
  list(): readonly Domain[] {
    return [...this.#snapshot.domains.values()];
  }

  /** The domains a caller may know: all for an admin of the top domain, else its own. */
  listFor(scope: Scope): readonly Domain[] {
    return isTopDomainAdmin(scope, this.top()) ? this.list() : [scope.domain];
  }

  /**
   * Creates a sub-domain; the very first domain becomes the top domain.
   *
   * @throws FORBIDDEN unless the caller is an admin of the top domain; CONFLICT if the id is taken;
   *   INVALID_VALUE
   */
  async create(scope: Scope, domain: NewDomain): Promise<Domain> {
    const top = this.top();
    if (top !== undefined && !isTopDomainAdmin(scope, top))
      throw new ServiceError('FORBIDDEN', 'only an admin of the top domain creates domains');
    return await this.#insert(domain, { place: top === undefined ? 'top' : 'branch', by: scope });
  }

  /**
   * Creates the top domain of an empty instance. For the seeder and the first start. `fill` is part of the
   * same transaction.
   *
   * @throws CONFLICT if there is one; INVALID_VALUE; whatever `fill` throws, and there is no domain then
   */
  async createTop(domain: NewDomain, fill?: FillDomain): Promise<Domain> {
    return await this.#insert(domain, { place: 'top', fill });
  }

  /**
   * The value of a property, inherited from the top domain if the domain has none. Includes secrets: never
   * show it.
   */
  property(domainId: string, name: string): JsonValue | undefined {
    const { properties } = this.#snapshot;
    const inherited = properties.get(this.find(domainId)?.parentId ?? '');
    return (properties.get(domainId)?.get(name) ?? inherited?.get(name))?.value;
  }

  /**
   * The properties in force in the caller's domain, with secrets masked. @throws FORBIDDEN unless the caller
   * is an admin
   */
  listProperties(scope: Scope): readonly ListedProperty[] {
    assertAdmin(scope);
    const own = this.#snapshot.properties.get(scope.domain.id) ?? new Map<string, Property>();
    const inherited =
      this.#snapshot.properties.get(scope.domain.parentId ?? '') ?? new Map<string, Property>();
    const names = [...new Set([...own.keys(), ...inherited.keys()])].sort();
    return names.flatMap((name) => {
      const property = own.get(name) ?? inherited.get(name);
      if (property === undefined) return [];
      const isSecret = property.isSecret || findKnownProperty(name)?.isOperators === true;
      const value = isSecret ? MASK : property.value;
      return [{ name, value, isSecret, isInherited: !own.has(name) }];
    });
  }

  /**
   * The properties that the service reads, with their values in the caller's domain, and the mail templates
   * that are set. @throws FORBIDDEN unless the caller is an admin
   */
  listKnownProperties(scope: Scope): readonly KnownPropertyInForce[] {
    const set = new Map(this.listProperties(scope).map((property) => [property.name, property]));
    const names = new Set([...KNOWN_PROPERTIES.map(({ name }) => name), ...set.keys()]);
    return [...names].flatMap((name) => {
      const known = findKnownProperty(name);
      if (known === undefined) return [];
      return [{ known, inForce: set.get(name), etag: this.#etagOf(scope, name) }];
    });
  }

  /**
   * Sets or removes a property that the service reads, as `setProperty` does, for an admin through any front
   * end.
   *
   * @throws also NOT_FOUND for a name that the service does not read; FORBIDDEN for an operator's property
   */
  async setKnownProperty(
    scope: Scope,
    change: Omit<PropertyChange, 'isSecret'>,
  ): Promise<KnownPropertyInForce> {
    assertAdmin(scope);
    const { name } = change;
    const known = findKnownProperty(name);
    if (known === undefined) {
      const names = KNOWN_PROPERTIES.map((property) => property.name);
      throw new ServiceError(
        'NOT_FOUND',
        `the service reads no property "${name.slice(0, 100)}".${didYouMean(name, names)}`,
      );
    }
    if (known.isOperators) {
      throw new ServiceError(
        'FORBIDDEN',
        `${name} is set where the gateway runs: campus property set ${name}`,
      );
    }
    await this.setProperty(scope, change);
    const inForce = this.listProperties(scope).find((property) => property.name === name);
    return { known, inForce, etag: this.#etagOf(scope, name) };
  }

  /**
   * Sets a property of the caller's domain; `value: undefined` removes it, so that the top domain's applies
   * again.
   *
   * A secret stays secret when it is set again; to make it visible, remove it first. A name close to one that
   * the service reads is set too, and the caller gets a hint.
   *
   * @throws FORBIDDEN unless the caller is an admin; INVALID_VALUE for a malformed name, or an invalid value
   *   of a property that the service reads; LIMIT_EXCEEDED for too long a value, and for too many properties;
   *   VERSION_CONFLICT if the present setting has another ETag than `ifMatch`
   */
  async setProperty(scope: Scope, property: PropertyChange): Promise<{ readonly hint: string | undefined }> {
    assertAdmin(scope);
    assertProperty(property.name, property.value);
    const domain = scope.domain.id;
    const { ifMatch } = property;
    const isUnchanged = ifMatch === undefined ? sql`true` : sql`${ETAG} = ${ifMatch}`;
    const mayBeNew = ifMatch === undefined || ifMatch === NOT_SET;
    const change =
      property.value === undefined
        ? sql`delete from properties p where p.domain_id = ${domain} and p.name = ${property.name}
            and ${isUnchanged}
          returning 1`
        : sql`
            insert into properties as p (domain_id, name, value, is_secret, updated_at)
            select ${domain}, ${property.name}, ${printValue(property.value)}::jsonb,
              ${property.isSecret ?? false}, now()
            where exists (select from properties where domain_id = ${domain} and name = ${property.name})
              or ${mayBeNew}::boolean
                and (select count(*) from properties where domain_id = ${domain}) < ${MAX_PROPERTIES}
            on conflict (domain_id, name) do update
              set value = excluded.value, is_secret = p.is_secret or excluded.is_secret,
                updated_at = excluded.updated_at
              where ${isUnchanged}
            returning 1`;
    const note = auditedAct(scope, {
      collection: '$property',
      id: property.name,
      operation: property.value === undefined ? 'deleted' : 'updated',
    });
    // Not one statement: where the database is sharded over several servers, the property is on one and the
    // audit trail on another, and every server would have to be there for both at once.
    const changed = await this.#database.transaction(async (tx) => {
      const rows = await tx.query(sql`
        with changed as (${change})
        select pg_notify(campus_channel(${CHANNEL}), ${domain}) from changed`);
      if (rows.length > 0) await tx.query(note);
      return rows;
    });
    await this.refresh();
    if (changed.length === 0) {
      if (ifMatch !== undefined && this.#etagOf(scope, property.name) !== ifMatch) {
        throw faultAt('VERSION_CONFLICT', `${property.name} was changed meanwhile`, {
          detail: 'read it again and decide anew',
        });
      }
      if (property.value !== undefined)
        throw new ServiceError('LIMIT_EXCEEDED', `a domain has at most ${MAX_PROPERTIES} properties`);
    }
    return { hint: property.value === undefined ? undefined : hintAtPropertyName(property.name) };
  }

  /**
   * The creation of a branch is in the audit trail of the top domain; at the first start there is no author.
   */
  async #insert(
    domain: NewDomain,
    { place, by, fill }: { place: 'top' | 'branch'; by?: Scope; fill?: FillDomain | undefined },
  ): Promise<Domain> {
    assertNewDomain(domain);
    const { id, timeZone } = domain;
    const name = toNormalText(domain.name);
    const created = await this.#database.transaction(async (tx) => {
      await tx.query(LOCK_DOMAINS);
      const [top] = await tx.query<{ id: string }>(sql`select id from domains where parent_id is null`);
      if (place === 'top' && top !== undefined) {
        throw new ServiceError('CONFLICT', `the top domain is "${top.id}" already`);
      }
      const inserted = await tx.query(sql`
        with created as (
          insert into domains (id, name, parent_id)
          select ${id}, ${name}, ${top?.id ?? null}
          where not exists (select from domains where lower(id) = lower(${id}))
          returning id
        )
        select pg_notify(campus_channel(${CHANNEL}), id) from created`);
      if (inserted.length === 0) return false;
      if (timeZone !== undefined) {
        await tx.query(sql`
          insert into properties (domain_id, name, value, is_secret, updated_at)
          values (${id}, 'timezone', ${printValue(timeZone)}::jsonb, false, now())`);
      }
      if (by !== undefined) {
        await tx.query(
          auditedAct(by, { collection: '$domain', id, operation: 'created', domainId: top?.id ?? id }),
        );
      }
      await fill?.(tx, { id, name, parentId: top?.id, timeZone: timeZone ?? DEFAULT_TIME_ZONE });
      return true;
    });
    if (!created) throw new ServiceError('CONFLICT', `there is a domain "${id}" already`);
    await this.refresh();
    return this.get(id);
  }

  #etagOf({ domain }: Scope, name: string): string {
    return this.#snapshot.properties.get(domain.id)?.get(name)?.etag ?? NOT_SET;
  }
}

async function readSnapshot(database: Database, defaultCallingCode: string): Promise<Snapshot> {
  // One statement, so that domains and properties are of the same moment.
  const rows = await database.query<{
    id: string;
    name: string;
    parent_id: string | null;
    properties: string;
  }>(sql`
    select d.id, d.name, d.parent_id,
      coalesce(
        (select jsonb_agg(jsonb_build_array(p.name, p.value, p.is_secret, ${ETAG})) from properties p
          where p.domain_id = d.id),
        '[]'
      )::text as properties
    from domains d
    order by d.parent_id is not null, d.id`);
  const properties = new Map(rows.map((row) => [row.id, toProperties(JSON.parse(row.properties))]));
  const topId = rows.find((row) => row.parent_id === null)?.id;
  const domains = rows.map((row): [string, Domain] => {
    const propertyOf = (name: string) =>
      properties.get(row.id)?.get(name)?.value ?? properties.get(row.parent_id ?? '')?.get(name)?.value;
    const timeZone = propertyOf('timezone');
    const callingCode = propertyOf('callingCode');
    const closedUntil = propertyOf(BOOKS_CLOSED_UNTIL);
    const firstMonth = Number(propertyOf('sessionFirstMonth') ?? Number.NaN);
    return [
      row.id,
      {
        id: row.id,
        name: row.name,
        parentId: row.parent_id ?? undefined,
        timeZone: typeof timeZone === 'string' ? timeZone : DEFAULT_TIME_ZONE,
        callingCode: typeof callingCode === 'string' ? callingCode : defaultCallingCode,
        ...(typeof closedUntil === 'string' && { booksClosedUntil: closedUntil }),
        ...(Number.isInteger(firstMonth) && { sessionFirstMonth: firstMonth }),
      },
    ];
  });
  return { domains: new Map(domains), properties, topId };
}

function toProperties(rows: JsonValue): ReadonlyMap<string, Property> {
  const properties = new Map<string, Property>();
  if (!Array.isArray(rows)) return properties;
  for (const row of rows) {
    const [name, value, isSecret, etag] = Array.isArray(row) ? row : [];
    if (typeof name !== 'string') continue;
    properties.set(name, { value: value ?? null, isSecret: isSecret === true, etag: String(etag) });
  }
  return properties;
}

function assertAdmin(scope: Scope): void {
  if (isAdmin(scope.principal)) return;
  throw new ServiceError('FORBIDDEN', 'only an admin reads and sets the properties of a domain');
}

function assertProperty(name: string, value: JsonValue | undefined): void {
  if (!PROPERTY_NAME.test(name)) {
    throw invalidAt(`"${name}" cannot be the name of a property`, {
      parameter: 'name',
      detail: 'not a name',
      expected: 'a letter, then letters, digits, `_`, `.`, `-`',
    });
  }
  if (value !== undefined) assertPropertyValue(name, value);
}

/** The value as JSON text. @throws LIMIT_EXCEEDED; INVALID_VALUE for a text that PostgreSQL cannot store */
function printValue(value: JsonValue): string {
  const text = printExactJson(value);
  if (Buffer.byteLength(text) > MAX_VALUE_BYTES) {
    throw new ServiceError('LIMIT_EXCEEDED', `the value of a property has at most ${MAX_VALUE_BYTES} bytes`);
  }
  if (isStorable(value)) return text;
  throw invalidAt('the value has a character that cannot be kept', {
    parameter: 'value',
    detail: 'not storable',
    expected: 'text without U+0000 and lone surrogates',
  });
}

function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return findUnstorableText(value) === undefined;
  if (Array.isArray(value)) return value.every(isStorable);
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
