/**
 * The life of an operation, from a valid document to its answer:
 *
 *   refusalOf      the rights of the caller, the cost; nothing has run
 *   runOperation   its variables, then the splice, or graphql-js
 *   finishErrors   the last touch of errors, and what HTTP says where they are of the whole operation
 *
 * Who read the document makes no difference: `answerOperation` is all of it, for one that is known from
 * before; Apollo, which reads the others, asks for the steps one by one (http/execution-plugin.ts).
 */

import { execute, GraphQLError, type GraphQLFormattedError, Kind, OperationTypeNode } from 'graphql';
import { ERRORS, type ErrorCode, ServiceError } from '../../errors.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import { toSplicedData } from '../../scalars/json-text.js';
import type { FieldMeter } from '../../store/catalog/field-meter.js';
import type { Database } from '../../store/database/database.js';
import type { WaitingLine } from '../../store/database/waiting-line.js';
import type { RecordStore } from '../../store/record-store.js';
import { inSpan } from '../../traced.js';
import type { OperationCosts } from '../limits/operation-cost.js';
import { assertPermitted, type PermissionOptions } from '../limits/permitted.js';
import { formatGraphqlError, isFault, requestFailure } from './graphql-errors.js';
import type { GraphqlRequest } from './graphql-request.js';
import { assertMayExplain, Explanation, wantsOperationExtension } from './operation-extensions.js';
import type { OperationRequest, Outcome } from './operation-request.js';
import { getPlannedVariables } from './planned-variables.js';
import { splice } from './splice.js';
import { assertTransactional, executeInTransaction, isTransaction } from './transaction.js';
import { noteUsedFields } from './used-fields.js';

export interface OperationOptions extends PermissionOptions {
  readonly costs: Pick<OperationCosts, 'assertAffordable' | 'costOf' | 'describe'>;
  /** For mutations in one transaction. */
  readonly store: Pick<RecordStore, 'atomically'>;
  /** The line in which transactions wait: each holds a connection from its beginning to its end. */
  readonly transactions: WaitingLine;
  /** The database that gives plans on request. */
  readonly database: Pick<Database, 'transaction'>;
  /** Hears which fields of collections an operation uses. */
  readonly fieldMeter: Pick<FieldMeter, 'note'>;
  readonly onFault: (error: unknown, requestId: string) => void;
}

interface OperationResult {
  readonly errors?: readonly GraphQLFormattedError[];
  /** Absent: the operation was refused, or did not come to its end. */
  readonly data?: Record<string, unknown> | null;
  readonly extensions?: Record<string, unknown>;
}

/** What becomes of an operation, in the words of GraphQL and of HTTP. */
export interface OperationAnswer {
  readonly result: OperationResult;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** The whole life of an operation whose document is valid. Whatever fails in it is told in the answer. */
export async function answerOperation(
  request: OperationRequest,
  options: OperationOptions,
): Promise<OperationAnswer> {
  const refusal = refusalOf(request, options);
  if (refusal) reportFault(refusal, request.context, options);
  const { result, status } = refusal ? refusedWith([refusal]) : await runOperation(request, options);
  const { errors, failure } = finishErrors(result, request);
  return {
    result: errors.length > 0 ? { ...result, errors } : result,
    status: failure?.status ?? status,
    headers: failure?.headers ?? NO_HEADERS,
  };
}

const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/**
 * Why the operation is not to run: the rights of the caller, its cost, or a fault of ours on the way to know.
 * `undefined`: nothing speaks against it. Nothing has run.
 *
 * `extensions.http` is the status for HTTP, as Apollo reads it.
 */
export function refusalOf(request: OperationRequest, options: OperationOptions): GraphQLError | undefined {
  try {
    checkOperation(request, options);
    return undefined;
  } catch (error) {
    return toRequestError(error);
  }
}

/** @throws ServiceError, GraphQLError, RangeError */
function checkOperation(request: OperationRequest, options: OperationOptions): void {
  request.notes.noteCost(assertPermitted(request, options));
  if (wantsOperationExtension('explain', request)) assertMayExplain(request.context);
  if (isTransaction(request)) assertTransactional(request);
}

/** What speaks against an operation, as the answer to the whole of it. */
function toRequestError(error: unknown): GraphQLError {
  // A cost that cannot be told is the fault of a variable or an argument.
  if (error instanceof GraphQLError) return requestError(error, 400, 'BAD_USER_INPUT');
  if (error instanceof RangeError) {
    const message = 'The document or its variables are nested too deeply.';
    const known = new ServiceError('MALFORMED_REQUEST', message, { cause: error });
    return requestError(known, known.status);
  }
  return toFailure(error);
}

function toFailure(error: unknown): GraphQLError {
  if (error instanceof ServiceError) return requestError(error, error.status);
  return requestError(error instanceof Error ? error : new Error(String(error)), ERRORS.INTERNAL.status);
}

function requestError(original: Error, status: number, code?: string): GraphQLError {
  const extensions = { ...(code !== undefined && { code }), http: { status } };
  return new GraphQLError(original.message, { originalError: original, extensions });
}

/** What running an operation gives, before its errors get their last touch. */
export interface OperationRun {
  readonly result: OperationResult;
  readonly status: number;
}

function refusedWith(errors: readonly GraphQLError[]): OperationRun {
  const http = errors[0]?.extensions.http;
  const status = typeof http === 'object' && http !== null && 'status' in http ? Number(http.status) : 400;
  return { result: { errors: errors.map((error) => formatGraphqlError(error.toJSON(), error)) }, status };
}

/** Runs an operation that nothing speaks against. A fault of ours is told and is the answer. */
export async function runOperation(
  request: OperationRequest,
  options: OperationOptions,
): Promise<OperationRun> {
  const { schema, operation } = request;
  // graphql-js coerces the variables of what it executes, and 10,000 records are not to be coerced twice.
  if (operation.operation === OperationTypeNode.MUTATION && !isTransaction(request)) {
    return await runCoerced(request, undefined, options);
  }
  const { coerced, errors } = getPlannedVariables(schema, operation, request.variables);
  if (!coerced) return refusedWith(errors.map(toVariableError));
  return await runCoerced(request, coerced, options);
}

/** What graphql-js says of variables that do not fit. */
class RefusedVariables extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('variables do not fit');
  }
}

