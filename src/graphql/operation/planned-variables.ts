/**
 * The variables of an operation that is sent again and again: their types are looked up once. Where a value
 * is wrong, graphql-js coerces them all, and says what is wrong.
 */
import {
  coerceInputValue,
  type GraphQLInputType,
  type GraphQLSchema,
  getVariableValues,
  isInputType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';

type Values = Readonly<Record<string, unknown>>;

interface PlannedVariable {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** It may be left out, and has no value then. */
  readonly isOptional: boolean;
  readonly isNullable: boolean;
}

interface Plan {
  readonly schema: GraphQLSchema;
  /** `undefined`: this is left to graphql-js. */
  readonly variables: readonly PlannedVariable[] | undefined;
}

const PLANS = new WeakMap<OperationDefinitionNode, Plan>();
const MAX_ERRORS = 50;

/** Does as `getVariableValues` of graphql-js. */
export function getPlannedVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  inputs: Values,
): ReturnType<typeof getVariableValues> {
  const { variables } = planOf(schema, operation);
  const coerced = variables && coerceAll(variables, inputs);
  if (coerced) return { coerced };
  return getVariableValues(schema, operation.variableDefinitions ?? [], inputs, { maxErrors: MAX_ERRORS });
}

function planOf(schema: GraphQLSchema, operation: OperationDefinitionNode): Plan {
  const known = PLANS.get(operation);
  if (known?.schema === schema) return known;
  const made = { schema, variables: planVariables(schema, operation) };
  PLANS.set(operation, made);
  return made;
}

function planVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): readonly PlannedVariable[] | undefined {
  const planned: PlannedVariable[] = [];
  for (const { variable, type: node, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, node);
    // One called so would be no member like others.
    if (!isInputType(type) || name === '__proto__') return undefined;
    const isNullable = !isNonNullType(type);
    planned.push({ name, type, isNullable, isOptional: isNullable && defaultValue === undefined });
  }
  return planned;
}

/** `undefined`: one is wrong, or has its default. */
function coerceAll(
  variables: readonly PlannedVariable[],
  inputs: Values,
): Record<string, unknown> | undefined {
  const coerced: Record<string, unknown> = {};
  let isRight = true;
  const onError = () => {
    isRight = false;
  };
  for (const { name, type, isOptional, isNullable } of variables) {
    if (!Object.hasOwn(inputs, name)) {
      if (!isOptional) return undefined;
      continue;
    }
    const input = inputs[name];
    if (input === null && !isNullable) return undefined;
    coerced[name] = coerceInputValue(input, type, onError);
    if (!isRight) return undefined;
  }
  return coerced;
}
