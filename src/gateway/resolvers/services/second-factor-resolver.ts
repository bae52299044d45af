/** The resolvers of second factors: the caller's own, and for admins those of users who have lost theirs. */
import { member, objectType } from '../../../base/scalars/declared-type.js';
import type { SecondFactors } from '../../../services/auth/second-factors.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

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

export const SecondFactorResolver = serviceResolver(
  ({ query, mutation, done }: FieldRows<{ readonly secondFactors: SecondFactors }>) => ({
    secondFactor: query(
      member.of(SecondFactorResult, 'The state of your second factor.'),
      {},
      ({ secondFactors }, scope) => secondFactors.state(scope),
    ),
    beginSecondFactor: mutation(
      member.of(
        NewSecondFactorResult,
        'Makes a secret for your second factor, which `confirmSecondFactor` switches on. Errors: CONFLICT.',
      ),
      {},
      ({ secondFactors }, scope) => secondFactors.begin(scope),
    ),
    confirmSecondFactor: mutation(
      member.texts(
        'Switches your second factor on by a code of it. Gives ten recovery codes, each good once in place ' +
          'of a code; they are shown here and never again. Errors: INVALID_VALUE, NOT_FOUND.',
      ),
      { code: member.text('Six digits.') },
      ({ secondFactors }, scope, { code }) => secondFactors.confirm(scope, code),
    ),
    removeSecondFactor: done(
      'Switches your second factor off. Errors: INVALID_VALUE, NOT_FOUND, CONFLICT where your role needs ' +
        'one.',
      { code: member.text('Six digits, or a recovery code.') },
      ({ secondFactors }, scope, { code }) => secondFactors.remove(scope, code),
    ),
    renewRecoveryCodes: mutation(
      member.texts(
        'Replaces your recovery codes by ten new ones. Needs a code or a recovery code. They ' +
          'are shown here and never again. Errors: INVALID_VALUE, NOT_FOUND.',
      ),
      { code: member.text('Six digits, or a recovery code.') },
      ({ secondFactors }, scope, { code }) => secondFactors.renewRecoveryCodes(scope, code),
    ),
    resetSecondFactor: done(
      'Switches off the second factor of a user who has lost it. For admins. Repeating it ' +
        'is not an error.',
      { userId: member.id('The user.') },
      ({ secondFactors }, scope, { userId }) => secondFactors.reset(scope, userId),
    ),
  }),
);
