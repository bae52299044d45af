/** One of the values that a field of a collection has. */
import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonValue } from '../../../../base/json/json.js';
import { GraphqlJsonScalar } from '../../../../base/scalars/json-scalar.js';

@ObjectType({ description: 'A value that records have, and how many have it.', simpleResolvers: true })
export class DistinctValue {
  @Field(() => GraphqlJsonScalar, {
    description:
      'The value as `equals` of a `where` takes it: of a reference the id, of an enum the name of the value.',
  })
  readonly value!: JsonValue;

  @Field(() => String, { description: 'The value to show: of a reference its label, of others as stored.' })
  readonly label!: string;

  @Field(() => Int, { description: 'How many of the records have it.' })
  readonly count!: number;
}
