/** The context of a subscription: that of every operation, and its event queue. */
import type { GraphQLResolveInfo } from 'graphql';
import { ServiceError } from '../../../base/errors.js';
import { Batcher } from '../../../base/process/batcher.js';
import type { ImportNews } from '../../../services/importing/import-news.js';
import type { Imports } from '../../../services/importing/imports.js';
import type { Topics } from '../../../services/messaging/topics.js';
import type { ChangeFeed } from '../../../store/changes/commit-follower.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import type { EventQueue } from './event-queue.js';
import type { LiveCaller } from './live-connection.js';
import type { RecordChanges } from './record-changes.js';

export interface LiveContext extends RequestContext, LiveSources {
  readonly caller: LiveCaller;
  /** Opens the queue of the subscription to the field of `info`. */
  readonly openQueue: (info: GraphQLResolveInfo) => EventQueue;
}

/** The data that TypeGraphQL passes to the `subscribe` function, with the arguments coerced by graphql-js. */
export interface SubscribeData<Arguments> {
  readonly args: Arguments;
  readonly context: LiveContext;
  readonly info: GraphQLResolveInfo;
}

/**
 * Stands in for the method of a subscription, which is never called for events: they are printed directly.
 * graphql-js would call it, without an event, for a subscription sent as a query.
 *
 * @throws MALFORMED_REQUEST (400)
 */
export function neverExecuted(): never {
  throw new ServiceError(
    'MALFORMED_REQUEST',
    'A subscription needs a WebSocket to /graphql with the subprotocol graphql-transport-ws, or ' +
      'Server-Sent Events: Accept: text/event-stream.',
  );
}

/** The sources of subscription events. */
export interface LiveSources {
  readonly feed: ChangeFeed;
  readonly recordChanges: RecordChanges;
  readonly topics: Topics;
  readonly imports: Pick<Imports, 'get' | 'rights'>;
  readonly importNews: Pick<ImportNews, 'follow' | 'look'>;
}

/** The most events waiting while the rights of their reader are checked. */
const MAX_WAITING = 1_000;
const BATCH = 100;

/** Hands events to `work` in batches, in their order. An error ends the subscription, as does overflow. */
export function batchEvents<Event>(
  queue: EventQueue,
  {
    work,
    overflow,
  }: { readonly work: (events: readonly Event[]) => Promise<void>; readonly overflow: string },
): Batcher<Event> {
  return new Batcher<Event>({
    work: (events) => work(events).catch((error: unknown) => queue.fail(error)),
    takeNext: (waiting) => waiting.splice(0, BATCH),
    concurrency: 1,
    maxWaiting: MAX_WAITING,
    onOverflow: () =>
      queue.fail(
        new ServiceError('LIMIT_EXCEEDED', `More than ${MAX_WAITING} ${overflow}; subscribe again.`),
      ),
  });
}
