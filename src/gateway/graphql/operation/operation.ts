/**
 * The life of an operation, from a valid document to its answer:
 *
 *   refusalOf      the rights of the caller, the cost; nothing has run
 *   runOperation   its variables, then the splice and graphql-js
 *   finishErrors   formats errors, and sets the HTTP status if they concern the whole operation
 *
 * `answerOperation` does it all for a known document; for others Apollo calls the steps one by one
 * (http/execution-plugin.ts).
 */
import {
  execute,
  GraphQLError,
  type GraphQLFormattedError,
  getVariableValues,
  Kind,
  OperationTypeNode,
} from 'graphql';
import { ERRORS, isErrorCode, ServiceError } from '../../../base/errors.js';
import { inSpan } from '../../../base/process/traced.js';
import type { FieldMeter } from '../../../store/catalog/field-uses.js';
import type { Database } from '../../../store/database/database.js';
import type { RecordStore } from '../../../store/record-store.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import type { OperationCosts } from '../limits/operation-cost.js';
import { assertPermitted, type PermissionOptions } from '../limits/permitted.js';
import { formatGraphqlError, isFault, requestFailure } from './graphql-errors.js';
import type { Introspections } from './introspections.js';
import { assertMayExplain, Explanation, wantsOperationExtension } from './operation-extensions.js';
import { withoutHiddenNames } from './part-of-schema.js';
import type {
  GraphqlRequest,
  OperationRequest,
  OperationSchema,
  Outcome,
  PreparedOperation,
} from './prepared-operation.js';
import { splice } from './splice.js';
import { assertTransactional, executeInTransaction, isTransaction } from './transaction.js';
import { noteUsedFields } from './used-fields.js';

export interface OperationOptions extends PermissionOptions {
  readonly costs: Pick<OperationCosts, 'assertAffordable' | 'costOf' | 'describe'>;
  /** For mutations in one transaction. */
  readonly store: Pick<RecordStore, 'transaction'>;
  readonly introspections: Introspections;
  /** Explains statements on request. */
  readonly database: Pick<Database, 'transaction'>;
  /** Records which fields of collections an operation uses. */
  readonly fieldMeter: Pick<FieldMeter, 'note'>;
  readonly onFault: (error: unknown, requestId: string) => void;
}

interface OperationResult {
  readonly errors?: readonly GraphQLFormattedError[];
  /** Absent if the operation was refused, or did not complete. */
  readonly data?: Record<string, unknown> | null;
  readonly extensions?: Record<string, unknown>;
}

/** The result of an operation, for GraphQL and HTTP. */
export interface OperationAnswer {
  readonly result: OperationResult;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** Runs an operation whose document is valid. Every failure is part of the answer. */
export async function answerOperation(
  request: OperationRequest,
  options: OperationOptions,
): Promise<OperationAnswer> {
  const refusal = refusalOf(request, options);
  if (refusal) reportFault(refusal, request.context, options);
  const { result, status } = refusal ? refusedWith([refusal]) : await runOperation(request, options);
  const { errors, failure } = finishErrors(result, request, request.prepared.served);
  return {
    result: errors.length > 0 ? { ...result, errors } : result,
    status: failure?.status ?? status,
    headers: failure?.headers ?? NO_HEADERS,
  };
}

const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/**
 * Why the operation must not run: the caller's rights, its cost, or a fault of ours in checking these.
 * `undefined` if nothing prevents it. Nothing has run.
 *
 * `extensions.http` is the HTTP status, in Apollo's form.
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
  request.notes.cost = (request.notes.cost ?? 0) + assertPermitted(request, options);
  if (wantsOperationExtension('explain', request)) assertMayExplain(request.context);
  if (isTransaction(request)) assertTransactional(request);
}

/** The refusal of an operation, as the answer to the whole of it. */
function toRequestError(error: unknown): GraphQLError {
  // If the cost cannot be computed, a variable or an argument is wrong.
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

/** The result of running an operation, before its errors are formatted. */
export interface OperationRun {
  readonly result: OperationResult;
  readonly status: number;
}

function refusedWith(errors: readonly GraphQLError[]): OperationRun {
  const http = errors[0]?.extensions.http;
  const status = typeof http === 'object' && http !== null && 'status' in http ? Number(http.status) : 400;
  return { result: { errors: errors.map((error) => formatGraphqlError(error.toJSON(), error)) }, status };
}

/** Runs an operation that was not refused. A fault of ours is reported and becomes the answer. */
export async function runOperation(
  request: OperationRequest,
  options: OperationOptions,
): Promise<OperationRun> {
  try {
    return { result: await runAndFormat(request, options), status: 200 };
  } catch (error) {
    if (error instanceof RefusedVariables) return refusedWith(error.errors.map(toVariableError));
    const failure = toFailure(error);
    reportFault(failure, request.context, options);
    return refusedWith([failure]);
  }
}

/** The errors of graphql-js about variables that do not fit. */
class RefusedVariables extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('variables do not fit');
  }
}

