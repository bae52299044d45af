/**
 * Keeps credentials out of logs: an address, or a text that holds one, with the values of secret parameters replaced. So are
 * GraphQL documents in an address, which may log in, and parameters whose name is percent-encoded.
 */
const SECRET_PARAMETERS =
  /(\b(?:password|access_token|refresh_token|api_key|token|secret)|[?&](?:query|variables|[^=&?%\s]*%[^=&?\s]*))=[^&\s]*/gi;

/** `smtp://user:password@host`: what stands before the last @ of an authority, but for the user's name. */
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*):[^\s/?#]*@/gi;

const MASK = '[redacted]';

/** `/auth?user_name=a&password=b` is `/auth?user_name=a&password=[redacted]`. Costs nothing where there is neither `=` nor `@`. */
export function redactSecrets(text: string): string {
  const withoutParameters = text.includes('=') ? text.replace(SECRET_PARAMETERS, `$1=${MASK}`) : text;
  return withoutParameters.includes('@')
    ? withoutParameters.replace(URL_PASSWORD, `$1:${MASK}@`)
    : withoutParameters;
}

/** Member names whose values no log line shows, for pino's `redact`. */
export const SECRET_MEMBERS: readonly string[] = [
  'password',
  'oldPassword',
  'newPassword',
  'token',
  'accessToken',
  'refreshToken',
  'apiKey',
  'key',
  'authorization',
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
