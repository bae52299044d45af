/** The checks of every operation before it runs, over HTTP and WebSocket. */
import type { RequestContext } from '../../resolvers/request-context.js';
import { assertFilterVariables } from './filter-variables.js';
import { assertMayIntrospect } from './may-introspect.js';
import type { CostRequest, OperationCosts } from './operation-cost.js';

export interface PermissionOptions {
  readonly costs: Pick<OperationCosts, 'assertAffordable'>;
  readonly introspectionRoles: readonly string[];
}

/**
 * Returns the cost of the operation.
 *
 * @throws UNAUTHENTICATED, FORBIDDEN for callers who may not introspect; INVALID_VALUE for a filter without
 *   its value; LIMIT_EXCEEDED for too high a cost; GraphQLError for wrong variables or arguments
 */
export function assertPermitted(
  request: CostRequest & { readonly context: RequestContext },
  { costs, introspectionRoles }: PermissionOptions,
): number {
  const { document, variables, context } = request;
  assertMayIntrospect(document, context, introspectionRoles);
  assertFilterVariables(document, variables);
  return costs.assertAffordable(request);
}
