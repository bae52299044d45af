/** Creates new records from staged rows without an existing record, or restores removed ones. */
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import { mayManageAccounts } from '../access/admin.js';
import { compileFilter } from '../sql/compile-filter.js';
import { recordsOf } from '../sql/records-of.js';
import { sql } from '../sql.js';
import { atomically } from './atomically.js';
import { bringBack, bringBackInput } from './bring-back.js';
import { RecordInserts } from './record-inserts.js';
import { outOfRows, overtaken } from './record-refusals.js';
import { announcement, insertInput } from './record-statements.js';
import { assertCompletable, secretFieldsOf } from './secret-fields.js';
import {
  asRecords,
  errorsOfFault,
  forgetStaged,
  reachOf,
  type StagedRefusal,
  type StagedWork,
  type StagingPlace,
  stagedRecord,
} from './staged-work.js';
import { describeTaken, findTakenInStore, type TakenValue } from './unique-conflicts.js';

/** Creates the records of the remaining rows, and appends refusals to `refused`. */
export async function createStaged(work: StagedWork, refused: StagedRefusal[]): Promise<NewRow[]> {
  const { environment, place, scope, collection, batch, creatable } = work;
  const { errorsByNumber, removed } = await findCreateFaults(work);
  for (const [number, errors] of errorsByNumber) refused.push({ number, errors });
  if (errorsByNumber.size > 0) await forgetStaged(place, [...errorsByNumber.keys()]);
  if (removed.length > 0) {
    await place.run(sql`
      update import_staged set state = 'removed' where number = any(${removed}::bigint[])`);
  }
  assertCompletable(
    [Object.fromEntries(batch.fields.map((field) => [field, null]))],
    collection,
    creatable.hiddenFields,
  );
  const { triggers } = environment;
  if (triggers.before(scope.domain.id, collection.name, 'create').length > 0) {
    return await createAsking(work, refused);
  }
  if (removed.length > 0) await bringBackRemoved(work);
  const input = sql`
    select id, data, keys, number as position from import_staged where state is null`;
  const context = environment.placed(environment.writeContext(scope, collection, batch.now));
  await place.query(sql`
    ${insertInput(context, { input, refusal: sql.empty, count: batch.count })}
    select count(*)
    -- Told of for each record, which counting alone would not do; what tells is volatile, and so is kept.
    from (select r.id ${announcement(context, 'create')} from written r) as told`);
  return await listNew(place);
}

/** Writes rows over the tombstones of their records. @throws CONFLICT if one was purged, or is live again */
async function bringBackRemoved({ environment, place, scope, collection, batch }: StagedWork): Promise<void> {
  const context = environment.placed(environment.writeContext(scope, collection, batch.now));
  const input = sql`select id, data, keys from import_staged where state = 'removed'`;
  const rows = await place.query<{ id: string }>(sql`
    ${bringBackInput(context, input)}
    select r.id ${announcement(context, 'create')} from written r`);
  const back = new Set(rows.map(({ id }) => id));
  const asked = await place.query<{ id: string }>(input);
  const left = asked.find(({ id }) => !back.has(id));
  if (left !== undefined) throw overtaken(collection, left.id);
}

async function listNew(place: StagingPlace): Promise<NewRow[]> {
  return await place.query<NewRow>(sql`
    select number::float8 as number, id from import_staged where ${IS_NEW}`);
}

/** Creates records with `before` scripts, one after the other. */
async function createAsking(work: StagedWork, refused: StagedRefusal[]): Promise<NewRow[]> {
  const { environment, transaction, place, scope, collection } = work;
  const rows = await place.query<NewRow & { readonly data: string; readonly is_removed: boolean }>(sql`
    select number::float8 as number, id, data::text as data, state is not null as is_removed
    from import_staged
    where ${IS_NEW}
    order by number`);
  const made: NewRow[] = [];
  for (const { number, id, data: text, is_removed: isRemoved } of rows) {
    try {
      const data = stagedRecord(text);
      const atomic = { within: transaction, writes: [collection.name] };
      await atomically(environment, scope, atomic, async (within) => {
        if (isRemoved) {
          const back = { scope, collection, now: work.batch.now, records: [{ id, data }] };
          await bringBack(environment, within, back);
        } else {
          await new RecordInserts(environment).create(scope, collection.name, [{ ...data, _id: id }], {
            within,
          });
        }
      });
      made.push({ number, id });
    } catch (fault) {
      if (!(fault instanceof ServiceError) || fault.status >= 500) throw fault;
      refused.push({ number, errors: errorsOfFault(fault) });
    }
  }
  return made;
}

