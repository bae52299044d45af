import { ServiceError } from '../../base/errors.js';
import { type JsonObject, membersWhere } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { RecordVerb, Scope } from '../../base/model/scope.js';
import { accessOf, type EffectiveAccess, findAccess } from '../access/access.js';
import type { Transaction } from '../database/queryable.js';
import {
  STORED_COLUMNS,
  type StoredRecord,
  type StoredRow,
  storedColumns,
  toStoredRecord,
} from '../reading/stored-record.js';
import { liveRecordsById, recordsOf } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import { runWrite, type WriteOptions } from './atomically.js';
import { changeRecords, type LockedRow, removeLocked } from './change-records.js';
import { assertNoProbing, EVERY_FIELD, fieldsTogether, secretFieldsOf } from './check-faults.js';
import { andRows, type RecordEnvironment } from './record-environment.js';
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
  takeOwnSentId,
  versionConflict,
} from './record-refusals.js';
import { deleteRecord, mergedData, staysIn, unchangedRecord, updateRecord } from './record-statements.js';
import { listReferences } from './references.js';
import { canRename, isGuarded, type RenameOptions } from './referring-records.js';
import { assertNoFaults, type StoredChange, stampedFields, toStored } from './validation.js';

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

/** A write that found no record to change. */
interface Refused {
  readonly id: string;
  readonly access: EffectiveAccess;
  readonly verb: RecordVerb;
  readonly ifVersion: ExpectedVersion;
  readonly within: Transaction | undefined;
  /** The record after the change, if it had to stay in the caller's rows. */
  readonly data?: Sql;
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
    const environment = this.#environment;
    const now = environment.now();
    const plain = this.#plainChange(write, sent, options, now);
    if (plain !== undefined) return await this.#merge(write, id, plain, { ...options, now });
    return await atomicWrite(environment, write, options, async (within) => {
      const { ifVersion, renameEverywhere } = options;
      const row = await this.#lock(write, { id, access, verb: 'update', ifVersion, within });
      const changed = await changeRecords(environment, within, {
        ...{ scope, collection, writable: access, now, rows: [row], renameEverywhere, isAlone: true },
        // A caller who may change a record but not read it does not learn what stays.
        secret: row.is_readable ? secretFieldsOf(scope, collection) : EVERY_FIELD,
        change: this.#changeOf(write, sent, options, now),
        sentFields: () => Object.keys(sent),
      });
      return toStoredRecord(changed.get(id) ?? row);
    });
  }

  /**
   * The change, if one statement can make it: it needs neither the record as it is, nor another one, nor a
   * script.
   */
  #plainChange(
    { scope, collection }: PermittedWrite,
    sent: JsonObject,
    { mode }: UpdateOptions,
    now: Date,
  ): StoredChange | undefined {
    const environment = this.#environment;
    const names = Object.keys(sent);
    const isAlone =
      mode === 'merge' &&
      environment.triggers.before(scope.domain.id, collection.name, 'update').length === 0 &&
      !canRename(environment, collection, names) &&
      !fieldsTogether(collection).some((fields) => fields.some((field) => Object.hasOwn(sent, field)));
    if (!isAlone) return undefined;
    try {
      const change = toStored(collection, sent, { ...scope.domain, now, mode });
      // Outside a transaction, the targets of references would not be held until the record is written.
      const { unlabelled, isOpen, data } = change;
      const isPointing = isOpen || unlabelled.length > 0 || listReferences(collection, data).length > 0;
      return isPointing ? undefined : change;
    } catch (fault) {
      // The record may have the value already, from before a rule that is newer.
      if (!(fault instanceof ServiceError) || fault.code !== 'INVALID_VALUE') throw fault;
      return undefined;
    }
  }

  async #merge(
    { scope, collection, access }: PermittedWrite,
    id: string,
    change: StoredChange,
    { ifVersion, within, now }: UpdateOptions & { readonly now: Date },
  ): Promise<StoredRecord> {
    const environment = this.#environment;
    const names = [...Object.keys(change.data), ...change.removed];
    const data = mergedData(change);
    const rows = environment.rowsOf(scope, collection, access);
    // A change that does not touch the fields of the row rules cannot move the record out of the rows.
    const isMoved = access.rows !== undefined && names.some((name) => access.rowFields.has(name));
    const update = {
      id,
      ifVersion,
      data,
      changed: names,
      rows,
      staysInRows: isMoved ? 'checked' : 'certain',
      // Neither the version nor the count of changes discloses the value of a hidden field.
      isWrittenAnyway: names.some((name) => secretFieldsOf(scope, collection).has(name)),
    } as const;
    const attempt = {
      scope,
      collection,
      records: [{ id, data: change.data, keys: undefined }],
      verb: 'update',
    } as const;
    const context = environment.writeContext(scope, collection, now);
    for (let count = 1; count <= MAX_ATTEMPTS; count++) {
      const run = () =>
        environment.write<StoredRow>(context, {
          ...{ within, operation: 'update' as const, columns: STORED_COLUMNS },
          statement: (changed) => updateRecord(changed, update),
        });
      const [written] = await runWrite(environment, within, run, attempt);
      if (written !== undefined) return toStoredRecord(written);
      const queryable = within ?? environment.database;
      const [same] = await environment.run<StoredRow>(
        queryable,
        unchangedRecord(context, update),
        scope.call,
      );
      if (same !== undefined && !update.isWrittenAnyway) return toStoredRecord(same);
      const refused = { id, access, verb: 'update', ifVersion, within, ...(isMoved && { data }) } as const;
      await this.#throwRefusal(scope, collection, refused);
    }
    throw overtaken(collection, id);
  }

  /** Computes the changed record. @throws INVALID_VALUE */
  #changeOf(
    { scope, collection, access }: PermittedWrite,
    sent: JsonObject,
    { mode }: UpdateOptions,
    now: Date,
  ): (before: JsonObject) => JsonObject {
    if (mode === 'merge') return (before) => mergePatch(before, sent);
    const hidden = findAccess(scope, collection, 'read')?.hiddenFields ?? [];
    const keptFields = new Set([...stampedFields(collection), ...access.readOnlyFields, ...hidden]);
    const secret = secretFieldsOf(scope, collection);
    return (before) => {
      const shown = membersWhere(before, (name) => !secret.has(name));
      const options = { ...scope.domain, now, keptFields, mode, before: shown };
      const { data } = toStored(collection, sent, options);
      return { ...membersWhere(before, (name) => keptFields.has(name)), ...data };
    };
  }

  /**
   * Refuses a caller who may not change this record, as `update` would; nothing is changed.
   *
   * @throws NOT_FOUND, also for a record the caller may not read; GONE; FORBIDDEN
   */
  async assertMayUpdate(scope: Scope, name: string, id: string): Promise<void> {
    const collection = this.#environment.catalog.get(name, scope);
    const access = accessOf(scope, collection, 'update');
    const refused = { id, access, verb: 'update', ifVersion: undefined, within: undefined } as const;
    await this.#throwRefusal(scope, collection, refused);
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
      const { ifVersion } = options;
      const row = await this.#lock(write, { id, access, verb: 'delete', ifVersion, within });
      const removal = { scope, collection, rows: [row], force: options.force };
      const [removed] = await removeLocked(this.#environment, within, removal);
      if (removed === undefined) throw new Error(`the locked record ${id} was not removed`);
      return toStoredRecord(removed);
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
        ...{ within, operation: 'delete' as const, columns: STORED_COLUMNS },
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

  /** The current record, locked until the transaction ends. @throws as `#throwRefusal` does */
  async #lock(
    { scope, collection, access }: PermittedWrite,
    refused: Refused & { readonly within: Transaction },
  ): Promise<LockedRow & StoredRow & { readonly is_readable: boolean }> {
    const { id, ifVersion, within } = refused;
    const { projection } = this.#environment.writeContext(scope, collection, this.#environment.now());
    const context = this.#environment.compileContext(scope, collection);
    const isReadable = this.#environment.isIn(scope, collection, findAccess(scope, collection, 'read'));
    const [row] = await this.#environment.run<LockedRow & StoredRow & { readonly is_readable: boolean }>(
      within,
      sql`
        select ${storedColumns(projection)}, r.data::text as data, ${isReadable} as is_readable
        from records r
        where ${liveRecordsById(scope.domain.id, collection.name, sql`= ${id}`)}
          ${andRows(access, context)}
        for update of r`,
    );
    if (row !== undefined && isExpected(row.version, ifVersion)) return row;
    await this.#throwRefusal(scope, collection, refused);
    throw overtaken(collection, id);
  }

  /**
   * Reports why a write found no record to change. Returns if the reason no longer exists: the write was
   * overtaken, and is retried.
   */
  async #throwRefusal(scope: Scope, collection: Collection, refused: Refused): Promise<void> {
    const { id, access, verb, ifVersion, data } = refused;
    const context = this.#environment.compileContext(scope, collection);
    const readable = findAccess(scope, collection, 'read') ?? access;
    const rows = this.#environment.rowsOf(scope, collection, access);
    const staysInRows = rows === undefined || data === undefined ? sql`true` : staysIn(rows, data);
    type Reasons = Record<'is_removed' | 'is_in_rows' | 'stays_in_rows', boolean>;
    const [found] = await this.#environment.run<Reasons & { version: number }>(
      refused.within ?? this.#environment.database,
      sql`
        select r.version, r.deleted_at is not null as is_removed,
          ${this.#environment.isIn(scope, collection, access)} as is_in_rows,
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
  return membersWhere({ ...record, ...patch }, (name) => patch[name] !== null);
}
