/** The door to creating the first school of an empty database. */
import { Arg, Field, InputType, Mutation, Query, Resolver } from 'type-graphql';
import type { FirstRun } from '../../../services/auth/first-run.js';

@InputType({ description: 'The first school of an empty database, and its first admin.' })
class MakeSchoolInput {
  @Field(() => String, { description: 'Its id: 1 to 64 letters, digits, `_`, `.` or `-`, e.g. "dps".' })
  readonly id!: string;

  @Field(() => String, { description: 'The name shown to people.' })
  readonly name!: string;

  @Field(() => String, { nullable: true, description: 'An IANA name; left out: Asia/Kolkata.' })
  readonly timeZone?: string | null;

  @Field(() => String, { description: 'The login name of the admin.' })
  readonly userName!: string;

  @Field(() => String, { description: 'The full name of the admin.' })
  readonly adminName!: string;

  @Field(() => String, {
    description:
      'The password of the admin: of at least PASSWORD_MIN_LENGTH characters, and not easy to guess.',
  })
  readonly password!: string;
}

@Resolver()
export class FirstRunResolver {
  readonly #firstRun: FirstRun;

  constructor(firstRun: FirstRun) {
    this.#firstRun = firstRun;
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
