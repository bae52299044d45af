/** The door to second factors: one's own, and for admins those of users who have lost theirs. */

import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { member, objectType } from '../../../base/scalars/declared-type.js';
import type {
  NewSecondFactor,
  SecondFactorState,
  SecondFactors,
} from '../../../services/auth/second-factors.js';
import { type RequestContext, requireScope } from '../request-context.js';

const NewSecondFactorResult = objectType(
  'NewSecondFactor',
  'A secret for an application that makes time-based codes (RFC 6238).',
  {
    secret: member.text('In base32, to be typed. It is shown here and never again.'),
    uri: member.text('The same as an address, to be shown as a QR code.'),
  },
);

const SecondFactorResult = objectType('SecondFactor', 'The state of your second factor.', {
  isOn: member.flag('A login needs a code.'),
  isRequired: member.flag('Your role needs one (SECOND_FACTOR_ROLES).'),
  isMissing: member.flag('It is required and not on: this session may do nothing but switch it on.'),
  recoveryCodesLeft: member.whole('How many recovery codes were not used yet.'),
});

@Resolver()
export class SecondFactorResolver {
  readonly #factors: SecondFactors;

  constructor(services: { readonly secondFactors: SecondFactors }) {
    this.#factors = services.secondFactors;
  }

  @Query(() => SecondFactorResult, { description: 'The state of your second factor.' })
  async secondFactor(@Ctx() context: RequestContext): Promise<SecondFactorState> {
    return await this.#factors.state(requireScope(context));
  }

  @Mutation(() => NewSecondFactorResult, {
    description:
      'Makes a secret for your second factor, which `confirmSecondFactor` switches on. Errors: CONFLICT.',
  })
  async beginSecondFactor(@Ctx() context: RequestContext): Promise<NewSecondFactor> {
    return await this.#factors.begin(requireScope(context));
  }

  @Mutation(() => [String], {
    description:
      'Switches your second factor on by a code of it. Gives ten recovery codes, each good once in place ' +
      'of a code; they are shown here and never again. Errors: INVALID_VALUE, NOT_FOUND.',
  })
  async confirmSecondFactor(
    @Ctx() context: RequestContext,
    @Arg('code', () => String, { description: 'Six digits.' }) code: string,
  ): Promise<readonly string[]> {
    return await this.#factors.confirm(requireScope(context), code);
  }

  @Mutation(() => Boolean, {
    description:
      'Switches your second factor off. Errors: INVALID_VALUE, NOT_FOUND, CONFLICT where your role needs ' +
      'one.',
  })
  async removeSecondFactor(
    @Ctx() context: RequestContext,
    @Arg('code', () => String, { description: 'Six digits, or a recovery code.' }) code: string,
  ): Promise<boolean> {
    await this.#factors.remove(requireScope(context), code);
    return true;
  }

  @Mutation(() => [String], {
    description:
      'Replaces your recovery codes by ten new ones. Needs a code or a recovery code. They ' +
      'are shown here and never again. Errors: INVALID_VALUE, NOT_FOUND.',
  })
  async renewRecoveryCodes(
    @Ctx() context: RequestContext,
    @Arg('code', () => String, { description: 'Six digits, or a recovery code.' }) code: string,
  ): Promise<readonly string[]> {
    return await this.#factors.renewRecoveryCodes(requireScope(context), code);
  }

  @Mutation(() => Boolean, {
    description:
      'Switches off the second factor of a user who has lost it. For admins. Repeating it ' +
      'is not an error.',
  })
  async resetSecondFactor(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
  ): Promise<boolean> {
    await this.#factors.reset(requireScope(context), userId);
    return true;
  }
}
