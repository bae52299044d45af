import { phrase } from '../language/use-texts';

/** The names of credentials, by their kind in the audit trail. */
export const CREDENTIAL_NAMES: Readonly<Record<string, string>> = {
  token: phrase('Log-in'),
  key: phrase('API key'),
  system: phrase('The gateway itself'),
  address: phrase('Address'),
};
