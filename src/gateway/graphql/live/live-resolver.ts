/**
 * Subscriptions to the records of any collection, and to topics. Each declared collection has a typed one:
 * typed/changes-resolver.ts.
 */

import { Arg, Args, ArgsType, Field, Resolver, Subscription } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import type { Collection } from '../../../base/model/collection.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { accessOf, readershipOf } from '../../../store/access/access.js';
import { genericForm } from '../../resolvers/records/generic-form.js';
import { CI_ARGUMENT } from '../../resolvers/records/oquery-arguments.js';
import { toFilter } from '../../resolvers/records/record-resolver.js';
import { SelectionMemory } from '../../resolvers/records/selection.js';
import { requireScope } from '../../resolvers/request-context.js';
import { type ChangeShape, toChangeShape } from './change-shape.js';
import type { EventQueue } from './event-queue.js';
import { neverExecuted, type SubscribeData } from './live-context.js';
import { ChangeOperation, RecordChangeEvent } from './record-change-event.js';
import { subscribeToRecords } from './subscribe-to-records.js';
import { subscribeToTopic } from './subscribe-to-topic.js';
import { TopicEvent } from './topic-event.js';

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

/** By collection, because the printed selection names it. */
const SHAPES = new WeakMap<Collection, SelectionMemory<ChangeShape>>();

async function subscribeToAnyRecords(live: SubscribeData<RecordChangedArguments>): Promise<EventQueue> {
  const { args, context, info } = live;
  const scope = requireScope(context);
  const collection = context.catalog.get(args.collection, scope);
  accessOf(scope, collection, 'read');
  const shapes = SHAPES.get(collection) ?? new SelectionMemory<ChangeShape>();
  SHAPES.set(collection, shapes);
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
    shape: shapes.recall(info, () => toChangeShape('RecordChange', genericForm(collection.name), info)),
  });
}
