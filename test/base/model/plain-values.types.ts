/**
 * What the compiler takes as a value of the model, and what it refuses. Nothing here runs: `npm run
 * typecheck` fails where a value that is right is refused, or one that is marked as wrong is taken.
 */
import type { JsonValue } from '../../../src/base/json/json.js';
import type { AggregateQuery, Measure } from '../../../src/base/model/aggregate-query.js';
import type { Filter } from '../../../src/base/model/filter.js';
import { queryOf, type RecordQuery } from '../../../src/base/model/record-query.js';
import { type Scope, systemPrincipal } from '../../../src/base/model/scope.js';
import type { UpdateOperation } from '../../../src/base/model/update-operation.js';

export const filters = [
  { kind: 'all', filters: [] },
  { kind: 'equals', path: ['class'], value: '5' },
  { kind: 'in', path: ['class'], values: ['5', 6, true] },
  { kind: 'greaterThan', path: ['amount'], value: 5 },
  { kind: 'on', path: ['created'], day: { word: 'today' } },
  { kind: 'element', path: ['lines'], filter: { kind: 'equals', path: ['fee_head'], value: 'Tuition' } },
  { kind: 'not', filter: { kind: 'isNull', path: ['left_on'] } },
  { kind: 'match', path: ['class'], test: { kind: 'equals', value: null } },
] satisfies readonly Filter[];

export const noFilters: readonly Filter[] = [
  // @ts-expect-error A kind that is none.
  { kind: 'equal', path: ['class'], value: '5' },
  // @ts-expect-error A path is steps, not a text.
  { kind: 'equals', path: 'class', value: '5' },
  // @ts-expect-error Null is asked for by isNull.
  { kind: 'equals', path: ['class'], value: null },
  // @ts-expect-error There is no order of true and false.
  { kind: 'lessThan', path: ['active'], value: true },
  // @ts-expect-error A word for a day that is none.
  { kind: 'on', path: ['created'], day: { word: 'tomorrow' } },
  // @ts-expect-error `not` takes one filter.
  { kind: 'not', filters: [] },
];

/** A switch over the kinds is exhaustive: a new kind of filter is an error here, too. */
export function isLeaf(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
    case 'any':
    case 'not':
    case 'record':
    case 'element':
      return false;
    case 'looseEquals':
    case 'equals':
    case 'in':
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
    case 'greaterThan':
    case 'greaterOrEqual':
    case 'lessThan':
    case 'lessOrEqual':
    case 'on':
    case 'within':
    case 'isNull':
    case 'exists':
    case 'match':
    case 'expression':
      return true;
    default:
      return filter satisfies never;
  }
}

export function valuesAreReadonly(
  query: RecordQuery,
  scope: Scope,
  json: { readonly value: JsonValue },
): void {
  // @ts-expect-error A query is narrowed with a spread, never changed.
  query.limit = 5;
  // @ts-expect-error Nor is what lies in it.
  query.sort.push({ path: ['name'], direction: 'ascending' });
  // @ts-expect-error Who asks does not change on the way.
  scope.principal.roles.add('admin');
  // @ts-expect-error A record that was read is not changed in place.
  if (Array.isArray(json.value)) json.value = [];
}

export const query = { ...queryOf('registration'), limit: 20 } satisfies RecordQuery;
// @ts-expect-error Of which collection?
queryOf();

export const operations = [
  { kind: 'set', path: ['name'], value: 'Asha' },
  { kind: 'increment', path: ['amount'], by: '0.10' },
  { kind: 'push', path: ['lines'], values: [{ amount: 1 }], position: -1 },
  { kind: 'pull', path: ['lines'], matches: (element) => element === null },
] satisfies readonly UpdateOperation[];

export const noOperations: readonly UpdateOperation[] = [
  // @ts-expect-error A value that is no JSON.
  { kind: 'set', path: ['at'], value: new Date() },
  // @ts-expect-error What by?
  { kind: 'increment', path: ['amount'] },
  // @ts-expect-error An end that is none.
  { kind: 'pop', path: ['lines'], end: 'middle' },
];

export const measures = [{ kind: 'records' }, { kind: 'sum', path: ['amount'] }] satisfies readonly Measure[];

// @ts-expect-error A sum of what?
export const noMeasure: Measure = { kind: 'sum' };

export const groups = {
  groupBy: [{ path: ['created'], period: 'month' }],
  measures,
  having: { kind: 'greaterThan', measure: { kind: 'records' }, value: 1 },
  order: [{ by: { measure: { kind: 'records' } }, direction: 'descending' }],
  limit: 10,
} satisfies AggregateQuery;

// @ts-expect-error A task of the service says which roles it has: there is none that may do everything.
systemPrincipal('purge');
