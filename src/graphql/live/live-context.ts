/** What a subscription works with, beside what every operation knows of its request. */
import type { GraphQLResolveInfo } from 'graphql';
import { ServiceError } from '../../errors.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import type { EventQueue } from './event-queue.js';
import type { LiveCaller } from './live-caller.js';
import type { LiveSources } from './live-sources.js';

export interface LiveContext extends RequestContext, LiveSources {
  readonly caller: LiveCaller;
  /** The queue of the subscription's events, whose field is that of `info`. */
  readonly openQueue: (info: GraphQLResolveInfo) => EventQueue;
}

/**
 * What TypeGraphQL hands to the `subscribe` of a subscription: the arguments as graphql-js makes them of the
 * document.
 */
export interface SubscribeData<Arguments> {
  readonly args: Arguments;
  readonly context: LiveContext;
  readonly info: GraphQLResolveInfo;
}

/**
 * Stands in for the method of a subscription, which nobody calls: events are printed as they come. graphql-js
 * would, with no event, for a subscription that was sent as a query is.
 *
 * @throws MALFORMED_REQUEST (400)
 */
export function neverExecuted(): never {
  throw new ServiceError(
    'MALFORMED_REQUEST',
    'A subscription needs a WebSocket to /graphql with the subprotocol graphql-transport-ws.',
  );
}
