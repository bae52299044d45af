/** Prints a small value that is already computed, such as a list of groups, without graphql-js. */
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
import { printResult } from '../../../base/scalars/json-text.js';
import type { SelectionInfo } from './selection.js';

/** The JSON text of the selection of `info`, for a value whose types have no resolvers of their own. */
export function printReadyValue(value: unknown, info: GraphQLResolveInfo): string {
  return printResult(select(value, info.returnType, info.fieldNodes, info));
}

/**
 * Does what graphql-js does: takes the selected fields by their response keys, and serializes scalars and
 * enums.
 */
function select(
  value: unknown,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  info: SelectionInfo,
): unknown {
  if (isNonNullType(type)) return select(value, type.ofType, nodes, info);
  if (value === null || value === undefined) return null;
  if (isListType(type) && Array.isArray(value)) {
    return value.map((element: unknown) => select(element, type.ofType, nodes, info));
  }
  if (isLeafType(type)) return type.serialize(value);
  if (isObjectType(type) && isMembers(value)) return selectMembers(value, type, nodes, info);
  throw new Error(`a ready value is not a ${String(type)}`);
}

interface Members {
  readonly [name: string]: unknown;
}

function selectMembers(
  value: Members,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  info: SelectionInfo,
): unknown {
  // Without a prototype, because a caller may alias a field as `__proto__`.
  const members: Record<string, unknown> = Object.create(null);
  const fields = type.getFields();
  const selected = collectSubfields(info.schema, info.fragments, info.variableValues, type, nodes);
  for (const [key, fieldNodes] of selected) {
    const name = fieldNodes[0]?.name.value ?? '';
    const field = fields[name];
    members[key] = field ? select(value[name], field.type, fieldNodes, info) : type.name;
  }
  return members;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}
