/** GraphQL type of a use of a field, for those about to drop it. */
import { Field, ID, ObjectType } from 'type-graphql';
import { LocalDate } from '../../../base/scalars/local-date.js';

@ObjectType('FieldUse', {
  description: 'The use of a field of a collection by an operation.',
  simpleResolvers: true,
})
export class FieldUseResult {
  @Field(() => String, {
    nullable: true,
    description:
      'The name of the operation; of one without a name, or a REST request, its path, e.g. ' +
      '"/o/recs/:collection"; null: a subscription without a name.',
  })
  readonly operation!: string | undefined;

  @Field(() => ID, { nullable: true, description: 'The API key that sent it; null: users who signed in.' })
  readonly keyId!: string | undefined;

  @Field(() => String, {
    nullable: true,
    description: 'The name of the key; null if it was removed or belongs to another domain.',
  })
  readonly keyName!: string | undefined;

  @Field(() => LocalDate, { description: 'The last day of use, in UTC.' })
  readonly lastUsedOn!: string;
}
