/** The context of a GraphQL request beside its documents. A plain object, because Apollo copies it. */
import type { RequestContext } from '../../resolvers/request-context.js';
import type { RequestNotes } from '../../resolvers/request-notes.js';
import type { OperationTiming } from './operation-timing.js';

/** The caller, as the front end knows it from the HTTP request. */
export interface GraphqlCaller {
  /** The context for resolvers. */
  readonly context: RequestContext;
  readonly notes: RequestNotes;
}

export interface GraphqlRequest extends GraphqlCaller {
  /** `undefined`: timing is not requested. */
  readonly timing: OperationTiming | undefined;
  /** The header `X-Include-Extensions`: the extensions that a client requests. */
  readonly includeHeader: string | undefined;
}
