/**
 * Finds stored records that break the rules of their declarations: stored before a rule, or written past the
 * gateway. Each record goes through the same check as a write, so there is one list of rules.
 */

import { memberOf, parseExactObject, printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { isSameJson } from '../../base/model/compare-json.js';
import type { Domain, Scope } from '../../base/model/scope.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import { recordBatches } from '../database/record-batches.js';
import { liveRecordsByKey } from '../sql/records-of.js';
import { sql } from '../sql.js';
import { checkRecord, type StagingRules, scalarText, uniqueTextsOf } from './check-record.js';
import type { Sought } from './select-unlinked.js';
import { judgeLinks, settleLinks } from './settle-links.js';
import { keyValueOf, OF_RECORD } from './unique-key.js';

export interface RuleBreach {
  readonly collection: string;
  /** The path of the field, or the name of the key. */
  readonly field: string;
  /** The fault of the first record. */
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
  { database, catalog }: { readonly database: Source; readonly catalog: Pick<Catalog, 'find'> },
  scope: Scope,
  collection: Collection,
): Promise<readonly RuleBreach[]> {
  const found = new Map<string, Counted>();
  const { domain } = scope;
  const findCollection = (name: string) => catalog.find(name);
  const context = { scope, findCollection, isRouted: true, holds: false };
  const rules: StagingRules = {
    ...{ ...domain, collection, now: new Date() },
    ...{ mode: 'replace' as const, key: { kind: 'id' as const }, partial: new Set() },
  };
  const unkeyed = new Map<string, UnkeyedRecord[]>();
  // A place that was right on its day is not known once the student has another, unless a stay keeps it.
  const isLasting = ({ link }: Sought) => collection.links[link]?.on === undefined;
  const judge = (sought: readonly Sought[]) =>
    judgeLinks(database, collection, sought.filter(isLasting), context);
  const judged = async function* () {
    for await (const records of recordBatches(database, domain.id, collection.name)) {
      const copies = records.map(({ data }) => ({ data: parseExactObject(printExactJson(data)) }));
      const faults = await settleLinks(collection, copies, { timeZone: domain.timeZone, judge });
      for (const [index, record] of records.entries())
        yield { ...record, copy: copies[index]?.data ?? {}, unlinked: faults[index] ?? [] };
    }
  };
  for await (const { id, data, keys, copy, unlinked } of judged()) {
    const checked = checkRecord(data, rules);
    const { faults, change } = checked;
    const respelled = Object.keys(data).filter(
      (name) => !isSameJson(memberOf(data, name), memberOf(copy, name)),
    );
    const errors = [...faults, ...change.missing, ...unlinked].map(
      ({ pointer = '', detail, expected = '' }) => {
        return { field: fieldOf(pointer), problem: detail, kind: expected };
      },
    );
    const inOtherForm = Object.keys(data).filter(
      (name) =>
        collection.fieldsByName.has(name) &&
        !errors.some(({ field }) => field.split('.')[0] === name) &&
        (respelled.includes(name) || !isSameJson(memberOf(data, name), memberOf(change.data, name))),
    );
    const problem = 'is stored in another form than a write gives it';
    for (const error of [...errors, ...inOtherForm.map((field) => ({ field, problem, kind: problem }))])
      count(found, id, error);
    for (const [name, text] of uniqueTextsOf(checked, rules)) {
      if (name === '_id' || memberOf(keys, name) === text || scalarText(memberOf(data, name)) === text)
        continue;
      getOrMake(unkeyed, name, () => []).push({ id, text });
    }
  }
  for (const [name, records] of unkeyed) {
    for (const { id, ...error } of await judgeKeys(database, { domain, collection, name }, records))
      count(found, id, error);
  }
  return [...found.values()].map(({ field, problem, ids, total }) => {
    return { collection: collection.name, field, problem, count: total, examples: ids };
  });
}

interface UnkeyedRecord {
  readonly id: string;
  /** The key, or the unique value, that a write would store. */
  readonly text: string;
}

/**
 * The unique index compares what is stored; so only a record that is stored with another key, or value, than
 * a write would give it can have the same as another.
 */
async function judgeKeys(
  database: Source,
  { domain, collection, name }: { domain: Domain; collection: Collection; name: string },
  records: readonly UnkeyedRecord[],
) {
  const isRule = collection.uniqueTogether.some((rule) => rule.name === name);
  const value = keyValueOf(collection, { kind: isRule ? 'rule' : 'field', name }, OF_RECORD);
  const sought = sql.raw(isRule ? 'sought.text' : 'to_jsonb(sought.text)');
  const owners = new Map<string, string>();
  for (let start = 0; start < records.length; start += BATCH_RECORDS) {
    const texts = records.slice(start, start + BATCH_RECORDS).map(({ text }) => text);
    const rows = await database.query<{ text: string; id: string }>(sql`
      select sought.text, found.id
      from unnest(${texts}::text[]) as sought (text)
      cross join lateral (
        select r.id from records r
        where ${liveRecordsByKey({ domain: domain.id }, collection.name, sql`${value} = ${sought}`)}
        offset 0
      ) as found`);
    for (const { text, id } of rows) owners.set(text, id);
  }
  return records.flatMap(({ id, text }) => {
    const owner = owners.get(text);
    if (owner === undefined) owners.set(text, id);
    if (owner !== undefined && owner !== id) {
      const problem = `is there twice (first: "${owner}"), but for case, blanks or invisible characters`;
      return [{ id, field: name, problem, kind: 'twice' }];
    }
    const problem = 'is stored without its key, so that other records are not compared with it';
    return isRule ? [{ id, field: name, problem, kind: problem }] : [];
  });
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
  const counted = getOrMake(found, key, () => ({ field, problem, ids: [], total: 0 }));
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
