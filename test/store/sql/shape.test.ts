import { describe, expect, it } from '@jest/globals';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import { compilePage } from '../../../src/store/sql/compile-page.js';
import { compileSort } from '../../../src/store/sql/compile-sort.js';
import { compileRecordSource } from '../../../src/store/sql/record-source.js';
import { listShapePaths, type Member, type PageShape } from '../../../src/store/sql/shape.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';

const test = useTestDatabase();
const collection = parseCollection(
  { name: 'thing', fields: [{ name: 'name', type: 'text' }] },
  { source: 'test', isDeclared: false, version: 1 },
);

describe('a shape', () => {
  it('prints what it says and nothing else, null for other types', async () => {
    await insert('a', {
      name: 'Chalk "5" %s',
      n: 1.5,
      d: 10.1,
      b: true,
      list: ['x', 1, null, 'y'],
      o: { k: 'v' },
    });
    await insert('b', { name: 5, n: 'one', d: 'x', b: 0, list: 'x', o: [] });
    const members: readonly Member[] = [
      { key: 'id', shape: { kind: 'id' } },
      { key: 'name', shape: { kind: 'text', path: ['name'] } },
      { key: 'n', shape: { kind: 'number', path: ['n'] } },
      { key: 'd', shape: { kind: 'decimal', path: ['d'] } },
      { key: 'b', shape: { kind: 'boolean', path: ['b'] } },
      { key: 'list', shape: { kind: 'list', path: ['list'], element: { kind: 'text', path: [] } } },
      {
        key: 'o',
        shape: { kind: 'object', path: ['o'], members: [{ key: 'k', shape: { kind: 'text', path: ['k'] } }] },
      },
      { key: 'type', shape: { kind: 'constant', text: 'A "type" with 100 %' } },
    ];
    expect(await print({ members: [{ key: 'nodes', kind: 'records', members }] })).toBe(
      '{"nodes":[' +
        '{"id":"a","name":"Chalk \\"5\\" ' +
        '%s","n":1.5,"d":"10.1","b":true,"list":["x","y"],"o":{"k":"v"},"type":"A \\"type\\" with ' +
        '100 %"},' +
        '{"id":"b","name":null,"n":null,"d":null,"b":null,"list":null,"o":null,"type":"A \\"type\\" ' +
        'with 100 %"}]}',
    );
  });

  it('has no bound on its members', async () => {
    const members = Array.from(
      { length: 250 },
      (_, index): Member => ({ key: `k${index}`, shape: { kind: 'text', path: ['name'] } }),
    );
    const printed = await print({ members: [{ key: 'nodes', kind: 'records', members }] }, { limit: 1 });
    expect(Object.keys(JSON.parse(printed).nodes[0])).toHaveLength(250);
  });

  it('keeps names out of the statement that are no field names', () => {
    const members: readonly Member[] = [
      { key: `k'; drop table records; --`, shape: { kind: 'text', path: [`n'; drop table records; --`] } },
      { key: 'e', shape: { kind: 'enum', path: ['x'], namesByValue: new Map([[`'; drop`, 'DROP']]) } },
    ];
    const { text } = statement({ members: [{ key: 'nodes', kind: 'records', members }] });
    expect(text).not.toContain('drop');
  });

  it('is the same statement whatever the keys are', () => {
    const of = (key: string) =>
      statement({
        members: [{ key, kind: 'records', members: [{ key, shape: { kind: 'text', path: ['name'] } }] }],
      }).text;
    expect(of('a')).toBe(of('another'));
  });

  it('lists the paths it reads', () => {
    expect(
      listShapePaths([
        {
          key: 'a',
          shape: {
            kind: 'object',
            path: ['o'],
            members: [{ key: 'k', shape: { kind: 'text', path: ['k'] } }],
          },
        },
        {
          key: 'b',
          shape: {
            kind: 'object',
            path: ['ref'],
            members: [{ key: 'r', shape: { kind: 'target', path: [], targets: [] } }],
          },
        },
        { key: 'c', shape: { kind: 'version' } },
      ]),
    ).toEqual({
      paths: [
        ['o', 'k'],
        ['ref', 'value'],
      ],
      isWholeRecord: false,
    });
  });
});

async function insert(id: string, data: object): Promise<void> {
  await test.database.query(
    sql`insert into records (domain, collection, id, data) values ('top',
      'thing', ${id}, ${JSON.stringify(data)}::jsonb)`,
  );
}

function statement(shape: PageShape, { limit }: { readonly limit: number } = { limit: 50 }): Sql {
  const order = compileSort([], { collection });
  const where = sql`r.domain = 'top' and r.collection = 'thing' and r.deleted_at is null`;
  return compilePage(shape, {
    source: compileRecordSource({ where, order, fromEnd: false, limit: limit + 1 }),
    order,
    limit,
    skip: 0,
    fromEnd: false,
    hasMoreBehind: false,
    countWhere: where,
    printing: {
      fields: sql.raw('r.data'),
      visibleRecords: () => sql.raw('false'),
      printReferrers: () => sql.raw('select null as json'),
    },
  });
}

async function print(shape: PageShape, options?: { readonly limit: number }): Promise<string> {
  const [row] = await test.database.query<{ json: string }>(statement(shape, options));
  return row?.json ?? '';
}
