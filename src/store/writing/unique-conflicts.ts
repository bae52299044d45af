/** Says which value of which record ran into a unique rule, after Postgres refused a write for it. */
import type { ErrorDetail } from '../../base/errors.js';
import { ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonValue, memberOf, printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { fieldsOfUniqueRule } from '../../base/model/keys-of.js';
import type { Scope } from '../../base/model/scope.js';
import { findAccess, type RecordsOfScope } from '../access/access.js';
import { findConstraint } from '../database/database-errors.js';
import { isDeclaredIndexName, listDeclaredIndexes } from '../database/declared-indexes.js';
import type { Queryable } from '../database/queryable.js';
import { liveRecordsByKey, recordsOf } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import { NO_SECRETS, type SecretFields } from './check-faults.js';
import { inputOf, type NewRecord } from './record-statements.js';
import { keyValueOf, OF_RECORD, type UniqueKey } from './unique-key.js';

export interface TakenValue {
  /** Zero-based index of the record. */
  readonly index: number;
  readonly key: UniqueKey;
}

/**
 * The conflict of a refused write as the caller reads it: each field taken, and of which record sent.
 */
export async function uniqueConflict(
  queryable: Queryable,
  refused: RecordsOfScope & {
    readonly records: readonly NewRecord[];
    readonly verb: 'create' | 'update';
    readonly cause: unknown;
    readonly isRouted: boolean;
  },
): Promise<ServiceError> {
  const { scope, collection, records } = refused;
  const secret = findAccess(scope, collection, 'read')?.hiddenFields ?? NO_SECRETS;
  const taken = [
    ...findTakenAmong(collection, records),
    ...(await findTakenInStore(queryable, { ...refused, input: inputOf(records) })),
  ];
  const details = taken.flatMap(({ index, key }): readonly ErrorDetail[] => {
    const record = records[index];
    if (record === undefined) return [];
    const pointer = records.length === 1 ? '' : `/${index}`;
    return [describeTaken({ key, record, pointer }, { collection, secret })];
  });
  const unique = new Map(details.map((detail) => [detail.pointer, detail]));
  const message = details[0]?.detail ?? unexplained(collection, refused.cause);
  return new ServiceError('CONFLICT', message, { errors: [...unique.values()], cause: refused.cause });
}

/** An index outlives the rule it was built for until an operator drops it; anything else has gone again. */
function unexplained(collection: Collection, cause: unknown): string {
  const constraint = findConstraint(cause) ?? '';
  const isOfEarlierRule =
    isDeclaredIndexName(constraint) &&
    !listDeclaredIndexes(collection).some((index) => index.name === constraint);
  return isOfEarlierRule
    ? `the unique index "${constraint}" of an earlier declaration of ${collection.name} refuses it, ` +
        'until an operator drops it'
    : 'a value that must be unique was taken in the meantime; try again';
}

/** Two records of one body with the same value. The later one is at fault. */
export function findTakenAmong(collection: Collection, records: readonly NewRecord[]): TakenValue[] {
  const seen = new Set<string>();
  return records.flatMap((record, index) =>
    keysOfCollection(collection)
      .filter((key) => {
        const value = keyValueIn(key, record);
        if (value === undefined || value === null) return false;
        const text = printExactJson([{ ...key }, value]);
        const isTaken = seen.has(text);
        seen.add(text);
        return isTaken;
      })
      .map((key) => ({ index, key })),
  );
}

/** In the words a caller reads, without a value that is `secret` to it. */
export function describeTaken(
  taken: Pick<TakenValue, 'key'> & { readonly record: NewRecord; readonly pointer: string },
  { collection, secret }: { readonly collection: Collection; readonly secret: SecretFields },
): ErrorDetail {
  const { key, record, pointer } = taken;
  const isSecret = fieldsOf(collection, key).some((field) => secret.has(field));
  if (!isSecret) return detailOf(collection, key, record, pointer);
  return {
    pointer,
    detail: `it has a value that is to be unique in ${collection.name}, and another record has it`,
  };
}

/**
 * The unique values of records that others already have. `input` selects their `id`, `data`, `keys` and, from
 * 1 on, `position`; `untaken` is a rule of `uniqueTogether` whose values are known to be free; `isRouted` is
 * whether Citus plans the statement.
 */
export async function findTakenInStore(
  queryable: { query<Row extends object>(sql: Sql): Promise<Row[]> },
  records: RecordsOfScope & {
    readonly input: Sql;
    readonly verb: 'create' | 'update';
    readonly untaken?: string | undefined;
    readonly isRouted?: boolean | undefined;
  },
): Promise<TakenValue[]> {
  const { scope, collection, input, verb, untaken, isRouted } = records;
  const isSame = (key: UniqueKey): Sql => {
    if (key.kind === 'id') return sql`${recordsOf(scope, collection)} and r.id = i.id`;
    const value = keyValueOf(collection, key, OF_INPUT);
    const isNull = key.kind === 'field' ? sql`${value} = 'null'` : sql`false`;
    const isSameKey = sql`${keyValueOf(collection, key, OF_RECORD)} = ${value}
        and r.id <> i.id and not ${isNull}`;
    return liveRecordsByKey({ domain: scope.domain.id, isRouted }, collection.name, isSameKey);
  };
  const keys = keysOfCollection(collection).filter((key) =>
    key.kind === 'id' ? verb === 'create' : key.kind !== 'rule' || key.name !== untaken,
  );
  if (keys.length === 0) return [];
  // A value and no join: the plan of `exists` read all of an index to find a few. Counted, because the plan
  // for the first of many would be another.
  const selects = keys.map(
    (key, place) => sql`
      select (i.position - 1)::int as index, ${sql.raw(String(place))} as place
      from input i
      where ${key.kind === 'id' ? someIdIsAmong(scope, collection) : sql`true`}
        and (select count(*) > 0 from records r where ${isSame(key)})`,
  );
  const rows = await queryable.query<{ readonly index: number; readonly place: number }>(
    sql`with input as (${input}) ${sql.join(selects, ' union all ')} order by 1`,
  );
  const taken = rows.flatMap(({ index, place }) =>
    keys.slice(place, place + 1).map((key) => ({ index, key })),
  );
  // The rule of a field that ignores case finds what the field finds.
  const isRuled = ({ index, key }: TakenValue) =>
    key.kind === 'field' &&
    taken.some((one) => one.index === index && one.key.kind === 'rule' && one.key.name === key.name);
  return taken.filter((one) => !isRuled(one));
}

/**
 * Whether any record has an id from the first to the last of the new ones: ids that are made of a file have a
 * range to themselves, so that one look saves one for each.
 */
function someIdIsAmong(scope: Scope, collection: Collection): Sql {
  return sql`(
          select r.id
          from records r
          where ${recordsOf(scope, collection)} and r.id >= (select min(id) from input)
          order by r.id
          limit 1
        ) <= (select max(id) from input)`;
}

function keysOfCollection({ fields, uniqueTogether }: Collection): readonly UniqueKey[] {
  return [
    { kind: 'id' },
    ...fields.flatMap(({ name, isUnique }) => (isUnique ? [{ kind: 'field' as const, name }] : [])),
    ...uniqueTogether.map(({ name }) => ({ kind: 'rule' as const, name })),
  ];
}

const OF_INPUT = { data: sql.raw('i.data'), keys: sql.raw('i.keys') };

/** The top-level fields of a key. */
function fieldsOf({ uniqueTogether }: Collection, key: UniqueKey): readonly string[] {
  if (key.kind === 'id') return [];
  if (key.kind === 'field') return [key.name];
  return uniqueTogether.filter(({ name }) => name === key.name).flatMap(fieldsOfUniqueRule);
}

function keyValueIn(key: UniqueKey, { id, data, keys }: NewRecord): JsonValue | undefined {
  if (key.kind === 'id') return id;
  if (key.kind === 'rule') return keys?.[key.name];
  const value: JsonValue | undefined = memberOf(data, key.name);
  return isJsonObject(value) ? value.value : value;
}

function detailOf(collection: Collection, taken: UniqueKey, record: NewRecord, pointer: string): ErrorDetail {
  // The rule of a field that ignores case has the name of the field.
  const isOfField = taken.kind === 'rule' && collection.fieldsByName.get(taken.name)?.isUnique === true;
  const key = isOfField ? { ...taken, kind: 'field' as const } : taken;
  switch (key.kind) {
    case 'id':
      return {
        pointer: `${pointer}/_id`,
        detail:
          `the _id "${record.id}" is taken in ${collection.name} (also by a removed record, until it ` +
          'is purged)',
        expected: 'an _id of its own, or none',
        sent: record.id,
      };
    case 'field': {
      const value = keyValueIn(key, record);
      const shown = value === undefined ? '' : ` ${printExactJson(value)}`;
      const { stays } = collection;
      const readmit = stays
        ? `. To readmit a person who left, set ${stays.from} of that record: the former stay is kept`
        : '';
      return {
        pointer: `${pointer}/${key.name}`,
        detail: `${key.name}${shown} is taken: it is unique in ${collection.name}${readmit}`,
        expected: 'a value no other record has',
        ...(value !== undefined && {
          sent: JSON.parse(printExactJson(memberOf(record.data, key.name) ?? null)),
        }),
      };
    }
    case 'rule': {
      const together = collection.uniqueTogether.find((candidate) => candidate.name === key.name);
      const parts = (together?.parts ?? []).map(
        (part) => `${part.path.join('.')}${part.by === 'day' ? ' (its day)' : ''}`,
      );
      return {
        pointer: `${pointer}/${together?.parts[0]?.path[0] ?? ''}`,
        detail: `there is a record with the same ${parts.join(' and ')} in ${collection.name}`,
        expected: `one record for each ${parts.join(' and ')}`,
      };
    }
  }
}
