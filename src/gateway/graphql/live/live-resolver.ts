/** The subscription to topics. Those to records are made in typed/record-fields.ts. */

import { Arg, Resolver, Subscription } from 'type-graphql';
import { member, nullable, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';
import type { TopicMessage } from '../../../services/messaging/topics.js';
import { printReady } from '../../resolvers/records/ready-value.js';
import { requireScope } from '../../resolvers/request-context.js';
import type { EventQueue } from './event-queue.js';
import { batchEvents, neverExecuted, type SubscribeData } from './live-context.js';

const TopicEvent = objectType('TopicMessage', 'What was published to a topic.', {
  id: member.id('Names the message; the same for every subscriber.'),
  topic: member.text('The topic.'),
  message: nullable.json('What was published.'),
  publishedAt: member.instant('When it was published.'),
});
type TopicEvent = ValueOf<typeof TopicEvent>;

@Resolver()
export class LiveResolver {
  @Subscription(() => TopicEvent, {
    name: 'topic',
    description:
      'What is published to a topic of your domain from now on. Open to admins, and to the roles ' +
      'that the property `topicRoles` of the domain names for it.',
    subscribe: subscribeToTopic,
  })
  topic(@Arg('name', () => String, { description: 'The topic, e.g. "notices".' }) _name: string): TopicEvent {
    return neverExecuted();
  }
}

/**
 * Each message is sent under the current rights of the subscriber. @throws FORBIDDEN, INVALID_VALUE as
 * `Topics.assertMayListen` does
 */
async function subscribeToTopic({
  args,
  context,
  info,
}: SubscribeData<{ readonly name: string }>): Promise<EventQueue> {
  const { topics, caller } = context;
  const { domain } = assertMayListen(requireScope(context));
  const queue = context.openQueue(info);
  const work = batchEvents<TopicMessage>(queue, {
    overflow: `messages came to the topic "${args.name}" at once`,
    work: async (messages) => {
      assertMayListen(await caller.scope());
      for (const message of messages) queue.push(printReady(toEvent(message), info));
    },
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
