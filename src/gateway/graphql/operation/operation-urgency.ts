import type { OperationDefinitionNode } from 'graphql';
import { leastUrgent, type Urgency } from '../../../base/process/urgency.js';
import { reports } from '../../../school/reports/registry.js';
import type { CostRequest, OperationCosts } from '../limits/operation-cost.js';
import { rootFieldNames } from './root-field-names.js';

/** An operation that may return more objects has the urgency of a long REST list. */
const MOST_OF_SHORT = 1_000;
const KIND_BY_ROOT_FIELD: ReadonlyMap<string, Urgency> = new Map([
  ...reports.map(({ field }) => [field, 'stream'] as const),
  ['runScript', 'script'],
]);

const KINDS = new WeakMap<OperationDefinitionNode, Urgency>();

/**
 * The urgency of an operation: a report or script is recognized by its root fields, a long list by its cost.
 */
export function operationUrgency(request: CostRequest, costs: Pick<OperationCosts, 'costOf'>): Urgency {
  const kind = KINDS.get(request.operation) ?? leastUrgent(kindsOfFields(request));
  KINDS.set(request.operation, kind);
  return kind === 'short' && givesMany(request, costs) ? 'stream' : kind;
}

function kindsOfFields(request: CostRequest): readonly Urgency[] {
  return rootFieldNames(request).map((name) => KIND_BY_ROOT_FIELD.get(name) ?? 'short');
}

function givesMany(request: CostRequest, costs: Pick<OperationCosts, 'costOf'>): boolean {
  try {
    return costs.costOf(request) > MOST_OF_SHORT;
  } catch {
    // Its variables are wrong, and it will be refused as soon as it is admitted.
    return false;
  }
}
