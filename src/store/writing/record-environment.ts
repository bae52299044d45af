/** The environment for reading and writing records, with the few operations that all of it shares. */

import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json/json.js';
import type { Call } from '../../base/model/call.js';
import type { Collection } from '../../base/model/collection.js';
import type { Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import type { RecordQuery } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import type { StoredField } from '../../base/model/stored-field.js';
import { type EffectiveAccess, findAccess, type Readable, type RecordsOfScope } from '../access/access.js';
import { hintAtSent } from '../access/hint-at-paths.js';
import type { SpellingContext } from '../access/respelled.js';
import type { Catalog } from '../catalog/catalog.js';
import { namedFieldsOf } from '../catalog/field-uses.js';
import type { Database } from '../database/database.js';
import type { Queryable, Transaction } from '../database/queryable.js';
import { CollectionSizes, type Extent } from '../reading/collection-sizes.js';
import { QueryPlans } from '../reading/query-plans.js';
import { type CompileContext, compileFilter } from '../sql/compile-filter.js';
import { liveRecordsIn, liveRecordsOf } from '../sql/records-of.js';
import { statementName } from '../sql/statement-name.js';
import { type Sql, sql } from '../sql.js';
import { announceAtCommit, isFollowed, USER_COLLECTION, type WriteContext } from './record-statements.js';
import {
  deadReferenceDetail,
  listReferences,
  type ReferenceContext,
  settleReferences,
  type UnlabelledReference,
  withoutHeld,
} from './references.js';
import type { LinkContext, Sought } from './select-unlinked.js';
import { judgeLinks, type LinkedRecord, settleLinks } from './settle-links.js';
import type { StoredChange } from './validation.js';
import { NO_TRIGGERS, type WriteOperation, type WriteTriggers } from './write-triggers.js';

export interface RecordEnvironmentOptions {
  readonly database: Database;
  readonly catalog: Catalog;
  /**
   * Called, before a write is answered, when the rights of a user have changed, or of all users of the domain
   * (`undefined`). Other gateways are notified a moment later.
   */
  readonly onRightsChange?: (domainId: string, userId: string | undefined) => void;
  /** The triggers of writes. Default: none. */
  readonly triggers?: WriteTriggers;
  /** Called after every commit of a write, so that subscribers need not wait for the next poll. */
  readonly onCommit?: () => void;
  /** Called after the commit of a write with follow-ups in the outbox. */
  readonly onFollowed?: () => void;
  /** Receives the declared fields that an authorized caller named. Default: not recorded. */
  readonly onFieldsNamed?: (scope: Scope, fields: readonly StoredField[]) => void;
  /**
   * Called before a caller's read or write goes through so many records because no index finds those that it
   * needs. May refuse it. Default: nothing.
   */
  readonly onScan?: ((scope: Scope, rows: number) => void) | undefined;
  /** Records that one call may write. Default 10,000. */
  readonly maxRecordsPerWrite?: number;
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
}

export type ScannedQuery = Pick<RecordQuery, 'collection' | 'filter' | 'sort' | 'skip'>;

const DEFAULT_MAX_RECORDS = 10_000;
const WRITE_OPERATIONS = ['create', 'update', 'delete'] as const;
const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

export class RecordEnvironment {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly plans = new QueryPlans();
  readonly sizes: CollectionSizes;
  readonly maxRecordsPerWrite: number;
  readonly triggers: WriteTriggers;
  readonly now: () => Date;
  readonly #options: RecordEnvironmentOptions;

  constructor(options: RecordEnvironmentOptions) {
    this.#options = options;
    this.database = options.database;
    this.catalog = options.catalog;
    this.maxRecordsPerWrite = options.maxRecordsPerWrite ?? DEFAULT_MAX_RECORDS;
    this.triggers = options.triggers ?? NO_TRIGGERS;
    this.now = options.now ?? (() => new Date());
    this.sizes = new CollectionSizes(options.database, (name) => this.catalog.find(name));
  }

  /** Whether Citus plans the statements that `write` does not run, for which it needs the domain. */
  get isRouted(): boolean {
    return this.database.shards !== undefined;
  }

  /**
   * How many records a query goes through, because no index finds them; 0 if the caller may not read the
   * collection.
   */
  scannedRows(scope: Scope, query: ScannedQuery, extent: Extent): number {
    const collection = this.catalog.find(query.collection);
    const access = collection && findAccess(scope, collection, 'read');
    if (collection === undefined || access === undefined) return 0;
    // An index may serve the rows that the caller may see as well.
    const { rows } = access;
    const filter: Filter = rows === undefined ? query.filter : { kind: 'all', filters: [rows, query.filter] };
    return this.sizes.scannedRows(scope.domain.id, collection, { ...query, filter }, extent);
  }

  /** The same, so many times, for a query that is about to run. @throws what `onScan` throws */
  scan(scope: Scope, query: ScannedQuery, extent: Extent, times = 1): number {
    const rows = times * this.scannedRows(scope, query, extent);
    if (rows > 0) this.#options.onScan?.(scope, rows);
    return rows;
  }

  /** Records the use of the fields at which the paths begin, except those hidden from the caller. */
  noteNamed(
    scope: Scope,
    collection: Collection,
    paths: readonly Path[],
    hiddenFields: ReadonlySet<string> = NOTHING_HIDDEN,
  ): void {
    if (this.#options.onFieldsNamed === undefined || paths.length === 0) return;
    const shown = hiddenFields.size === 0 ? paths : paths.filter(([name]) => !hiddenFields.has(name ?? ''));
    this.#options.onFieldsNamed(scope, this.plans.namedFields(collection, shown));
  }

  /** Records the use of the fields that were sent, and points out names that are nearly declared ones. */
  noteSent(scope: Scope, collectionName: string, records: readonly JsonObject[]): void {
    const collection = this.catalog.find(collectionName);
    if (collection === undefined) return;
    hintAtSent(records, scope, collection);
    this.#options.onFieldsNamed?.(scope, namedFieldsOf(collection, records));
  }

  /** A copy with other triggers. */
  withTriggers(triggers: WriteTriggers): RecordEnvironment {
    return new RecordEnvironment({ ...this.#options, triggers });
  }

  compileContext(scope: Scope, collection: Collection): CompileContext {
    return {
      collection,
      timeZone: scope.domain.timeZone,
      callingCode: scope.domain.callingCode,
      now: this.now(),
      isByteOrdered: this.database.isByteOrdered,
      spelling: this.spelling(scope),
      findTarget: (name) => this.findReadable(scope, name),
    };
  }

  spelling({ domain }: Pick<Scope, 'domain'>): SpellingContext {
    const { isRouted } = this;
    return { domain: domain.id, isRouted, findCollection: (name) => this.catalog.find(name) };
  }

  /** The part of a collection that the caller may read, for a statement that joins it; `undefined`: none. */
  findReadable(scope: Scope, name: string): Readable | undefined {
    const collection = this.catalog.find(name);
    const access = collection && findAccess(scope, collection, 'read');
    if (collection === undefined || access === undefined) return undefined;
    const context = this.compileContext(scope, collection);
    return {
      collection,
      condition: sql`${liveRecordsOf(scope, collection)} ${andRows(access, context)}`,
      access,
    };
  }

  /** The caller's rows as a condition over `r`; `undefined`: all. */
  rowsOf(scope: Scope, collection: Collection, access: EffectiveAccess): Sql | undefined {
    if (access.rows === undefined) return undefined;
    return compileFilter(access.rows, this.compileContext(scope, collection));
  }

  /** Whether the record `r` is in the rows of these rights; false where there are none. */
  isIn(scope: Scope, collection: Collection, access: EffectiveAccess | undefined): Sql {
    if (access === undefined) return sql`false`;
    return sql`(${this.rowsOf(scope, collection, access) ?? sql`true`}) is true`;
  }

  /** The conditions over `r` of what all of the rights reach. */
  reachOf(scope: Scope, collection: Collection, rights: readonly EffectiveAccess[]): readonly Sql[] {
    return rights.flatMap((access) => this.rowsOf(scope, collection, access) ?? []);
  }

  /** The context of a write, including what the caller gets back: what it may read, or only `_id`. */
  writeContext(scope: Scope, collection: Collection, now: Date): WriteContext {
    const readable = findAccess(scope, collection, 'read');
    const projection = this.plans.projection(
      collection,
      readable === undefined ? [] : undefined,
      readable?.hiddenFields ?? new Set(),
    );
    const fields = readable && this.plans.fields(collection, undefined, readable.hiddenFields);
    const { isRouted, triggers } = this;
    const isToOutbox = this.database.announcesByOutbox;
    return { scope, collection, now, projection, fields, triggers, isToOutbox, isRouted };
  }

  /** Gives references without a label the one of their target. */
  async fillLabels(
    queryable: Queryable,
    scope: Scope,
    unlabelled: readonly UnlabelledReference[],
  ): Promise<void> {
    await settleReferences(queryable, { unlabelled, held: [] }, this.referenceContext(scope));
  }

  /**
   * Fills missing labels of references, puts names that differ by case and blanks alone in the school's
   * spelling, and returns what is wrong with the references and links of each record. What a record had
   * before may stay. At most two round trips, whatever the number of records.
   */
  async settleTargets(
    queryable: Queryable,
    { scope, collection, records, made }: SettledWrite,
  ): Promise<readonly (readonly ErrorDetail[])[]> {
    const heldByRecord = records.map(({ data, changes }) => listReferences(collection, data, changes));
    const references = { unlabelled: records.flatMap((one) => one.unlabelled), held: heldByRecord.flat() };
    const context = this.referenceContext(scope, made && { collection: collection.name, ids: made });
    const dead = new Set(await settleReferences(queryable, references, context));
    const links = this.linkContext(scope, queryable !== this.database);
    const judge = (sought: readonly Sought[]) => judgeLinks(queryable, collection, sought, links);
    const unlinked = await settleLinks(collection, records, { timeZone: scope.domain.timeZone, judge });
    return records.map(({ before }, index) => {
      const found = heldByRecord[index]?.filter((reference) => dead.has(reference)) ?? [];
      const known = found.length === 0 || before === undefined ? [] : listReferences(collection, before);
      const missing = withoutHeld(found, known).map(deadReferenceDetail);
      return [...missing, ...(unlinked[index] ?? [])];
    });
  }

  linkContext(scope: Scope, holds: boolean): LinkContext {
    return { scope, findCollection: (name) => this.catalog.find(name), isRouted: this.isRouted, holds };
  }

  referenceContext(scope: Scope, made?: ReferenceContext['made']): ReferenceContext {
    return {
      scope,
      findCollection: (name) => this.catalog.find(name),
      rowsOf: (collection, access) => this.rowsOf(scope, collection, access),
      made,
    };
  }

  /**
   * Announces a committed write to this gateway. A write within a transaction is announced after the commit.
   */
  announceCommit(scope: Scope, collection: Collection, written: readonly { readonly id: string }[]): void {
    if (written.length > 0) this.#options.onCommit?.();
    if (written.length > 0 && this.#leavesFollowUps(scope, collection)) this.#options.onFollowed?.();
    if (collection.name === USER_COLLECTION) {
      for (const { id } of written) this.#options.onRightsChange?.(scope.domain.id, id);
    } else if (collection.grants.length > 0 && written.length > 0) {
      this.#options.onRightsChange?.(scope.domain.id, undefined);
    }
  }

  #leavesFollowUps(scope: Scope, collection: Collection): boolean {
    if (!this.database.announcesByOutbox) return false;
    const context = { scope, collection, triggers: this.triggers };
    return WRITE_OPERATIONS.some((operation) => isFollowed(context, operation));
  }

  /** Prepares the announcement for after the commit, and keeps no more of the write than it needs. */
  commitAnnouncer(
    scope: Scope,
    collection: Collection,
    written: readonly { readonly id: string }[],
  ): () => void {
    const isOfUsers = collection.name === USER_COLLECTION;
    const announced = isOfUsers ? written.map(({ id }) => ({ id })) : written.slice(0, 1);
    return () => this.announceCommit(scope, collection, announced);
  }

  /**
   * Runs a statement that writes records; on a sharded database, on the server of the domain. Even a single
   * statement can deadlock, so it is retried like a transaction.
   */
  async write<Row extends object>(context: WriteContext, write: WriteStatement): Promise<Row[]> {
    const { scope, collection } = context;
    if (collection.name !== USER_COLLECTION || write.operation === 'create') {
      return await this.#write<Row>(context, write);
    }
    const work = (within: Transaction) =>
      keepingAnAdmin(within, scope.domain.id, () => this.#write<Row>(context, { ...write, within }));
    const { within } = write;
    if (within !== undefined) return await work(within);
    return await this.database.deadlocks.run(() => this.database.transaction(work));
  }

  async #write<Row extends object>(
    context: WriteContext,
    { within, operation, statement, columns, call = context.scope.call }: WriteStatement,
  ): Promise<Row[]> {
    const { shards, deadlocks } = this.database;
    const sql = statement(this.placed(context));
    const options = { name: statementName(sql.text), call };
    const place = { domain: context.scope.domain.id, columns };
    if (within === undefined) {
      return await deadlocks.run(() =>
        shards === undefined
          ? this.run<Row>(this.database, sql, call)
          : shards.query<Row>(sql, place, options),
      );
    }
    const rows =
      shards === undefined
        ? await this.run<Row>(within, sql, call)
        : await shards.queryWithin<Row>(within, sql, place, options);
    if (context.isToOutbox && isFollowed(context, operation)) await within.query(announceAtCommit(context));
    return rows;
  }

  /** The context of a write for the server on which `write` runs it. */
  placed(context: WriteContext): WriteContext {
    return this.database.shards === undefined ? context : { ...context, isShardLocal: true };
  }

  async run<Row extends object>(queryable: Queryable, sql: Sql, call?: Call): Promise<Row[]> {
    // When a script is ended, its statements are cancelled; a write of a request continues even if its caller
    // disconnects.
    const signal = call?.scriptDepth === undefined ? undefined : call.signal;
    return await queryable.query<Row>(sql, { name: statementName(sql.text), call, signal });
  }
}

/** A statement that writes records. */
interface WriteStatement {
  /** The transaction to join. */
  readonly within?: Transaction | undefined;
  readonly operation: WriteOperation;
  /** Builds the statement for a context, which may differ from the original one. */
  readonly statement: (context: WriteContext) => Sql;
  /** The columns of its rows with their types, as SQL. */
  readonly columns: string;
  /** Default: the call of the context. */
  readonly call?: Call;
}

/** Records that are about to be written. */
interface SettledWrite extends RecordsOfScope {
  readonly records: readonly (LinkedRecord & Pick<StoredChange, 'unlabelled'>)[];
  /** The ids of the records it creates in the collection, which may refer to each other. */
  readonly made?: ReadonlySet<string> | undefined;
}

/** The row rules as an additional condition over `r`. */
export function andRows(access: EffectiveAccess, context: CompileContext): Sql {
  return access.rows === undefined ? sql.empty : sql`and (${compileFilter(access.rows, context)})`;
}

/**
 * Runs work that changes or removes users of a domain. A domain that has no admin yet may stay so.
 *
 * @throws CONFLICT if no admin would be left
 */
export async function keepingAnAdmin<T>(
  transaction: Transaction,
  domainId: string,
  work: () => Promise<T>,
): Promise<T> {
  // Locks the rows of all admins: of two who revoke each other's right, the second sees the change of the
  // first.
  const before = await selectAdmins(transaction, domainId, sql`order by r.id for update`);
  const result = await work();
  if (before.length === 0) return result;
  const after = await selectAdmins(transaction, domainId, sql`limit 1`);
  if (after.length > 0) return result;
  throw new ServiceError('CONFLICT', 'This is the last admin who may log in; make another one first.');
}

async function selectAdmins(queryable: Queryable, domainId: string, tail: Sql): Promise<readonly object[]> {
  return await queryable.query(sql`
    select r.id
    from records r
    where ${liveRecordsIn(domainId, 'pltf_user')}
      and r.data -> 'active' = 'true' and r.data -> 'roles' ? 'admin'
    ${tail}`);
}
