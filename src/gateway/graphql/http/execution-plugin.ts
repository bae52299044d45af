/**
 * Connects Apollo's pipeline with the life of an operation: documents that Apollo parsed and validated are
 * cached for the next time, and run through the same steps.
 */
import {
  type ApolloServerPlugin,
  type GraphQLRequestContext,
  type GraphQLRequestListener,
  HeaderMap,
} from '@apollo/server';
import { cachePolicyOf, NO_STORE } from '../caching/cache-policy.js';
import type { GraphqlRequest } from '../operation/graphql-request.js';
import {
  finishErrors,
  type OperationOptions,
  refusalOf,
  reportFault,
  runOperation,
} from '../operation/operation.js';
import type { OperationRequest } from '../operation/operation-request.js';
import type { RepeatedDocuments } from '../operation/repeated-documents.js';
import { httpStatusFor } from './http-status-for.js';

export interface ExecutionOptions extends OperationOptions {
  /** The documents of the server the plugin is for. */
  readonly documents: RepeatedDocuments;
}

type Request = GraphQLRequestContext<GraphqlRequest>;

export function executionPlugin(options: ExecutionOptions): ApolloServerPlugin<GraphqlRequest> {
  // One listener serves all requests, because it keeps no state.
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
      const refusal = refusalOf(ready, options);
      if (refusal) throw refusal;
    },
    responseForOperation: async (request) => {
      const ready = toOperationRequest(request);
      if (!ready) return null;
      const { result, status } = await runOperation(ready, options);
      return { http: { status, headers: new HeaderMap() }, body: { kind: 'single', singleResult: result } };
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

/** Sets the HTTP status and headers of the result, and the request id in every error. */
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
  if (http.status !== undefined) {
    const accept = request.request.http?.headers.get('accept');
    http.status = httpStatusFor(http.status, errors, accept);
  }
  // One failure in a batch: the others are answered, and each result reports its own errors.
  if (request.requestIsBatched) http.status = 200;
}
