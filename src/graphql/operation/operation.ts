/**
 * What happens between a valid document and its answer: the caller's rights and the cost are checked, the splice is tried, errors
 * get their last touch. Apollo's pipeline (execution-plugin.ts) and the short way of documents that are sent again
 * (serve-graphql.ts) both go through here.
 */
import {
  execute,
  GraphQLError,
  type GraphQLFormattedError,
  getVariableValues,
  OperationTypeNode,
} from 'graphql';
import { ERRORS, type ErrorCode } from '../../errors.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import { toSplicedData } from '../../scalars/json-text.js';
import type { Database } from '../../store/database/database.js';
import type { WaitingLine } from '../../store/database/waiting-line.js';
import type { RecordStore } from '../../store/record-store.js';
import { assertFilterVariables } from '../limits/filter-variables.js';
import { assertMayIntrospect } from '../limits/may-introspect.js';
import type { OperationCosts } from '../limits/operation-cost.js';
import { formatGraphqlError, isFault, requestFailure } from './graphql-errors.js';
import type { GraphqlRequest } from './graphql-request.js';
import { assertMayExplain, Explanation, wantsOperationExtension } from './operation-extensions.js';
import type { OperationRequest, Outcome } from './operation-request.js';
import { splice } from './splice.js';
import { assertTransactional, executeInTransaction, isTransaction } from './transaction.js';

export interface OperationOptions {
  readonly costs: OperationCosts;
  readonly introspectionRoles: readonly string[];
  /** For mutations in one transaction. */
  readonly store: Pick<RecordStore, 'atomically'>;
  /** Where they wait: each holds a connection from its beginning to its end. */
  readonly transactions: WaitingLine;
  /** For plans on request. */
  readonly database: Pick<Database, 'transaction'>;
  readonly onFault: (error: unknown, requestId: string) => void;
}

export interface OperationResult {
  readonly errors?: readonly GraphQLFormattedError[];
  readonly data: Record<string, unknown> | null;
  readonly extensions?: Record<string, unknown>;
}

/** @throws ServiceError, GraphQLError, RangeError: nothing has run then */
export function checkOperation(request: OperationRequest, options: OperationOptions): void {
  const { document, variables, context } = request;
  assertMayIntrospect(document, context, options.introspectionRoles);
  assertFilterVariables(document, variables);
  options.costs.assertAffordable(request);
  if (wantsOperationExtension('explain', request)) assertMayExplain(context);
  if (isTransaction(request)) assertTransactional(request);
}

/** Runs a checked operation. `undefined`: its variables do not fit, which graphql-js puts into words, and nothing has run. */
export async function runOperation(
  request: OperationRequest,
  options: OperationOptions,
): Promise<OperationResult | undefined> {
  const { schema, operation, notes } = request;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], request.variables);
  if (!coerced) return undefined;
  if (operation.name) notes.noteOperation(operation.name.value);
  const explanation = wantsOperationExtension('explain', request) ? new Explanation(notes) : undefined;
  const ended = request.timing?.start('execute');
  const { data, errors } = await executeOrSplice(request, coerced, options);
  ended?.();
  for (const error of errors) reportFault(error, request.context, options);
  const extensions = await readExtensions(request, explanation, options);
  return {
    ...(errors.length > 0 && { errors: errors.map((error) => formatGraphqlError(error.toJSON(), error)) }),
    data,
    ...(extensions && { extensions }),
  };
}

async function readExtensions(
  request: OperationRequest,
  explanation: Explanation | undefined,
  options: OperationOptions,
): Promise<Record<string, unknown> | undefined> {
  const wantsCost = wantsOperationExtension('cost', request);
  const hints = request.notes.hints;
  if (!wantsCost && !explanation && hints.length === 0) return undefined;
  const isQuery = request.operation.operation === OperationTypeNode.QUERY;
  return {
    ...(hints.length > 0 && { hints }),
    ...(wantsCost && { cost: options.costs.describe(request) }),
    ...(explanation && { explain: await explanation.explain(options.database, isQuery ? 'run' : 'guess') }),
  };
}

async function executeOrSplice(
  request: OperationRequest,
  variableValues: Record<string, unknown>,
  { store, transactions }: OperationOptions,
): Promise<Outcome> {
  if (isTransaction(request)) {
    const execution = { variableValues, execute: executeOperation };
    return await executeInTransaction(request, { store, line: transactions }, execution);
  }
  return (await spliceOperation(request, variableValues)) ?? (await executeOperation(request));
}

async function spliceOperation(
  request: OperationRequest,
  coerced: Record<string, unknown>,
): Promise<Outcome | undefined> {
  const { schema, document, operation, context } = request;
  const spliced = await splice({ schema, document, operation, context, variableValues: coerced });
  if (!spliced) return undefined;
  const { text, errors } = spliced;
  // Few and small, and what HTTP says depends on whether there is data at all.
  const data = errors.length > 0 && spliced.isEmpty ? JSON.parse(text) : toSplicedData(text);
  return { data, errors };
}

async function executeOperation(request: OperationRequest): Promise<Outcome> {
  const { schema, document, operation, variables, context } = request;
  const { data, errors = [] } = await execute({
    schema,
    document,
    contextValue: context,
    variableValues: variables,
    operationName: operation.name?.value,
  });
  return { data: data ?? null, errors };
}

export function reportFault(
  error: GraphQLError,
  context: Pick<RequestContext, 'requestId' | 'signal'>,
  options: Pick<OperationOptions, 'onFault'>,
): void {
  // A caller who has gone ended the work; nothing failed.
  if (isFault(error) && !context.signal.aborted)
    options.onFault(error.originalError ?? error, context.requestId);
}

/** Errors as they leave, the request id in each; and what HTTP says where they are of the whole request. */
export function finishErrors(
  result: { readonly errors?: readonly GraphQLFormattedError[] | undefined; readonly data?: unknown },
  { context, notes }: GraphqlRequest,
): {
  readonly errors: readonly GraphQLFormattedError[];
  readonly failure: ReturnType<typeof requestFailure>;
} {
  const errors = (result.errors ?? []).map((error) => finishError(error, context));
  const code = errors[0]?.extensions?.code;
  if (isErrorCode(code)) notes.noteError(code);
  return {
    errors,
    failure: errors.length > 0 && isEmpty(result.data) ? requestFailure(errors) : undefined,
  };
}

/** What is said of a document, or of its variables, names what is in the schema. */
const SCHEMA_CODES: ReadonlySet<unknown> = new Set(['GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']);

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}

function finishError(error: GraphQLFormattedError, context: RequestContext): GraphQLFormattedError {
  const extensions = { ...error.extensions, requestId: context.requestId };
  if (context.scope === undefined && SCHEMA_CODES.has(error.extensions?.code)) {
    return { message: 'It is not valid; what is wrong is told to callers with a credential.', extensions };
  }
  return { ...error, extensions };
}

function isEmpty(data: unknown): boolean {
  if (data === null || data === undefined) return true;
  return typeof data === 'object' && Object.values(data).every((value) => value === null);
}
