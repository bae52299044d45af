import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import {
  createPagePrinter,
  createShapePrinter,
  printRecordTexts,
  printWhole,
  type RecordTexts,
  selectTexts,
} from '../../../src/store/reading/record-printer.js';
import { compilePage } from '../../../src/store/sql/compile-page.js';
import { compileSort } from '../../../src/store/sql/compile-sort.js';
import { compileRecordSource } from '../../../src/store/sql/record-source.js';
import type { Member, PageShape, Shape } from '../../../src/store/sql/shape.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';

const test = useTestDatabase();
const collection = parseCollection(
  { name: 'thing', fields: [{ name: 'name', type: 'text' }] },
  { source: 'test', isDeclared: false, version: 1 },
);

const LIST_MARKS = { start: '[', separator: ',', behindEach: '', end: ']' };
const RECORDS = 300;

/** Names in and out of the order of their letters, of the same length, with escapes, and beyond ASCII. */
const NAMES = [
  'a',
  'b',
  'id',
  'no',
  'name',
  'nama',
  'a"b',
  'a\\',
  '__proto__',
  'नाम',
  'é',
  'longer_name',
  '',
];
const LEAVES = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1.5,
    1e20,
    '',
    'x',
    '"',
    '\\',
    '\\"',
    '{',
    '},"a": 1',
    'é ✓',
    '\n',
  ),
  fc.string(),
  fc.integer(),
);
const { value: VALUES } = fc.letrec<{ value: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    LEAVES,
    tie('object'),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
  object: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 6 }),
}));
const DOCUMENTS = fc.dictionary(fc.constantFrom(...NAMES), VALUES, { maxKeys: NAMES.length });

const namesByValue = new Map([
  ['x', 'X'],
  ['é ✓', 'CHECKED'],
]);
/** A shape of every kind that is printed here, at `path`. */
const shapesAt = (path: readonly string[]): readonly Shape[] => [
  { kind: 'text', path },
  { kind: 'number', path },
  { kind: 'decimal', path },
  { kind: 'boolean', path },
  { kind: 'json', path },
  { kind: 'enum', path, namesByValue },
];
const shapesOf = (path: readonly string[]): readonly Shape[] => [
  ...shapesAt(path),
  ...shapesAt([...path, 'name']),
  { kind: 'object', path, members: keyed([...shapesAt(['b']), ...shapesAt(['no']), { kind: 'id' }]) },
  ...shapesAt([]).map((element): Shape => ({ kind: 'list', path, element })),
  { kind: 'list', path, element: { kind: 'object', path: [], members: keyed(shapesAt(['a'])) } },
];
const MEMBERS = keyed([
  { kind: 'id' },
  { kind: 'nodeId', prefix: 'thing:' },
  { kind: 'constant', text: 'A "type"' },
  ...['name', 'id', 'nama', 'a', 'longer_name'].flatMap((name) => shapesOf([name])),
]);

function keyed(shapes: readonly Shape[]): readonly Member[] {
  return shapes.map((shape, index) => ({ key: `k${index}`, shape }));
}

const order = compileSort([], { collection });
const where = sql`r.domain = 'school' and r.collection = 'thing'`;
const source = compileRecordSource({ where, order, fromEnd: false, limit: RECORDS });

async function readTexts(): Promise<RecordTexts> {
  const [row] = await test.database.query<RecordTexts>(
    selectTexts(sql`select r.id, r.data as fields from records r where ${where} order by r.id`),
    { texts: 'bytes' },
  );
  return row ?? { ids: null, fields: null };
}

async function printedByPostgres(shape: PageShape): Promise<string | undefined> {
  const page = { source, order, limit: RECORDS, skip: 0, fromEnd: false, hasMoreBehind: false };
  const printing = {
    fields: sql.raw('r.data'),
    visibleRecords: () => sql.raw('false'),
    printReferrers: () => sql.raw('null'),
  };
  const [row] = await test.database.query<{ json: string }>(
    compilePage(shape, { ...page, countWhere: where, printing }),
  );
  return row?.json;
}

beforeAll(async () => {
  const documents = fc.sample(DOCUMENTS, { numRuns: RECORDS, seed: 20261122 });
  const rows = documents.map((data, index) => ({ id: `r"${index}\né`, data }));
  await test.database.query(sql`
    insert into records (domain, collection, id, data)
    select 'school', 'thing', e->>'id', e->'data'
    from jsonb_array_elements(${JSON.stringify(rows).replaceAll(/\\u0000|\\ud[89a-f]../g, '')}::jsonb) as e`);
});

describe('a record that is printed out of its text', () => {
  it('is what PostgreSQL prints of it, whatever it holds', async () => {
    const shape: PageShape = {
      members: [
        { key: 'type', kind: 'constant', text: 'Page' },
        { key: 'nodes', kind: 'records', members: MEMBERS },
        { key: 'again', kind: 'records', members: MEMBERS.slice(2, 40) },
      ],
    };
    const printed = createPagePrinter(shape, collection)?.(await readTexts());
    expect(printed?.toString()).toBe(await printedByPostgres(shape));
  });

  it('is the whole record with its id before its fields', async () => {
    const { text, count } = printRecordTexts(await readTexts(), printWhole, LIST_MARKS);
    const rows = await test.database.query<{ id: string; data: object }>(
      sql`select r.id, r.data from records r where ${where} order by r.id`,
    );
    expect(count).toBe(RECORDS);
    expect(JSON.parse(text.toString())).toEqual(rows.map(({ id, data }) => ({ _id: id, ...data })));
  });

  it('is nothing where there are none', () => {
    const { text, count } = printRecordTexts({ ids: null, fields: null }, printWhole, LIST_MARKS);
    expect({ text: text.toString(), count }).toEqual({ text: '[]', count: 0 });
  });

  it.each<[string, Shape]>([
    ['instants of the record', { kind: 'createdAt' }],
    ['its version', { kind: 'version' }],
    ['all of its fields', { kind: 'fields' }],
    ['what it points to', { kind: 'target', path: ['name'], targets: [] }],
    ['names that JSON escapes', { kind: 'text', path: ['a"b'] }],
  ])('is left to PostgreSQL where it shows %s', (_what, shape) => {
    const name: Shape = { kind: 'text', path: ['name'] };
    expect(createShapePrinter(keyed([name, shape]), collection)).toBeUndefined();
  });

  it('is left to PostgreSQL where few of many fields are wanted', () => {
    const fields = ['a', 'b', 'c'].map((name) => ({ name, type: 'text' }));
    const larger = parseCollection(
      { name: 'thing', fields },
      { source: 'test', isDeclared: false, version: 1 },
    );
    const members = (count: number) =>
      keyed(['a', 'b', 'c'].slice(0, count).map((name): Shape => ({ kind: 'text', path: [name] })));
    expect(createShapePrinter(members(1), larger)).toBeUndefined();
    expect(createShapePrinter(members(2), larger)).toBeDefined();
  });
});
