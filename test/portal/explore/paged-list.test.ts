import { describe, expect, it } from '@jest/globals';
import {
  listOfTable,
  mergePages,
  operationOfMore,
  pagedListsOf,
  partOfList,
  printRowCount,
  type RunOperation,
} from '../../../src/portal/explore/paged-list.js';

function runOf(query: string, variables: RunOperation['variables'] = {}): RunOperation {
  return { query, variables, operationName: null };
}

/** What the page says of the first paged list of an answer. */
function said(run: RunOperation, data: object): string | undefined {
  const [list] = pagedListsOf(run, data);
  return list && printRowCount(list.table, list.shown, list);
}

const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ n: index }));

describe('how much is shown', () => {
  const report = runOf(
    'query ($first: Int = 20) { dues(first: $first) { rowCount rows { n } pageInfo { hasNextPage ' +
      'endCursor } } }',
  );

  it('is so many of all, where the answer says how many there are', () => {
    const data = { dues: { rowCount: 196, rows: rows(20), pageInfo: { hasNextPage: true, endCursor: 'c' } } };
    expect(said(report, data)).toBe('20 of 196 rows');
    expect(pagedListsOf(report, data)).toEqual([
      {
        ...{ table: 'dues.rows', path: ['dues'], listKey: 'rows', shown: 20, total: 196 },
        ...{ hasMore: 'yes', cursor: 'c' },
      },
    ]);
  });

  it('is all where there is no next page', () => {
    const data = { dues: { rowCount: 1, rows: rows(1), pageInfo: { hasNextPage: false, endCursor: 'c' } } };
    expect(said(report, data)).toBe('1 row');
  });

  it(
    'is a full page of which nobody knows, by the value that was sent, the default, or that of the ' +
      'gateway',
    () => {
      const plain = 'query ($first: Int = 20) { dues(first: $first) { rows { n } } }';
      expect(said(runOf(plain), { dues: { rows: rows(20) } })).toBe('20 rows, perhaps more');
      expect(said(runOf(plain), { dues: { rows: rows(19) } })).toBe('19 rows');
      expect(said(runOf(plain, { first: 5 }), { dues: { rows: rows(5) } })).toBe('5 rows, perhaps more');
      expect(said(runOf('{ dues { rows { n } } }'), { dues: { rows: rows(50) } })).toBe(
        '50 rows, perhaps more',
      );
      expect(said(runOf('{ a: groups(first: 3) { n } }'), { a: rows(3) })).toBe('3 rows, perhaps more');
    },
  );

  it('is the same where fragments say what is asked for', () => {
    const named = runOf(
      'query { dues(first: 20) { ...Page } } fragment Page on Dues { rowCount ... { rows { n } } ' +
        'pageInfo { hasNextPage endCursor } }',
    );
    const data = { dues: { rowCount: 196, rows: rows(20), pageInfo: { hasNextPage: true, endCursor: 'c' } } };
    expect(said(named, data)).toBe('20 of 196 rows');
    const [list] = pagedListsOf(named, data);
    expect(list).toMatchObject({ table: 'dues.rows', listKey: 'rows', cursor: 'c' });
    const inFragment = runOf('{ ...All } fragment All on Query { dues(first: 20) { rows { n } } }');
    const [within] = pagedListsOf(inFragment, { dues: { rows: rows(20) } });
    const more = within && operationOfMore(inFragment, within, 1000);
    expect(more?.query.replaceAll(/\s+/g, ' ')).toContain('dues(first: 1000)');
  });

  it('is said by the name of a file that has not all of it', () => {
    const partOf = (data: object) => partOfList(pagedListsOf(report, data)[0]);
    expect(partOf({ dues: { rowCount: 1500, rows: rows(1000) } })).toEqual(['1000-of-1500']);
    expect(partOf({ dues: { rows: rows(1000) } })).toEqual(['1000-and-more']);
    expect(partOf({ dues: { rowCount: 20, rows: rows(20) } })).toEqual([]);
  });

  it('is more without a count, where the page says so', () => {
    const run = runOf('{ tasks { edges { node { n } } pageInfo { hasNextPage } } }');
    expect(said(run, { tasks: { edges: rows(50), pageInfo: { hasNextPage: true } } })).toBe(
      '50 rows, and more',
    );
  });

  it('counts the lists within rows together', () => {
    const run = runOf(
      '{ student { marks(first: 2) { totalCount nodes { n } } } all { nodes { marks(first: 2) { ' +
        'totalCount nodes { n } } } } }',
    );
    const marks = { totalCount: 5, nodes: rows(2) };
    const lists = pagedListsOf(run, { student: { marks }, all: { nodes: [{ marks }, { marks }] } });
    expect(lists.map(({ table, shown, total, cursor }) => [table, shown, total, cursor])).toEqual([
      ['student.marks.nodes', 2, 5, undefined],
      ['all.nodes', 2, undefined, undefined],
      ['all.nodes.marks.nodes', 4, 10, undefined],
    ]);
  });

  it('is told of the rows around, where a table shows parts of them', () => {
    const run = runOf('{ receipts(first: 2) { totalCount nodes { lines { n } } } }');
    const lists = pagedListsOf(run, {
      receipts: { totalCount: 7, nodes: [{ lines: rows(3) }, { lines: rows(1) }] },
    });
    const list = listOfTable(lists, 'receipts.nodes.lines');
    expect(list?.table).toBe('receipts.nodes');
    expect(printRowCount('receipts.nodes.lines', 4, list)).toBe('4 rows within 2 of 7');
    expect(listOfTable(lists, 'receipts.totals')).toBeUndefined();
  });

  it.each(['mutation { create { nodes { n } } }', 'subscription { changed { nodes { n } } }', '{ broken'])(
    'is not told of %s',
    (query) => {
      expect(
        pagedListsOf(runOf(query), { create: { nodes: rows(50) }, changed: { nodes: rows(50) } }),
      ).toEqual([]);
    },
  );
});

