/** Creates records whose fields have been checked to be settable: all or none. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { keysOf } from '../../base/model/keys-of.js';
import type { Scope } from '../../base/model/scope.js';
import { accessOf, type EffectiveAccess, findAccess } from '../access/access.js';
import type { Transaction } from '../database/queryable.js';
import type { StoredRecord } from '../reading/stored-record.js';
import type { Sql } from '../sql.js';
import { atomically, refusedByIndex, runWrite } from './atomically.js';
import { BatchedCreates } from './batched-creates.js';
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
  type NewRecord,
  printInserted,
  type ReasonsAgainst,
  type WriteContext,
} from './record-statements.js';
import { listReferences, selectDead } from './references.js';
import { selectUnlinked } from './select-unlinked.js';
import { listSought } from './settle-links.js';
import { assertNoFaults, toStoredAll, withPointer } from './validation.js';
import { askBefore, revise } from './write-triggers.js';

/**
 * More records are created by several statements in one transaction, so that PostgreSQL stores some while the
 * next are printed and the previous answer is read: 10,000 took 573 ms instead of 610. No statement is so
 * short that its overhead counts.
 */
const MOST_A_STATEMENT = 2_000;

const NO_REASONS: ReasonsAgainst = { rows: undefined, deadReferences: undefined, unlinked: undefined };

export interface CreateOptions {
  /** The transaction to join. Default: a new one. */
  readonly within?: Transaction | undefined;
  /** How many of the records are returned, the first ones. Default: all. */
  readonly shown?: number | undefined;
}

/** A write whose rights have been checked: its caller, collection and rows. */
export interface PermittedWrite {
  readonly scope: Scope;
  readonly collection: Collection;
  readonly access: EffectiveAccess;
}

interface SentRecord {
  readonly id: string;
  /** The fields, without `_id`. */
  readonly data: JsonObject;
  /** The members that the caller sent; others were set by a trigger. */
  readonly own: { has(name: string): boolean };
}

/** The checked records of one call. */
interface Insert extends PermittedWrite {
  readonly context: WriteContext;
  readonly records: readonly NewRecord[];
  readonly made: ReadonlySet<string>;
  /** How many of the records are returned, the first ones. */
  readonly shown: number;
}

/** The records of one statement. */
interface Part {
  /** The positions, in the call, of the records to return. */
  readonly shown: readonly number[];
  readonly statement: Sql;
}

export class RecordInserts {
  readonly #environment: RecordEnvironment;
  readonly #joined: BatchedCreates;
  readonly #ids = new RecordIds();

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
    this.#joined = new BatchedCreates(environment);
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
    const { maxRecordsPerWrite } = this.#environment;
    if (records.length > maxRecordsPerWrite) {
      throw tooManyRecords(records.length, maxRecordsPerWrite);
    }
    const sent = records.map((record, index) => takeSentId(record, records.length === 1 ? '' : `/${index}`));
    assertNoFaults(sent.flatMap((one) => one.errors));
    const fields = sent.map((one) => one.data);
    assertWritable(fields, access, collection);
    assertNoProbing(fields, scope, collection);
    const ids = this.#ids.make(sent.length);
    const identified = sent.map(({ id, data }, index) => ({ id: id ?? ids[index] ?? '', data }));
    const write = { scope, collection, access };
    const triggers = this.#environment.triggers.before(scope.domain.id, name, 'create');
    if (triggers.length === 0) return await this.#insert(write, identified.map(asItWasSent), options);
    const made = await atomicWrite(this.#environment, { scope, collection }, options, async (within) => {
      const revised: SentRecord[] = [];
      for (const { id, data } of identified) {
        const pending = {
          scope,
          collection,
          operation: 'create',
          id,
          record: data,
          previous: undefined,
        } as const;
        const own = new Set(Object.keys(data));
        const set = revise(data, await askBefore(triggers, pending, within));
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
    const { timeZone, callingCode } = scope.domain;
    const data = sent.map((one) => one.data);
    assertCompletable(data, collection, access.hiddenFields);
    const secret = secretFieldsOf(scope, collection);
    const isAllRead = findAccess(scope, collection, 'read')?.hiddenFields.size === 0;
    const secretsOf = (index: number) =>
      isAllRead ? NO_SECRETS : without(secret, sent[index]?.own ?? NO_SECRETS);
    const changes = toStoredAll(collection, data, { timeZone, callingCode, now, mode: 'create', secretsOf });
    const toStoredRecord = ({ id }: { readonly id: string }, json = ''): StoredRecord => {
      return { id, version: 1, createdAt: now, updatedAt: now, json };
    };
    const made = new Set(sent.map(({ id }) => id));
    const queryable = within ?? environment.database;
    const settle = async () => {
      const faults = await environment.settleTargets(queryable, {
        scope,
        collection,
        records: changes,
        made,
      });
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
      const keys = keysOf(collection, change.data, timeZone);
      const lone = { id: record.id, data: change.data, keys };
      const json = await this.#joined.store({ scope, collection, access, now, record: lone, change });
      if (json !== undefined) return [toStoredRecord(record, json)];
    }
    await environment.fillLabels(
      queryable,
      scope,
      changes.flatMap(({ unlabelled }) => unlabelled),
    );
    const context = environment.writeContext(scope, collection, now);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const records = sent.map(({ id }, index): NewRecord => {
        const { data = {} } = changes[index] ?? {};
        return { id, data, keys: keysOf(collection, data, timeZone) };
      });
      const insert = { scope, collection, access, context, records, made, shown };
      const texts =
        records.length <= MOST_A_STATEMENT || access.rows !== undefined
          ? await this.#insertAtOnce(insert, within)
          : await this.#insertInParts(insert, within);
      if (texts !== undefined)
        return records.slice(0, shown).map((one, index) => toStoredRecord(one, texts[index]));
      await settle();
      // The first time, names may have got the spelling of the school, or a target exists again.
      if (access.rows !== undefined && attempt > 1) throw outOfRows(collection, 'create');
    }
    throw overtaken(collection, record?.id ?? '');
  }

