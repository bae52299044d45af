/**
 * Finds stored records that break the rules of their declarations: stored before a rule, or written past the
 * gateway. Each record goes through the same check as a write, so there is one list of rules.
 */

import { isJsonObject, type JsonObject, memberOf, parseExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { isSameJson } from '../../base/model/compare-json.js';
import type { Domain } from '../../base/model/scope.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Database } from '../database/database.js';
import { liveRecordsIn, nameLiteral } from '../sql/records-of.js';
import { checkRecord, type StagingRules } from './check-record.js';

export interface RuleBreach {
  readonly collection: string;
  /** The path of the field, or the name of the key. */
  readonly field: string;
  /** What is wrong, of the first record. */
  readonly problem: string;
  readonly count: number;
  /** The ids of the first such records. */
  readonly examples: readonly string[];
}

type Source = Pick<Database, 'query'>;

const BATCH_RECORDS = 1_000;
const MAX_EXAMPLES = 5;
/** More different problems than declarations have rules. */
const MAX_PROBLEMS = 500;

/** One row per rule of the collection that records of the domain break. */
export async function listRuleBreaches(
  database: Source,
  domain: Domain,
  collection: Collection,
): Promise<readonly RuleBreach[]> {
  const found = new Map<string, Counted>();
  const { timeZone, callingCode } = domain;
  const rules: StagingRules = {
    ...{ collection, timeZone, callingCode, now: new Date() },
    ...{ mode: 'replace' as const, key: { kind: 'id' as const }, partial: new Set() },
  };
  for await (const { id, data } of streamRecords(database, domain.id, collection.name)) {
    const { faults, change } = checkRecord(data, rules);
    const errors = [...faults, ...change.missing].map(({ pointer = '', detail, expected = '' }) => {
      return { field: fieldOf(pointer), problem: detail, kind: expected };
    });
    const inOtherForm = Object.keys(data).filter(
      (name) =>
        collection.fieldsByName.has(name) &&
        !errors.some(({ field }) => field.split('.')[0] === name) &&
        !isSameJson(memberOf(data, name), memberOf(change.data, name)),
    );
    const problem = 'is stored in another form than a write gives it';
    for (const error of [...errors, ...inOtherForm.map((field) => ({ field, problem, kind: problem }))])
      count(found, id, error);
  }
  const breaches = [...found.values()].map(({ field, problem, ids, total }) => {
    return { collection: collection.name, field, problem, count: total, examples: ids };
  });
  return [...breaches, ...(await listDuplicates(database, domain.id, collection))];
}

interface Counted {
  readonly field: string;
  readonly problem: string;
  readonly ids: string[];
  total: number;
}

function count(
  found: Map<string, Counted>,
  id: string,
  { field, problem, kind }: { readonly field: string; readonly problem: string; readonly kind: string },
): void {
  // Some expectations contain a value of the record, such as a sum.
  const key = found.size < MAX_PROBLEMS ? `${field} ${kind.replaceAll(/\d+/g, '#')}` : 'more';
  const counted = found.get(key) ?? { field, problem, ids: [], total: 0 };
  found.set(key, counted);
  counted.total += 1;
  if (counted.ids.length < MAX_EXAMPLES && counted.ids.at(-1) !== id) counted.ids.push(id);
}

/** `/lines/0/amount` → `lines.amount` */
function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .filter((step) => !/^\d+$/.test(step))
    .join('.');
}

async function* streamRecords(
  database: Source,
  domainId: string,
  collection: string,
): AsyncGenerator<{ readonly id: string; readonly data: JsonObject }, void> {
  for (let after = ''; ; ) {
    const rows = await database.query<{ id: string; data: string }>(Prisma.sql`
      select r.id, r.data::text as data
      from records r
      where ${liveRecordsIn(domainId, collection)} and r.id > ${after}
      order by r.id
      limit ${BATCH_RECORDS}`);
    for (const { id, data } of rows) {
      const record = parseExactJson(data);
      if (isJsonObject(record)) yield { id, data: record };
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_RECORDS) return;
    after = last.id;
  }
}

/** Values of unique fields and rules that differ only by case, white space or the form of letters. */
async function listDuplicates(
  database: Source,
  domainId: string,
  collection: Collection,
): Promise<readonly RuleBreach[]> {
  const texts = collection.fields
    .filter(({ isUnique, type }) => isUnique && type === 'text')
    .map(({ name }) => ({ name, value: Prisma.sql`r.data->>${nameLiteral(name)}` }));
  const rules = collection.uniqueTogether.map(({ name }) => {
    return { name, value: Prisma.sql`r.keys->>${nameLiteral(name)}` };
  });
  const breaches: RuleBreach[] = [];
  for (const { name, value } of [...texts, ...rules]) {
    const [row] = await database.query<{ count: number; examples: string[] | null }>(Prisma.sql`
      select count(*)::int as count,
        (array_agg(ids[2] order by ids[2]))[1:${Prisma.raw(String(MAX_EXAMPLES))}] as examples
      from (
        select array_agg(r.id order by r.id) as ids
        from records r
        where ${liveRecordsIn(domainId, collection.name)} and ${value} is not null
        group by lower(regexp_replace(normalize(${value}, NFC), ${INVISIBLE}, '', 'g'))
        having count(*) > 1
      ) as same`);
    if (row === undefined || row.count === 0) continue;
    const problem = 'is there twice, but for case, blanks or invisible characters';
    breaches.push({
      ...{ collection: collection.name, field: name, problem, count: row.count },
      examples: row.examples ?? [],
    });
  }
  return breaches;
}

/** White space and characters that nobody sees. */
const INVISIBLE = '[\\s\\u00a0\\u00ad\\u200b-\\u200f\\u2028-\\u202f\\u2060\\u2066-\\u2069\\ufeff]';
