/** What Postgres makes of pipelines, held against mingo on generated documents. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Context } from 'mingo';
import { Aggregator } from 'mingo/aggregator';
import * as accumulatorOperators from 'mingo/operators/accumulator';
import * as expressionOperators from 'mingo/operators/expression';
import * as pipelineOperators from 'mingo/operators/pipeline';
import * as queryOperators from 'mingo/operators/query';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/json/json.js';
import type { Collection } from '../../../src/base/model/collection.js';
import { FULL_ACCESS } from '../../../src/store/access/access.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { compilePipeline } from '../../../src/store/mongo/compile-pipeline.js';
import { parseMongoPipeline } from '../../../src/store/mongo/mongo-pipeline.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { runsOf } from '../../full-length.js';
import { NOW } from '../sql/arbitraries.js';
import { DOMAIN, store } from '../sql/find.js';
import { DECLARED, LOOSE, OTHER } from './collections.js';
import { document } from './documents.js';
import { $sort } from './mingo-sort.js';
import { pipeline } from './pipelines.js';

const test = useTestDatabase();
const PATIENCE_MS = 60_000;
const PIPELINES_A_RUN = 20;
const FOUND = [
  { _id: 'o1', number: 1, label: 'one' },
  { _id: 'o2', number: 2, label: 'two' },
  { _id: 'o3', number: 3, label: 'three', numbers: [2, 3] },
];

beforeAll(async () => {
  for (const collection of [LOOSE, DECLARED, OTHER]) await ensurePartition(test.database, collection);
  await store(test.database, OTHER, Object.fromEntries(FOUND.map(({ _id, ...data }) => [_id, data])));
});

describe('a pipeline', () => {
  for (const [name, collection, isByteOrdered, runs] of [
    ['where nothing is declared', LOOSE, true, 15],
    ['of declared fields', DECLARED, true, 15],
    ['of declared fields, without trusting the order of text', DECLARED, false, 5],
  ] as const) {
    it(
      `makes what mingo makes, ${name}`,
      () => expectSameAnswers(collection, isByteOrdered, runs),
      PATIENCE_MS,
    );
  }
});

async function expectSameAnswers(
  collection: Collection,
  isByteOrdered: boolean,
  runs: number,
): Promise<void> {
  const check = fc.asyncProperty(
    fc.array(document, { minLength: 3, maxLength: 12 }),
    fc.array(pipeline, { minLength: PIPELINES_A_RUN, maxLength: PIPELINES_A_RUN }),
    async (documents, pipelines) => {
      const stored = documents.map((one, index) => ({ _id: String.fromCharCode(97 + index), ...one }));
      await test.database.query(sql`delete from records where collection = ${collection.name}`);
      await store(
        test.database,
        collection,
        Object.fromEntries(stored.map(({ _id, ...data }) => [_id, data])),
      );
      const answers = await answersOf(collection, isByteOrdered, pipelines);
      pipelines.forEach((stages, index) => {
        if (isNamedDifference(JSON.stringify(stages))) return;
        const expected = mingoAnswer(stored, stages);
        if (expected === undefined) return;
        const isInOrder = stages.every((stage) => KEEPS_ORDER.has(Object.keys(stage)[0] ?? ''));
        const answer = comparable(answers[index] ?? [], isInOrder);
        expect({ stages, answer }).toEqual({ stages, answer: comparable(expected, isInOrder) });
      });
    },
  );
  await fc.assert(check, runsOf(runs));
}

/**
 * mingo takes the remainder of null and texts as JavaScript does. What it makes of one document by `$unwind`
 * shares objects: `$unset` of a nested field in one takes it from the others.
 */
function isNamedDifference(stages: string): boolean {
  return stages.includes('"$mod"') || (stages.includes('"$unwind"') && stages.includes('"address.city"]'));
}

/** mingo, but for "missing in a sort" of the differences in the manual. */
const CONTEXT = Context.init({
  accumulator: { ...accumulatorOperators },
  expression: { ...expressionOperators },
  pipeline: { ...pipelineOperators, $sort },
  query: { ...queryOperators },
});

const KEEPS_ORDER = new Set(['$match', '$sort', '$limit', '$skip', '$addFields', '$project', '$unset']);

/**
 * `undefined` where mingo refuses these documents, e.g.
 * "operands of another type" of the differences in the manual.
 */
function mingoAnswer(
  stored: readonly JsonObject[],
  stages: readonly JsonObject[],
): readonly JsonValue[] | undefined {
  try {
    const options = { collectionResolver: () => plain(FOUND), context: CONTEXT };
    return new Aggregator(plain(stages), options).run(plain(stored)) as readonly JsonValue[];
  } catch {
    return undefined;
  }
}

async function answersOf(
  collection: Collection,
  isByteOrdered: boolean,
  pipelines: readonly (readonly JsonObject[])[],
): Promise<readonly (readonly JsonValue[])[]> {
  const sourceOf = (one: Collection) => ({
    collection: one,
    condition: sql`r.domain = ${DOMAIN} and r.collection = ${one.name} and r.deleted_at is null`,
    access: FULL_ACCESS,
  });
  const context = { isByteOrdered, now: NOW, timeZone: 'UTC' };
  const asked = pipelines.map((stages, index) => {
    const compiled = compilePipeline(parseMongoPipeline([...stages]), sourceOf(collection), {
      context,
      lookUp: () => sourceOf(OTHER),
    });
    return sql`(select ${index}::int as pipeline, p.json, row_number() over () as position
      from (${compiled}) as p)`;
  });
  const rows = await test.database.query<{ pipeline: number; json: string }>(
    sql`select * from (${sql.join(asked, ' union all ')}) as a order by a.pipeline, a.position`,
  );
  return pipelines.map((_stages, index) =>
    rows.filter((row) => row.pipeline === index).map(({ json }) => JSON.parse(json) as JsonValue),
  );
}

/** Numbers to twelve digits, sets sorted; the documents too, where their order is not asked for. */
function comparable(documents: readonly JsonValue[], isInOrder: boolean): readonly string[] {
  const texts = documents
    .filter((one) => !isCountOfNothing(one))
    .map((one) => JSON.stringify(sorted(one, '')));
  return isInOrder ? texts : texts.sort();
}

function sorted(value: JsonValue, name: string): JsonValue {
  if (typeof value === 'number') return Number(value.toPrecision(12));
  if (Array.isArray(value)) {
    const elements = value
      .filter((element: JsonValue) => !isCountOfNothing(element))
      .map((element: JsonValue) => sorted(element, ''));
    // "missing in a sort" of the differences in the manual: a list among the keys of `names` has another
    // place.
    const isInAnyOrder = name === 'set' || (name === 'names' && elements.some(hasListAsId));
    return isInAnyOrder ? elements.map((element) => JSON.stringify(element)).sort() : elements;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, member]) => [key, sorted(member, key)]),
  );
}

function hasListAsId(value: JsonValue): boolean {
  return isJsonObject(value) && Array.isArray(value._id);
}

/** MongoDB makes no document where there is nothing to count, and none of an empty bucket. mingo does. */
function isCountOfNothing(value: JsonValue): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'n' in value &&
    value.n === 0 &&
    (Object.keys(value).length === 1 || 'names' in value)
  );
}

/** In plain objects of this realm, of which mingo takes none for equal to another's. */
function plain<T>(value: T): T extends readonly (infer E)[] ? E[] : T {
  return JSON.parse(JSON.stringify(value));
}
