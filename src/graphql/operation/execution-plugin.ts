/** Where Apollo's pipeline meets `operation.ts`: what it parsed and validated is checked, run and kept for when it is sent again. */
import {
  type ApolloServerPlugin,
  type GraphQLRequestContext,
  type GraphQLRequestListener,
  HeaderMap,
} from '@apollo/server';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ServiceError } from '../../errors.js';
import { cachePolicyOf, NO_STORE } from '../caching/cache-policy.js';
import type { GraphqlRequest } from './graphql-request.js';
import {
  checkOperation,
  finishErrors,
  type OperationOptions,
  reportFault,
  runOperation,
} from './operation.js';
import type { OperationRequest } from './operation-request.js';
import type { RepeatedDocuments } from './repeated-documents.js';

export interface ExecutionOptions extends OperationOptions {
  /** Of the server the plugin is for. */
  readonly documents: RepeatedDocuments;
}

type Request = GraphQLRequestContext<GraphqlRequest>;

export function executionPlugin(options: ExecutionOptions): ApolloServerPlugin<GraphqlRequest> {
  // One listener serves all requests: it keeps nothing of any.
  const listener: GraphQLRequestListener<GraphqlRequest> = {
    parsingDidStart: async ({ contextValue }) => {
      const ended = contextValue.timing?.start('parse');
      return async () => ended?.();
    },
    validationDidStart: async ({ contextValue }) => {
      const ended = contextValue.timing?.start('validate');
      return async () => ended?.();
    },
    didResolveOperation: async (request) => {
      const ready = toOperationRequest(request);
      if (!ready) return;
      if (request.source !== undefined) {
        options.documents.keep(request.source, request.request.operationName ?? undefined, ready);
      }
      try {
        checkOperation(ready, options);
      } catch (error) {
        throw toRequestError(error);
      }
    },
    responseForOperation: async (request) => {
      const ready = toOperationRequest(request);
      const result = ready && (await runOperation(ready, options));
      if (!result) return null;
      return { http: { headers: new HeaderMap() }, body: { kind: 'single', singleResult: result } };
    },
    didEncounterErrors: async ({ errors, contextValue }) => {
      for (const error of errors) reportFault(error, contextValue.context, options);
    },
    willSendResponse: async (request) => finishResponse(request),
  };
  return { requestDidStart: async () => listener };
}

function toOperationRequest(request: Request): OperationRequest | undefined {
  const { schema, document, operation, contextValue } = request;
  if (document === undefined || !operation) return undefined;
  const { variables = {}, extensions = {} } = request.request;
  return { ...contextValue, schema, document, operation, variables, extensions };
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

/** What HTTP says of the result; the request id into every error. */
function finishResponse(request: Request): void {
  const { response, contextValue } = request;
  if (response.body?.kind !== 'single') return;
  const result = response.body.singleResult;
  const { http } = response;
  const isGet = request.request.http?.method === 'GET';
  if (!result.errors || result.errors.length === 0) {
    const ready = toOperationRequest(request);
    if (ready && request.request.http?.method === 'GET')
      http.headers.set('cache-control', cachePolicyOf(ready));
    return;
  }
  const { errors, failure } = finishErrors(result, contextValue);
  result.errors = errors;
  if (isGet) http.headers.set('cache-control', NO_STORE);
  if (failure) {
    http.status = failure.status;
    for (const [name, value] of failure.headers) http.headers.set(name, value);
  }
  if (http.status === 400 && isOfDocument(errors) && takesJsonAlone(request)) http.status = 200;
  // One of several that failed: the others are answered, and each says how it went.
  if (request.requestIsBatched) http.status = 200;
}

/** The request was in order, what it asks for is not. */
const DOCUMENT_CODES: ReadonlySet<unknown> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
  'LIMIT_EXCEEDED',
  'INVALID_VALUE',
]);

function isOfDocument(errors: readonly GraphQLFormattedError[]): boolean {
  return errors.every(({ extensions }) => DOCUMENT_CODES.has(extensions?.code));
}

/** Clients of before `application/graphql-response+json` take any other status for the failure of a proxy. @see GraphQL over HTTP, 6.4.1 */
function takesJsonAlone({ request }: Request): boolean {
  const accept = request.http?.headers.get('accept');
  return accept !== undefined && /^application\/json\b/i.test(accept) && !accept.includes('graphql-response');
}
