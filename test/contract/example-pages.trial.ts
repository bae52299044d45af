/** Of every example that shows a page: that it says how many there are, and that all of them can be had. */
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findPackageDirectory } from '../../src/base/process/package-directory.js';
import { type ExampleOperation, fillVariables } from '../../src/portal/explore/example-operation.js';
import { loadOperationsLibrary } from '../../src/portal/explore/operations-library.js';
import {
  mergePages,
  operationOfMore,
  pagedListsOf,
  type RunOperation,
} from '../../src/portal/explore/paged-list.js';
import { DEMO_TODAY, useDemoGateway } from './demo-gateway.js';

const gateway = useDemoGateway({ students: 240 });
const library = await loadOperationsLibrary(path.join(findPackageDirectory(), 'schema', 'operations'));
const queries = library.filter(({ kind, document }) => kind === 'query' && /\bfirst\b/.test(document));

function runOf(example: ExampleOperation, more: RunOperation['variables'] = {}): RunOperation {
  const filled = fillVariables(example.variables, DEMO_TODAY);
  // The student of the example is one of a larger school.
  const variables = { ...filled, ...('id' in filled && { id: 'stu-00100' }), ...more };
  return { query: example.document, variables, operationName: null };
}

async function dataOf({ query, variables }: RunOperation): Promise<unknown> {
  const answer = await gateway.fetch('/graphql', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await answer.json()) as { data?: unknown; errors?: unknown };
  expect(errors).toBeUndefined();
  return data;
}

describe('the pages of an example', () => {
  it('are those of all examples with a list that may be long', () => {
    expect(queries.length).toBeGreaterThan(20);
  });

  it.each(queries.map((example) => [example.name, example] as const))(
    'of %s lead to all its rows',
    async (_name, example) => {
      const isSettable = /\$first\b/.test(example.document);
      const run = runOf(example, isSettable ? { first: 3 } : {});
      const first = await dataOf(run);
      for (const { table } of pagedListsOf(run, first)) {
        let data = first;
        let list = listNamed(run, data, table);
        for (let pages = 0; list.hasMore !== 'no' && pages < 100; pages++) {
          const more = await dataOf(operationOfMore(run, list, list.cursor === undefined ? 1000 : 200));
          data = mergePages(data, more, list);
          const grown = listNamed(run, data, table);
          expect(grown.shown).toBeGreaterThanOrEqual(list.shown);
          if (list.cursor === undefined) break;
          list = grown;
        }
        const all = listNamed(run, data, table);
        expect(all.hasMore).not.toBe('yes');
        if (isSettable) expect(all).toMatchObject({ hasMore: 'no', shown: all.total });
      }
    },
  );

  function listNamed(run: RunOperation, data: unknown, table: string) {
    const list = pagedListsOf(run, data).find((one) => one.table === table);
    if (!list) throw new Error(`${table} is a list of the answer`);
    return list;
  }
});
