/**
 * Records by the thousand, of which some are there and some are not: staged in a table of the transaction,
 * compared with those that are there by one statement, and only what is new or another is written. For
 * `RecordStore`, which is the way to them.
 *
 * A row that is wrong is told and left out; nothing of it is written.
 */
import { type ErrorDetail, ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import { isJsonObject, type JsonObject, parseExactJson } from '../../json.js';
import type { Collection } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';
import { accessOf, assertReadable, type EffectiveAccess } from '../access/access.js';
import type { OwnTransaction, Queryable, Transaction } from '../database/database.js';
import { renewStatistics } from '../database/renew-statistics.js';
import { compileFilter } from '../sql/compile-filter.js';
import { liveRecordsOf, nameLiteral, recordsOf } from '../sql/records-of.js';
import { atomically, rehearse } from './atomically.js';
import { bringBack, bringBackInput } from './bring-back.js';
import { askTriggers, type FinishedChange, planChanges, writeChanges } from './change-records.js';
import { COPY_STAGED, nameOfKey } from './check-record.js';
import { deleteLocked } from './delete-locked.js';
import type { HeldReference } from './held-references.js';
import { countRecords, type LockedRow, lockRecords } from './matched-change.js';
import type { RecordEnvironment } from './record-environment.js';
import { assertWritable, outOfRows, overtaken } from './record-refusals.js';
import { announcement, inputOf, insertInput } from './record-statements.js';
import { RecordWrites } from './record-writes.js';
import { findDeadReferences } from './references.js';
import { assertCompletable, assertNoProbing, secretFieldsOf } from './secret-fields.js';
import { describeTaken, findTakenInStore } from './unique-conflicts.js';
import { type UniqueKey, uniqueKeyOf } from './unique-key.js';
import type { UnlabelledReference } from './validation.js';
import type { TriggerNames } from './write-triggers.js';

type Sql = Prisma.Sql;

export interface StagedBatch {
  readonly key: UniqueKey;
  /** The lines that `printStagedLine` printed. */
  readonly lines: Uint8Array;
  readonly count: number;
  /** The top-level fields that any of the records has. */
  readonly fields: readonly string[];
  /** `try`: everything but the write. */
  readonly mode: 'write' | 'try';
  readonly now: Date;
}

export interface StagedOutcome {
  /** The numbers of the rows whose records are new. */
  readonly created: readonly number[];
  readonly updated: readonly StagedUpdate[];
  readonly same: number;
  readonly refused: readonly StagedRefusal[];
  /** The ids of all records that the rows stand for. */
  readonly ids: () => readonly string[];
  /** Tells the gateways, once the transaction is committed. */
  readonly tellOfCommit: () => void;
}

export interface StagedUpdate {
  readonly number: number;
  readonly id: string;
  /** The top-level fields that are another. */
  readonly fields: readonly string[];
}

export interface StagedRefusal {
  readonly number: number;
  readonly errors: readonly ErrorDetail[];
}

/** The targets that references of a file point at, each once. They are lists, for they change threads. */
export interface SoughtTargets {
  readonly targets: readonly string[];
  readonly ids: readonly string[];
  /** Of each id, whether it has to be there. */
  readonly mustExist: readonly boolean[];
}

export interface FoundTargets {
  /** Of each id, as far as the caller may read it. */
  readonly labels: readonly (string | undefined)[];
  /** The ids that have to be there and are not. */
  readonly dead: ReadonlySet<string>;
}

export class StagedWrites {
  readonly #environment: RecordEnvironment;

  readonly #writes: RecordWrites;

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
    this.#writes = new RecordWrites(environment);
  }

  /**
   * What tells the records that are there, by its name or by the fields that are unique together.
   *
   * @throws INVALID_VALUE; FORBIDDEN for a key the caller may not read
   */
  keyOf(scope: Scope, name: string, by: string): UniqueKey {
    const collection = this.#environment.catalog.get(name, scope);
    return uniqueKeyOf(collection, by, accessOf(scope, collection, 'read'));
  }

  /**
   * Refuses a caller who may not write such records, whatever is in them.
   *
   * @throws FORBIDDEN; NOT_FOUND, GONE for the collection
   */
  assertMayWrite(scope: Scope, name: string, fields: readonly string[]): Collection {
    const collection = this.#environment.catalog.get(name, scope);
    accessOf(scope, collection, 'read');
    const creatable = accessOf(scope, collection, 'create');
    const writable = accessOf(scope, collection, 'update');
    const record = Object.fromEntries(fields.map((field) => [field, null]));
    assertWritable([record], creatable, collection);
    assertWritable([record], writable, collection);
    assertNoProbing([record], scope, collection);
    return collection;
  }

  /** The names of the scripts that run for what is written. */
  triggerNames(scope: Scope, name: string): TriggerNames {
    return this.#environment.triggers.names(scope.domain.id, name);
  }

  /** What is found of targets, in the order of the question: their labels, and which are not there. */
  async findTargets(
    queryable: Queryable,
    scope: Scope,
    sought: readonly SoughtTargets[],
  ): Promise<readonly FoundTargets[]> {
    const asked = sought.map(({ targets, ids, mustExist }) => ({
      unlabelled: ids.map((id): UnlabelledReference => ({ targets, reference: { value: id } })),
      held: ids
        .filter((_, index) => mustExist[index])
        .map((id): HeldReference => ({ pointer: '', field: '', targets, value: id })),
    }));
    const labelled = asked.flatMap(({ unlabelled }) => unlabelled);
    await this.#environment.fillLabels(queryable, scope, [{ unlabelled: labelled }]);
    const findCollection = (name: string) => this.#environment.catalog.find(name);
    const context = { scope, findCollection, labelled };
    const held = asked.flatMap((one) => one.held);
    const dead = new Set(await findDeadReferences(queryable, held, context));
    return asked.map((one) => ({
      labels: one.unlabelled.map(({ reference }) => reference.label),
      dead: new Set(one.held.filter((reference) => dead.has(reference)).map(({ value }) => value)),
    }));
  }

  /**
   * The ids of the records of a collection whose field has one of the texts, by the text.
   *
   * @throws FORBIDDEN for a field the caller may not read; INVALID_VALUE for texts that no such field has
   */
  async findByField(
    queryable: Queryable,
    scope: Scope,
    asked: { readonly target: string; readonly field: string; readonly texts: readonly string[] },
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const collection = this.#environment.catalog.get(asked.target, scope);
    const access = accessOf(scope, collection, 'read');
    assertReadable([[asked.field]], access, collection);
    const readable = this.#environment.rowsOf(scope, collection, access);
    const value = Prisma.sql`r.data->${nameLiteral(asked.field)}`;
    const declared = collection.fieldsByName.get(asked.field);
    // A text is told from a number by its quotes; the index of the field has either.
    const isNumber = declared?.type === 'number';
    const values = isNumber
      ? asked.texts.filter((text) => /^-?\d+(\.\d+)?$/.test(text))
      : asked.texts.map((text) => JSON.stringify(text));
    const rows = await this.#environment.run<{ text: string; id: string }>(
      queryable,
      Prisma.sql`
        select ${value} #>> '{}' as text, r.id
        from records r
        where ${liveRecordsOf(scope, collection)}
          and ${value} = any(${values}::text[]::jsonb[])
          ${readable === undefined ? Prisma.empty : Prisma.sql`and (${readable})`}
        order by r.id`,
      scope,
    );
    const idsByText = new Map<string, string[]>();
    for (const { text, id } of rows) {
      const ids = idsByText.get(text) ?? [];
      idsByText.set(text, ids);
      ids.push(id);
    }
    return idsByText;
  }

  /**
   * Judges the rows of a batch and, unless it is a trial, writes those that are right. They are in a table
   * that goes with the transaction, so one batch a transaction, or one after the other.
   *
   * What scripts make of a record is found out by writing it: where some are asked, a trial writes too, and
   * takes all back, what the scripts themselves have written with it.
   *
   * @throws FORBIDDEN; CONFLICT for a value that was taken meanwhile, after which the transaction is taken
   * back
   */
  async write(
    transaction: OwnTransaction,
    scope: Scope,
    name: string,
    batch: StagedBatch,
  ): Promise<StagedOutcome> {
    const { before } = this.triggerNames(scope, name);
    if (batch.mode === 'write' || before.length === 0) {
      return await this.#judge(transaction, scope, name, batch);
    }
    const written = await rehearse(transaction, () =>
      this.#judge(transaction, scope, name, { ...batch, mode: 'write' }),
    );
    return { ...written, tellOfCommit: () => {} };
  }

  async #judge(
    transaction: OwnTransaction,
    scope: Scope,
    name: string,
    batch: StagedBatch,
  ): Promise<StagedOutcome> {
    const collection = this.assertMayWrite(scope, name, batch.fields);
    const work: Work = {
      transaction,
      scope,
      collection,
      batch,
      readable: accessOf(scope, collection, 'read'),
      creatable: accessOf(scope, collection, 'create'),
      writable: accessOf(scope, collection, 'update'),
    };
    await renewStatistics(transaction, collection.name);
    await this.#stage(work);
    const matched = await this.#match(work);
    const refused: StagedRefusal[] = [...matched.refused];
    const updated = matched.differing === 0 ? [] : await this.#update(work, refused);
    const same = matched.sameIds.length;
    const unmatched = batch.count - same - matched.differing - matched.refused.length;
    const created = unmatched === 0 ? [] : await this.#create(work, refused);
    const written = batch.mode === 'write' ? [...updated, ...created] : [];
    return {
      created: created.map(({ number }) => number),
      updated,
      same,
      refused,
      ids: () => [...matched.sameIds, ...updated.map(({ id }) => id), ...created.map(({ id }) => id)],
      tellOfCommit: this.#environment.tellerOfCommit(scope, collection, written),
    };
  }

  async #stage({ transaction, batch }: Work): Promise<void> {
    await transaction.query(Prisma.sql`drop table if exists import_staged`);
    await transaction.query(Prisma.sql`
      create temporary table import_staged (
        number bigint not null,
        id text not null,
        is_id_sent boolean not null,
        -- The record if it is new.
        data jsonb not null,
        -- The members of it that a record that is there does not get, or of which it gets some members.
        withheld text[] not null,
        removed text[] not null,
        members jsonb,
        keys jsonb,
        missing jsonb,
        -- 'differs' from the record that is there, or 'removed': it was there. Null: it is new, or nobody has
        -- looked yet.
        state text
      ) on commit drop`);
    await transaction.copyIn(COPY_STAGED, batch.lines);
  }

  /**
   * Finds the records that are there. Of those that would stay as they are nothing is written, not even in
   * the staging table: they go from it where others are new.
   */
  async #match(work: Work): Promise<Matched> {
    const { transaction, scope, collection, batch } = work;
    const reach = this.#reachOf(work).map((rows) => Prisma.sql`and (${rows})`);
    // Whether a hidden value is the same is not told: to send one counts as a change.
    const secret = batch.fields.filter((field) => secretFieldsOf(scope, collection).has(field));
    const isUntold = secret.length === 0 ? Prisma.sql`false` : Prisma.sql`s.data ?| ${secret}::text[]`;
    // For each row by itself: the plan of a join would read all of an index for every batch.
    const groups = await transaction.query<MatchedGroup>(Prisma.sql`
      select f.state, array_agg(s.number::float8) as numbers, array_agg(f.id) as ids
      from import_staged s
      cross join lateral (
        select r.id,
          case
            when s.is_id_sent and s.id <> r.id then 'other'
            when ${isUntold} or ${BECAME} <> r.data then 'differs'
            else 'same'
          end as state
        from records r
        where ${liveRecordsOf(scope, collection)} and ${matchOf(work)}
          ${Prisma.join([Prisma.empty, ...reach], ' ')}
        limit 1
      ) as f
      group by f.state`);
    const groupOf = (state: string) => groups.find((group) => group.state === state) ?? NO_GROUP;
    const [same, differing, others] = [groupOf('same'), groupOf('differs'), groupOf('other')];
    const isAllSame = same.numbers.length === batch.count;
    if (same.numbers.length > 0 && !isAllSame) await forget(transaction, same.numbers);
    if (differing.numbers.length > 0) {
      await transaction.query(Prisma.sql`
        update import_staged s
        set id = f.id, state = 'differs'
        from unnest(${differing.numbers}::bigint[], ${differing.ids}::text[]) as f (number, id)
        where s.number = f.number`);
    }
    if (others.numbers.length > 0) await forget(transaction, others.numbers);
    const detail = `another record has this ${nameOfKey(batch.key)}, and the _id of a record never changes`;
    const errors = [{ pointer: '/_id', detail, expected: 'the _id it has, or none' }];
    const refused = others.numbers.map((number): StagedRefusal => ({ number, errors }));
    return { sameIds: same.ids, differing: differing.numbers.length, refused };
  }

  /** The conditions over `r` that part the records which rows may stand for from those they may not. */
  #reachOf({ scope, collection, readable, writable }: Work): readonly Sql[] {
    return [readable, writable].flatMap(
      (access) => this.#environment.rowsOf(scope, collection, access) ?? [],
    );
  }

  async #update(work: Work, refused: StagedRefusal[]): Promise<StagedUpdate[]> {
    const { transaction, scope, collection, batch, writable } = work;
    const rows = await transaction.query<DifferingRow>(Prisma.sql`
      select s.number, r.id, r.version, r.data::text as data, ${BECAME}::text as became,
        array(select jsonb_object_keys((s.data - s.withheld) || coalesce(s.members, '{}')))
          || s.removed as fields
      from import_staged s
      join records r on ${liveRecordsOf(scope, collection)} and r.id = s.id
      where s.state = 'differs'
      order by r.id
      for update of r`);
    const rowsById = new Map(rows.map((row) => [row.id, row]));
    const refuse = ({ id }: Pick<LockedRow, 'id'>, fault: ServiceError) =>
      refused.push({ number: Number(rowsById.get(id)?.number), errors: errorsOf(fault) });
    const request = {
      ...{ scope, collection, writable, now: batch.now },
      rows,
      change: (_before: JsonObject, { id }: Pick<LockedRow, 'id'>) => recordIn(rowsById.get(id)?.became),
      sentFields: ({ id }: Pick<LockedRow, 'id'>) => rowsById.get(id)?.fields ?? [],
    };
    const updated: StagedUpdate[] = [];
    for await (const planned of planChanges(this.#environment, transaction, request, refuse)) {
      const finished = await this.#withoutTaken(work, planned, refuse);
      const kept = await this.#withoutMoved(work, finished, refuse);
      if (batch.mode === 'write' && kept.length > 0) {
        await writeChanges(this.#environment, transaction, { ...request, finished: kept });
      }
      updated.push(
        ...kept.map(({ change: { id, set, removed } }) => ({
          number: Number(rowsById.get(id)?.number),
          id,
          fields: [...Object.keys(set), ...removed],
        })),
      );
    }
    return updated;
  }

  /** Refuses changes to what another record has of what is to be unique. */
  async #withoutTaken(
    { transaction, scope, collection }: Work,
    finished: readonly FinishedChange[],
    refuse: (row: { readonly id: string }, fault: ServiceError) => void,
  ): Promise<readonly FinishedChange[]> {
    const fields = uniqueFieldsOf(collection);
    const changing = finished.filter(({ change }) =>
      [...Object.keys(change.set), ...change.removed].some((field) => fields.has(field)),
    );
    if (changing.length === 0) return finished;
    const records = changing.map(({ change: { id, keys }, data }) => ({ id, data, keys }));
    const input = inputOf(records);
    const taken = await findTakenInStore(transaction, { scope, collection, input, verb: 'update' });
    const ids = new Set<string>();
    for (const { index, rule } of taken) {
      const record = records[index];
      if (record === undefined || ids.has(record.id)) continue;
      ids.add(record.id);
      const secret = secretFieldsOf(scope, collection);
      const errors = describeTaken({ rule, record, pointer: '' }, { collection, secret });
      refuse(record, new ServiceError('CONFLICT', errors[0]?.detail ?? 'a value is taken', { errors }));
    }
    return finished.filter(({ change: { id } }) => !ids.has(id));
  }

  /** Refuses changes that would take a record out of the rows that are the caller's to change. */
  async #withoutMoved(
    { transaction, scope, collection, writable }: Work,
    finished: readonly FinishedChange[],
    refuse: (row: { readonly id: string }, fault: ServiceError) => void,
  ): Promise<readonly FinishedChange[]> {
    if (writable.rows === undefined || finished.length === 0) return finished;
    const records = finished.map(({ change: { id, keys }, data }) => ({ id, data, keys }));
    const rows = compileFilter(writable.rows, this.#environment.compileContext(scope, collection));
    const moved = await transaction.query<{ id: string }>(Prisma.sql`
      select r.id
      from (${asRecords(scope, collection, inputOf(records))}) as r
      where (${rows}) is not true`);
    const ids = new Set(moved.map(({ id }) => id));
    for (const id of ids) refuse({ id }, outOfRows(collection, 'update'));
    return finished.filter(({ change: { id } }) => !ids.has(id));
  }

  async #create(work: Work, refused: StagedRefusal[]): Promise<NewRow[]> {
    const { transaction, scope, collection, batch, creatable } = work;
    const { errorsByNumber, removed } = await this.#findCreateFaults(work);
    for (const [number, errors] of errorsByNumber) refused.push({ number, errors });
    if (errorsByNumber.size > 0) await forget(transaction, [...errorsByNumber.keys()]);
    if (removed.length > 0) {
      await transaction.query(Prisma.sql`
        update import_staged set state = 'removed' where number = any(${removed}::bigint[])`);
    }
    assertCompletable(
      [Object.fromEntries(batch.fields.map((field) => [field, null]))],
      collection,
      creatable.hiddenFields,
    );
    if (batch.mode === 'try') return await this.#listNew(transaction);
    const { triggers } = this.#environment;
    if (triggers.before(scope.domain.id, collection.name, 'create').length > 0) {
      return await this.#createAsking(work, refused);
    }
    if (removed.length > 0) await this.#bringBack(work);
    const input = Prisma.sql`
      select id, data, keys, number as position from import_staged where state is null`;
    const context = this.#environment.writeContext(scope, collection, batch.now);
    await transaction.query(Prisma.sql`
      ${insertInput(context, { input, refusal: Prisma.empty, count: batch.count })}
      select count(*)
      -- Told of for each record, which counting alone would not do; what tells is volatile, and so is kept.
      from (select r.id ${announcement(context, 'create')} from written r) as told`);
    return await this.#listNew(transaction);
  }

  /** Writes rows over the tombstones of their records. @throws CONFLICT where one was purged, or is back */
  async #bringBack({ transaction, scope, collection, batch }: Work): Promise<void> {
    const context = this.#environment.writeContext(scope, collection, batch.now);
    const input = Prisma.sql`select id, data, keys from import_staged where state = 'removed'`;
    const rows = await transaction.query<{ id: string }>(Prisma.sql`
      ${bringBackInput(context, input)}
      select r.id ${announcement(context, 'create')} from written r`);
    const back = new Set(rows.map(({ id }) => id));
    const asked = await transaction.query<{ id: string }>(input);
    const left = asked.find(({ id }) => !back.has(id));
    if (left !== undefined) throw overtaken(collection, left.id);
  }

  async #listNew(transaction: OwnTransaction): Promise<NewRow[]> {
    return await transaction.query<NewRow>(Prisma.sql`
      select number::float8 as number, id from import_staged where ${IS_NEW}`);
  }

  /** New records about which scripts are asked, one after the other. */
  async #createAsking(work: Work, refused: StagedRefusal[]): Promise<NewRow[]> {
    const { transaction, scope, collection } = work;
    const rows = await transaction.query<
      NewRow & { readonly data: string; readonly is_removed: boolean }
    >(Prisma.sql`
      select number::float8 as number, id, data::text as data, state is not null as is_removed
      from import_staged
      where ${IS_NEW}
      order by number`);
    const made: NewRow[] = [];
    for (const { number, id, data: text, is_removed: isRemoved } of rows) {
      try {
        const data = recordIn(text);
        const atomic = { within: transaction, writes: [collection.name] };
        await atomically(this.#environment, scope, atomic, async (within) => {
          if (isRemoved) {
            const back = { scope, collection, now: work.batch.now, records: [{ id, data }] };
            await bringBack(this.#environment, within, back);
          } else {
            await this.#writes.create(scope, collection.name, [{ ...data, _id: id }], { within });
          }
        });
        made.push({ number, id });
      } catch (fault) {
        if (!(fault instanceof ServiceError) || fault.status >= 500) throw fault;
        refused.push({ number, errors: errorsOf(fault) });
      }
    }
    return made;
  }

  /**
   * Removes records that are in the caller's reach and of which the condition over `r` holds, at most so
   * many. How many.
   *
   * @throws FORBIDDEN; what a script refuses
   */
  async remove(
    transaction: Transaction,
    scope: Scope,
    name: string,
    { condition, limit }: { readonly condition: Sql; readonly limit: number },
  ): Promise<number> {
    const environment = this.#environment;
    const collection = environment.catalog.get(name, scope);
    const context = environment.writeContext(scope, collection, environment.now());
    const statement = lockRecords(context, {
      conditions: [...this.#removable(scope, collection), condition],
      orderBy: Prisma.sql`r.id`,
      limit,
    });
    const rows = await environment.run<LockedRow>(transaction, statement, scope);
    if (rows.length === 0) return 0;
    const asked = {
      scope,
      collection,
      rows,
      operation: 'delete',
      change: (before: JsonObject) => before,
    } as const;
    await askTriggers(environment, transaction, asked);
    const ids = rows.map(({ id }) => id);
    await deleteLocked(environment, transaction, context, ids);
    return rows.length;
  }

  /** How many records `remove` would remove without a limit. @throws FORBIDDEN */
  async countRemovable(queryable: Queryable, scope: Scope, name: string, condition: Sql): Promise<number> {
    const collection = this.#environment.catalog.get(name, scope);
    const context = this.#environment.writeContext(scope, collection, this.#environment.now());
    const conditions = [...this.#removable(scope, collection), condition];
    const statement = countRecords(context, { conditions, orderBy: Prisma.sql`r.id`, limit: MOST_COUNTED });
    const [row] = await queryable.query<{ count: number }>(statement);
    return row?.count ?? 0;
  }

  #removable(scope: Scope, collection: Collection): readonly Sql[] {
    return (['read', 'delete'] as const).flatMap((verb) => {
      const rows = this.#environment.rowsOf(scope, collection, accessOf(scope, collection, verb));
      return rows ?? [];
    });
  }

  /** What keeps rows from becoming new records, by their number, and which of them were records before. */
  async #findCreateFaults(work: Work): Promise<{
    readonly errorsByNumber: ReadonlyMap<number, readonly ErrorDetail[]>;
    readonly removed: readonly number[];
  }> {
    const { transaction, scope, collection, creatable } = work;
    const errorsByNumber = new Map<number, ErrorDetail[]>();
    const add = (number: number, errors: readonly ErrorDetail[]) => {
      errorsByNumber.set(number, [...(errorsByNumber.get(number) ?? []), ...errors]);
    };
    const lacking = await transaction.query<{ number: number; missing: ErrorDetail[] }>(Prisma.sql`
      select number::float8 as number, missing
      from import_staged
      where state is null and missing is not null`);
    for (const { number, missing } of lacking) add(number, missing);
    const input = Prisma.sql`
      select number as position, id, data, keys from import_staged where state is null`;
    const { key } = work.batch;
    // All live records were looked through by the key, and none was found that has it.
    const untaken = key.kind === 'rule' && this.#reachOf(work).length === 0 ? key.name : undefined;
    const asked = { scope, collection, input, verb: 'create', untaken } as const;
    const taken = await findTakenInStore(transaction, asked);
    const removed = taken.length === 0 ? [] : await this.#addTaken(work, taken, add);
    if (creatable.rows !== undefined) {
      const rows = compileFilter(creatable.rows, this.#environment.compileContext(scope, collection));
      const outside = await transaction.query<{ number: number }>(Prisma.sql`
        select r.position::float8 as number
        from (${asRecords(scope, collection, input)}) as r
        where (${rows}) is not true`);
      for (const { number } of outside) add(number, errorsOf(outOfRows(collection, 'create')));
    }
    return { errorsByNumber, removed };
  }

  /**
   * A row whose `_id` a removed record has brings that record back, and is told. An `_id` that nobody sent
   * and that another record has becomes another one.
   */
  async #addTaken(
    { transaction, scope, collection, readable }: Work,
    taken: readonly { readonly index: number; readonly rule: string }[],
    add: (number: number, errors: readonly ErrorDetail[]) => void,
  ): Promise<readonly number[]> {
    const numbers = taken.map(({ index }) => index + 1);
    const rows = await transaction.query<{
      number: number;
      id: string;
      is_id_sent: boolean;
      data: string;
      keys: string | null;
    }>(Prisma.sql`
      select number::float8 as number, id, is_id_sent, data::text as data, keys::text as keys
      from import_staged
      where number = any(${numbers}::bigint[])`);
    const rowsByNumber = new Map(rows.map((row) => [row.number, row]));
    const tombstones = await this.#findTombstones(
      { transaction, scope, collection, readable },
      rows.map(({ id }) => id),
    );
    const renamed: number[] = [];
    const removed: number[] = [];
    const secret = secretFieldsOf(scope, collection);
    for (const { index, rule } of taken) {
      const row = rowsByNumber.get(index + 1);
      if (row === undefined) continue;
      if (rule === 'id' && tombstones.has(row.id)) {
        removed.push(row.number);
        continue;
      }
      if (rule === 'id' && !row.is_id_sent) {
        renamed.push(row.number);
        continue;
      }
      const keys = row.keys === null ? undefined : recordIn(row.keys);
      const record = { id: row.id, data: recordIn(row.data), keys };
      add(row.number, describeTaken({ rule, record, pointer: '' }, { collection, secret }));
    }
    if (renamed.length > 0) {
      await transaction.query(Prisma.sql`
        update import_staged set id = gen_random_uuid()::text where number = any(${renamed}::bigint[])`);
    }
    return removed;
  }

  /** The ids of removed records that are not purged, as far as the caller may read what they were. */
  async #findTombstones(
    {
      transaction,
      scope,
      collection,
      readable,
    }: Pick<Work, 'transaction' | 'scope' | 'collection' | 'readable'>,
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const rows = this.#environment.rowsOf(scope, collection, readable);
    const found = await transaction.query<{ id: string }>(Prisma.sql`
      select r.id
      from records r
      where ${recordsOf(scope, collection)} and r.id = any(${ids}::text[]) and r.deleted_at is not null
        ${rows === undefined ? Prisma.empty : Prisma.sql`and (${rows})`}`);
    return new Set(found.map(({ id }) => id));
  }
}

