import { inputType, member, nullable } from '../../../base/scalars/declared-type.js';
import type { Domains } from '../../../store/catalog/domains.js';
import type { NewDomain } from '../../../store/catalog/new-domain.js';
import { type FieldRows, given, serviceResolver } from '../service-resolver.js';
import { CallerDomain } from './caller-resolver.js';

const NewBranchInput = inputType('NewBranchInput', 'A branch to create.', {
  id: member.id('What the header `X-Domain` names: 1 to 64 letters, digits, `_`, `.` or `-`. It stays.'),
  name: member.text('The name people read, at most 200 characters.'),
  timeZone: nullable.text('Its time zone, e.g. "Asia/Kolkata"; absent: that of the main school.'),
} satisfies Record<keyof NewDomain, unknown>);

export const BranchResolver = serviceResolver(({ mutation }: FieldRows<{ readonly domains: Domains }>) => ({
  createBranch: mutation(
    member.of(
      CallerDomain,
      'Creates a branch: a domain of its own without records or users. It has the settings ' +
        'of the main school until it sets its own. For admins of the main school. Errors: ' +
        'FORBIDDEN, CONFLICT if the id is taken, INVALID_VALUE.',
    ),
    { data: member.of(NewBranchInput, 'The branch.') },
    ({ domains }, scope, { data }) => domains.create(scope, given(data)),
  ),
}));
