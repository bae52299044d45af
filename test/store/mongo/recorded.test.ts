/**
 * Recorded answers of a public implementation of MongoDB's language. Here a pipeline is answered alike, or
 * refused by name, or it differs as the manual says, over records as over documents between two stages.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/json/json.js';
import { FULL_ACCESS, type Readable } from '../../../src/store/access/access.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { compilePipeline, SQL_ACCUMULATORS } from '../../../src/store/mongo/compile-pipeline.js';
import { EXPRESSION_OPERATORS } from '../../../src/store/mongo/expression-operators.js';
import { parseMongoPipeline } from '../../../src/store/mongo/mongo-pipeline.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { readProjectFile } from '../../docs/project-files.js';
import { NOW } from '../sql/arbitraries.js';
import { LOOSE, OTHER } from './collections.js';
import { FACTS } from './facts.js';

interface Recorded {
  readonly data: {
    readonly docs: readonly JsonObject[];
    readonly others?: Readonly<Record<string, readonly JsonObject[]>>;
  };
  readonly pipeline: readonly JsonObject[];
  readonly want: readonly JsonObject[] | { readonly error: string };
  /** Default: the documents come in any order. */
  readonly sorted?: true;
  /** The row of "Differences to MongoDB" in the manual. */
  readonly difference?: string;
}

type Outcome = 'right' | 'refused' | 'different';

const RECORDED: readonly Recorded[] = readFileSync(new URL('./recorded.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
/** The connections of the test have as many statements at a time. */
const AT_ONCE = 4;

const test = useTestDatabase();

beforeAll(async () => {
  for (const collection of [LOOSE, OTHER]) await ensurePartition(test.database, collection);
  const records = RECORDED.flatMap((recorded, index) =>
    [documentsOf(recorded), othersOf(recorded)].flatMap((documents, which) =>
      documents.map(({ _id: id, ...data }) => ({
        domain: domainOf(index),
        collection: (which === 0 ? LOOSE : OTHER).name,
        id: String(id),
        data,
      })),
    ),
  );
  await test.database.query(sql`
    insert into records (domain, collection, id, data)
    select e.domain, e.collection, e.id, e.data
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
      as e(domain text, collection text, id text, data jsonb)`);
});

describe('a recorded pipeline', () => {
  for (const path of ['records', 'documents'] as const) {
    it(`is right, refused by name, or differs as the manual says, over ${path}`, async () => {
      const outcomes = await inGroups(RECORDED, async (recorded, index) => ({
        index,
        pipeline: recorded.pipeline,
        outcome: outcomeOf(recorded, await answer(recorded, index, path)),
        difference: recorded.difference,
      }));
      expect(
        outcomes.filter(
          ({ outcome, difference }) => (outcome === 'different') !== (difference !== undefined),
        ),
      ).toEqual([]);
      expect(countsOf(outcomes.map(({ outcome }) => outcome))).toEqual(countsInManual());
    });
  }

  it('names a difference that the manual lists', () => {
    const manual = readProjectFile('docs/platform-db.md');
    const names = new Set(RECORDED.flatMap(({ difference }) => difference ?? []));
    expect([...names].filter((name) => !manual.includes(`\n| ${name} | `))).toEqual([]);
  });
});

describe('an operator', () => {
  it('has a case that reaches the database', () => {
    const answered = RECORDED.filter(
      ({ want, difference }) => Array.isArray(want) && difference === undefined,
    );
    const texts = [...answered.map(({ pipeline }) => pipeline), FACTS]
      .map((one) => JSON.stringify(one))
      .join();
    const all = [...Object.keys(EXPRESSION_OPERATORS), ...SQL_ACCUMULATORS];
    expect(all.filter((name) => !texts.includes(`"${name}"`))).toEqual([]);
  });

  it('means what MongoDB documents', async () => {
    const made = await inGroups(FACTS, async ({ pipeline, docs = [{}], want }) => ({
      pipeline,
      want,
      got: await run(pipeline, { documents: JSON.stringify(docs) }),
    }));
    expect(made.map(({ pipeline, got }) => ({ pipeline, got }))).toEqual(
      made.map(({ pipeline, want }) => ({ pipeline, got: want })),
    );
  });
});

function domainOf(index: number): string {
  return `recorded-${index}`;
}

function documentsOf({ data }: Recorded): readonly JsonObject[] {
  return data.docs.map((document, index) => asStored({ _id: `d${100 + index}`, ...document }));
}

function othersOf({ data }: Recorded): readonly JsonObject[] {
  const others = Object.values(data.others ?? {}).flat();
  return others.map((document, index) => asStored({ _id: `o${100 + index}`, ...document }));
}

/** Instants are text. */
function asStored<T extends JsonValue>(value: T): T {
  if (Array.isArray(value)) return value.map(asStored) as unknown as T;
  if (!isJsonObject(value)) return value;
  if (typeof value.__date === 'string') return value.__date as T;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asStored(member)])) as T;
}

