/**
 * Records stored by a key of their own: where there is one with the key it is changed, else it is made. For
 * `RecordStore`, which is the way to them.
 */
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  membersWhere,
  parseExactObject,
  printExactJson,
} from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { toDecimal } from '../../base/model/compare-json.js';
import { keysOf } from '../../base/model/keys-of.js';
import { isOperand } from '../../base/model/operand.js';
import type { Scope } from '../../base/model/scope.js';
import { accessOf } from '../access/access.js';
import type { Transaction } from '../database/queryable.js';
import { type StoredRecord, type StoredRow, toStoredRecord } from '../reading/stored-record.js';
import { liveRecordsByKey } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import { atomically, retryingConflicts, type WriteOptions } from './atomically.js';
import { changeRecords, lockRecords } from './change-records.js';
import { assertNoProbing } from './check-faults.js';
import type { RecordEnvironment } from './record-environment.js';
import type { RecordInserts } from './record-inserts.js';
import { assertWritable, takeSentId, tooManyRecords } from './record-refusals.js';
import type { RightsToChange } from './stored-operations.js';
import { fieldsBesideKey, keyValueOf, OF_RECORD, type UniqueKey, uniqueKeyOf } from './unique-key.js';
import { assertNoFaults, type StoredChange, toStoredAll } from './validation.js';

interface UpsertRequest {
  /**
   * For an existing record, the fields to change, where null removes one; otherwise a whole new record.
   */
  readonly records: readonly JsonObject[];
  /** The key that identifies records: `_id`, a unique field, or the name of a `uniqueTogether` rule. */
  readonly by: string;
}

interface Upserted {
  readonly created: number;
  /** Records that were there and are another one now. */
  readonly updated: number;
  /** The records in the order they were sent. */
  readonly records: readonly StoredRecord[];
}

type Row = Awaited<ReturnType<typeof lockRecords>>[number];

export class Upserts {
  readonly #environment: RecordEnvironment;
  readonly #inserts: RecordInserts;

  constructor(environment: RecordEnvironment, inserts: RecordInserts) {
    this.#environment = environment;
    this.#inserts = inserts;
  }

  /**
   * Stores records by a key, all or none. A record with the key that is out of the caller's reach is a
   * CONFLICT, as for a create.
   *
   * @throws INVALID_VALUE for a key that is not unique, is missing in a record or is in two; as `create` and
   * `update` do
   */
  async upsert(
    scope: Scope,
    name: string,
    request: UpsertRequest,
    options: WriteOptions = {},
  ): Promise<Upserted> {
    const plan = this.#plan(scope, name, request);
    const atomic = { ...options, writes: [name] };
    const done = await retryingConflicts(() =>
      atomically(this.#environment, scope, atomic, (transaction) => this.#write(transaction, plan)),
    );
    if (options.within === undefined) this.#environment.announceCommit(scope, plan.collection, done.changed);
    return done.answer;
  }

  #plan(scope: Scope, name: string, { records, by }: UpsertRequest): Plan {
    const collection = this.#environment.catalog.get(name, scope);
    const readable = accessOf(scope, collection, 'read');
    const writable = accessOf(scope, collection, 'update');
    const creatable = accessOf(scope, collection, 'create');
    const key = uniqueKeyOf(collection, by, readable);
    const max = this.#environment.maxRecordsPerWrite;
    if (records.length > max) throw tooManyRecords(records.length, max);
    const taken = records.map((record, index) => takeSentId(record, pointerTo(index, records.length)));
    assertNoFaults(taken.flatMap(({ errors }) => errors));
    const fields = taken.map(({ data }) => data);
    assertWritable(fields, creatable, collection);
    const changed = fields.map((record) => fieldsBesideKey(record, key, collection));
    assertWritable(changed, writable, collection);
    assertNoProbing(fields, scope, collection);
    const now = this.#environment.now();
    const { timeZone } = scope.domain;
    const changes = toStoredAll(collection, fields, { ...scope.domain, now, mode: 'merge' });
    const sent = records.map((record, index): Sent => {
      const change = changes[index];
      if (change === undefined) throw new Error('every record is converted');
      return { record, change, key: keyTextOf(key, taken[index]?.id, change.data, { collection, timeZone }) };
    });
    assertKeys(sent, by);
    return { scope, collection, readable, writable, key, now, sent };
  }

