/** What resolvers are told of a request that came by GraphQL. Apollo copies it, so it is plain. */
import type { RequestContext } from './request-context.js';

export interface GraphqlContext extends RequestContext {
  /** Tells the log which error the request was answered with. */
  readonly noteError: (code: string) => void;
}
