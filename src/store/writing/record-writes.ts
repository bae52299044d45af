import { ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { isSameJson } from '../../base/model/compare-json.js';
import { keysOf } from '../../base/model/keys-of.js';
import type { RecordVerb, Scope } from '../../base/model/scope.js';
import { accessOf, type EffectiveAccess, findAccess } from '../access/access.js';
import type { Transaction } from '../database/queryable.js';
import {
  STORED_COLUMNS,
  type StoredRecord,
  type StoredRow,
  toStoredRecord,
} from '../reading/stored-record.js';
import { liveRecordsById, recordsOf } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import { runWrite } from './atomically.js';
import { settleRenames } from './change-records.js';
import { fieldsTogether, findCheckFaults } from './check-faults.js';
import { withFormerStay } from './former-stay.js';
import { andRows, type RecordEnvironment } from './record-environment.js';
import { takeOwnSentId } from './record-ids.js';
import { atomicWrite, type PermittedWrite } from './record-inserts.js';
import {
  assertWritable,
  type ExpectedVersion,
  gone,
  isExpected,
  MAX_ATTEMPTS,
  notFound,
  outOfRows,
  overtaken,
  versionConflict,
} from './record-refusals.js';
import {
  deleteRecord,
  mergedData,
  replacedData,
  staysIn,
  unchangedRecord,
  updateRecord,
  type WriteContext,
} from './record-statements.js';
import {
  deadReferenceDetail,
  holdsReferences,
  listReferences,
  settleReferences,
  withoutHeld,
} from './references.js';
import { assertUnreferenced, isGuarded } from './referring-records.js';
import { canRename, type RenameOptions } from './renames.js';
import {
  assertJudgeable,
  assertNoProbing,
  differingNames,
  EVERY_FIELD,
  isJudgeable,
  secretFieldsOf,
  without,
} from './secret-fields.js';
import { assertNoFaults, type StoredChange, stampedFields, toStored } from './validation.js';
import { askBefore, type Revision, revise } from './write-triggers.js';

export interface WriteOptions {
  /** The transaction to join. Default: a new one. */
  readonly within?: Transaction | undefined;
}

export interface ConditionalWriteOptions extends WriteOptions {
  /** Refused with VERSION_CONFLICT if the record has another version. */
  readonly ifVersion?: ExpectedVersion;
}

interface DeleteOptions extends ConditionalWriteOptions {
  /** @see RemovedRecords.force */
  readonly force?: boolean | undefined;
}

interface UpdateOptions extends ConditionalWriteOptions, RenameOptions {
  readonly data: JsonObject;
  /**
   * `merge`: the top-level members sent replace existing ones, null removes one (RFC 7386 at the top level:
   * an object or a list is replaced as a whole). `replace`: the record becomes what is sent, except creation
   * stamps and fields that the caller may not set.
   */
  readonly mode: 'merge' | 'replace';
}

export class RecordWrites {
  readonly #environment: RecordEnvironment;

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
  }

  /**
   * Changes a record and returns it.
   *
   * @throws INVALID_VALUE, CONFLICT as `create` does; VERSION_CONFLICT; NOT_FOUND; GONE; FORBIDDEN if the
   *   caller may read the record but not change it, or not to this
   */
  async update(scope: Scope, name: string, id: string, options: UpdateOptions): Promise<StoredRecord> {
    const collection = this.#environment.catalog.get(name, scope);
    const access = accessOf(scope, collection, 'update');
    const { data: sent, errors } = takeOwnSentId(options.data, id);
    assertNoFaults(errors);
    assertWritable([sent], access, collection);
    assertNoProbing([sent], scope, collection);
    const write = { scope, collection, access };
    const triggers = this.#environment.triggers.before(scope.domain.id, name, 'update');
    // Outside a transaction, the targets of references would not be held until the record is written.
    const { fieldsByName } = collection;
    const names = options.mode === 'merge' ? Object.keys(sent) : [...fieldsByName.keys()];
    const isRename = canRename(this.#environment, collection, names);
    const isAlone =
      triggers.length === 0 &&
      !isRename &&
      !Object.keys(sent).some((field) => holdsReferences(fieldsByName.get(field)));
    if (isAlone) return await this.#change(write, id, { ...options, data: sent });
    return await atomicWrite(this.#environment, { scope, collection }, options, async (within) => {
      if (triggers.length === 0 && !isRename)
        return await this.#change(write, id, { ...options, data: sent, within });
      const current = await this.#lock(write, id, within);
      const unchanged = { ...options, data: sent, within };
      // The write will not find a record either, and will report why.
      if (current === undefined) return await this.#change(write, id, unchanged);
      const change = async (data: JsonObject) => {
        const written = await this.#change(write, id, { ...options, data, within });
        if (!isRename) return written;
        const { renameEverywhere } = options;
        const changes = [{ before: current, after: await this.#findStored(write, id, within) }];
        await settleRenames(this.#environment, within, { scope, collection, changes, renameEverywhere });
        return written;
      };
      const isMerge = options.mode === 'merge';
      const record = isMerge ? mergePatch(current, sent) : sent;
      // As for a change of many records: scripts are asked about changes.
      if (triggers.length === 0 || isSameJson(current, record)) return await change(sent);
      const pending = { scope, collection, operation: 'update', id, record, previous: current } as const;
      const revision = await askBefore(triggers, pending, within);
      const data = isMerge ? { ...sent, ...patchOf(revision) } : revise(sent, revision);
      return await change(data);
    });
  }

  /** Makes a change whose fields have been checked to be settable. */
  async #change(
    { scope, collection, access }: PermittedWrite,
    id: string,
    options: UpdateOptions,
  ): Promise<StoredRecord> {
    const hidden = findAccess(scope, collection, 'read')?.hiddenFields ?? [];
    const keptFields = new Set([...stampedFields(collection), ...access.readOnlyFields, ...hidden]);
    const secret = secretFieldsOf(scope, collection);
    const now = this.#environment.now();
    const { timeZone, callingCode } = scope.domain;
    const toChange = (before?: JsonObject) =>
      toStored(collection, options.data, {
        ...{ timeZone, callingCode, now, keptFields, before },
        mode: options.mode,
      });
    const sent = await this.#unlessHeld(toChange, { scope, collection, access }, id, options);
    await this.#assertReferences({ scope, collection, access }, { id, change: sent, within: options.within });
    const kept = [...keptFields].filter((field) => !Object.hasOwn(sent.data, field));
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const together = await this.#checkTogether({ scope, collection, id, change: sent, options, kept });
      const { change = sent } = together;
      const data = options.mode === 'merge' ? mergedData(change) : replacedData(change.data, kept);
      const update = {
        id,
        ifVersion: together.ifVersion ?? options.ifVersion,
        data,
        changed: options.mode === 'merge' ? [...Object.keys(change.data), ...change.removed] : undefined,
        // Neither the version nor the count of changes discloses the value of a hidden field.
        isWrittenAnyway: [...Object.keys(change.data), ...change.removed].some((field) => secret.has(field)),
        keys: together.keys,
        rows: this.#environment.rowsOf(scope, collection, access),
        staysInRows: isInRowsForCertain(access, change, options.mode) ? 'certain' : 'checked',
      } as const;
      const context = this.#environment.writeContext(scope, collection, now);
      const statement = {
        ...{
          within: options.within,
          caller: scope,
          operation: 'update' as const,
          columns: STORED_COLUMNS,
        },
        statement: (changed: WriteContext) => updateRecord(changed, update),
      } as const;
      const run = () => this.#environment.write<StoredRow>(context, statement);
      const [written] = await runWrite(this.#environment, options.within, run, {
        scope,
        collection,
        records: [{ id, data: change.data, keys: together.keys?.value }],
        verb: 'update',
      });
      if (written !== undefined) return toStoredRecord(written);
      const queryable = options.within ?? this.#environment.database;
      const [same] = await this.#environment.run<StoredRow>(
        queryable,
        unchangedRecord(context, update),
        scope,
      );
      if (same !== undefined && !update.isWrittenAnyway) return toStoredRecord(same);
      await this.#throwRefusal(scope, collection, {
        id,
        access,
        verb: 'update',
        ifVersion: options.ifVersion,
        within: options.within,
        ...(update.staysInRows === 'checked' ? { data } : {}),
      });
    }
    throw overtaken(collection, id);
  }

  /** Refuses dangling references that the record does not have already. @throws INVALID_VALUE naming them */
  async #assertReferences(
    { scope, collection, access }: PermittedWrite,
    { id, change, within }: { readonly id: string; readonly change: StoredChange } & WriteOptions,
  ): Promise<void> {
    const environment = this.#environment;
    const asked = { unlabelled: change.unlabelled, held: listReferences(collection, change.data) };
    const context = environment.referenceContext(scope);
    const dead = await settleReferences(within ?? environment.database, asked, context);
    if (dead.length === 0) return;
    const before = await this.#findStored({ scope, collection, access }, id, within);
    const held = listReferences(collection, before);
    assertNoFaults(withoutHeld(dead, held).map((one) => deadReferenceDetail(one)));
  }

  /** The change, which may keep what the record has already, although it breaks a rule that is newer. */
  async #unlessHeld(
    toChange: (before?: JsonObject) => StoredChange,
    write: PermittedWrite,
    id: string,
    { within }: WriteOptions,
  ): Promise<StoredChange> {
    try {
      return toChange();
    } catch (fault) {
      if (!(fault instanceof ServiceError) || fault.code !== 'INVALID_VALUE') throw fault;
    }
    const hidden = secretFieldsOf(write.scope, write.collection);
    const stored = Object.entries(await this.#findStored(write, id, within));
    return toChange(Object.fromEntries(stored.filter(([name]) => !hidden.has(name))));
  }

  /** The record as it is; empty if there is none that the caller may change. */
  async #findStored(
    { scope, collection, access }: PermittedWrite,
    id: string,
    within: Transaction | undefined,
  ): Promise<JsonObject> {
    const environment = this.#environment;
    const [row] = await environment.run<{ data: string }>(
      within ?? environment.database,
      sql`
        select r.data::text as data
        from records r
        where ${liveRecordsById(scope.domain.id, collection.name, sql`= ${id}`)}
          ${andRows(access, environment.compileContext(scope, collection))}`,
    );
    const before = row === undefined ? {} : parseExactJson(row.data);
    return isJsonObject(before) ? before : {};
  }

  /**
   * Refuses a caller who may not change this record, as `update` would; nothing is changed.
   *
   * @throws NOT_FOUND, also for a record the caller may not read; GONE; FORBIDDEN
   */
  async assertMayUpdate(scope: Scope, name: string, id: string): Promise<void> {
    const collection = this.#environment.catalog.get(name, scope);
    const access = accessOf(scope, collection, 'update');
    const asked = { id, access, verb: 'update', ifVersion: undefined, within: undefined } as const;
    await this.#throwRefusal(scope, collection, asked);
  }

  /**
   * Removes a record and returns its last state. Its tombstone reserves the `_id`, and answers GONE.
   *
   * @throws VERSION_CONFLICT; NOT_FOUND; GONE; FORBIDDEN; CONFLICT if other records point to it
   */
  async delete(scope: Scope, name: string, id: string, options: DeleteOptions = {}): Promise<StoredRecord> {
    const collection = this.#environment.catalog.get(name, scope);
    const access = accessOf(scope, collection, 'delete');
    const write = { scope, collection, access };
    const triggers = this.#environment.triggers.before(scope.domain.id, name, 'delete');
    if (triggers.length === 0 && options.force !== true && !isGuarded(this.#environment, collection))
      return await this.#remove(write, id, options);
    return await atomicWrite(this.#environment, { scope, collection }, options, async (within) => {
      const current = await this.#lock(write, id, within);
      if (current !== undefined && triggers.length > 0) {
        const record = current;
        const pending = { scope, collection, operation: 'delete', id, record, previous: record } as const;
        await askBefore(triggers, pending, within);
      }
      const removed = await this.#remove(write, id, { ...options, within });
      const { force } = options;
      await assertUnreferenced(this.#environment, within, { scope, collection, ids: [id], force });
      return removed;
    });
  }

  async #remove(
    { scope, collection, access }: PermittedWrite,
    id: string,
    options: ConditionalWriteOptions,
  ): Promise<StoredRecord> {
    const rows = this.#environment.rowsOf(scope, collection, access);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const context = this.#environment.writeContext(scope, collection, this.#environment.now());
      const { ifVersion, within } = options;
      const [written] = await this.#environment.write<StoredRow>(context, {
        ...{ within, caller: scope, operation: 'delete' as const, columns: STORED_COLUMNS },
        statement: (changed) => deleteRecord(changed, { id, ifVersion, rows }),
      });
      if (written !== undefined) {
        if (within === undefined) this.#environment.announceCommit(scope, collection, [written]);
        return toStoredRecord(written);
      }
      await this.#throwRefusal(scope, collection, { id, access, verb: 'delete', ifVersion, within });
    }
    throw overtaken(collection, id);
  }

  /**
   * The current record, locked until the transaction ends; `undefined` if there is none that the caller may
   * write.
   */
  async #lock(
    { scope, collection, access }: PermittedWrite,
    id: string,
    within: Transaction,
  ): Promise<JsonObject | undefined> {
    const context = this.#environment.compileContext(scope, collection);
    const [row] = await this.#environment.run<{ data: string }>(
      within,
      sql`
        select r.data::text as data
        from records r
        where ${liveRecordsById(scope.domain.id, collection.name, sql`= ${id}`)}
          ${andRows(access, context)}
        for update of r`,
    );
    if (row === undefined) return undefined;
    const data = parseExactJson(row.data);
    return isJsonObject(data) ? data : undefined;
  }

  /**
   * Rules over several fields need all of them: if the change omits one, the record is read, and the write
   * then applies only to the version read.
   */
  async #checkTogether(update: {
    readonly scope: Scope;
    readonly collection: Collection;
    readonly id: string;
    readonly change: StoredChange;
    readonly options: UpdateOptions;
    readonly kept: readonly string[];
  }): Promise<{
    readonly keys: { readonly value: JsonObject | undefined } | undefined;
    readonly ifVersion?: number;
    /** The change with what follows from it. Default: as it is. */
    readonly change?: StoredChange;
  }> {
    const { scope, collection, id, change, options, kept } = update;
    const groups = fieldsTogether(collection);
    const changed = new Set([...Object.keys(change.data), ...change.removed]);
    const isReplace = options.mode === 'replace';
    const isTouched = isReplace || groups.some((fields) => fields.some((field) => changed.has(field)));
    if (groups.length === 0 || !isTouched) return { keys: undefined };
    const isComplete = isReplace
      ? collection.stays === undefined &&
        groups.every((fields) => !fields.some((field) => kept.includes(field)))
      : groups.every((fields) => fields.every((field) => changed.has(field)));
    const secret = without(secretFieldsOf(scope, collection), changed);
    const queryable = options.within ?? this.#environment.database;
    if (isComplete) {
      const faults = findCheckFaults(collection, change.data, { pointer: '', secret });
      if (!isReplace) assertNoFaults(faults);
      const sent = { scope, collection, records: [{ data: change.data }] };
      const [unlinked = []] = await this.#environment.settleLinks(queryable, sent);
      if (faults.length + unlinked.length === 0) {
        return { keys: { value: keysOf(collection, change.data, scope.domain.timeZone) } };
      }
    }
    const readable = findAccess(scope, collection, 'read');
    const readableRows = readable && this.#environment.rowsOf(scope, collection, readable);
    const [current] = await this.#environment.run<{ version: number; data: string; is_readable: boolean }>(
      queryable,
      sql`
        select r.version, r.data::text as data, (${readableRows ?? sql`true`}) is true as is_readable
        from records r
        where ${liveRecordsById(scope.domain.id, collection.name, sql`= ${id}`)}`,
    );
    // The write will not find a record either, and will report why.
    if (current === undefined) return { keys: undefined };
    const before = parseExactJson(current.data);
    const keeping = isReplace ? kept : undefined;
    const asSent = applyChange(before, change, keeping);
    const complete = isJsonObject(before)
      ? withFormerStay(collection, change, { before, after: asSent })
      : change;
    const merged = complete === change ? asSent : applyChange(before, complete, keeping);
    // Nothing is disclosed about a version the caller does not expect, or a record it may not see.
    if (!isExpected(current.version, options.ifVersion)) return { keys: undefined };
    // A caller who may change a record but not read it does not learn what stays, nor whether what it sent
    // was there already.
    const isReadable = readable !== undefined && current.is_readable;
    const judged = isReadable
      ? ({ verb: 'update', differing: differingNames(before, merged), secret } as const)
      : ({ verb: 'update', differing: changed, secret: without(EVERY_FIELD, changed) } as const);
    const records = [{ data: merged, changes: complete.data, before: isJsonObject(before) ? before : {} }];
    const [unlinked = []] = await this.#environment.settleLinks(queryable, { scope, collection, records });
    const faults = [
      ...findCheckFaults(collection, merged, {
        ...{ pointer: '', secret: judged.secret, changed: judged.differing },
      }),
      ...unlinked,
    ];
    if (faults.length > 0 || !isJudgeable(collection, judged)) {
      const { ifVersion, within } = options;
      const refused = { id, access: accessOf(scope, collection, 'update'), verb: 'update' } as const;
      await this.#throwRefusal(scope, collection, { ...refused, ifVersion, within });
      assertJudgeable(collection, judged);
      assertNoFaults(faults);
    }
    const keys = { value: keysOf(collection, merged, scope.domain.timeZone) };
    return { keys, ifVersion: current.version, change: complete };
  }

  /**
   * Reports why a write found no record to change. Returns if the reason no longer exists: the write was
   * overtaken, and is retried.
   */
  async #throwRefusal(
    scope: Scope,
    collection: Collection,
    refused: {
      readonly id: string;
      readonly access: EffectiveAccess;
      readonly verb: RecordVerb;
      readonly ifVersion: ExpectedVersion;
      readonly within: Transaction | undefined;
      /** The record after the change, if it had to stay in the caller's rows. */
      readonly data?: Sql;
    },
  ): Promise<void> {
    const { id, access, verb, ifVersion, data } = refused;
    const context = this.#environment.compileContext(scope, collection);
    const readable = findAccess(scope, collection, 'read') ?? access;
    const rows = this.#environment.rowsOf(scope, collection, access);
    const staysInRows = rows === undefined || data === undefined ? sql`true` : staysIn(rows, data);
    const [found] = await this.#environment.run<{
      version: number;
      is_removed: boolean;
      is_in_rows: boolean;
      stays_in_rows: boolean;
    }>(
      refused.within ?? this.#environment.database,
      sql`
        select r.version, r.deleted_at is not null as is_removed,
          (${rows ?? sql`true`}) is true as is_in_rows,
          ${staysInRows} as stays_in_rows
        from records r
        where ${recordsOf(scope, collection)} and r.id = ${id} ${andRows(readable, context)}`,
    );
    if (found === undefined) throw notFound(collection, id);
    if (found.is_removed) throw gone(collection, id);
    if (!found.is_in_rows) throw outOfRows(collection, verb);
    if (ifVersion !== undefined && !isExpected(found.version, ifVersion)) {
      throw versionConflict(collection, id, { expected: found.version, sent: ifVersion });
    }
    if (!found.stays_in_rows) throw outOfRows(collection, verb);
  }
}

/** RFC 7386 at the top level, before the values are checked. */
function mergePatch(record: JsonObject, patch: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...record, ...patch }).filter(([name]) => patch[name] !== null));
}

function patchOf({ set, removed }: Revision): JsonObject {
  return { ...set, ...Object.fromEntries(removed.map((name) => [name, null])) };
}

/** A merge that does not touch the fields of the row rules cannot move the record out of the rows. */
function isInRowsForCertain(
  access: EffectiveAccess,
  change: StoredChange,
  mode: 'merge' | 'replace',
): boolean {
  if (access.rows === undefined) return true;
  if (mode === 'replace') return false;
  return ![...Object.keys(change.data), ...change.removed].some((field) => access.rowFields.has(field));
}

/** Computes what `mergedData` or, with kept fields, `replacedData` compute in Postgres. */
function applyChange(
  current: JsonValue,
  change: StoredChange,
  kept: readonly string[] | undefined,
): JsonObject {
  const before = Object.entries(typeof current === 'object' && current !== null ? current : {});
  const stays = before.filter(([name]) =>
    kept === undefined ? !change.removed.includes(name) : kept.includes(name),
  );
  return { ...Object.fromEntries(stays), ...change.data };
}
