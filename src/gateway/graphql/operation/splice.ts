/**
 * Answers an operation without building its result as objects. It calls the schema's own resolvers for the
 * root fields, with the arguments graphql-js would pass, and each result prints itself, with one statement
 * per field. If a root field cannot, graphql-js executes the operation through the same resolvers, with the
 * same answer.
 *
 * @see design "What a GraphQL layer costs"
 */
import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  locatedError,
  OperationTypeNode,
} from 'graphql';
import { collectFields } from 'graphql/execution/collectFields.js';
import { objectMarks, type PrintedJson } from '../../../base/json/json.js';
import { joinJson } from '../../../base/scalars/json-text.js';
import { isPrintable, isPrintableField, PRINT, READ } from '../../resolvers/records/printable.js';
import type { PreparedOperation } from './prepared-operation.js';

export interface SplicedResult {
  /** The JSON text of the data. */
  readonly text: PrintedJson;
  /** No root field returned anything. */
  readonly isEmpty: boolean;
  readonly errors: readonly GraphQLError[];
}

export interface SpliceRequest {
  readonly prepared: PreparedOperation;
  /** The values as coerced by graphql-js. */
  readonly variableValues: Record<string, unknown>;
  readonly context: object;
}

/** `undefined`: the operation cannot be spliced; nothing has run. */
export async function splice(request: SpliceRequest): Promise<SplicedResult | undefined> {
  const fields = planRootFields(request);
  if (!fields) return undefined;
  const outcomes = await Promise.all(fields.map((field) => printRootField(field, request.context)));
  const errors: GraphQLError[] = [];
  const pieces: PrintedJson[] = [];
  const { before, end } = objectMarks(fields.map(({ key }) => key));
  for (const [index, { json, error }] of outcomes.entries()) {
    if (error) errors.push(error);
    pieces.push(before[index] ?? '', json);
  }
  return {
    text: joinJson([...pieces, end]),
    isEmpty: outcomes.every(({ json }) => json === 'null'),
    errors,
  };
}

type RootField =
  | { readonly kind: 'typeName'; readonly key: string; readonly name: string }
  | {
      readonly kind: 'resolved';
      readonly key: string;
      readonly definition: GraphQLField<unknown, unknown>;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly info: PrintingInfo;
    };

function planRootFields(request: SpliceRequest): readonly RootField[] | undefined {
  const { prepared, variableValues } = request;
  const { schema, operation, fragments } = prepared;
  const type = schema.getQueryType();
  if (operation.operation !== OperationTypeNode.QUERY || !type) return undefined;
  const selected = collectFields(schema, fragments, variableValues, type, operation.selectionSet);
  const fields: RootField[] = [];
  for (const [key, nodes] of selected) {
    const field = planRootField(key, nodes, type, request);
    if (!field) return undefined;
    fields.push(field);
  }
  return fields;
}

function planRootField(
  key: string,
  nodes: readonly FieldNode[],
  type: GraphQLObjectType,
  { prepared, variableValues }: SpliceRequest,
): RootField | undefined {
  const [node] = nodes;
  if (!node) return undefined;
  const name = node.name.value;
  if (name === '__typename') return { kind: 'typeName', key, name: type.name };
  const definition = type.getFields()[name];
  if (!definition || !isPrintableField(definition)) return undefined;
  const coerced = argumentsOf(definition, node, variableValues);
  if (!coerced) return undefined;
  const info: PrintingInfo = {
    isPrinting: true,
    fieldName: name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType: type,
    path: { prev: undefined, key, typename: type.name },
    schema: prepared.schema,
    fragments: prepared.fragments,
    rootValue: undefined,
    operation: prepared.operation,
    variableValues,
  };
  return { kind: 'resolved', key, definition, arguments: coerced, info };
}

/** `undefined` for wrong arguments, which graphql-js will report. */
function argumentsOf(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variableValues: Record<string, unknown>,
): Readonly<Record<string, unknown>> | undefined {
  try {
    return getArgumentValues(definition, node, variableValues);
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}

async function printRootField(
  field: RootField,
  context: object,
): Promise<{ readonly json: PrintedJson; readonly error?: GraphQLError }> {
  if (field.kind === 'typeName') return { json: JSON.stringify(field.name) };
  try {
    const { resolve } = field.definition;
    const result: unknown = await resolve?.(undefined, field.arguments, context, field.info);
    if (!isPrintable(result))
      throw new Error(`${field.info.fieldName} gave a result that does not print itself`);
    return { json: await result[PRINT](field.info) };
  } catch (error) {
    return { json: 'null', error: locatedError(error, field.info.fieldNodes, [field.key]) };
  }
}

/** The resolve info with which the splice calls a resolver. */
interface PrintingInfo extends GraphQLResolveInfo {
  readonly isPrinting: true;
}

/** Makes such fields return the readable value to everybody but the splice. */
export function readPrintableFields(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (!resolve || !isPrintableField(field)) continue;
    field.resolve = async (source, args, context, info) => {
      const result: unknown = await resolve(source, args, context, info);
      return isPrintable(result) && !isPrinting(info) ? result[READ]() : result;
    };
  }
  return schema;
}

function isPrinting(info: GraphQLResolveInfo): info is PrintingInfo {
  return 'isPrinting' in info;
}
