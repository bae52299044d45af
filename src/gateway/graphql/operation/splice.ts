/**
 * Answers a query root field by root field. A field that prints its answer is called as graphql-js would call
 * it, with the same resolver and arguments, and costs one statement; graphql-js executes the others. The
 * texts are joined in the order of the document.
 *
 * @see design "What a GraphQL layer costs"
 */
import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
  locatedError,
} from 'graphql';
import { collectFields } from 'graphql/execution/collectFields.js';
import { objectMarks, type PrintedJson } from '../../../base/json/json.js';
import { joinJson, printResult, toSplicedData } from '../../../base/scalars/json-text.js';
import { isPrintableField, type Print } from '../../resolvers/records/printable.js';
import { isIntrospectionField } from '../limits/introspection-cost.js';
import type { Execute, Introspections } from './introspections.js';
import type { OperationRequest, Outcome } from './prepared-operation.js';

/** `variableValues` are coerced. `execute` is graphql-js. */
export async function splice(
  request: OperationRequest,
  variableValues: Record<string, unknown>,
  { introspections, execute }: { readonly introspections: Introspections; readonly execute: Execute },
): Promise<Outcome> {
  const { prepared, context } = request;
  const { schema, operation, fragments } = prepared;
  const type = schema.getQueryType();
  if (!type) throw new Error('the schema has queries');
  const selected = collectFields(schema, fragments, variableValues, type, operation.selectionSet);
  const fields = [...selected].map(([key, nodes]) =>
    planRootField(key, nodes, type, request, variableValues),
  );
  if (fields.every(({ kind }) => kind === 'executed')) return await execute(request);
  const nodesOf = (kind: RootField['kind']) => fields.flatMap((one) => (one.kind === kind ? one.nodes : []));
  const [executed, introspected] = [nodesOf('executed'), nodesOf('introspected')];
  const [printed, ...others] = await Promise.all([
    Promise.all(
      fields.map((field) => (field.kind === 'printed' ? printRootField(field, context) : undefined)),
    ),
    executed.length > 0 ? execute(request, prepared.part(executed)) : NOTHING,
    introspected.length > 0 ? introspections.answer(request, introspected, execute) : NOTHING,
  ]);
  const errors = [...printed.flatMap((one) => one?.error ?? []), ...others.flatMap((one) => one.errors)];
  if (others.some(({ data }) => data === null)) return { data: null, errors };
  const values: Readonly<Record<string, unknown>> = Object.assign({}, ...others.map(({ data }) => data));
  const texts = fields.map(
    ({ kind, key }, index): PrintedJson =>
      printed[index]?.json ?? printResult(kind === 'typeName' ? type.name : values[key]),
  );
  const { before, end } = objectMarks(fields.map(({ key }) => key));
  const text = joinJson([...texts.flatMap((one, index) => [before[index] ?? '', one]), end]);
  // With errors the data is usually small, and the HTTP status depends on whether there is any.
  const isEmpty = errors.length > 0 && texts.every((one) => one === 'null');
  return { data: isEmpty ? JSON.parse(text.toString()) : toSplicedData(text), errors };
}

const NOTHING: Outcome = { data: {}, errors: [] };

interface PrintedField {
  readonly kind: 'printed';
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  readonly definition: GraphQLField<unknown, unknown>;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly info: GraphQLResolveInfo;
}

type RootField =
  | PrintedField
  | {
      readonly kind: 'typeName' | 'introspected' | 'executed';
      readonly key: string;
      readonly nodes: readonly FieldNode[];
    };

function planRootField(
  key: string,
  nodes: readonly FieldNode[],
  type: GraphQLObjectType,
  { prepared }: OperationRequest,
  variableValues: Record<string, unknown>,
): RootField {
  const [node] = nodes;
  const name = node?.name.value ?? '';
  if (name === '__typename') return { kind: 'typeName', key, nodes };
  if (isIntrospectionField(name)) return { kind: 'introspected', key, nodes };
  const definition = type.getFields()[name];
  const isPrinted = definition !== undefined && isPrintableField(definition);
  const coerced = node && isPrinted ? argumentsOf(definition, node, variableValues) : undefined;
  if (!isPrinted || !coerced) return { kind: 'executed', key, nodes };
  const { schema, fragments, operation } = prepared;
  const info: GraphQLResolveInfo = {
    fieldName: name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType: type,
    path: { prev: undefined, key, typename: type.name },
    schema,
    fragments,
    rootValue: undefined,
    operation,
    variableValues,
  };
  return { kind: 'printed', key, nodes, definition, arguments: coerced, info };
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
  { definition, arguments: args, info }: PrintedField,
  context: object,
): Promise<{ readonly json: PrintedJson; readonly error?: GraphQLError }> {
  try {
    const print = (await definition.resolve?.(undefined, args, context, info)) as Print;
    return { json: await print() };
  } catch (error) {
    return { json: 'null', error: locatedError(error, info.fieldNodes, [info.path.key]) };
  }
}
