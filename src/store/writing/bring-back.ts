/**
 * Stores locked tombstones again under their `_id`: checked like the caller's new records, and written over
 * the tombstones.
 */
import { type ErrorDetail } from '../../base/errors.js';
import { type JsonObject, membersWhere } from '../../base/json/json.js';
import { type Collection, CREATED_ON } from '../../base/model/collection.js';
import { keysOf } from '../../base/model/keys-of.js';
import { accessOf, type RecordsOfScope } from '../access/access.js';
import type { Transaction } from '../database/queryable.js';
import type { StoredRow } from '../reading/stored-record.js';
import { recordsIn, recordsOf } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import { writeLocked } from './change-records.js';
import { assertJudgeable, findCheckFaults, secretFieldsOf, without } from './check-faults.js';
import type { RecordEnvironment } from './record-environment.js';
import { assertWritable } from './record-refusals.js';
import {
  audit,
  derivedOf,
  IN_INPUT,
  inputOf,
  type NewRecord,
  REPLACED,
  WRITTEN,
  type WriteContext,
} from './record-statements.js';
import { assertNoFaults, toStored } from './validation.js';
import { askBefore } from './write-triggers.js';

interface BroughtBack extends RecordsOfScope {
  readonly now: Date;
  /** With their new fields; those hidden from the caller are taken from the tombstone. */
  readonly records: readonly Pick<NewRecord, 'id' | 'data'>[];
}

const BATCH_RECORDS = 500;

/**
 * Restores locked tombstones, all or none. Missing fields get no defaults: the record is to be what it was.
 *
 * @throws FORBIDDEN, INVALID_VALUE as for a create; as `writeLocked` does
 */
export async function bringBack(
  environment: RecordEnvironment,
  transaction: Transaction,
  { scope, collection, now, records }: BroughtBack,
): Promise<readonly StoredRow[]> {
  const creatable = accessOf(scope, collection, 'create');
  const secret = secretFieldsOf(scope, collection);
  const made = new Set(records.map(({ id }) => id));
  const rows: StoredRow[] = [];
  const keptFields = new Set([CREATED_ON, ...collection.fields.map((field) => field.name)]);
  for (let start = 0; start < records.length; start += BATCH_RECORDS) {
    const changes = [];
    for (const record of records.slice(start, start + BATCH_RECORDS)) {
      const own = new Set(Object.keys(record.data).filter((name) => !secret.has(name)));
      assertWritable([membersWhere(record.data, (name) => own.has(name))], creatable, collection);
      const pending = { scope, collection, operation: 'create', id: record.id, record: record.data } as const;
      const data = await askBefore(environment.triggers, pending, transaction);
      const change = toStored(collection, data, { ...scope.domain, now, mode: 'replace', keptFields });
      changes.push({ ...change, id: record.id, own });
    }
    const settled = { scope, collection, records: changes, made };
    const faults = await environment.settleTargets(transaction, settled);
    const stored = changes.map(({ id, data, own }, index): NewRecord => {
      const hidden = without(secret, own);
      assertJudgeable(collection, { verb: 'create', differing: own, secret: hidden });
      assertNoFaults([
        ...listMissing(collection, data),
        ...(faults[index] ?? []),
        ...findCheckFaults(collection, data, { ...scope.domain, pointer: '', secret: hidden }),
      ]);
      return { id, data, keys: keysOf(collection, data, scope.domain.timeZone) };
    });
    const write = {
      scope,
      collection,
      now,
      access: creatable,
      records: stored,
      operation: 'create',
    } as const;
    const change = (placed: WriteContext) => bringBackInput(placed, inputOf(stored));
    rows.push(...(await writeLocked(environment, transaction, write, change)));
  }
  return rows;
}

/** Fields that are required today but were not at that time. */
function listMissing(collection: Collection, data: JsonObject): readonly ErrorDetail[] {
  return collection.fields
    .filter((field) => field.isRequired && !Object.hasOwn(data, field.name))
    .map(({ name }) => ({
      pointer: `/${name}`,
      detail: `/${name}: it is required today, and the version has none`,
      expected: 'a version with a value',
    }));
}

/**
 * The parts of a statement that write the rows of `input` (`id`, `data` and `keys`) over the tombstones with
 * these ids; `written` has the records.
 */
export function bringBackInput(context: WriteContext, input: Sql): Sql {
  const { scope, collection, now } = context;
  const derived = derivedOf(context, { is: WRITTEN });
  return sql`
with ${derived.first}input as (${input}),
written as (
  update records r
  set data = i.data,
    keys = i.keys,
    version = r.version + 1,
    updated_at = ${now.toISOString()}::timestamptz,
    deleted_at = null
  from input i ${derived.join} cross join records o
  where ${recordsOf(scope, collection)} and r.id ${IN_INPUT} and r.id = i.id and r.deleted_at is not null
    and ${recordsIn(scope.domain.id, collection.name, 'o')} and o.id ${IN_INPUT} and o.id = i.id
  returning r.id, r.data, r.keys, r.version, r.created_at, r.updated_at, r.domain, r.collection, o.data as was
),
${audit(context, 'brought back', { before: REPLACED })}${derived.last}`;
}