const MOST_COUNTED = 2_000_000_000;

interface Work {
  readonly transaction: OwnTransaction;
  readonly scope: Scope;
  readonly collection: Collection;
  readonly batch: StagedBatch;
  readonly readable: EffectiveAccess;
  readonly creatable: EffectiveAccess;
  readonly writable: EffectiveAccess;
}

interface Matched {
  readonly sameIds: readonly string[];
  readonly differing: number;
  readonly refused: readonly StagedRefusal[];
}

/** Rows that stand for records that are there, and those. */
interface MatchedGroup {
  readonly state: string;
  readonly numbers: readonly number[];
  readonly ids: readonly string[];
}

const NO_GROUP: MatchedGroup = { state: '', numbers: [], ids: [] };

interface NewRow {
  readonly number: number;
  readonly id: string;
}

interface DifferingRow extends LockedRow {
  readonly number: number;
  readonly became: string;
  readonly fields: readonly string[];
}

/** The record `r` as the staged row `s` would have it. */
const BECAME = Prisma.sql`case
        when s.members is null and s.removed = '{}' then r.data || (s.data - s.withheld)
        when s.members is null then (r.data - s.removed) || (s.data - s.withheld)
        else with_members((r.data - s.removed) || (s.data - s.withheld), s.members)
      end`;

