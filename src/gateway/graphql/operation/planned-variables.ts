/**
 * Variables of repeated operations: their types are looked up once. If a value is wrong, graphql-js coerces
 * them all and reports the error.
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
  /** May be omitted, and then has no value. */
  readonly isOptional: boolean;
  readonly isNullable: boolean;
}

const MAX_ERRORS = 50;

/** The variables of one operation. */
export class PlannedVariables {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  /** `undefined`: left to graphql-js. */
  readonly #planned: readonly PlannedVariable[] | undefined;

  constructor(schema: GraphQLSchema, operation: OperationDefinitionNode) {
    this.#schema = schema;
    this.#operation = operation;
    this.#planned = planVariables(schema, operation);
  }

  /** Does the same as graphql-js's `getVariableValues`. */
  coerce(inputs: Values): ReturnType<typeof getVariableValues> {
    const coerced = this.#planned && coerceAll(this.#planned, inputs);
    if (coerced) return { coerced };
    const definitions = this.#operation.variableDefinitions ?? [];
    return getVariableValues(this.#schema, definitions, inputs, { maxErrors: MAX_ERRORS });
  }
}

function planVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): readonly PlannedVariable[] | undefined {
  const planned: PlannedVariable[] = [];
  for (const { variable, type: node, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, node);
    // Assigning `__proto__` would not create a member.
    if (!isInputType(type) || name === '__proto__') return undefined;
    const isNullable = !isNonNullType(type);
    planned.push({ name, type, isNullable, isOptional: isNullable && defaultValue === undefined });
  }
  return planned;
}

/** `undefined` if a value is wrong, or uses its default. */
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
