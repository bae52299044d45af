/** The refusal of what the scopes of a credential do not contain. */
import { ServiceError } from '../../base/errors.js';
import { lacksSecondFactor, type Principal } from '../../base/model/scope.js';

/** FORBIDDEN, with `detail` unless all is refused until the user has set up a second factor. */
export function refusedByScopes(principal: Principal, detail: string): ServiceError {
  const isDue = lacksSecondFactor(principal);
  const setUp =
    'Your role needs a second factor, which you have not set up (SECOND_FACTOR_ROLES). Until then you may ' +
    'only set it up: beginSecondFactor, then confirmSecondFactor.';
  return new ServiceError('FORBIDDEN', isDue ? setUp : detail);
}
