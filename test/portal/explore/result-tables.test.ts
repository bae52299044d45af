import { describe, expect, it } from '@jest/globals';
import { buildSchema, parse } from 'graphql';
import { type ResultTable, tablesOf } from '../../../src/portal/explore/result-tables.js';
import { shapeOfOperation } from '../../../src/portal/explore/shape-of-operation.js';

const schema = buildSchema(`
  scalar Decimal scalar LocalDate scalar DateTime scalar JSON
  type Query { students(first: Int): Students! totals: Totals groups: [Group!]! records: [Record!]! notes: [String!]! who: Who }
  type Students { totalCount: Int! nodes: [Student!]! edges: [Edge!]! }
  type Edge { cursor: String! node: Student! }
  type Student { name: String! rollNo: Int born: LocalDate owes: Decimal teacher: Teacher receipts: [Receipt!]! tags: [String!] }
  type Teacher { label: String }
  type Receipt { no: String! at: DateTime! amount: Decimal! lines: [Line!] }
  type Line { head: String! amount: Decimal! }
  type Totals { owes: Decimal classes: [Class!]! }
  type Class { class: String! students: Int! }
  type Group { key: Key! count: Int! }
  type Key { class: String }
  type Record { id: ID! data: JSON }
  union Who = Student | Teacher
`);

/** The tables of an answer to a query, columns as `path:kind`. */
function layOut(query: string, data: unknown, withSchema: 'schema' | 'no schema' = 'schema') {
  const shape = shapeOfOperation({
    document: parse(query),
    operationName: undefined,
    schema: withSchema === 'schema' ? schema : undefined,
  });
  return tablesOf(data, shape).map(print);
}

function print({ name, columns, rows }: ResultTable) {
  return { name, columns: columns.map(({ path, kind }) => `${path}:${kind}`), rows };
}

describe('the tables of an answer', () => {
  it('are its lists, with what objects in a row hold as columns', () => {
    const data = {
      students: {
        totalCount: 2,
        nodes: [
          {
            name: 'Asha',
            rollNo: 1,
            born: '2015-01-02',
            owes: '12.50',
            teacher: { label: 'T' },
            tags: ['a', 'b'],
          },
          { name: 'Bela', rollNo: 2, born: null, owes: null, teacher: null, tags: null },
        ],
      },
    };
    expect(
      layOut('{ students { totalCount nodes { name rollNo born owes teacher { label } tags } } }', data),
    ).toEqual([
      {
        name: 'students.nodes',
        columns: [
          'name:text',
          'rollNo:number',
          'born:day',
          'owes:decimal',
          'teacher.label:text',
          'tags:list',
        ],
        rows: [
          ['Asha', 1, '2015-01-02', '12.50', 'T', 'a, b'],
          ['Bela', 2, null, null, null, null],
        ],
      },
      { name: 'students', columns: ['totalCount:number'], rows: [[2]] },
    ]);
  });

  it('repeat the row a list stands in', () => {
    const data = {
      students: {
        nodes: [
          {
            name: 'Asha',
            receipts: [
              {
                no: 'R1',
                at: '2026-04-01T05:00:00Z',
                amount: '5.00',
                lines: [{ head: 'Tuition', amount: '5.00' }],
              },
              { no: 'R2', at: '2026-04-02T05:00:00Z', amount: '6.00', lines: [] },
            ],
          },
          { name: 'Bela', receipts: [] },
        ],
      },
    };
    const query = '{ students { nodes { name receipts { no at amount lines { head amount } } } } }';
    expect(layOut(query, data)).toEqual([
      { name: 'students.nodes', columns: ['name:text'], rows: [['Asha'], ['Bela']] },
      {
        name: 'students.nodes.receipts',
        columns: ['name:text', 'receipts.no:text', 'receipts.at:instant', 'receipts.amount:decimal'],
        rows: [
          ['Asha', 'R1', '2026-04-01T05:00:00Z', '5.00'],
          ['Asha', 'R2', '2026-04-02T05:00:00Z', '6.00'],
        ],
      },
      {
        name: 'students.nodes.receipts.lines',
        columns: [
          'name:text',
          'receipts.no:text',
          'receipts.at:instant',
          'receipts.amount:decimal',
          'receipts.lines.head:text',
          'receipts.lines.amount:decimal',
        ],
        rows: [['Asha', 'R1', '2026-04-01T05:00:00Z', '5.00', 'Tuition', '5.00']],
      },
    ]);
  });

  it('follow edges to their nodes, aliases and fragments', () => {
    const query = `{ page: students { edges { cursor node { ...N } } } } fragment N on Student { called: name }`;
    expect(layOut(query, { page: { edges: [{ cursor: 'c', node: { called: 'Asha' } }] } })).toEqual([
      { name: 'page.edges', columns: ['cursor:text', 'node.called:text'], rows: [['c', 'Asha']] },
    ]);
    const union = '{ who { ... on Student { name } ... on Teacher { label } } }';
    expect(layOut(union, { who: { label: 'T' } })).toEqual([
      { name: 'who', columns: ['name:text', 'label:text'], rows: [[null, 'T']] },
    ]);
  });

  it('put the rows of a report before its totals', () => {
    const query = '{ totals { owes classes { class students } } groups { key { class } count } }';
    const data = {
      totals: { owes: '1.00', classes: [{ class: '5', students: 3 }] },
      groups: [
        { key: { class: '5' }, count: 3 },
        { key: { class: '6' }, count: 4 },
      ],
    };
    expect(layOut(query, data).map(({ name }) => name)).toEqual(['groups', 'totals', 'totals.classes']);
  });

  it('show the members of JSON as columns, with the kinds their values have', () => {
    const data = {
      records: [
        { id: 'a', data: { name: 'x', amount: 2.5, on: '2026-04-01T00:00:00.000Z' } },
        { id: 'b', data: { name: 'y', extra: true, manager: { value: 'u' } } },
        { id: 'c', data: null },
      ],
    };
    expect(layOut('{ records { id data } }', data)).toEqual([
      {
        name: 'records',
        columns: [
          'id:text',
          'data.name:text',
          'data.amount:number',
          'data.on:instant',
          'data.extra:boolean',
          'data.manager.value:text',
        ],
        rows: [
          ['a', 'x', 2.5, '2026-04-01T00:00:00.000Z', null, null],
          ['b', 'y', null, null, true, 'u'],
          ['c', null, null, null, null, null],
        ],
      },
    ]);
  });

  it('keep the columns of a list without rows, and give a list of texts one column', () => {
    expect(layOut('{ groups { key { class } count } }', { groups: [] })).toEqual([
      { name: 'groups', columns: ['key.class:text', 'count:number'], rows: [] },
    ]);
    expect(layOut('{ notes }', { notes: ['a', 'b'] })).toEqual([
      { name: 'notes', columns: ['value:text'], rows: [['a'], ['b']] },
    ]);
  });

  it('are there without a schema, too, with kinds by value', () => {
    const data = { students: { nodes: [{ name: 'Asha', rollNo: 1, teacher: { label: 'T' } }] } };
    expect(layOut('{ students { nodes { name rollNo teacher { label } } } }', data, 'no schema')).toEqual([
      {
        name: 'students.nodes',
        columns: ['name:text', 'rollNo:number', 'teacher.label:text'],
        rows: [['Asha', 1, 'T']],
      },
    ]);
  });

  it.each([null, undefined, [], 'text'])('are none for %j', (data) => {
    expect(layOut('{ notes }', data)).toEqual([]);
  });
});
