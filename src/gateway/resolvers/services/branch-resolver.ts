/** The door to the branches of a school. @see decisions 7 */

import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { Domain } from '../../../base/model/scope.js';
import { inputType, member, nullable, type ValueOf } from '../../../base/scalars/declared-type.js';
import type { Domains } from '../../../store/catalog/domains.js';
import type { NewDomain } from '../../../store/catalog/new-domain.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { CallerDomain } from './caller-result.js';

const NewBranchInput = inputType('NewBranchInput', 'A branch that is to be made.', {
  id: member.id('What the header `X-Domain` names: 1 to 64 letters, digits, `_`, `.` or `-`. It stays.'),
  name: member.text('The name people read, at most 200 characters.'),
  timeZone: nullable.text('Its time zone, e.g. "Asia/Kolkata"; absent: that of the main school.'),
} satisfies Record<keyof NewDomain, unknown>);
type NewBranchInput = ValueOf<typeof NewBranchInput>;

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