/** `coerced`: the variables, where they are not left to graphql-js. */
async function runCoerced(
  request: OperationRequest,
  coerced: Record<string, unknown> | undefined,
  options: OperationOptions,
): Promise<OperationRun> {
  try {
    return { result: await answerCoerced(request, coerced, options), status: 200 };
  } catch (error) {
    if (error instanceof RefusedVariables) return refusedWith(error.errors.map(toVariableError));
    const failure = toFailure(error);
    reportFault(failure, request.context, options);
    return refusedWith([failure]);
  }
}

/** As Apollo names what does not fit; that there are too many of them is said of no variable. */
function toVariableError(error: GraphQLError): GraphQLError {
  if (error.nodes?.[0]?.kind !== Kind.VARIABLE_DEFINITION) return error;
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    originalError: error.originalError ?? error,
    extensions: { ...error.extensions, code: 'BAD_USER_INPUT' },
  });
}

async function answerCoerced(
  request: OperationRequest,
  coerced: Record<string, unknown> | undefined,
  options: OperationOptions,
): Promise<OperationResult> {
  const { operation, notes } = request;
  if (operation.name) notes.noteOperation(operation.name.value);
  const explanation = wantsOperationExtension('explain', request) ? new Explanation(notes) : undefined;
  const ended = request.timing?.start('execute');
  const name = `graphql ${operation.operation}`;
  const attributes = {
    'graphql.operation.type': operation.operation,
    ...(operation.name && { 'graphql.operation.name': operation.name.value }),
  };
  const { data, errors } = await inSpan({ name, kind: 'internal', attributes }, () =>
    executeOrSplice(request, coerced, options),
  );
  ended?.();
  for (const error of errors) reportFault(error, request.context, options);
  const formatted = errors.map((error) => formatGraphqlError(error.toJSON(), error));
  // What a caller may not use is no use of it: else it could keep a field from being dropped.
  const isForbidden = formatted.some(({ extensions: told }) => told?.code === 'FORBIDDEN');
  if (!isForbidden) noteUsedFields(request, options.fieldMeter);
  const extensions = await readExtensions(request, explanation, options);
  return {
    ...(formatted.length > 0 && { errors: formatted }),
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
  variableValues: Record<string, unknown> | undefined,
  { store, transactions }: OperationOptions,
): Promise<Outcome> {
  if (variableValues === undefined) return await executeOperation(request);
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
  const data = errors.length > 0 && spliced.isEmpty ? JSON.parse(text.toString()) : toSplicedData(text);
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
  if (data === undefined) throw new RefusedVariables(errors);
  return { data, errors };
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

/**
 * Errors as they leave, the request id in each; and what HTTP says where they are of the whole request.
 */
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
