/** The door to creating the first school of an empty database. */

import { Arg, Mutation, Query, Resolver } from 'type-graphql';
import { inputType, member, nullable, type ValueOf } from '../../../base/scalars/declared-type.js';
import type { FirstRun } from '../../../services/auth/first-run.js';

const MakeSchoolInput = inputType(
  'MakeSchoolInput',
  'The first school of an empty database, and its first admin.',
  {
    id: member.text('Its id: 1 to 64 letters, digits, `_`, `.` or `-`, e.g. "dps".'),
    name: member.text('The name shown to people.'),
    timeZone: nullable.text('An IANA name; left out: Asia/Kolkata.'),
    userName: member.text('The login name of the admin.'),
    adminName: member.text('The full name of the admin.'),
    password: member.text(
      'The password of the admin: of at least PASSWORD_MIN_LENGTH characters, and not easy to guess.',
    ),
  },
);
type MakeSchoolInput = ValueOf<typeof MakeSchoolInput>;

@Resolver()
export class FirstRunResolver {
  readonly #firstRun: FirstRun;

  constructor(services: { readonly firstRun: FirstRun }) {
    this.#firstRun = services.firstRun;
  }

  @Query(() => Boolean, {
    description: 'Whether this link can still create a school. Needs no credential but the link.',
  })
  async firstRun(
    @Arg('token', () => String, { description: 'The part after # of the link in the log.' })
    token: string,
  ): Promise<boolean> {
    return await this.#firstRun.isOpen(token);
  }

  @Mutation(() => Boolean, {
    description:
      'Creates the first school and its admin, who then logs in. Needs no credential but ' +
      'the link in the log. Errors: NOT_FOUND if a school exists or the link is invalid, ' +
      'INVALID_VALUE.',
  })
  async makeSchool(
    @Arg('token', () => String, { description: 'The part after # of the link in the log.' })
    token: string,
    @Arg('data', () => MakeSchoolInput, { description: 'The school.' }) data: MakeSchoolInput,
  ): Promise<boolean> {
    const { id, name, timeZone, userName, adminName, password } = data;
    await this.#firstRun.make(token, {
      ...{ id, name },
      timeZone: timeZone ?? undefined,
      admin: { userName, name: adminName, password },
    });
    return true;
  }
}
