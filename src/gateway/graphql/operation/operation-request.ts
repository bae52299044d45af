/** A request to run an operation, and its result. */
import type { GraphQLError } from 'graphql';
import type { RequestContext } from '../../resolvers/request-context.js';
import type { RequestNotes } from '../../resolvers/request-notes.js';
import type { OperationTiming } from './operation-timing.js';
import type { PreparedOperation } from './prepared-operation.js';

/** The caller, as the front end knows it from the HTTP request. */
export interface GraphqlCaller {
  /** The context for resolvers. */
  readonly context: RequestContext;
  readonly notes: RequestNotes;
}

/** A GraphQL request beside its documents. A plain object, because Apollo copies it. */
export interface GraphqlRequest extends GraphqlCaller {
  /** `undefined`: timing is not requested. */
  readonly timing: OperationTiming | undefined;
  /** The header `X-Include-Extensions`: the extensions that a client requests. */
  readonly includeHeader: string | undefined;
}

export interface OperationRequest extends GraphqlRequest {
  readonly prepared: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The extensions of the request, as they were sent. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface Outcome {
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly GraphQLError[];
}