/** Uses Apollo's message for a variable that does not fit; "too many errors" concerns no single variable. */
function toVariableError(error: GraphQLError): GraphQLError {
  if (error.nodes?.[0]?.kind !== Kind.VARIABLE_DEFINITION) return error;
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    originalError: error.originalError ?? error,
    extensions: { ...error.extensions, code: 'BAD_USER_INPUT' },
  });
}

async function runAndFormat(request: OperationRequest, options: OperationOptions): Promise<OperationResult> {
  const { prepared, notes } = request;
  const { operation } = prepared;
  if (operation.name) notes.operation = operation.name.value;
  const explanation = wantsOperationExtension('explain', request) ? new Explanation(notes) : undefined;
  const ended = request.timing?.start('execute');
  const name = `graphql ${operation.operation}`;
  const attributes = {
    'graphql.operation.type': operation.operation,
    ...(operation.name && { 'graphql.operation.name': operation.name.value }),
  };
  const { data, errors } = await inSpan({ name, kind: 'internal', attributes }, () =>
    answer(request, options),
  );
  ended?.();
  for (const error of errors) reportFault(error, request.context, options);
  const formatted = errors.map((error) => formatGraphqlError(error.toJSON(), error));
  // A refused operation is not a use: otherwise callers without the right could keep a field from being
  // dropped.
  const isForbidden = formatted.some(({ extensions: one }) => one?.code === 'FORBIDDEN');
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
  const isQuery = request.prepared.operation.operation === OperationTypeNode.QUERY;
  return {
    ...(hints.length > 0 && { hints }),
    ...(wantsCost && { cost: options.costs.describe(request) }),
    ...(explanation && { explain: await explanation.explain(options.database, isQuery ? 'run' : 'guess') }),
  };
}

async function answer(
  request: OperationRequest,
  { store, introspections }: OperationOptions,
): Promise<Outcome> {
  const execute = executeOperation;
  const isOneTransaction = isTransaction(request);
  // graphql-js coerces the variables of what it executes, and 10,000 records should not be coerced twice.
  const isQuery = request.prepared.operation.operation === OperationTypeNode.QUERY;
  if (!isQuery && !isOneTransaction) return await execute(request);
  const variableValues = coerceVariables(request);
  if (isQuery) return await splice(request, variableValues, { introspections, execute });
  return await executeInTransaction(request, store, { variableValues, execute });
}

const MAX_VARIABLE_ERRORS = 50;

/** @throws RefusedVariables */
function coerceVariables({ prepared, variables }: OperationRequest): Record<string, unknown> {
  const { schema, operation } = prepared;
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, {
    maxErrors: MAX_VARIABLE_ERRORS,
  });
  if (coerced) return coerced;
  throw new RefusedVariables(errors);
}

async function executeOperation(
  { prepared, variables, context }: OperationRequest,
  { schema, document }: Pick<PreparedOperation, 'schema' | 'document'> = prepared,
): Promise<Outcome> {
  const { operation } = prepared;
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
  // If the caller disconnected, the work was aborted; nothing failed.
  if (isFault(error) && !context.signal.aborted)
    options.onFault(error.originalError ?? error, context.requestId);
}

/** Formats errors with the request id, and sets the HTTP status if they concern the whole request. */
export function finishErrors(
  result: { readonly errors?: readonly GraphQLFormattedError[] | undefined; readonly data?: unknown },
  { context, notes }: GraphqlRequest,
  served: Pick<OperationSchema, 'shownTo'>,
): {
  readonly errors: readonly GraphQLFormattedError[];
  readonly failure: ReturnType<typeof requestFailure>;
} {
  const errors = (result.errors ?? []).map((error) => finishError(error, context, served));
  const code = errors[0]?.extensions?.code;
  if (isErrorCode(code)) notes.errorCode = code;
  return {
    errors,
    failure: errors.length > 0 && isEmpty(result.data) ? requestFailure(errors) : undefined,
  };
}

/** These errors about documents and variables disclose names of the schema. */
const SCHEMA_CODES: ReadonlySet<unknown> = new Set(['GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']);

/** Adds the request id, and leaves out the names that the caller may not know. */
export function finishError(
  error: GraphQLFormattedError,
  context: RequestContext,
  served: Pick<OperationSchema, 'shownTo'>,
): GraphQLFormattedError {
  const extensions = { ...error.extensions, requestId: context.requestId };
  if (!SCHEMA_CODES.has(error.extensions?.code)) return { ...error, extensions };
  if (context.scope === undefined) {
    return { message: 'Invalid document. Authenticate to see details.', extensions };
  }
  return {
    ...error,
    message: withoutHiddenNames(error.message, () => served.shownTo(context).schema),
    extensions,
  };
}

function isEmpty(data: unknown): boolean {
  if (data === null || data === undefined) return true;
  return typeof data === 'object' && Object.values(data).every((value) => value === null);
}
