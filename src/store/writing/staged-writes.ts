/**
 * Writes records by the thousand, some of which exist: they are staged in a temporary table, compared with
 * existing ones by one statement, and only new and changed ones are written. Called by `RecordStore` only.
 *
 * A faulty row is reported and skipped as a whole.
 */

import type { Collection } from '../../base/model/collection.js';
import { foldedKey, isKeyFolded } from '../../base/model/keys-of.js';
import type { Scope } from '../../base/model/scope.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { accessOf, assertReadable } from '../access/access.js';
import { renewStatistics } from '../database/partitions.js';
import type { OwnTransaction, Queryable, Transaction } from '../database/queryable.js';
import { liveRecordsById, liveRecordsByKey, liveRecordsOf } from '../sql/records-of.js';
import { nameLiteral, type Sql, sql } from '../sql.js';
import { lockRecords, removeLocked } from './change-records.js';
import { assertNoProbing, secretFieldsOf } from './check-faults.js';
import { nameOfKey } from './check-record.js';
import type { RecordEnvironment } from './record-environment.js';
import { assertWritable } from './record-refusals.js';
import { type HeldReference, settleReferences, type UnlabelledReference } from './references.js';
import { type Sought } from './select-unlinked.js';
import { judgeLinks, type LinkVerdicts } from './settle-links.js';
import {
  BECAME,
  createStaged,
  forgetStaged,
  reachOf,
  type StagedBatch,
  type StagedRefusal,
  type StagedUpdate,
  type StagedWork,
  type StagingPlace,
  stagingPlaceOf,
  updateStaged,
} from './staged-work.js';
import { fieldsBesideKey, keyValueOf, OF_RECORD, type UniqueKey, uniqueKeyOf } from './unique-key.js';
import type { TriggerNames } from './write-triggers.js';

export interface StagedOutcome {
  /** The numbers of the rows that created a record. */
  readonly created: readonly number[];
  readonly updated: readonly StagedUpdate[];
  readonly same: number;
  readonly refused: readonly StagedRefusal[];
  /** The ids of the rows' records, by row number. */
  readonly records: () => ReadonlyMap<number, string>;
  /** Announces the writes to the gateways; call it after the commit. */
  readonly announceCommit: () => void;
}

/** A target of references in a file. */
export interface SoughtTarget {
  readonly targets: readonly string[];
  readonly id: string;
  readonly mustExist: boolean;
}

export interface FoundTarget {
  /** Its label, if the caller may read it. */
  readonly label: string | undefined;
  /** Whether it must exist and does not. */
  readonly isDead: boolean;
}