/** The staged row is to be a record that is not there: a new one, or a removed one. */
const IS_NEW = Prisma.sql`(state is null or state = 'removed')`;

/** Which record `r` the staged row `s` stands for. */
function matchOf({ collection, batch: { key } }: Work): Sql {
  switch (key.kind) {
    case 'id':
      return Prisma.sql`r.id = s.id`;
    case 'rule':
      return Prisma.sql`r.keys->>${nameLiteral(key.name)} = s.keys->>${nameLiteral(key.name)}`;
    case 'field': {
      const isReference = collection.fieldsByName.get(key.name)?.type === 'reference';
      const value = isReference ? Prisma.raw("->'value'") : Prisma.empty;
      const member = Prisma.sql`->${nameLiteral(key.name)}${value}`;
      return Prisma.sql`r.data${member} = (s.data - s.withheld)${member}`;
    }
  }
}

/** Takes rows out of the staging table that need nothing more. */
async function forget(transaction: OwnTransaction, numbers: readonly number[]): Promise<void> {
  await transaction.query(Prisma.sql`
    delete from import_staged where number = any(${[...numbers]}::bigint[])`);
}

/** Rows of `inputOf` as records, for a condition over `r`. */
function asRecords(scope: Scope, collection: Collection, input: Sql): Sql {
  return Prisma.sql`
    select ${scope.domain.id}::text as domain, ${nameLiteral(collection.name)}::text as collection,
      i.id, i.data, i.position, null::timestamptz as deleted_at
    from (${input}) as i`;
}

function uniqueFieldsOf(collection: Collection): ReadonlySet<string> {
  return new Set([
    ...collection.fields.filter((field) => field.isUnique).map((field) => field.name),
    ...collection.uniqueTogether.flatMap((rule) => rule.parts.flatMap((part) => part.path.slice(0, 1))),
  ]);
}

function errorsOf(fault: ServiceError): readonly ErrorDetail[] {
  return fault.errors ?? [{ detail: fault.message }];
}

function recordIn(text: string | undefined): JsonObject {
  const record = parseExactJson(text ?? '{}');
  if (!isJsonObject(record)) throw new Error('what is staged is no object');
  return record;
}
