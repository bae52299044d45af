/** Staged rows that differ from the records they stand for: the records are changed as the rows say. */
import { ServiceError } from '../../base/errors.js';
import { type JsonObject, memberOf } from '../../base/json/json.js';
import { compileFilter } from '../sql/compile-filter.js';
import { liveRecordsById } from '../sql/records-of.js';
import { sql } from '../sql.js';
import { type FinishedChange, type LockedRow, planChanges, writeChanges } from './change-records.js';
import { outOfRows } from './record-refusals.js';
import { inputOf } from './record-statements.js';
import { secretFieldsOf } from './secret-fields.js';
import {
  asRecords,
  BECAME,
  errorsOfFault,
  type StagedFieldChange,
  type StagedRefusal,
  type StagedUpdate,
  type StagedWork,
  stagedRecord,
} from './staged-work.js';
import { describeTaken, findTakenAmong, findTakenInStore } from './unique-conflicts.js';
import { uniqueFieldsOf } from './unique-key.js';

/** Changes the records of the rows that differ; what is refused is added to `refused`. */
export async function updateStaged(work: StagedWork, refused: StagedRefusal[]): Promise<StagedUpdate[]> {
  const { environment, transaction, place, scope, collection, batch, writable } = work;
  const rows = await place.query<DifferingRow>(sql`
    select s.number, r.id, r.version, r.data::text as data, ${BECAME}::text as became,
      array(select jsonb_object_keys((s.data - s.withheld) || coalesce(s.members, '{}')))
        || s.removed as fields
    from import_staged s
    join records r on ${liveRecordsById(scope.domain.id, collection.name, sql`= s.id`)}
    where s.state = 'differs'
    order by r.id
    for update of r`);
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  const refuse = ({ id }: Pick<LockedRow, 'id'>, fault: ServiceError) =>
    refused.push({ number: Number(rowsById.get(id)?.number), errors: errorsOfFault(fault) });
  const befores = new Map<string, JsonObject>();
  const secret = secretFieldsOf(scope, collection);
  const changesOf = ({
    change: { id, set, removed },
  }: FinishedChange): readonly StagedFieldChange[] | undefined => {
    const before = befores.get(id);
    const readable = [...Object.keys(set), ...removed].filter((field) => !secret.has(field));
    return (
      before &&
      readable.map((field) => ({
        field,
        before: memberOf(before, field),
        after: memberOf(set, field),
      }))
    );
  };
  const request = {
    ...{ scope, collection, writable, now: batch.now },
    rows,
    change: (before: JsonObject, { id }: Pick<LockedRow, 'id'>) => {
      if (batch.mode === 'try') befores.set(id, before);
      return stagedRecord(rowsById.get(id)?.became);
    },
    sentFields: ({ id }: Pick<LockedRow, 'id'>) => rowsById.get(id)?.fields ?? [],
  };
  const updated: StagedUpdate[] = [];
  for await (const planned of planChanges(environment, transaction, request, refuse)) {
    const finished = await withoutTaken(work, planned, refuse);
    const kept = await withoutMoved(work, finished, refuse);
    if (kept.length > 0) {
      await writeChanges(environment, transaction, { ...request, finished: kept });
    }
    updated.push(
      ...kept.map((finished) => {
        const { id, set, removed } = finished.change;
        const changes = changesOf(finished);
        return {
          number: Number(rowsById.get(id)?.number),
          id,
          fields: [...Object.keys(set), ...removed],
          ...(changes !== undefined && { changes }),
        };
      }),
    );
    befores.clear();
  }
  return updated;
}

/** Refuses changes to what another record has of what is to be unique. */
async function withoutTaken(
  { place, scope, collection }: StagedWork,
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
  const taken = [
    ...findTakenAmong(collection, records),
    ...(await findTakenInStore(place, { scope, collection, input, verb: 'update' })),
  ];
  const ids = new Set<string>();
  for (const { index, key } of taken) {
    const record = records[index];
    if (record === undefined || ids.has(record.id)) continue;
    ids.add(record.id);
    const secret = secretFieldsOf(scope, collection);
    const errors = describeTaken({ key, record, pointer: '' }, { collection, secret });
    refuse(record, new ServiceError('CONFLICT', errors[0]?.detail ?? 'a value is taken', { errors }));
  }
  return finished.filter(({ change: { id } }) => !ids.has(id));
}

/** Refuses changes that would take a record out of the rows that are the caller's to change. */
async function withoutMoved(
  { environment, place, scope, collection, writable }: StagedWork,
  finished: readonly FinishedChange[],
  refuse: (row: { readonly id: string }, fault: ServiceError) => void,
): Promise<readonly FinishedChange[]> {
  if (writable.rows === undefined || finished.length === 0) return finished;
  const records = finished.map(({ change: { id, keys }, data }) => ({ id, data, keys }));
  const rows = compileFilter(writable.rows, environment.compileContext(scope, collection));
  const moved = await place.query<{ id: string }>(sql`
    select r.id
    from (${asRecords(scope, collection, inputOf(records))}) as r
    where (${rows}) is not true`);
  const ids = new Set(moved.map(({ id }) => id));
  for (const id of ids) refuse({ id }, outOfRows(collection, 'update'));
  return finished.filter(({ change: { id } }) => !ids.has(id));
}

interface DifferingRow extends LockedRow {
  readonly number: number;
  readonly became: string;
  readonly fields: readonly string[];
}
