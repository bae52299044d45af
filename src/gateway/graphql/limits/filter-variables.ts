/** Ensures that a filter that lost its value does not match everything. */
import { type DocumentNode, Kind, type ValueNode, visit } from 'graphql';
import { ServiceError } from '../../../base/errors.js';

/** Arguments that select records. */
const FILTERS: ReadonlySet<string> = new Set(['where', 'oquery', 'having']);

interface FilterVariable {
  readonly argument: string;
  readonly variable: string;
}

const FOUND = new WeakMap<DocumentNode, readonly FilterVariable[]>();

/**
 * Refuses a document whose filter uses a variable that was not sent, or is null: GraphQL would leave it out,
 * and the filter would match everything.
 *
 * `variables` are as sent; a variable with a default value counts as sent.
 *
 * @throws INVALID_VALUE (400) naming the variable
 * @see decisions 3
 */
export function assertFilterVariables(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  for (const { argument, variable } of filterVariables(document)) {
    const sent = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (sent !== undefined && sent !== null) continue;
    const detail =
      `The variable $${variable} of ${argument} is ${sent === null ? 'null' : 'missing'}, and a filter ` +
      'without its value would match everything.';
    throw new ServiceError(
      'INVALID_VALUE',
      `${detail} Send it, or use isNull to find records without a value.`,
      {
        errors: [{ detail, parameter: variable, expected: `a value of $${variable}` }],
      },
    );
  }
}

/** The variables of filters that must be sent, though their types do not say so. */
export function filterVariables(document: DocumentNode): readonly FilterVariable[] {
  const known = FOUND.get(document);
  if (known) return known;
  const withDefault = new Set<string>();
  const found: FilterVariable[] = [];
  visit(document, {
    VariableDefinition({ variable, defaultValue }) {
      if (defaultValue && defaultValue.kind !== Kind.NULL) withDefault.add(variable.name.value);
    },
    Argument({ name, value }) {
      if (!FILTERS.has(name.value)) return;
      for (const variable of variablesIn(value)) found.push({ argument: name.value, variable });
    },
  });
  const needed = found.filter(({ variable }) => !withDefault.has(variable));
  FOUND.set(document, needed);
  return needed;
}

function variablesIn(value: ValueNode): readonly string[] {
  switch (value.kind) {
    case Kind.VARIABLE:
      return [value.name.value];
    case Kind.LIST:
      return value.values.flatMap(variablesIn);
    case Kind.OBJECT:
      return value.fields.flatMap((field) => variablesIn(field.value));
    default:
      return [];
  }
}
