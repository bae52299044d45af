/** A subscription to a topic: each message is sent under the subscriber's current rights. */

import { ServiceError } from '../../../base/errors.js';
import { Batcher } from '../../../base/process/batcher.js';
import type { TopicMessage } from '../../../services/messaging/topics.js';
import { printReady } from '../../resolvers/records/ready-value.js';
import { requireScope } from '../../resolvers/request-context.js';
import type { EventQueue } from './event-queue.js';
import type { SubscribeData } from './live-context.js';
import type { TopicEvent } from './topic-event.js';

/** The most messages waiting while the rights of their subscribers are checked. */
const MAX_WAITING = 1_000;
const BATCH = 100;

/** @throws FORBIDDEN, INVALID_VALUE as `Topics.assertMayListen` does */
export async function subscribeToTopic({
  args,
  context,
  info,
}: SubscribeData<{ readonly name: string }>): Promise<EventQueue> {
  const { topics, caller } = context;
  const { domain } = assertMayListen(requireScope(context));
  const queue = context.openQueue(info);
  const work = new Batcher<TopicMessage>({
    work: async (messages) => {
      try {
        assertMayListen(await caller.scope());
        for (const message of messages) queue.push(printReady(toEvent(message), info));
      } catch (error) {
        queue.fail(error);
      }
    },
    takeNext: (waiting) => waiting.splice(0, BATCH),
    concurrency: 1,
    maxWaiting: MAX_WAITING,
    onOverflow: () => queue.fail(tooManyMessages(args.name)),
  });
  const { ready, stop } = topics.follow(domain.id, args.name, (message) => work.add(message));
  queue.onEnd(stop);
  await ready;
  return queue;

  function assertMayListen(scope: ReturnType<typeof requireScope>): ReturnType<typeof requireScope> {
    topics.assertMayListen(scope, args.name);
    return scope;
  }
}

function toEvent({ id, topic, message, at }: TopicMessage): TopicEvent {
  return { id, topic, message, publishedAt: at };
}

function tooManyMessages(topic: string): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `More than ${MAX_WAITING} messages came to the topic "${topic}" at once; subscribe again.`,
  );
}
