/** What every operation must pass that is to run, over HTTP as over a WebSocket. */
import type { RequestContext } from '../../resolvers/request-context.js';
import { assertFilterVariables } from './filter-variables.js';
import { assertMayIntrospect } from './may-introspect.js';
import type { CostRequest, OperationCosts } from './operation-cost.js';

export interface PermissionOptions {
  readonly costs: Pick<OperationCosts, 'assertAffordable'>;
  readonly introspectionRoles: readonly string[];
}

/**
 * Gives what the operation costs.
 *
 * @throws UNAUTHENTICATED, FORBIDDEN for who may not introspect; INVALID_VALUE for a filter without its
 * value; LIMIT_EXCEEDED for what costs too much; GraphQLError for variables or arguments that are wrong
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