  /** `undefined`: nothing was stored, because there is a reason against one of the records. */
  async #insertAtOnce(
    insert: Insert,
    within: Transaction | undefined,
  ): Promise<readonly string[] | undefined> {
    const { records, context } = insert;
    const attempt = { ...insert, verb: 'create' } as const;
    const write = {
      within,
      operation: 'create',
      columns: 'json text',
      caller: insert.scope,
      statement: (changed: WriteContext) =>
        this.#firstPart({ ...insert, context: changed }, [...records.keys()]).statement,
    } as const;
    const run = () => this.#environment.write<InsertedRow>(context, write);
    const rows = await runWrite(this.#environment, within, run, attempt);
    if (rows.length === 0) return undefined;
    return printInserted(context, records.slice(0, insert.shown), rows);
  }

  /** The same for many records. */
  async #insertInParts(
    given: Insert,
    within: Transaction | undefined,
  ): Promise<readonly string[] | undefined> {
    const environment = this.#environment;
    // The statements are built in advance, so they need to know the server on which they will run.
    const insert = { ...given, context: environment.placed(given.context) };
    const { scope, collection, records, context } = insert;
    const attempt = { ...insert, verb: 'create' } as const;
    const [places = [], ...others] = inParts(insert);
    const texts: string[] = [];
    const print = ({ shown }: Part, rows: readonly InsertedRow[]) => {
      const shownRecords = shown.flatMap((place) => records[place] ?? []);
      for (const [index, text] of printInserted(context, shownRecords, rows).entries())
        texts[shown[index] ?? 0] = text;
    };
    const options = { within, writes: [collection.name] };
    const isStored = await atomically(environment, scope, options, async (transaction) => {
      const write = {
        within: transaction,
        operation: 'create',
        columns: 'json text',
        caller: scope,
      } as const;
      const run = ({ statement }: Part) =>
        refusedByIndex(environment, attempt, () =>
          environment.write<InsertedRow>(context, { ...write, statement: () => statement }),
        );
      let part = this.#firstPart(insert, places);
      let storing = run(part);
      for (const next of others) {
        const [rows, following] = await Promise.all([storing, laterPart(insert, next)]);
        if (rows.length === 0) return false;
        storing = run(following);
        print(part, rows);
        part = following;
      }
      print(part, await storing);
      return true;
    });
    if (!isStored) return undefined;
    if (within === undefined) environment.announceCommit(scope, collection, records);
    return texts;
  }

  /**
   * Its statement checks whether there is a reason against any of the records, including those of other
   * parts.
   */
  #firstPart(insert: Insert, places: readonly number[]): Part {
    const { scope, collection, access, records, made } = insert;
    const environment = this.#environment;
    const data = records.map((record) => record.data);
    const held = data.flatMap((one) => listReferences(collection, one));
    const sought = listSought(collection, data, scope.domain.timeZone);
    const ofMade = { collection: collection.name, ids: made };
    return partOf(insert, places, {
      rows: environment.rowsOf(scope, collection, access),
      deadReferences: selectDead(held, environment.referenceContext(scope, ofMade)),
      unlinked: selectUnlinked(collection, sought, environment.linkContext(scope, true)),
    });
  }
}

/**
 * Divides the positions of the records into parts, one per statement. Records with the same key prefix share
 * a part, e.g. the marks of a student, whose month is then written once.
 */
function inParts({ records }: Insert): readonly (readonly number[])[] {
  const keys = records.map(({ keys = {} }) => Object.values(keys).join());
  const places = [...keys.keys()].sort((one, other) => compareTexts(keys[one], keys[other]));
  const parts: number[][] = [];
  for (let start = 0; start < places.length; start += MOST_A_STATEMENT)
    parts.push(places.slice(start, start + MOST_A_STATEMENT).sort((one, other) => one - other));
  return parts;
}

function compareTexts(one = '', other = ''): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Built after the previous statement has been sent. */
async function laterPart(insert: Insert, places: readonly number[]): Promise<Part> {
  await nextTurn();
  return partOf(insert, places, NO_REASONS);
}

function partOf(insert: Insert, places: readonly number[], reasons: ReasonsAgainst): Part {
  const records = places.flatMap((place) => insert.records[place] ?? []);
  const shown = places.filter((place) => place < insert.shown);
  return { shown, statement: insertRecords(insert.context, records, { ...reasons, shown: shown.length }) };
}

function asItWasSent({ id, data }: { readonly id: string; readonly data: JsonObject }): SentRecord {
  return { id, data, own: { has: (name) => Object.hasOwn(data, name) } };
}

/** A write in one transaction with what it triggers; announced after a commit of its own. */
export async function atomicWrite<Written extends StoredRecord | StoredRecord[]>(
  environment: RecordEnvironment,
  { scope, collection }: Pick<PermittedWrite, 'scope' | 'collection'>,
  { within }: Pick<CreateOptions, 'within'>,
  write: (within: Transaction) => Promise<Written>,
): Promise<Written> {
  const written = await atomically(environment, scope, { within, writes: [collection.name] }, write);
  if (within === undefined) environment.announceCommit(scope, collection, [written].flat());
  return written;
}
