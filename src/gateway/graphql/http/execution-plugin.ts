/**
 * Connects Apollo's pipeline with the life of an operation. Apollo reads the request; this plugin prepares
 * the document, so that Apollo neither parses nor validates it, and runs the operation.
 */
import {
  type ApolloServerPlugin,
  type GraphQLRequestContext,
  type GraphQLRequestListener,
  HeaderMap,
} from '@apollo/server';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  Kind,
  OperationTypeNode,
} from 'graphql';
import { formatGraphqlError } from '../operation/graphql-errors.js';
import {
  finishErrors,
  type OperationOptions,
  refusalOf,
  reportFault,
  runOperation,
} from '../operation/operation.js';
import {
  type GraphqlRequest,
  NO_STORE,
  type OperationRequest,
  PreparedOperation,
} from '../operation/prepared-operation.js';
import type { ServedSchema } from '../operation/served-schema.js';

type Request = GraphQLRequestContext<GraphqlRequest>;

/** The document of every request for Apollo. The plugin knows the real one. */
const NO_DOCUMENT: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

export function executionPlugin(
  served: ServedSchema,
  options: OperationOptions,
): ApolloServerPlugin<GraphqlRequest> {
  return { requestDidStart: async () => new Execution(served, options) };
}

/** One operation on its way through Apollo. */
class Execution implements GraphQLRequestListener<GraphqlRequest> {
  readonly #served: ServedSchema;
  readonly #options: OperationOptions;
  #prepared: PreparedOperation | undefined;
  /** The errors of the document. */
  #errors: readonly GraphQLError[] = [];

  constructor(served: ServedSchema, options: OperationOptions) {
    this.#served = served;
    this.#options = options;
  }

  /** Apollo parses and validates what has no document yet. */
  async didResolveSource(request: Request): Promise<void> {
    const { source = '', contextValue } = request;
    const { operationName = undefined } = request.request;
    const prepared = this.#served.tryToPrepare(source, operationName, contextValue.timing);
    if (prepared instanceof PreparedOperation) this.#prepared = prepared;
    else this.#errors = prepared;
    Object.assign(request, { document: NO_DOCUMENT });
  }

  async didResolveOperation(request: Request): Promise<void> {
    const ready = this.#toOperationRequest(request);
    // The other errors of the document are added to the response.
    if (!ready) throw this.#errors[0];
    assertMethod(request, ready.prepared.operation.operation);
    const refusal = refusalOf(ready, this.#options);
    if (refusal) throw refusal;
  }

  async responseForOperation(request: Request) {
    const ready = this.#toOperationRequest(request);
    if (!ready) return null;
    const { result, status } = await runOperation(ready, this.#options);
    const body = { kind: 'single', singleResult: result } as const;
    return { http: { status, headers: new HeaderMap() }, body };
  }

  async didEncounterErrors({ errors, contextValue }: Request): Promise<void> {
    for (const error of errors ?? []) reportFault(error, contextValue.context, this.#options);
  }

  /** Sets the HTTP status and headers of the result, and the request id in every error. */
  async willSendResponse({ request, response, contextValue, requestIsBatched }: Request): Promise<void> {
    if (response.body?.kind !== 'single') return;
    const result = response.body.singleResult;
    const { http } = response;
    const isGet = request.http?.method === 'GET';
    if (!result.errors || result.errors.length === 0) {
      if (isGet && this.#prepared) http.headers.set('cache-control', this.#prepared.cachePolicy);
      return;
    }
    const others = this.#errors.slice(1).map((error) => formatGraphqlError(error.toJSON(), error));
    const { errors, failure } = finishErrors(
      { ...result, errors: [...result.errors, ...others] },
      contextValue,
      this.#served,
    );
    result.errors = errors;
    if (isGet) http.headers.set('cache-control', NO_STORE);
    for (const [name, value] of failure?.headers ?? []) http.headers.set(name, value);
    const status = failure?.status ?? http.status;
    if (status !== undefined) {
      http.status = httpStatusFor(status, errors, request.http?.headers.get('accept'));
    }
    // One failure in a batch: the others are answered, and each result reports its own errors.
    if (requestIsBatched) http.status = 200;
  }

  #toOperationRequest({ request, contextValue }: Request): OperationRequest | undefined {
    const { variables = {}, extensions = {} } = request;
    return this.#prepared && { ...contextValue, prepared: this.#prepared, variables, extensions };
  }
}

/** A GET must not change anything. In the words of Apollo. */
function assertMethod({ request }: Request, type: OperationTypeNode): void {
  if (request.http?.method !== 'GET' || type === OperationTypeNode.QUERY) return;
  throw new GraphQLError(`GET requests only support query operations, not ${type} operations`, {
    extensions: {
      code: 'BAD_REQUEST',
      http: { status: 405, headers: new HeaderMap([['allow', 'POST']]) },
    },
  });
}

/** The request was well-formed, but its document or operation is wrong. */
const DOCUMENT_CODES: ReadonlySet<unknown> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
  'LIMIT_EXCEEDED',
  'INVALID_VALUE',
]);

/**
 * Clients older than `application/graphql-response+json` take any status but 200 for the failure of a proxy.
 *
 * @see GraphQL over HTTP, 6.4.1
 */
export function httpStatusFor(
  status: number,
  errors: readonly GraphQLFormattedError[],
  accept: string | undefined,
): number {
  const isOfDocument = errors.every(({ extensions }) => DOCUMENT_CODES.has(extensions?.code));
  const takesJsonAlone = /^application\/json\b(?!.*graphql-response)/i.test(accept ?? '');
  return status === 400 && isOfDocument && takesJsonAlone ? 200 : status;
}
