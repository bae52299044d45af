import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { OperationCosts } from '../../../../src/gateway/graphql/limits/operation-cost.js';
import { operationUrgency } from '../../../../src/gateway/graphql/operation/prepared-operation.js';
import { ServedSchema } from '../../../../src/gateway/graphql/operation/served-schema.js';

const schema = buildSchema(`
  type Task { name: String }
  type TaskPage { nodes: [Task] }
  type Report { rowCount: Int }
  type Query { tasks(first: Int): TaskPage, teachers: Report }
  type Mutation { runScript(name: ID): Boolean, removeScript(name: ID): Boolean }
`);
const reachOf = () => {
  throw new Error('everything is shown');
};
const served = new ServedSchema({
  ...{ schema, storedFields: new Map(), rules: [], maxTokens: 100 },
  ...{ needed: new Map(), reachOf },
});
const scans = { toScannedQuery: () => undefined, scannedRows: () => 0 };
const costs = new OperationCosts({ scans, maxCost: 10_000, defaultPageSize: 50, maxPageSize: 5_000 });

function urgencyOf(text: string, variables: Readonly<Record<string, unknown>> = {}) {
  return operationUrgency(
    { prepared: served.prepare(text, undefined), variables, context: { scope: undefined } },
    costs,
  );
}

describe('an operation', () => {
  it.each([
    ['short', 'of a page', '{ tasks(first: 100) { nodes { name } } }'],
    ['short', 'of a page without a size', '{ tasks { nodes { name } } }'],
    ['stream', 'of more than 1,000 objects', '{ tasks(first: 1001) { nodes { name } } }'],
    ['stream', 'of a report', '{ teachers { rowCount } }'],
    ['stream', 'of a report by another name', '{ tasks { nodes { name } } all: teachers { rowCount } }'],
    ['stream', 'of a report in a fragment', '{ ...F } fragment F on Query { ... { teachers { rowCount } } }'],
    ['script', 'that runs a script', 'mutation { removeScript(name: "a") runScript(name: "b") }'],
    ['short', 'that does something else with one', 'mutation { removeScript(name: "a") }'],
  ])('is %s %s', (urgency, _what, text) => {
    expect(urgencyOf(text)).toBe(urgency);
  });

  it('is what its variables make of it, and short where these are wrong', () => {
    const text = 'query ($first: Int!) { tasks(first: $first) { nodes { name } } }';
    expect(urgencyOf(text, { first: 10 })).toBe('short');
    expect(urgencyOf(text, { first: 2000 })).toBe('stream');
    expect(urgencyOf(text, { first: 'many' })).toBe('short');
  });
});
