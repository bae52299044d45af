/**
 * The checks of every operation before it runs, over HTTP, WebSocket and MCP: introspection, filters without
 * a value, and the cost.
 */
import { type DocumentNode, Kind, type ValueNode, visit } from 'graphql';
import { invalidAt, ServiceError } from '../../../base/errors.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import { isIntrospectionField } from './introspection-cost.js';
import { COSTLY_ARGUMENTS, type CostPlan, type CostRequest, type OperationCosts } from './operation-cost.js';

export interface PermissionOptions {
  readonly costs: Pick<OperationCosts, 'assertAffordable'>;
  readonly introspectionRoles: readonly string[];
}

/** The part of a document that its checks depend on. */
export interface Permission {
  /** The document has a field of introspection. */
  readonly isIntrospecting: boolean;
  /** The variables of filters that are required, although their types are nullable. */
  readonly filterVariables: readonly FilterVariable[];
  readonly costs: CostPlan;
}

export interface FilterVariable {
  readonly argument: string;
  readonly variable: string;
}

/** Arguments that select records. */
const FILTERS: ReadonlySet<string> = new Set(['where', 'oquery', 'having']);

/** Reads the part of a document that its checks depend on. */
export function readPermission(document: DocumentNode): Permission {
  const withDefault = new Set<string>();
  const found: FilterVariable[] = [];
  const values = new Set<string>();
  const forms = new Set<string>();
  let isIntrospecting = false;
  const addAll = (args: readonly { readonly value: ValueNode }[] = [], names: Set<string>) => {
    for (const { value } of args) for (const name of variablesIn(value)) names.add(name);
  };
  visit(document, {
    Field({ name, arguments: args }) {
      if (!isIntrospectionField(name.value)) return;
      isIntrospecting = true;
      addAll(args, values);
    },
    VariableDefinition({ variable, defaultValue }) {
      if (defaultValue && defaultValue.kind !== Kind.NULL) withDefault.add(variable.name.value);
    },
    Argument(argument) {
      const name = argument.name.value;
      if (COSTLY_ARGUMENTS.has(name)) addAll([argument], values);
      if (name === 'where') addAll([argument], forms);
      if (!FILTERS.has(name)) return;
      for (const variable of variablesIn(argument.value)) found.push({ argument: name, variable });
    },
    Directive({ arguments: args }) {
      addAll(args, values);
    },
  });
  return {
    isIntrospecting,
    filterVariables: found.filter(({ variable }) => !withDefault.has(variable)),
    costs: { variables: { values: [...values].sort(), forms: [...forms].sort() }, known: new Map() },
  };
}

function variablesIn(value: ValueNode): readonly string[] {
  const names: string[] = [];
  visit(value, {
    Variable({ name }) {
      names.push(name.value);
    },
  });
  return names;
}

/**
 * Returns the cost of the operation.
 *
 * @throws UNAUTHENTICATED, FORBIDDEN for callers who may not introspect; INVALID_VALUE for a filter without
 *   its value; LIMIT_EXCEEDED for too high a cost; GraphQLError for wrong variables or arguments
 */
export function assertPermitted(
  request: CostRequest & { readonly prepared: Permission; readonly context: RequestContext },
  { costs, introspectionRoles }: PermissionOptions,
): number {
  const { prepared, variables, context } = request;
  if (prepared.isIntrospecting) assertIntrospectionRole(context, introspectionRoles);
  assertFilterVariables(prepared.filterVariables, variables);
  return costs.assertAffordable(request);
}

/**
 * Refuses callers who may not see the schema. It depends on the caller's roles, not on the environment:
 * analysts work in production. `*` in `roles` allows every authenticated caller.
 *
 * @throws UNAUTHENTICATED without a credential, FORBIDDEN for a caller without such a role
 * @see decisions 6
 */
export function assertIntrospectionRole(context: RequestContext, roles: readonly string[]): void {
  if (!context.scope) {
    throw new ServiceError(
      'UNAUTHENTICATED',
      'Introspection needs a credential: Authorization: Bearer <token>. The mutation login gives one.',
    );
  }
  if (roles.includes('*')) return;
  const { principal } = context.scope;
  if (roles.some((role) => principal.roles.has(role))) return;
  throw new ServiceError('FORBIDDEN', `Introspection is for these roles: ${roles.join(', ') || 'none'}.`);
}

/**
 * Refuses an operation whose filter uses a variable that was not sent, or is null: GraphQL would leave it
 * out, and the filter would match everything. A variable with a default value counts as sent.
 *
 * @throws INVALID_VALUE (400) naming the variable
 * @see decisions 3
 */
function assertFilterVariables(
  needed: readonly FilterVariable[],
  variables: Readonly<Record<string, unknown>>,
): void {
  for (const { argument, variable } of needed) {
    const sent = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (sent !== undefined && sent !== null) continue;
    const detail =
      `The variable $${variable} of ${argument} is ${sent === null ? 'null' : 'missing'}, and a filter ` +
      'without its value would match everything.';
    throw invalidAt(`${detail} Send it, or use isNull to find records without a value.`, {
      detail,
      parameter: variable,
      expected: `a value of $${variable}`,
    });
  }
}