  async #write(
    transaction: Transaction,
    plan: Plan,
  ): Promise<{ readonly answer: Upserted; readonly changed: readonly { readonly id: string }[] }> {
    const { collection, sent } = plan;
    if (sent.length === 0) return { answer: { created: 0, updated: 0, records: [] }, changed: [] };
    const rows = await this.#lock(transaction, plan);
    const absent = sent.filter(({ key }) => !rows.has(key));
    const changed = await this.#change(transaction, plan, { rows, absent });
    const made = await this.#create(transaction, plan, absent);
    const records = sent.map((one): StoredRecord => {
      const row = rows.get(one.key);
      const record = row === undefined ? made.get(one.key) : toStoredRecord(changed.get(row.id) ?? row);
      if (record === undefined) throw new Error(`a record of ${collection.name} was neither there nor made`);
      return record;
    });
    return {
      answer: { created: made.size, updated: changed.size, records },
      changed: [...changed.values(), ...made.values()],
    };
  }

  /** The records that are there, locked, by their key. */
  async #lock(transaction: Transaction, plan: Plan): Promise<ReadonlyMap<string, Row>> {
    const { scope, collection, readable, writable, key, sent } = plan;
    const environment = this.#environment;
    const conditions = environment.reachOf(scope, collection, [readable, writable]);
    const { orderBy } = environment.plans.order(collection, []).order;
    const selected = { conditions, orderBy, limit: sent.length, ids: this.#idsOf(plan) };
    const rows = await lockRecords(environment, transaction, plan, selected);
    const { timeZone } = scope.domain;
    return new Map(
      rows.map((row) => [keyTextOf(key, row.id, parseExactObject(row.data), { collection, timeZone }), row]),
    );
  }

  /**
   * A query of the ids of the records with the keys: one look-up for each, without a limit, so that no other
   * index is cheaper than that of the key.
   */
  #idsOf({ scope, collection, key, sent }: Plan): Sql {
    if (key.kind === 'id') return sql`select unnest(${sent.map((one) => one.key)}::text[])`;
    const { name } = key;
    const texts = sent.map((one) =>
      key.kind === 'rule' ? one.key : printExactJson(scalarOf(one.change.data[name]) ?? null),
    );
    const type = sql.raw(key.kind === 'rule' ? 'text[]' : 'text[]::jsonb[]');
    const { isRouted } = this.#environment;
    const isSame = sql`${keyValueOf(collection, key, OF_RECORD)} = sought.key`;
    return sql`
      select found.id
      from unnest(${texts}::${type}) as sought (key)
      cross join lateral (
        select r.id from records r
        where ${liveRecordsByKey({ domain: scope.domain.id, isRouted }, collection.name, isSame)}
        offset 0
      ) as found`;
  }

  async #change(
    transaction: Transaction,
    { scope, collection, writable, now, key, sent }: Plan,
    { rows, absent }: { readonly rows: ReadonlyMap<string, Row>; readonly absent: readonly Sent[] },
  ): Promise<ReadonlyMap<string, StoredRow>> {
    const sentById = new Map<string, Sent>();
    for (const one of sent) {
      const row = rows.get(one.key);
      if (row !== undefined) sentById.set(row.id, one);
    }
    const unlabelled = [...sentById.values()].flatMap(({ change }) => change.unlabelled);
    await this.#environment.fillLabels(transaction, scope, unlabelled);
    return await changeRecords(this.#environment, transaction, {
      ...{ scope, collection, writable, now },
      rows: [...rows.values()],
      made: new Set(absent.flatMap(({ record: { _id: id } }) => (typeof id === 'string' ? [id] : []))),
      change: (before, row) => merged(before, sentById.get(row.id), { key, collection }),
      sentFields: ({ id }) => Object.keys(sentById.get(id)?.record ?? {}),
    });
  }

  async #create(
    transaction: Transaction,
    { scope, collection, sent }: Plan,
    absent: readonly Sent[],
  ): Promise<ReadonlyMap<string, StoredRecord>> {
    const records = absent.map(({ record }) => record);
    try {
      const made = await this.#inserts.create(scope, collection.name, records, { within: transaction });
      return new Map(made.flatMap((record, index) => (absent[index] ? [[absent[index].key, record]] : [])));
    } catch (cause) {
      const pointers = absent.map((one) => pointerTo(sent.indexOf(one), sent.length));
      throw asSent(cause, pointers);
    }
  }
}

