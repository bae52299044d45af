/** What resolvers are told of a request that came by GraphQL. Apollo copies it, so it is plain. */

import type { EndedStatement } from '../../model/statement-caller.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import type { OperationTiming } from './operation-timing.js';

export interface GraphqlContext extends RequestContext {
  /** `undefined`: nobody wants to know. */
  readonly timing: OperationTiming | undefined;
  /** The header `X-Include-Extensions`: what a client wants to be told beside the data. */
  readonly includeHeader: string | undefined;
  /** What may be a mistake, though it is no error: shown in `extensions.hints`. */
  readonly hints: () => readonly string[];
  /** Tells the log which error the request was answered with. */
  readonly noteError: (code: string) => void;
  /** Tells the log of slow statements what they are for. */
  readonly noteOperation: (name: string) => void;
  /** From now on hears of every statement of the request that has ended. */
  readonly watchStatements: (listener: (statement: EndedStatement) => void) => void;
}
