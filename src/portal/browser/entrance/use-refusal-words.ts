import { useTexts } from '../language/use-texts';
import { Refusal } from '../session/login-session';

/** Explains a failed log-in, translated if there is a translation. */
export function useRefusalWords(): (fault: unknown) => string {
  const t = useTexts();
  return (fault) => {
    if (!(fault instanceof Refusal)) return t('The gateway cannot be reached. Try again in a moment.');
    const { code, message, waitSeconds } = fault;
    if (code === 'WRONG_LOGIN') return t('The user name or the password is wrong.');
    if (code === 'SECOND_FACTOR_REQUIRED') return t('This code is wrong, or was used before.');
    if (code === 'TOO_MANY_REQUESTS' && waitSeconds !== undefined)
      return waitSeconds < 100
        ? t('Too many attempts failed. Try again in {seconds, plural, one {# second} other {# seconds}}.', {
            seconds: waitSeconds,
          })
        : t('Too many attempts failed. Try again in {minutes, plural, one {# minute} other {# minutes}}.', {
            minutes: Math.ceil(waitSeconds / 60),
          });
    return message;
  };
}
