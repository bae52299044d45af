import type { JsonObject } from '../../base/json/json.js';
import type { Scope } from '../../base/model/scope.js';
import { accessOf, type EffectiveAccess, findAccess } from '../access/access.js';
import type { Transaction } from '../database/queryable.js';
import {
  type StoredRecord,
  type StoredRow,
  storedColumns,
  toStoredRecord,
} from '../reading/stored-record.js';
import { recordsOf } from '../sql/records-of.js';
import { sql } from '../sql.js';
import { changeRecords, type LockedRow, removeLocked } from './change-records.js';
import { assertNoProbing, EVERY_FIELD, secretFieldsOf } from './check-faults.js';
import type { RecordEnvironment } from './record-environment.js';
import { atomicWrite, type PermittedWrite } from './record-inserts.js';
import {
  assertWritable,
  type ExpectedVersion,
  gone,
  isExpected,
  notFound,
  outOfRows,
  takeOwnSentId,
  versionConflict,
} from './record-refusals.js';
import { assertUnreferenced, type RenameOptions } from './referring-records.js';
import { assertNoFaults, stampedFields, toStored } from './validation.js';

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

/** A record that is to be written, as it was found. */
interface Sought {
  readonly id: string;
  readonly verb: 'update' | 'delete';
  readonly ifVersion: ExpectedVersion;
  /** Where the record is locked until the transaction ends. */
  readonly within: Transaction | undefined;
}

type FoundRow = LockedRow &
  StoredRow & { readonly is_removed: boolean; readonly is_in_rows: boolean; readonly is_readable: boolean };

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
    return await atomicWrite(environment, write, options, async (within) => {
      const { ifVersion, renameEverywhere } = options;
      const row = await this.#find(write, { id, verb: 'update', ifVersion, within });
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
    const { timeZone, callingCode } = scope.domain;
    return (before) => {
      const entries = Object.entries(before);
      const shown = Object.fromEntries(
        entries.filter(([name]) => !secretFieldsOf(scope, collection).has(name)),
      );
      const options = { timeZone, callingCode, now, keptFields, mode, before: shown };
      const { data } = toStored(collection, sent, options);
      return { ...Object.fromEntries(entries.filter(([name]) => keptFields.has(name))), ...data };
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
    const sought = { id, verb: 'update', ifVersion: undefined, within: undefined } as const;
    await this.#find({ scope, collection, access }, sought);
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
    return await atomicWrite(this.#environment, { scope, collection }, options, async (within) => {
      const { ifVersion } = options;
      const row = await this.#find(write, { id, verb: 'delete', ifVersion, within });
      const [removed] = await removeLocked(this.#environment, within, { scope, collection, rows: [row] });
      if (removed === undefined) throw new Error(`the locked record ${id} was not removed`);
      const { force } = options;
      await assertUnreferenced(this.#environment, within, { scope, collection, ids: [id], force });
      return toStoredRecord(removed);
    });
  }

  /**
   * The current record.
   *
   * @throws NOT_FOUND, also for a record the caller may not read; GONE; FORBIDDEN; VERSION_CONFLICT
   */
  async #find(
    { scope, collection, access }: PermittedWrite,
    { id, verb, ifVersion, within }: Sought,
  ): Promise<FoundRow> {
    const environment = this.#environment;
    const { projection } = environment.writeContext(scope, collection, environment.now());
    const isIn = (rights: EffectiveAccess) =>
      sql`(${environment.rowsOf(scope, collection, rights) ?? sql`true`}) is true`;
    const readable = findAccess(scope, collection, 'read');
    const [row] = await environment.run<FoundRow>(
      within ?? environment.database,
      sql`
        select ${storedColumns(projection)}, r.data::text as data, r.deleted_at is not null as is_removed,
          ${isIn(access)} as is_in_rows, ${readable ? isIn(readable) : sql`false`} as is_readable
        from records r
        where ${recordsOf(scope, collection)} and r.id = ${id}
        ${within === undefined ? sql.empty : sql`for update of r`}`,
    );
    if (row === undefined) throw notFound(collection, id);
    const { version, is_removed: isRemoved, is_in_rows: isInRows } = row;
    if (isInRows && !isRemoved && isExpected(version, ifVersion)) return row;
    if (!(readable ? row.is_readable : isInRows)) throw notFound(collection, id);
    if (isRemoved) throw gone(collection, id);
    if (!isInRows || ifVersion === undefined) throw outOfRows(collection, verb);
    throw versionConflict(collection, id, { expected: version, sent: ifVersion });
  }
}

/** RFC 7386 at the top level, before the values are checked. */
function mergePatch(record: JsonObject, patch: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...record, ...patch }).filter(([name]) => patch[name] !== null));
}
