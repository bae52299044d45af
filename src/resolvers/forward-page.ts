/** The arguments of a list that is read forward by cursor. */
import { ArgsType, Field, Int } from 'type-graphql';

@ArgsType()
export abstract class ForwardPageArguments {
  @Field(() => Int, { nullable: true, description: 'At most so many.' })
  readonly first?: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'A cursor (`pageInfo.endCursor`): only what comes after it.',
  })
  readonly after?: string | null;
}
