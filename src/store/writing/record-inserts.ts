/** Creates records whose fields have been checked to be settable: all or none. */
import { type JsonObject, printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { keysOf } from '../../base/model/keys-of.js';
import { credentialName, type Scope } from '../../base/model/scope.js';
import { Batcher } from '../../base/process/batcher.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { isTraced } from '../../base/process/traced.js';
import { accessOf, type EffectiveAccess, findAccess, type RecordsOfScope } from '../access/access.js';
import { wasRefused } from '../database/database-errors.js';
import type { Transaction } from '../database/queryable.js';
import type { StoredRecord } from '../reading/stored-record.js';
import type { Sql } from '../sql.js';
import { atomically, runWrite, type WriteOptions } from './atomically.js';
import {
  assertCompletable,
  assertJudgeable,
  assertNoProbing,
  NO_SECRETS,
  secretFieldsOf,
  without,
} from './check-faults.js';
import type { RecordEnvironment } from './record-environment.js';
import {
  assertWritable,
  MAX_ATTEMPTS,
  outOfRows,
  overtaken,
  RecordIds,
  takeSentId,
  tooManyRecords,
} from './record-refusals.js';
import {
  type InsertedRow,
  insertRecords,
  isFollowed,
  type NewRecord,
  printInserted,
  type WriteContext,
} from './record-statements.js';
import { listReferences, selectDead } from './references.js';
import { selectUnlinked } from './select-unlinked.js';
import { listSought } from './settle-links.js';
import { assertNoFaults, type StoredChange, toStoredAll, withPointer } from './validation.js';
import { askBefore } from './write-triggers.js';

export interface CreateOptions extends WriteOptions {
  /** How many of the records are returned, the first ones. Default: all. */
  readonly shown?: number | undefined;
}

/** A write whose rights have been checked: its caller, collection and rows. */
export interface PermittedWrite extends RecordsOfScope {
  readonly access: EffectiveAccess;
}

interface SentRecord {
  readonly id: string;
  /** The fields, without `_id`. */
  readonly data: JsonObject;
  /** The members that the caller sent; others were set by a trigger. */
  readonly own: { has(name: string): boolean };
}

/** The checked records of one statement. */
interface Insert {
  readonly access: EffectiveAccess;
  readonly records: readonly NewRecord[];
  /** The ids of the records, which may refer to each other. */
  readonly made: ReadonlySet<string>;
  /** How many of the records are returned, the first ones. */
  readonly shown: number;
  /** The writer of each record; absent: the caller of the statement, for all of them. */
  readonly authors?: readonly Pick<WriteContext, 'scope' | 'now'>[] | undefined;
}

export class RecordInserts {
  readonly #environment: RecordEnvironment;
  readonly #batched: BatchedCreates;
  readonly #ids = new RecordIds();

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
    this.#batched = new BatchedCreates(environment);
  }

  /**
   * Creates records, all or none, and returns them, or the first of them, in their order.
   *
   * @throws INVALID_VALUE with every fault; CONFLICT naming the field and the record; FORBIDDEN; NOT_FOUND,
   *   GONE for the collection
   */
  async create(
    scope: Scope,
    name: string,
    records: readonly JsonObject[],
    options: CreateOptions = {},
  ): Promise<StoredRecord[]> {
    const collection = this.#environment.catalog.get(name, scope);
    const access = accessOf(scope, collection, 'create');
    if (records.length === 0) return [];
    const { maxRecordsPerWrite: max } = this.#environment;
    if (records.length > max) throw tooManyRecords(records.length, max);
    const sent = records.map((record, index) => takeSentId(record, records.length === 1 ? '' : `/${index}`));
    assertNoFaults(sent.flatMap((one) => one.errors));
    const fields = sent.map((one) => one.data);
    assertWritable(fields, access, collection);
    assertNoProbing(fields, scope, collection);
    const ids = this.#ids.make(sent.length);
    const identified = sent.map(({ id, data }, index) => ({ id: id ?? ids[index] ?? '', data }));
    const write = { scope, collection, access };
    const triggers = this.#environment.triggers.before(scope.domain.id, name, 'create');
    if (triggers.length === 0) {
      const own = (data: JsonObject) => ({ has: (name: string) => Object.hasOwn(data, name) });
      const asSent = identified.map(({ id, data }) => ({ id, data, own: own(data) }));
      return await this.#insert(write, asSent, options);
    }
    const made = await atomicWrite(this.#environment, { scope, collection }, options, async (within) => {
      const revised: SentRecord[] = [];
      for (const { id, data } of identified) {
        const pending = { scope, collection, operation: 'create', id, record: data } as const;
        const own = new Set(Object.keys(data));
        const set = await askBefore(this.#environment.triggers, pending, within);
        const hidden = findAccess(scope, collection, 'read')?.hiddenFields ?? NO_SECRETS;
        const secret = without(hidden, { has: (name) => own.has(name) || !Object.hasOwn(set, name) });
        assertJudgeable(collection, { verb: 'create', differing: own, secret });
        revised.push({ id, data: set, own });
      }
      return await this.#insert(write, revised, { within });
    });
    return made.slice(0, options.shown);
  }

  async #insert(
    { scope, collection, access }: PermittedWrite,
    sent: readonly SentRecord[],
    { within, shown = sent.length }: CreateOptions,
  ): Promise<StoredRecord[]> {
    const environment = this.#environment;
    const now = environment.now();
    const data = sent.map((one) => one.data);
    assertCompletable(data, collection, access.hiddenFields);
    const secret = secretFieldsOf(scope, collection);
    const isAllRead = findAccess(scope, collection, 'read')?.hiddenFields.size === 0;
    const secretsOf = (index: number) =>
      isAllRead ? NO_SECRETS : without(secret, sent[index]?.own ?? NO_SECRETS);
    const changes = toStoredAll(collection, data, { ...scope.domain, now, mode: 'create', secretsOf });
    const toStoredRecord = ({ id }: { readonly id: string }, json = ''): StoredRecord => {
      return { id, version: 1, createdAt: now, updatedAt: now, json };
    };
    const made = new Set(sent.map(({ id }) => id));
    const queryable = within ?? environment.database;
    const settle = async () => {
      const settled = { scope, collection, records: changes, made };
      const faults = await environment.settleTargets(queryable, settled);
      assertNoFaults(
        faults.flatMap((errors, index) =>
          errors.map((one) => (changes.length === 1 ? one : withPointer(one, `/${index}`))),
        ),
      );
    };
    if (changes.some(({ isOpen }) => isOpen)) await settle();
    const [record] = sent;
    const [change] = changes;
    if (within === undefined && sent.length === 1 && record !== undefined && change !== undefined) {
      const json = await this.#batched.store({ scope, collection, access, now, id: record.id, change });
      if (json !== undefined) return [toStoredRecord(record, json)];
    }
    const unlabelled = changes.flatMap((one) => one.unlabelled);
    await environment.fillLabels(queryable, scope, unlabelled);
    const context = environment.writeContext(scope, collection, now);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const records = sent.map(({ id }, index): NewRecord => {
        const { data = {} } = changes[index] ?? {};
        return { id, data, keys: keysOf(collection, data, scope.domain.timeZone) };
      });
      const texts = await this.#store(context, { access, records, made, shown }, within);
      if (texts !== undefined)
        return records.slice(0, shown).map((one, index) => toStoredRecord(one, texts[index]));
      await settle();
      // The first time, names may have got the spelling of the school, or a target exists again.
      if (access.rows !== undefined && attempt > 1) throw outOfRows(collection, 'create');
    }
    throw overtaken(collection, record?.id ?? '');
  }

  /** `undefined`: nothing was stored, because there is a reason against one of the records. */
  async #store(
    context: WriteContext,
    insert: Insert,
    within: Transaction | undefined,
  ): Promise<readonly string[] | undefined> {
    const { scope, collection } = context;
    const { records, shown } = insert;
    const run = () =>
      this.#environment.write<InsertedRow>(context, {
        ...{ within, operation: 'create' as const, columns: 'json text' },
        statement: (placed) => insertStatement(this.#environment, placed, insert),
      });
    const attempt = { scope, collection, records, verb: 'create' } as const;
    const rows = await runWrite(this.#environment, within, run, attempt);
    return rows.length === 0 ? undefined : printInserted(context, records.slice(0, shown), rows);
  }
}

