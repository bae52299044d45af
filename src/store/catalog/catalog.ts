/**
 * The collections of the instance: those declared in schema/collections and those registered at run time.
 * Held in memory, and reloaded on every gateway when one changes.
 *
 * A collection is never dropped because its file is gone: it is reported (`undeclared`), and its records
 * stay.
 *
 * @see decisions 1 (a dropped collection)
 */

import { type ErrorDetail, faultAt, invalidAt, ServiceError } from '../../base/errors.js';
import { type JsonValue, printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { type Domain, type Scope, topDomainIdOf } from '../../base/model/scope.js';
import type { StoredField } from '../../base/model/stored-field.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { assertInReach, isAdmin, isInReach, isTopDomainAdmin } from '../access/access.js';
import { type AuditedOperation, auditedAct } from '../audited-act.js';
import { withAdvisoryLock } from '../database/advisory-lock.js';
import type { Database } from '../database/database.js';
import { FairQueue } from '../database/fair-queue.js';
import { ensurePartition } from '../database/partitions.js';
import { type Sql, sql } from '../sql.js';
import {
  CATALOG_CHANNEL,
  type CatalogRow,
  definitionsIn,
  findOwnRow,
  listCatalogRows,
  toCollection,
  upsertDefinition,
} from './catalog-row.js';
import type { CollectionDefinition } from './collection-definition.js';
import { assertOwnGraphqlNames } from './collection-definition.js';
import { CATALOG_LOCK, type DeclareOptions, declareAll } from './declare-all.js';
import { compareDefinitions, type DefinitionChange, findAlterationFaults } from './definition-changes.js';
import { type FieldUse, findUseFaults, listFieldUses } from './field-uses.js';
import { type GuardingField, guardingFields, type Naming, namingLinks } from './guarding-fields.js';
import { parseCollection, parseDefinition, readDefinitions } from './parse-collection.js';
import { findUndeclaredFields, type UndeclaredFields } from './undeclared-fields.js';

export interface CatalogOptions extends DeclareOptions {
  /** The directory of the declaration files; `undefined`: none are read. */
  readonly directory: string | undefined;
}

/** Findings of the start that an operator should look at. */
export interface CatalogReport {
  /** Collections whose declaration file no longer exists; still served. */
  readonly undeclared: readonly string[];
  /**
   * Indexes built for an earlier declaration. They slow down writes, and a unique one is still enforced;
   * dropping them is up to the operator.
   */
  readonly undeclaredIndexes: readonly string[];
  /** Stored definitions that are no longer valid, with the reason; not served. */
  readonly unreadable: readonly { readonly name: string; readonly reason: string }[];
}

/** The result of a dry run of registering or altering a collection. */
export interface CollectionTrial {
  readonly name: string;
  readonly isNew: boolean;
  /** The differences to the present declaration; for a new collection, all of it. */
  readonly changes: readonly DefinitionChange[];
  /** The reasons why it would be refused; empty if it would not. */
  readonly faults: readonly ErrorDetail[];
  /** The uses of fields that would be dropped, because of which it is refused unless `dropsUsedFields`. */
  readonly useFaults: readonly ErrorDetail[];
}

export interface AlterationOptions {
  /** Allows dropping fields that operations use. */
  readonly dropsUsedFields?: boolean | undefined;
  /** The expected version of the declaration to alter. */
  readonly ifVersion?: number | undefined;
}

interface Entry {
  readonly name: string;
  readonly version: number;
  readonly isDeclared: boolean;
  /** The top domain that registered it; `null`: it belongs to all domains. */
  readonly domainId: string | null;
  readonly definition: CollectionDefinition;
  /** `undefined`: dropped. */
  readonly collection: Collection | undefined;
}

export class Catalog {
  readonly #database: Database;
  readonly #topDomain: () => Domain | undefined;
  readonly #listeners = new Set<() => void>();
  #entries: ReadonlyMap<string, Entry> = new Map();
  #collections: readonly Collection[] = [];
  #guarding: ReadonlyMap<string, readonly GuardingField[]> = new Map();
  #namings: ReadonlyMap<string, readonly Naming[]> = new Map();
  #unreadable: CatalogReport['unreadable'] = [];
  #undeclaredIndexes: readonly string[] = [];
  #declaredNames: ReadonlySet<string> | undefined;
  readonly #line = new FairQueue({
    perCaller: 1,
    waitingPerCaller: 50,
    waitMs: 20_000,
    refusal: 'Too many collections are being changed',
  });
  #reading: Promise<unknown> = Promise.resolve();
  #stopListening: () => Promise<void> = async () => {};

  private constructor(options: CatalogOptions) {
    this.#database = options.database;
    // Its admins register, alter and drop collections.
    this.#topDomain = () => options.domains().find(({ parentId }) => parentId === undefined);
  }

  /**
   * Stores new and changed declarations of a directory in the database, with partitions and indexes, loads
   * the catalog, and listens for changes until `close`.
   *
   * @throws INVALID_VALUE naming file, pointer and expectation for a faulty declaration; nothing is changed
   *   then
   */
  static async load(options: CatalogOptions): Promise<Catalog> {
    const catalog = new Catalog(options);
    if (options.directory !== undefined) {
      const definitions = await readDefinitions(options.directory);
      catalog.#declaredNames = new Set(definitions.map((definition) => definition.name));
      catalog.#undeclaredIndexes = await declareAll(options, definitions);
    }
    catalog.#stopListening = await options.database.keepCurrent(CATALOG_CHANNEL, () => catalog.refresh());
    await catalog.refresh();
    return catalog;
  }

  async close(): Promise<void> {
    await this.#stopListening();
  }

  /** Reloads the catalog, after a reload in progress: the last one to end is the last one begun. */
  async refresh(): Promise<void> {
    const reading = this.#reading.catch(() => {}).then(() => listCatalogRows(this.#database));
    this.#reading = reading;
    this.#accept(await reading);
  }

  /**
   * @throws NOT_FOUND with a suggestion; with a `scope`, only among the collections the caller can reach;
   *   GONE if the collection was dropped
   */
  get(name: string, scope?: Scope): Collection {
    const entry = this.#entryFor(name, scope);
    if (entry?.collection !== undefined) return entry.collection;
    if (entry !== undefined) throw new ServiceError('GONE', `the collection "${name}" was dropped`);
    const known = this.#collections.filter((one) => scope === undefined || isInReach(scope, one));
    const names = known.map((collection) => collection.name);
    throw new ServiceError('NOT_FOUND', `there is no collection "${name}".${didYouMean(name, names)}`);
  }

  /** To the callers of other top domains, a registered collection looks as if it never existed. */
  #entryFor(name: string, scope: Scope | undefined): Entry | undefined {
    const entry = this.#entries.get(name);
    const isOwn = scope === undefined || (entry?.domainId ?? null) === null;
    return isOwn || entry?.domainId === topDomainIdOf(scope.domain) ? entry : undefined;
  }

  find(name: string): Collection | undefined {
    return this.#entries.get(name)?.collection;
  }

  /**
   * The definition as it was written, as a basis for an alteration.
   *
   * @throws FORBIDDEN unless the caller is an admin without an API key; NOT_FOUND, GONE
   */
  definitionFor(scope: Scope, name: string): CollectionDefinition {
    assertAdmin(scope, 'reads the whole declaration of a collection');
    assertInReach(scope, this.get(name, scope));
    return this.#entries.get(name)?.definition ?? { name };
  }

  /** All collections that are not dropped, by name. */
  list(): readonly Collection[] {
    return this.#collections;
  }

  /** The fields of all collections whose references refuse the removal of a record of this one. */
  fieldsGuarding(name: string): readonly GuardingField[] {
    return this.#guarding.get(name) ?? [];
  }

  /** The links of all collections whose texts name records of this one. */
  namingsOf(name: string): readonly Naming[] {
    return this.#namings.get(name) ?? [];
  }

  report(): CatalogReport {
    const declared = this.#declaredNames;
    const undeclared =
      declared === undefined
        ? []
        : this.#collections.filter((one) => one.isDeclared && !declared.has(one.name)).map((one) => one.name);
    return { undeclared, undeclaredIndexes: this.#undeclaredIndexes, unreadable: this.#unreadable };
  }

  /**
   * Calls the listener whenever a collection is added, changed or dropped, on any gateway. The returned
   * function unsubscribes.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Registers a collection at run time, for the caller's top domain and its branches.
   *
   * @throws FORBIDDEN unless the caller is an admin of the top domain; INVALID_VALUE; CONFLICT if the name or
   *   a GraphQL name is taken
   */
  async register(scope: Scope, definition: JsonValue): Promise<Collection> {
    this.#assertAdmin(scope);
    const parsed = parseDefinition(toPlain(definition), 'registerCollection');
    await this.#change(scope, parsed, 'created', async (current) => {
      if (current.some((row) => row.name === parsed.name)) throw nameTaken(parsed.name, current);
    });
    return this.get(parsed.name, scope);
  }

  /**
   * Replaces the definition of a registered collection.
   *
   * Changes that would break records or callers are refused with the reason: another type, list or format of
   * a field that records may hold; dropping a field that was not deprecated first; other GraphQL names; a
   * rule that live records violate; and, unless `dropsUsedFields`, dropping a field that operations use.
   *
   * @throws FORBIDDEN unless the caller is an admin of the top domain; NOT_FOUND, GONE; INVALID_VALUE;
   *   CONFLICT; VERSION_CONFLICT if the declaration has another version than `ifVersion`
   */
  async alter(
    scope: Scope,
    definition: JsonValue,
    { dropsUsedFields = false, ifVersion }: AlterationOptions = {},
  ): Promise<Collection> {
    this.#assertAdmin(scope);
    const parsed = parseDefinition(toPlain(definition), 'alterCollection');
    await this.#change(scope, parsed, 'updated', async (current) => {
      this.#assertVersion(scope, current, { name: parsed.name, ifVersion });
      const { faults, useFaults } = await this.#faultsOfAlteration(scope, parsed, current);
      const all = [...faults, ...(dropsUsedFields ? [] : useFaults)];
      const [first] = all;
      if (first === undefined) return;
      throw new ServiceError('CONFLICT', `${parsed.name} cannot be changed so: ${first.detail}`, {
        errors: all,
      });
    });
    return this.get(parsed.name);
  }

  /**
   * A dry run of registering a definition, or of altering the collection with its name. It costs as much as
   * the checks of the alteration.
   *
   * @throws as `register` and `alter` do, except the conflicts, which are returned
   */
  async tryChange(scope: Scope, definition: JsonValue): Promise<CollectionTrial> {
    this.#assertAdmin(scope);
    const parsed = parseDefinition(toPlain(definition), 'collectionTrial');
    const current = await listCatalogRows(this.#database);
    const row = findOwnRow(scope, current, parsed.name);
    const isNew = row === undefined;
    const { $schema: _where, ...after } = parsed;
    const before: CollectionDefinition | undefined = isNew ? undefined : JSON.parse(row.definition);
    const found = await conflictAsFault(async () => {
      if (isNew && current.some(({ name }) => name === parsed.name)) throw nameTaken(parsed.name, current);
      assertOwnGraphqlNames(parsed, definitionsIn(current));
      return isNew ? NO_FAULTS : await this.#faultsOfAlteration(scope, parsed, current);
    });
    return { name: parsed.name, isNew, changes: compareDefinitions(before, after), ...found };
  }

  #assertVersion(
    scope: Scope,
    current: readonly CatalogRow[],
    { name, ifVersion }: { readonly name: string; readonly ifVersion: number | undefined },
  ): void {
    const row = findOwnRow(scope, current, name);
    // A missing collection, or one of another domain, is reported as such.
    if (ifVersion === undefined || row === undefined || row.version === ifVersion) return;
    const detail = `the declaration of ${name} has version ${row.version}, not ${ifVersion}`;
    throw faultAt('VERSION_CONFLICT', detail, {
      detail: 'read it again and decide anew',
      expected: String(row.version),
      sent: ifVersion,
    });
  }

  async #faultsOfAlteration(
    scope: Scope,
    definition: CollectionDefinition,
    current: readonly CatalogRow[],
  ): Promise<FaultsOfChange> {
    const row = findOwnRow(scope, current, definition.name);
    if (row === undefined) this.get(definition.name, scope);
    if (row?.is_declared) throw isInFile(definition.name);
    if (row === undefined) return NO_FAULTS;
    const before = toCollection(row);
    const after = parseCollection(definition, { source: 'alterCollection', isDeclared: false, version: 0 });
    return {
      faults: await findAlterationFaults(this.#database, before, after),
      useFaults: await findUseFaults(this.#database, scope, { before, after }),
    };
  }

  /**
   * The uses of a field in the caller's domain within the last 30 days, latest first.
   *
   * @throws FORBIDDEN unless the caller is an admin without an API key; NOT_FOUND, GONE; INVALID_VALUE for an
   *   undeclared field
   */
  async fieldUses(scope: Scope, used: StoredField): Promise<readonly FieldUse[]> {
    assertAdmin(scope, 'sees who uses a field');
    const collection = this.get(used.collection, scope);
    if (!collection.fieldsByName.has(used.field)) {
      const near = didYouMean(used.field, collection.fieldsByName.keys());
      const detail = `${collection.name} declares no field "${used.field}".${near}`;
      throw invalidAt(detail, { parameter: 'field', sent: used.field });
    }
    return await listFieldUses(this.#database, scope, used);
  }

  /**
   * The undeclared fields of records in the caller's domain.
   *
   * @throws FORBIDDEN unless the caller is an admin without an API key; NOT_FOUND, GONE
   */
  async undeclaredFields(scope: Scope, name: string): Promise<UndeclaredFields> {
    assertAdmin(scope, 'looks for fields that are not declared');
    const collection = this.get(name, scope);
    assertInReach(scope, collection);
    return await findUndeclaredFields(this.#database, scope, collection);
  }

  /**
   * Drops a registered collection in every domain: from now on it is GONE. Its records stay until they are
   * purged.
   *
   * @throws FORBIDDEN unless the caller is an admin of the top domain; NOT_FOUND, GONE; CONFLICT for one
   *   declared in a file
   */
  async drop(scope: Scope, name: string): Promise<void> {
    this.#assertAdmin(scope);
    await this.#alone(async () => {
      const row = findOwnRow(scope, await listCatalogRows(this.#database), name);
      if (row === undefined) this.get(name, scope);
      if (row?.is_declared) throw isInFile(name);
      await this.#database.query(sql`
        with dropped as (
          update collections
          set dropped_at = now(), updated_at = now(), version = version + 1
          where name = ${name}
          returning name
        ), noted as (${noteOf(scope, name, 'deleted', sql`from dropped`)})
        select pg_notify(campus_channel(${CATALOG_CHANNEL}), name) from dropped`);
    });
    await this.refresh();
  }

  #assertAdmin(scope: Scope): void {
    const top = this.#topDomain();
    const { domain } = scope;
    const isOwnTop = domain.parentId === undefined && isTopDomainAdmin(scope, domain);
    if (isOwnTop || isTopDomainAdmin(scope, top)) return;
    throw new ServiceError(
      'FORBIDDEN',
      'only an admin of the top domain, signed in with a password, registers, alters and drops collections',
    );
  }

  /**
   * Checks under the lock, creates partition and indexes, stores the definition, and notifies the other
   * gateways.
   */
  async #change(
    scope: Scope,
    definition: CollectionDefinition,
    operation: 'created' | 'updated',
    check: (current: readonly CatalogRow[]) => Promise<void>,
  ): Promise<void> {
    await this.#alone(async () => {
      const current = await listCatalogRows(this.#database);
      await check(current);
      assertOwnGraphqlNames(definition, definitionsIn(current));
      const collection = parseCollection(definition, {
        source: definition.name,
        isDeclared: false,
        version: 0,
      });
      await ensurePartition(this.#database, collection);
      const note = noteOf(scope, definition.name, operation, sql`from changed`);
      await this.#database.query(
        upsertDefinition(definition, { domainId: topDomainIdOf(scope.domain), note }),
      );
    });
    await this.refresh();
  }

  /** Excludes other gateways, and other changes by this one. */
  async #alone(work: () => Promise<void>): Promise<void> {
    await this.#line.run('', () => withAdvisoryLock(this.#database, CATALOG_LOCK, work));
  }

  #accept(rows: readonly CatalogRow[]): void {
    const before = this.#entries;
    const unreadable: { name: string; reason: string }[] = [];
    const entries = rows.flatMap((row): Entry[] => {
      const known = before.get(row.name);
      // The same object while nothing has changed, because it is the key of caches.
      if (known?.version === row.version && known.isDeclared === row.is_declared) return [known];
      const definition: CollectionDefinition = JSON.parse(row.definition);
      const { name, version, is_declared: isDeclared, domain_id: domainId } = row;
      const entry = { name, version, isDeclared, domainId, definition };
      if (row.dropped) return [{ ...entry, collection: undefined }];
      try {
        return [{ ...entry, collection: toCollection(row) }];
      } catch (error) {
        unreadable.push({ name: row.name, reason: error instanceof Error ? error.message : String(error) });
        return [];
      }
    });
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
    this.#collections = entries.flatMap((entry) => entry.collection ?? []);
    this.#unreadable = unreadable;
    const isSame =
      entries.length === before.size && entries.every((entry) => before.get(entry.name) === entry);
    if (isSame) return;
    this.#guarding = guardingFields(this.#collections);
    this.#namings = namingLinks(this.#collections);
    for (const listener of this.#listeners) listener();
  }
}

/** The audit entry for a change of a declaration. */
function noteOf(scope: Scope, name: string, operation: AuditedOperation, from: Sql): Sql {
  return auditedAct(scope, { collection: '$collection', id: name, operation, from });
}

interface FaultsOfChange {
  readonly faults: readonly ErrorDetail[];
  readonly useFaults: readonly ErrorDetail[];
}

const NO_FAULTS: FaultsOfChange = { faults: [], useFaults: [] };

/** Returns a conflict as a fault, because finding it is the purpose of the trial. */
async function conflictAsFault(find: () => Promise<FaultsOfChange>): Promise<FaultsOfChange> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'CONFLICT') throw error;
    return { faults: error.errors ?? [{ detail: error.message }], useFaults: [] };
  }
}

/** A declaration contains no numbers that a float cannot hold. */
function toPlain(definition: JsonValue): unknown {
  return JSON.parse(printExactJson(definition));
}

function nameTaken(name: string, current: readonly CatalogRow[]): ServiceError {
  const isDropped = current.some((row) => row.name === name && row.dropped);
  const why = isDropped ? 'was dropped, and its name is not free until it is purged' : 'is there already';
  return new ServiceError('CONFLICT', `the collection "${name}" ${why}`);
}

function assertAdmin({ principal }: Scope, does: string): void {
  if (!isAdmin(principal)) throw new ServiceError('FORBIDDEN', `only an admin ${does}`);
}

function isInFile(name: string): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `${name} is declared in schema/collections/${name}.json: change it there, where every start ` +
      'would set it back to',
  );
}
