/**
 * Subscriptions to the records of any collection, and to topics. Each declared collection has a typed one:
 * typed/changes-resolver.ts.
 */
import { Arg, Args, ArgsType, Field, ID, ObjectType, Resolver, Subscription } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import type { JsonValue } from '../../../base/json/json.js';
import { Batcher } from '../../../base/process/batcher.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import type { TopicMessage } from '../../../services/messaging/topics.js';
import { accessOf, readershipOf } from '../../../store/access/access.js';
import { CI_ARGUMENT } from '../../resolvers/records/oquery-arguments.js';
import { printReady } from '../../resolvers/records/ready-value.js';
import { toFilter } from '../../resolvers/records/record-resolver.js';
import { requireScope } from '../../resolvers/request-context.js';
import type { EventQueue } from './event-queue.js';
import { neverExecuted, type SubscribeData } from './live-context.js';
import { ChangeOperation, RecordChangeEvent } from './record-change-event.js';
import { subscribeToRecords } from './subscribe-to-records.js';

@ArgsType()
export class RecordChangedArguments {
  @Field(() => String, { description: 'The collection, e.g. "attendance".' })
  readonly collection!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Only records that satisfy this filter as they are after the change; a removed one, as it was ' +
      'at last. As in the REST interface.',
  })
  readonly oquery?: string | null;

  @Field(() => Boolean, CI_ARGUMENT)
  readonly ci?: boolean | null;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'A structured filter by stored field names. Holds together with `oquery`.',
  })
  readonly where?: JsonValue;

  @Field(() => [ChangeOperation], { nullable: true, description: 'Only these; all if left out.' })
  readonly operations?: readonly ChangeOperation[] | null;
}

@ObjectType('TopicMessage', { description: 'What was published to a topic.', simpleResolvers: true })
class TopicEvent {
  @Field(() => ID, { description: 'Names the message; the same for every subscriber.' })
  readonly id!: string;

  @Field(() => String, { description: 'The topic.' })
  readonly topic!: string;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'What was published.' })
  readonly message!: JsonValue;

  @Field(() => DateTime, { description: 'When it was published.' })
  readonly publishedAt!: Date;
}

@Resolver()
export class LiveResolver {
  @Subscription(() => RecordChangeEvent, {
    name: 'recordChanged',
    description:
      'Changes of the records of any collection, after their commit. A declared collection has a ' +
      'field of its own with real types, e.g. `taskChanged`. Records are read under your own rights ' +
      'when they are sent; what you may not see is not sent.',
    subscribe: subscribeToAnyRecords,
  })
  recordChanged(@Args(() => RecordChangedArguments) _arguments: RecordChangedArguments): RecordChangeEvent {
    return neverExecuted();
  }

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

async function subscribeToAnyRecords(live: SubscribeData<RecordChangedArguments>): Promise<EventQueue> {
  const { args, context, info } = live;
  const scope = requireScope(context);
  const collection = context.catalog.get(args.collection, scope);
  accessOf(scope, collection, 'read');
  const shape = context.recordChanges.shapeOf(collection.name, info);
  const filter = toFilter(
    {
      collection: collection.name,
      oquery: args.oquery ?? undefined,
      isInsensitive: args.ci ?? undefined,
      where: args.where ?? undefined,
    },
    collection,
    { findCollection: (name) => context.catalog.find(name), readership: readershipOf(scope) },
  );
  return await subscribeToRecords(live, {
    collection: collection.name,
    filter,
    operations: args.operations,
    shape,
  });
}

/** The most messages waiting while the rights of their subscribers are checked. */
const MAX_WAITING = 1_000;
const BATCH = 100;

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