describe('what is missing', () => {
  it('is asked for by the variables, so that the operation stays the one that is registered', () => {
    const query =
      'query D($first: Int = 20, $after: String) { dues(first: $first, after: $after) { rows { n } ' +
      'pageInfo { hasNextPage endCursor } } }';
    const run = runOf(query, { first: null });
    const data = { dues: { rows: rows(20), pageInfo: { hasNextPage: true, endCursor: 'c' } } };
    const [list] = pagedListsOf(run, data);
    if (!list) throw new Error('there is a list');
    expect(operationOfMore(run, list, undefined)).toEqual({ ...run, variables: { first: null, after: 'c' } });
    expect(operationOfMore(run, list, 200)).toEqual({ ...run, variables: { first: 200, after: 'c' } });
  });

  it('is written into an operation that has no variables for it, at the field alone', () => {
    const run = runOf(
      '{ a: tasks(where: {}, first: 2) { nodes { n } pageInfo { hasNextPage endCursor } } tasks { ' +
        'nodes { n } } }',
    );
    const data = {
      a: { nodes: rows(2), pageInfo: { hasNextPage: true, endCursor: 'c"1' } },
      tasks: { nodes: [] },
    };
    const [list] = pagedListsOf(run, data);
    if (!list) throw new Error('there is a list');
    expect(operationOfMore(run, list, 200).query.replaceAll(/\s+/g, ' ')).toBe(
      '{ a: tasks(where: {}, first: 200, after: "c\\"1") { nodes { n } pageInfo { hasNextPage ' +
        'endCursor } } tasks { nodes { n } } }',
    );
  });

  it('of a list without cursors is the list anew, as long as a page may be', () => {
    const run = runOf('{ groups(first: 3) { n } }');
    const [list] = pagedListsOf(run, { groups: rows(3) });
    if (!list) throw new Error('there is a list');
    expect(operationOfMore(run, list, 1000).query.replaceAll(/\s+/g, ' ')).toBe(
      '{ groups(first: 1000) { n } }',
    );
    expect(mergePages({ groups: rows(3), other: 1 }, { groups: rows(7), other: 2 }, list)).toEqual({
      groups: rows(7),
      other: 1,
    });
  });

  it('comes after what is there', () => {
    const run = runOf('{ dues { rows { n } totals { n } pageInfo { hasNextPage endCursor } } }');
    const page = (count: number, hasNextPage: boolean) => ({
      dues: { rows: rows(count), totals: { n: 3 }, pageInfo: { hasNextPage, endCursor: 'c' } },
    });
    const [list] = pagedListsOf(run, page(2, true));
    if (!list) throw new Error('there is a list');
    const merged = mergePages(page(2, true), page(1, false), list);
    expect(merged).toEqual({
      dues: {
        rows: [...rows(2), ...rows(1)],
        totals: { n: 3 },
        pageInfo: { hasNextPage: false, endCursor: 'c' },
      },
    });
    expect(pagedListsOf(run, merged)).toMatchObject([{ shown: 3, hasMore: 'no' }]);
  });
});
