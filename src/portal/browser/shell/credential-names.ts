import { phrase } from '../language/use-texts';

/** What a change was made with, by what the audit trail calls it. */
export const CREDENTIAL_NAMES: Readonly<Record<string, string>> = {
  token: phrase('Log-in'),
  key: phrase('API key'),
  system: phrase('The gateway itself'),
};