/** Stores the records unless there is a reason against one of them, which it finds out itself. */
function insertStatement(
  environment: RecordEnvironment,
  context: WriteContext,
  { access, records, made, shown, authors }: Insert,
): Sql {
  const { scope, collection } = context;
  const data = records.map((record) => record.data);
  const held = data.flatMap((one) => listReferences(collection, one));
  const sought = listSought(collection, data, scope.domain.timeZone);
  const ofMade = { collection: collection.name, ids: made };
  return insertRecords(context, records, {
    rows: environment.rowsOf(scope, collection, access),
    deadReferences: selectDead(held, environment.referenceContext(scope, ofMade)),
    unlinked: selectUnlinked(collection, sought, environment.linkContext(scope, true)),
    shown,
    authors,
  });
}

/** A create of one record that has been checked. */
interface LoneCreate extends PermittedWrite {
  readonly now: Date;
  readonly id: string;
  readonly change: StoredChange;
}

interface WaitingCreate {
  readonly create: LoneCreate;
  readonly resolve: (json: string | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_TOGETHER = 64;
const MOST_BYTES_TOGETHER = 256 * 1024;

/**
 * Joins new records that several requests with the same rights send at the same time into one statement:
 * PostgreSQL then pays most of the cost of a statement and a commit once for all. A single request does not
 * wait; while a statement runs, later requests gather for the next one.
 *
 * No request fails or waits because of another: if the shared statement cannot serve a record, each of its
 * records is created by a statement of its own.
 */
class BatchedCreates {
  readonly #environment: RecordEnvironment;
  readonly #lines = new WeakMap<Collection, Map<string, Batcher<WaitingCreate>>>();

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
  }

  /**
   * Creates the record together with others, and returns what the caller sees of it, as JSON text.
   * `undefined`: nothing was stored, and the record needs a statement of its own.
   *
   * @throws UNAVAILABLE
   */
  async store(create: LoneCreate): Promise<string | undefined> {
    const line = this.#lineOf(create);
    if (line === undefined) return undefined;
    return await new Promise((resolve, reject) => line.add({ create, resolve, reject }));
  }

  #lineOf({ scope, collection, access, change }: LoneCreate): Batcher<WaitingCreate> | undefined {
    // A listener must hear only the request's own statements, and a script's statement must end with the
    // script.
    if (scope.call.onStatement !== undefined || scope.call.scriptDepth !== undefined || isTraced())
      return undefined;
    const { catalog, triggers } = this.#environment;
    // The follow-ups of a write name its own author.
    if (access.rows !== undefined || isFollowed({ scope, collection, triggers }, 'create')) return undefined;
    // Which labels a caller may read can depend on the caller itself.
    const targets = change.unlabelled.flatMap((reference) =>
      reference.targets.map((name) => catalog.find(name)),
    );
    if (targets.some((target) => target && findAccess(scope, target, 'read')?.rows !== undefined))
      return undefined;
    const { roles, scopes, credential } = scope.principal;
    const rights = scopes === undefined ? [...roles].sort().join() : credentialName(credential);
    const key = JSON.stringify([scope.domain.id, rights]);
    const lines = getOrMake(this.#lines, collection, () => new Map<string, Batcher<WaitingCreate>>());
    return getOrMake(lines, key, () => {
      return new Batcher({
        takeNext: takeFirst,
        work: (served) => this.#serve(served),
        concurrency: 2,
        onIdle: () => lines.delete(key),
      });
    });
  }

  async #serve(served: readonly WaitingCreate[]): Promise<void> {
    try {
      const texts = await this.#insert(served.map(({ create }) => create));
      for (const [index, { resolve }] of served.entries()) resolve(texts?.[index]);
    } catch (error) {
      // One of the records may have caused it; each is retried alone, and the culprit's own statement reports
      // it.
      const isToBeTriedAlone = wasRefused(error);
      for (const { resolve, reject } of served) {
        if (isToBeTriedAlone) resolve(undefined);
        else reject(error);
      }
    }
  }

