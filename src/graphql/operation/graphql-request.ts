/**
 * What is known of a request that asks by GraphQL, beside its documents. Apollo copies it, so it is plain.
 */
import type { RequestContext } from '../../resolvers/request-context.js';
import type { RequestNotes } from '../../resolvers/request-notes.js';
import type { OperationTiming } from './operation-timing.js';

/** The caller as the front end knows it from the HTTP request. */
export interface GraphqlCaller {
  /** What resolvers are told. */
  readonly context: RequestContext;
  readonly notes: RequestNotes;
}

export interface GraphqlRequest extends GraphqlCaller {
  /** `undefined`: nobody wants to know. */
  readonly timing: OperationTiming | undefined;
  /** The header `X-Include-Extensions`: what a client wants to be told beside the data. */
  readonly includeHeader: string | undefined;
}