type Answer = readonly JsonValue[] | ServiceError;

async function answer(recorded: Recorded, index: number, path: 'records' | 'documents'): Promise<Answer> {
  const sourceOf = (collection: Readable['collection']): Readable => ({
    collection,
    condition: sql`r.domain = ${domainOf(index)} and r.collection = ${collection.name}`,
    access: FULL_ACCESS,
  });
  const source = path === 'records' ? sourceOf(LOOSE) : { documents: JSON.stringify(documentsOf(recorded)) };
  return await run(recorded.pipeline, source, sourceOf(OTHER));
}

async function run(
  pipeline: JsonValue,
  source: Parameters<typeof compilePipeline>[1],
  other?: Readable,
): Promise<Answer> {
  try {
    const sql = compilePipeline(parseMongoPipeline(asStored(pipeline)), source, {
      context: { isByteOrdered: true, now: NOW, timeZone: 'UTC' },
      lookUp: () => other as Readable,
    });
    const rows = await test.database.query<{ json: string }>(sql);
    return rows.map(({ json }) => JSON.parse(json) as JsonValue);
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return error;
    throw new Error(`${JSON.stringify(pipeline)}: ${String(error)}`);
  }
}

async function inGroups<T, R>(all: readonly T[], work: (one: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const group = all.slice(at, at + AT_ONCE);
    results.push(...(await Promise.all(group.map((one, index) => work(one, at + index)))));
  }
  return results;
}

function outcomeOf({ want, sorted }: Recorded, got: Answer): Outcome {
  if (got instanceof ServiceError) return Array.isArray(want) ? 'refused' : 'right';
  if (!Array.isArray(want)) return 'different';
  const [one, other] = [got, want].map((documents) => documents.map(comparable));
  const isSame =
    JSON.stringify(sorted ? one : one?.sort()) === JSON.stringify(sorted ? other : other?.sort());
  return isSame ? 'right' : 'different';
}

/** Without the ids that were given here; other ids as text, numbers to twelve digits, members by name. */
function comparable(document: JsonValue): string {
  return JSON.stringify(asStored(document), (name, value) => {
    if (name === '_id' && typeof value !== 'object')
      return /^[do]\d{3}$/.test(String(value)) ? undefined : String(value);
    if (typeof value === 'number') return Number(value.toPrecision(12));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function countsOf(outcomes: readonly Outcome[]): Readonly<Record<Outcome, number>> {
  const count = (wanted: Outcome) => outcomes.filter((one) => one === wanted).length;
  return { right: count('right'), refused: count('refused'), different: count('different') };
}

/** "… 651 right, 119 refused, 130 different …" of the manual. */
function countsInManual(): Readonly<Record<string, number>> {
  const manual = readProjectFile('docs/platform-db.md');
  return Object.fromEntries(
    ['right', 'refused', 'different'].map((name) => [
      name,
      Number(new RegExp(`\\| ${name} \\| (\\d+) \\|`).exec(manual)?.[1]),
    ]),
  );
}