interface Sent {
  readonly record: JsonObject;
  readonly change: StoredChange;
  readonly key: string;
}

interface Plan extends RightsToChange {
  readonly key: UniqueKey;
  readonly now: Date;
  readonly sent: readonly Sent[];
}

/** One text for each key; empty where the record has none. */
function keyTextOf(
  key: UniqueKey,
  id: string | undefined,
  data: JsonObject,
  { collection, timeZone }: { readonly collection: Collection; readonly timeZone: string },
): string {
  switch (key.kind) {
    case 'id':
      return id ?? '';
    case 'rule': {
      const text = keysOf(collection, data, timeZone)?.[key.name];
      return typeof text === 'string' ? text : '';
    }
    case 'field': {
      const value = scalarOf(data[key.name]);
      if (value === undefined) return '';
      return toDecimal(value)?.toFixed() ?? printExactJson(value);
    }
  }
}

function scalarOf(value: JsonValue | undefined) {
  const scalar = isJsonObject(value) ? value.value : value;
  return isOperand(scalar) ? scalar : undefined;
}

function assertKeys(sent: readonly Sent[], by: string): void {
  const indexByKey = new Map<string, number>();
  const errors = sent.flatMap(({ key }, index): ErrorDetail[] => {
    const pointer = pointerTo(index, sent.length);
    const at = { pointer: by === '_id' ? `${pointer}/_id` : pointer };
    const earlier = indexByKey.get(key);
    indexByKey.set(key, index);
    if (key === '') return [{ ...at, detail: `${pointer || 'the record'}: has no ${by} to identify it` }];
    if (earlier === undefined) return [];
    return [{ ...at, detail: `${pointer}: has the same ${by} as /${earlier}; each is sent once` }];
  });
  assertNoFaults(errors);
}

function merged(
  before: JsonObject,
  sent: Sent | undefined,
  { key, collection }: Pick<Plan, 'key' | 'collection'>,
): JsonObject {
  if (sent === undefined) return before;
  const { removed } = sent.change;
  const data = fieldsBesideKey(sent.change.data, key, collection);
  const { _id: id } = sent.record;
  const kept = membersWhere(before, (name) => !removed.includes(name));
  return { ...kept, ...data, ...(id !== undefined && { _id: id }) };
}

function pointerTo(index: number, count: number): string {
  return count === 1 ? '' : `/${index}`;
}

/** A refusal of new records, its pointers into what was sent instead of into the new ones among it. */
function asSent(error: unknown, pointers: readonly string[]): unknown {
  if (!(error instanceof ServiceError) || error.errors === undefined) return error;
  const errors = error.errors.map((one): ErrorDetail => {
    const { pointer } = one;
    if (pointer === undefined) return one;
    const [, index = '0'] = /^\/(\d+)/.exec(pointer) ?? [];
    const inner = pointers.length === 1 ? pointer : pointer.replace(/^\/\d+/, '');
    const sentPointer = `${pointers[pointers.length === 1 ? 0 : Number(index)] ?? ''}${inner}`;
    return { ...one, pointer: sentPointer, detail: one.detail.replace(pointer, sentPointer) };
  });
  const [first] = error.errors;
  const detail =
    first === undefined ? error.message : error.message.replace(first.detail, errors[0]?.detail ?? '');
  return new ServiceError(error.code, detail, { errors, cause: error });
}
