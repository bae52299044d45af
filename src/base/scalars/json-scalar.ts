import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { type JsonValue, printExactJson, toNumberAsWritten } from '../json/json.js';
import { JsonText } from './json-text.js';

/** Any JSON value. Numbers keep their digits both ways. */
export const GraphqlJsonScalar = new GraphQLScalarType<JsonValue, JsonText>({
  name: 'JSON',
  description:
    'Any JSON value: an object, a list, a text, a number with all its digits, true, false or null.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) =>
    value instanceof JsonText ? value : new JsonText(printExactJson(value as JsonValue)),
  parseValue: (value) => value as JsonValue,
  parseLiteral: (node, variables) => parseJsonLiteral(node, variables),
});

function parseJsonLiteral(
  node: ValueNode,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): JsonValue {
  switch (node.kind) {
    case Kind.STRING:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return toNumberAsWritten(node.value);
    case Kind.BOOLEAN:
      return node.value;
    case Kind.NULL:
      return null;
    case Kind.LIST:
      return node.values.map((value) => parseJsonLiteral(value, variables));
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.map((field) => [field.name.value, parseJsonLiteral(field.value, variables)]),
      );
    case Kind.VARIABLE:
      return sentValue(node.name.value, variables);
    case Kind.ENUM:
      throw new GraphQLError(`"${node.value}" is not JSON: put a text into quotes.`, { nodes: node });
  }
}

/**
 * The library keeps the values of variables in a plain object, which has a `constructor` that was not sent.
 */
function sentValue(name: string, variables: Readonly<Record<string, unknown>> | null | undefined): JsonValue {
  if (!variables || !Object.hasOwn(variables, name)) return null;
  return (variables[name] ?? null) as JsonValue;
}
