/** The door to the branches of a school. @see decisions 7 */
import { Arg, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';
import type { Domain } from '../../../base/model/scope.js';
import type { Domains } from '../../../store/catalog/domains.js';
import type { NewDomain } from '../../../store/catalog/new-domain.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { CallerDomain } from './caller-result.js';

@InputType('NewBranchInput', { description: 'A branch that is to be made.' })
class NewBranchInput implements Record<keyof NewDomain, unknown> {
  @Field(() => ID, {
    description: 'What the header `X-Domain` names: 1 to 64 letters, digits, `_`, `.` or `-`. It stays.',
  })
  readonly id!: string;

  @Field(() => String, { description: 'The name people read, at most 200 characters.' })
  readonly name!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Its time zone, e.g. "Asia/Kolkata"; absent: that of the main school.',
  })
  readonly timeZone!: string | null | undefined;
}

@Resolver()
export class BranchResolver {
  readonly #domains: Domains;

  constructor(services: { readonly domains: Domains }) {
    this.#domains = services.domains;
  }

  @Mutation(() => CallerDomain, {
    description:
      'Creates a branch: a domain of its own without records or users. It has the settings ' +
      'of the main school until it sets its own. For admins of the main school. Errors: ' +
      'FORBIDDEN, CONFLICT if the id is taken, INVALID_VALUE.',
  })
  async createBranch(
    @Ctx() context: RequestContext,
    @Arg('data', () => NewBranchInput, { description: 'The branch.' }) data: NewBranchInput,
  ): Promise<Domain> {
    const { id, name, timeZone } = data;
    return await this.#domains.create(requireScope(context), { id, name, timeZone: timeZone ?? undefined });
  }
}
