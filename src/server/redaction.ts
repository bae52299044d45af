/**
 * Keeps credentials out of logs: an address, or a text that holds one, with the values of secret parameters replaced. So are
 * GraphQL documents in an address, which may log in, and parameters whose name is percent-encoded.
 */
const SECRET_PARAMETERS =
  /(\b(?:password|access_token|refresh_token|api_key|token|secret)|[?&](?:query|variables|[^=&?%\s]*%[^=&?\s]*))=[^&\s]*/gi;

const MASK = '[redacted]';

/** `/auth?user_name=a&password=b` is `/auth?user_name=a&password=[redacted]`. Costs nothing where there is no `=`. */
export function redactSecrets(text: string): string {
  return text.includes('=') ? text.replace(SECRET_PARAMETERS, `$1=${MASK}`) : text;
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
