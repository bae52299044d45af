import { leastUrgent, type Urgency } from '../../../base/process/urgency.js';
import { reports } from '../../../school/reports/registry.js';
import type { CostRequest, OperationCosts } from '../limits/operation-cost.js';

/** An operation that may return more objects has the urgency of a long REST list. */
const MOST_OF_SHORT = 1_000;
const KIND_BY_ROOT_FIELD: ReadonlyMap<string, Urgency> = new Map([
  ...reports.map(({ field }) => [field, 'stream'] as const),
  ['runScript', 'script'],
]);

/** The urgency by root fields: a report or a script is recognized by its name. */
export function urgencyOfFields(rootFieldNames: readonly string[]): Urgency {
  return leastUrgent(rootFieldNames.map((name) => KIND_BY_ROOT_FIELD.get(name) ?? 'short'));
}

/** The urgency of an operation: a long list is recognized by its cost. */
export function operationUrgency(
  request: CostRequest & { readonly prepared: { readonly urgency: Urgency } },
  costs: Pick<OperationCosts, 'costOf'>,
): Urgency {
  const { urgency } = request.prepared;
  return urgency === 'short' && givesMany(request, costs) ? 'stream' : urgency;
}

function givesMany(request: CostRequest, costs: Pick<OperationCosts, 'costOf'>): boolean {
  try {
    return costs.costOf(request) > MOST_OF_SHORT;
  } catch {
    // Its variables are wrong, and it will be refused as soon as it is admitted.
    return false;
  }
}