export class StagedWrites {
  readonly #environment: RecordEnvironment;

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
  }

  /**
   * The key that identifies existing records, by its name or by the fields that are unique together.
   *
   * @throws INVALID_VALUE; FORBIDDEN for a key the caller may not read
   */
  keyOf(scope: Scope, name: string, by: string): UniqueKey {
    const collection = this.#environment.catalog.get(name, scope);
    return uniqueKeyOf(collection, by, accessOf(scope, collection, 'read'));
  }

  /**
   * Refuses a caller who may not write such records by the key, whatever is in them.
   *
   * @throws FORBIDDEN; NOT_FOUND, GONE for the collection
   */
  assertMayWrite(
    scope: Scope,
    name: string,
    fields: readonly string[],
    key: UniqueKey | undefined,
  ): Collection {
    const collection = this.#environment.catalog.get(name, scope);
    accessOf(scope, collection, 'read');
    const creatable = accessOf(scope, collection, 'create');
    const writable = accessOf(scope, collection, 'update');
    const record = Object.fromEntries(fields.map((field) => [field, null]));
    assertWritable([record], creatable, collection);
    assertWritable([fieldsBesideKey(record, key, collection)], writable, collection);
    assertNoProbing([record], scope, collection);
    return collection;
  }

  /** The names of the scripts that run for what is written. */
  triggerNames(scope: Scope, name: string): TriggerNames {
    return this.#environment.triggers.names(scope.domain.id, name);
  }

  /**
   * The place of the records of the scope in the transaction. A transaction that stages writes uses it for
   * all statements: a server with a temporary table cannot commit in two phases, as Citus requires if it
   * distributes rows over the servers itself.
   */
  placeOf(transaction: OwnTransaction, scope: Pick<Scope, 'domain'>): StagingPlace {
    return stagingPlaceOf(this.#environment.database, transaction, scope.domain.id);
  }

  /** The labels of targets and whether they exist, in the order of the question. */
  async findTargets(
    queryable: Queryable,
    scope: Scope,
    sought: readonly SoughtTarget[],
  ): Promise<readonly FoundTarget[]> {
    const unlabelled = sought.map(({ targets, id }): UnlabelledReference => {
      return { targets, reference: { value: id } };
    });
    const held = sought.map(({ targets, id }): HeldReference => {
      return { pointer: '', field: '', targets, value: id, holds: false };
    });
    const needed = held.filter((_, index) => sought[index]?.mustExist);
    const references = { unlabelled, held: needed };
    const context = this.#environment.referenceContext(scope);
    const dead = new Set(await settleReferences(queryable, references, context));
    return held.map((one, index) => ({
      label: unlabelled[index]?.reference.label,
      isDead: dead.has(one),
    }));
  }

  /** The faults of texts that other records should have, by `keyOfSought`. */
  async judgeLinks(
    queryable: Queryable,
    scope: Scope,
    name: string,
    sought: readonly Sought[],
  ): Promise<LinkVerdicts> {
    const collection = this.#environment.catalog.get(name, scope);
    const context = this.#environment.linkContext(scope, false);
    return await judgeLinks(queryable, collection, sought, context);
  }

  /**
   * The ids of the records of a collection whose field has one of the texts, by the text.
   *
   * @throws FORBIDDEN for a field the caller may not read; INVALID_VALUE for texts that no such field has
   */
  async findByField(
    queryable: Queryable,
    scope: Scope,
    sought: { readonly target: string; readonly field: string; readonly texts: readonly string[] },
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const collection = this.#environment.catalog.get(sought.target, scope);
    const access = accessOf(scope, collection, 'read');
    assertReadable([[sought.field]], access, collection);
    const readable = this.#environment.rowsOf(scope, collection, access);
    const value = sql`r.data->${nameLiteral(sought.field)}`;
    const declared = collection.fieldsByName.get(sought.field);
    // Quotes distinguish a text from a number; the index of the field has both.
    const isNumber = declared?.type === 'number';
    const values = isNumber
      ? sought.texts.filter((text) => /^-?\d+(\.\d+)?$/.test(text))
      : sought.texts.map((text) => JSON.stringify(text));
    const search = (text: Sql, condition: Sql) => sql`
      select ${text} as text, r.id
      from records r
      where ${liveRecordsOf(scope, collection)} and ${condition}
        ${readable === undefined ? sql.empty : sql`and (${readable})`}`;
    const name = nameLiteral(sought.field);
    const key = sql`r.keys->>${name}`;
    const ofText = sql`${value} = any(${values}::text[]::jsonb[])`;
    const isFolded = isKeyFolded(collection, sought.field);
    // A unique field that ignores case is found in any spelling; a record without keys is found by its text.
    const found = isFolded
      ? sql`${search(key, sql`${key} = any(${sought.texts.map(foldedKey)}::text[])`)}
          union all ${search(sql`${value} #>> '{}'`, sql`${key} is null and ${ofText}`)}`
      : search(sql`${value} #>> '{}'`, ofText);
    const ordered = sql`${found} order by id`;
    const rows = await this.#environment.run<{ text: string; id: string }>(queryable, ordered, scope.call);
    const idsByText = new Map<string, string[]>();
    for (const { text, id } of rows) getOrMake(idsByText, text, () => []).push(id);
    const idsOf = (text: string) => idsByText.get(text) ?? [];
    return new Map(
      sought.texts.map((text) => [text, [...(isFolded ? idsOf(foldedKey(text)) : []), ...idsOf(text)]]),
    );
  }

  /**
   * Writes the right rows of a batch and reports the others. They are staged in a table that goes with the
   * transaction, so one batch a transaction, or one after the other.
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
    const collection = this.assertMayWrite(scope, name, batch.fields, batch.key);
    const work: StagedWork = {
      ...{ environment: this.#environment, transaction, place: this.placeOf(transaction, scope) },
      ...{ scope, collection, batch },
      readable: accessOf(scope, collection, 'read'),
      creatable: accessOf(scope, collection, 'create'),
      writable: accessOf(scope, collection, 'update'),
    };
    await renewStatistics(work.place, collection.name);
    await this.#stage(work);
    const matched = await this.#match(work);
    const refused: StagedRefusal[] = [...matched.refused];
    const updated = matched.differing === 0 ? [] : await updateStaged(work, refused);
    const same = matched.same.numbers.length;
    const unmatched = batch.count - same - matched.differing - matched.refused.length;
    const created = unmatched === 0 ? [] : await createStaged(work, refused);
    const written = batch.mode === 'write' ? [...updated, ...created] : [];
    return {
      created: created.map(({ number }) => number),
      updated,
      same,
      refused,
      records: () =>
        new Map([
          ...matched.same.numbers.map((number, index) => [number, matched.same.ids[index] ?? ''] as const),
          ...[...updated, ...created].map(({ number, id }) => [number, id] as const),
        ]),
      announceCommit: this.#environment.commitAnnouncer(scope, collection, written),
    };
  }

  async #stage({ place, batch }: StagedWork): Promise<void> {
    await place.run(sql`drop table if exists import_staged`);
    await place.run(sql`
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
    await place.load(batch.lines);
  }

  /**
   * Finds the records that are there. Of those that would stay as they are nothing is written, not even in
   * the staging table: they go from it where others are new.
   */
  async #match(work: StagedWork) {
    const { place, scope, collection, batch } = work;
    const reach = reachOf(work).map((rows) => sql`and (${rows})`);
    // Whether a hidden value is the same is not disclosed: to send one counts as a change.
    const secret = batch.fields.filter((field) => secretFieldsOf(scope, collection).has(field));
    const isUndisclosed = secret.length === 0 ? sql`false` : sql`s.data ?| ${secret}::text[]`;
    // For each row by itself: the plan of a join would read all of an index for every batch.
    const groups = await place.query<MatchedGroup>(sql`
      select f.state, array_agg(s.number::float8) as numbers, array_agg(f.id) as ids
      from import_staged s
      cross join lateral (
        select r.id,
          case
            when s.is_id_sent and s.id <> r.id then 'other'
            when ${isUndisclosed} or ${BECAME} <> r.data then 'differs'
            else 'same'
          end as state
        from records r
        where ${matchOf(work)}
          ${sql.join([sql.empty, ...reach], ' ')}
        offset 0
      ) as f
      group by f.state`);
    const groupOf = (state: string) => groups.find((group) => group.state === state) ?? NO_GROUP;
    const [same, differing, others] = [groupOf('same'), groupOf('differs'), groupOf('other')];
    const isAllSame = same.numbers.length === batch.count;
    if (same.numbers.length > 0 && !isAllSame) await forgetStaged(place, same.numbers);
    if (differing.numbers.length > 0) {
      await place.run(sql`
        update import_staged s
        set id = f.id, state = 'differs'
        from unnest(${differing.numbers}::bigint[], ${differing.ids}::text[]) as f (number, id)
        where s.number = f.number`);
    }
    if (others.numbers.length > 0) await forgetStaged(place, others.numbers);
    const detail = `another record has this ${nameOfKey(batch.key)}, and the _id of a record never changes`;
    const errors = [{ pointer: '/_id', detail, expected: 'the _id it has, or none' }];
    const refused = others.numbers.map((number): StagedRefusal => ({ number, errors }));
    return { same, differing: differing.numbers.length, refused };
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
    const rights = [accessOf(scope, collection, 'read'), accessOf(scope, collection, 'delete')];
    const conditions = [...environment.reachOf(scope, collection, rights), condition];
    const selected = { conditions, orderBy: sql`r.id`, limit };
    const rows = await lockRecords(environment, transaction, { scope, collection }, selected);
    if (rows.length === 0) return 0;
    await removeLocked(environment, transaction, { scope, collection, rows, force: false });
    return rows.length;
  }
}

/** Rows that stand for records that are there, and those. */
interface MatchedGroup {
  readonly state: string;
  readonly numbers: readonly number[];
  readonly ids: readonly string[];
}

const NO_GROUP: MatchedGroup = { state: '', numbers: [], ids: [] };

/** Which record `r` the staged row `s` stands for. */
function matchOf({ scope: { domain }, collection, batch: { key } }: StagedWork): Sql {
  if (key.kind === 'id') return liveRecordsById(domain.id, collection.name, sql`= s.id`);
  const row = { data: sql.raw('(s.data - s.withheld)'), keys: sql.raw('s.keys') };
  const isSame = sql`${keyValueOf(collection, key, OF_RECORD)} = ${keyValueOf(collection, key, row)}`;
  return liveRecordsByKey({ domain: domain.id }, collection.name, isSame);
}