/** Why rows cannot become new records, by row number, and which of them were records before. */
async function findCreateFaults(work: StagedWork): Promise<{
  readonly errorsByNumber: ReadonlyMap<number, readonly ErrorDetail[]>;
  readonly removed: readonly number[];
}> {
  const { environment, place, scope, collection, creatable } = work;
  const errorsByNumber = new Map<number, ErrorDetail[]>();
  const add = (number: number, errors: readonly ErrorDetail[]) => {
    errorsByNumber.set(number, [...(errorsByNumber.get(number) ?? []), ...errors]);
  };
  const lacking = await place.query<{ number: number; missing: ErrorDetail[] }>(sql`
    select number::float8 as number, missing
    from import_staged
    where state is null and missing is not null`);
  for (const { number, missing } of lacking) add(number, missing);
  const input = sql`
    select number as position, id, data, keys from import_staged where state is null`;
  const { key } = work.batch;
  // All live records were searched by the key, so none has it.
  const untaken = key.kind === 'rule' && reachOf(work).length === 0 ? key.name : undefined;
  const asked = { scope, collection, input, verb: 'create', untaken } as const;
  const taken = await findTakenInStore(place, asked);
  const removed = taken.length === 0 ? [] : await addTaken(work, taken, add);
  if (creatable.rows !== undefined) {
    const rows = compileFilter(creatable.rows, environment.compileContext(scope, collection));
    const outside = await place.query<{ number: number }>(sql`
      select r.position::float8 as number
      from (${asRecords(scope, collection, input)}) as r
      where (${rows}) is not true`);
    for (const { number } of outside) add(number, errorsOfFault(outOfRows(collection, 'create')));
  }
  return { errorsByNumber, removed };
}

/**
 * A row whose `_id` belongs to a removed record restores that record, and reports it. If a generated `_id` is
 * taken, another is generated.
 */
async function addTaken(
  work: StagedWork,
  taken: readonly TakenValue[],
  add: (number: number, errors: readonly ErrorDetail[]) => void,
): Promise<readonly number[]> {
  const { place, scope, collection } = work;
  const numbers = taken.map(({ index }) => index + 1);
  const rows = await place.query<{
    number: number;
    id: string;
    is_id_sent: boolean;
    data: string;
    keys: string | null;
  }>(sql`
    select number::float8 as number, id, is_id_sent, data::text as data, keys::text as keys
    from import_staged
    where number = any(${numbers}::bigint[])`);
  const rowsByNumber = new Map(rows.map((row) => [row.number, row]));
  const tombstones = await findTombstones(
    work,
    rows.map(({ id }) => id),
  );
  const renamed: number[] = [];
  const removed: number[] = [];
  const secret = secretFieldsOf(scope, collection);
  for (const { index, key } of taken) {
    const row = rowsByNumber.get(index + 1);
    if (row === undefined) continue;
    if (key.kind === 'id' && tombstones.has(row.id)) {
      removed.push(row.number);
      continue;
    }
    if (key.kind === 'id' && !row.is_id_sent) {
      renamed.push(row.number);
      continue;
    }
    const keys = row.keys === null ? undefined : stagedRecord(row.keys);
    const record = { id: row.id, data: stagedRecord(row.data), keys };
    add(row.number, describeTaken({ key, record, pointer: '' }, { collection, secret }));
  }
  if (renamed.length > 0) {
    await place.run(sql`
      update import_staged set id = gen_random_uuid()::text where number = any(${renamed}::bigint[])`);
  }
  return removed;
}

/**
 * The ids of removed, not yet purged records whose last state the caller may read. An account with its
 * password and keys comes back only for those who may change accounts.
 */
async function findTombstones(
  { environment, place, scope, collection, readable }: StagedWork,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (collection.fields.some(({ isRight }) => isRight) && !mayManageAccounts(scope)) return new Set();
  const rows = environment.rowsOf(scope, collection, readable);
  const found = await place.query<{ id: string }>(sql`
    select r.id
    from records r
    where ${recordsOf(scope, collection)} and r.id = any(${ids}::text[]) and r.deleted_at is not null
      ${rows === undefined ? sql.empty : sql`and (${rows})`}`);
  return new Set(found.map(({ id }) => id));
}

interface NewRow {
  readonly number: number;
  readonly id: string;
}

/** The staged row becomes a live record: a new one, or a removed one restored. */
const IS_NEW = sql`(state is null or state = 'removed')`;