  /** `undefined`: nothing was stored, because there is a reason against one of the records. */
  async #insert(creates: readonly LoneCreate[]): Promise<readonly string[] | undefined> {
    const environment = this.#environment;
    const [first] = creates;
    if (first === undefined) return [];
    const { scope, collection, access, now } = first;
    const unlabelled = creates.flatMap(({ change }) => change.unlabelled);
    await environment.fillLabels(environment.database, scope, unlabelled);
    const records = creates.map(({ id, change: { data } }): NewRecord => {
      return { id, data, keys: keysOf(collection, data, scope.domain.timeZone) };
    });
    const context = environment.writeContext(scope, collection, now);
    const authors = creates.length === 1 ? undefined : creates;
    const made = new Set(records.map(({ id }) => id));
    const insert = { access, records, made, shown: records.length, authors };
    // A slow statement is logged under the first request.
    const { requestId, operation } = scope.call;
    const startedAt = performance.now();
    const rows = await environment.write<InsertedRow>(context, {
      ...{ operation: 'create' as const, columns: 'json text', call: { requestId, operation } },
      statement: (placed) => insertStatement(environment, placed, insert),
    });
    const durationMs = performance.now() - startedAt;
    for (const create of creates) create.scope.call.onDuration?.(durationMs);
    if (rows.length === 0) return undefined;
    environment.announceCommit(scope, collection, records);
    return printInserted(context, records, rows);
  }
}

function takeFirst(waiting: WaitingCreate[]): readonly WaitingCreate[] {
  // A lone record is of any size, so it is not measured.
  if (waiting.length === 1) return waiting.splice(0);
  let sum = 0;
  const end = waiting.slice(0, MOST_TOGETHER).findIndex(({ create }, index) => {
    sum += printExactJson(create.change.data).length;
    return index > 0 && sum > MOST_BYTES_TOGETHER;
  });
  return waiting.splice(0, end === -1 ? MOST_TOGETHER : end);
}

/** A write in one transaction with what it triggers; announced after a commit of its own. */
export async function atomicWrite<Written extends StoredRecord | StoredRecord[]>(
  environment: RecordEnvironment,
  { scope, collection }: RecordsOfScope,
  { within }: WriteOptions,
  write: (within: Transaction) => Promise<Written>,
): Promise<Written> {
  const written = await atomically(environment, scope, { within, writes: [collection.name] }, write);
  if (within === undefined) environment.announceCommit(scope, collection, [written].flat());
  return written;
}
