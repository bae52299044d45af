/** What happens between a valid document and its answer: the caller's rights and the cost are checked, the splice is tried, errors get their last touch. */
import {
  type ApolloServerPlugin,
  type GraphQLRequestContext,
  type GraphQLRequestListener,
  HeaderMap,
} from '@apollo/server';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ServiceError } from '../errors.js';
import type { GraphqlContext } from './graphql-context.js';
import { formatError, isFault, requestFailure } from './graphql-errors.js';
import { toSplicedData } from './json-text.js';
import { assertFilterVariables } from './limits/filter-variables.js';
import { assertMayIntrospect } from './limits/introspection.js';
import type { OperationCosts } from './limits/operation-cost.js';
import { splice } from './splice.js';

export interface ExecutionOptions {
  readonly costs: OperationCosts;
  readonly introspectionRoles: readonly string[];
  readonly onFault: (error: unknown, requestId: string) => void;
}

export function executionPlugin(options: ExecutionOptions): ApolloServerPlugin<GraphqlContext> {
  // One listener serves all requests: it keeps nothing of any.
  const listener: GraphQLRequestListener<GraphqlContext> = {
    didResolveOperation: async (request) => checkOperation(request, options),
    responseForOperation: async (request) => await spliceResponse(request, options),
    didEncounterErrors: async ({ errors, contextValue }) => {
      for (const error of errors) reportFault(error, contextValue, options);
    },
    willSendResponse: async (request) => finishErrors(request),
  };
  return { requestDidStart: async () => listener };
}

type Resolved = Pick<
  Required<GraphQLRequestContext<GraphqlContext>>,
  'schema' | 'document' | 'operation' | 'request' | 'contextValue'
>;

function isResolved(
  request: GraphQLRequestContext<GraphqlContext>,
): request is GraphQLRequestContext<GraphqlContext> & Resolved {
  return request.document !== undefined && request.operation !== undefined;
}

function checkOperation(request: GraphQLRequestContext<GraphqlContext>, options: ExecutionOptions): void {
  if (!isResolved(request)) return;
  const { schema, document, operation, contextValue } = request;
  try {
    assertMayIntrospect(document, contextValue, options.introspectionRoles);
    assertFilterVariables(document, request.request.variables ?? {});
    options.costs.assertAffordable({
      schema,
      document,
      operation,
      variables: request.request.variables ?? {},
    });
  } catch (error) {
    throw toRequestError(error);
  }
}

/** An error before execution, which is the answer to the whole request. */
function toRequestError(error: unknown): unknown {
  if (error instanceof GraphQLError) {
    // A cost that cannot be told is the fault of a variable or an argument.
    return new GraphQLError(error.message, {
      originalError: error,
      extensions: { code: 'BAD_USER_INPUT', http: httpOf(400) },
    });
  }
  const known =
    error instanceof RangeError
      ? new ServiceError('MALFORMED_REQUEST', 'The document or its variables are nested too deeply.', {
          cause: error,
        })
      : error;
  if (!(known instanceof ServiceError)) return error;
  return new GraphQLError(known.message, {
    originalError: known,
    extensions: { http: httpOf(known.status) },
  });
}

function httpOf(status: number) {
  return { status, headers: new HeaderMap() };
}

async function spliceResponse(
  request: GraphQLRequestContext<GraphqlContext>,
  options: ExecutionOptions,
): ReturnType<NonNullable<GraphQLRequestListener<GraphqlContext>['responseForOperation']>> {
  if (!isResolved(request)) return null;
  const { schema, document, operation, contextValue } = request;
  const spliced = await splice({
    schema,
    document,
    operation,
    variables: request.request.variables ?? {},
    context: contextValue,
  });
  if (!spliced) return null;
  const { text, errors } = spliced;
  for (const error of errors) reportFault(error, contextValue, options);
  return {
    http: { headers: new HeaderMap() },
    body: {
      kind: 'single',
      singleResult: {
        ...(errors.length > 0 && { errors: errors.map((error) => formatError(error.toJSON(), error)) }),
        data: text === 'null' ? null : toSplicedData(text),
      },
    },
  };
}

function reportFault(error: GraphQLError, context: GraphqlContext, options: ExecutionOptions): void {
  // A caller who has gone ended the work; nothing failed.
  if (isFault(error) && !context.signal.aborted)
    options.onFault(error.originalError ?? error, context.requestId);
}

/** The request id into every error; where the whole request failed, HTTP says so. */
function finishErrors({ response, contextValue }: GraphQLRequestContext<GraphqlContext>): void {
  if (response.body?.kind !== 'single') return;
  const result = response.body.singleResult;
  if (!result.errors || result.errors.length === 0) return;
  result.errors = result.errors.map((error) => finishError(error, contextValue));
  const code = result.errors[0]?.extensions?.code;
  if (typeof code === 'string') contextValue.noteError(code);
  if (!isEmpty(result.data)) return;
  const failure = requestFailure(result.errors);
  if (!failure) return;
  response.http.status = failure.status;
  for (const [name, value] of failure.headers) response.http.headers.set(name, value);
}

function finishError(error: GraphQLFormattedError, context: GraphqlContext): GraphQLFormattedError {
  // Suggestions name what is in the schema, which who has no credential may not ask for.
  const message = context.scope ? error.message : error.message.replace(/ ?Did you mean .*\?$/, '');
  return { ...error, message, extensions: { ...error.extensions, requestId: context.requestId } };
}

function isEmpty(data: unknown): boolean {
  if (data === null || data === undefined) return true;
  return typeof data === 'object' && Object.values(data).every((value) => value === null);
}
