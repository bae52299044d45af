import { Field, ID, ObjectType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';

@ObjectType('TopicMessage', { description: 'What was published to a topic.', simpleResolvers: true })
export class TopicEvent {
  @Field(() => ID, { description: 'Names the message; the same for every subscriber.' })
  readonly id!: string;

  @Field(() => String, { description: 'The topic.' })
  readonly topic!: string;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'What was published.' })
  readonly message!: JsonValue;

  @Field(() => DateTime, { description: 'When it was published.' })
  readonly publishedAt!: Date;
}
