/**
 * Keeps credentials out of logs: an address, or a text that holds one, with the values of secret parameters
 * replaced. Which are secret shows by parts of their names, since scripts and other programs make up names of
 * their own.
 */

/** Anywhere in a name, written together or apart: `my_token`, `accessToken`, `token[]`, `api-key`. */
const SECRET_PARTS =
  /token|password|passwd|passphrase|passcode|secret|apikey|credential|signature|authori[sz]ation|bearer|privatekey/;
/** These mean a secret as a word of a name; as part of another word they mean nothing. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  'pass pwd pin otp key keys auth jwt sig cvv sid'.split(' '),
);

/** GraphQL documents in an address, which may log in, and parameters whose name is percent-encoded. */
const OPAQUE_PARAMETERS = /([?&](?:query|variables|[^=&?%\s]*%[^=&?\s]*))=[^&\s]*/gi;

/** What the name of a parameter is made of. */
const NAME_CHARACTER = /[\w.$[\]-]/;
const MAX_NAME_LENGTH = 128;

/** `smtp://user:password@host`: what stands before the last @ of an authority, but for the user's name. */
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*):[^\s/?#]*@/gi;

const MASK = '[redacted]';

/**
 * `/auth?user_name=a&password=b` is `/auth?user_name=a&password=[redacted]`. Costs nothing where there is
 * neither `=` nor `@`.
 */
export function redactSecrets(text: string): string {
  const withoutParameters = text.includes('=')
    ? redactParameters(text.replace(OPAQUE_PARAMETERS, `$1=${MASK}`))
    : text;
  return withoutParameters.includes('@')
    ? withoutParameters.replace(URL_PASSWORD, `$1:${MASK}@`)
    : withoutParameters;
}

/** Names seen so far, which are mostly those of our own parameters. Bounded, since a caller writes them. */
const SECRECY = new Map<string, boolean>();
const MAX_REMEMBERED = 256;

/** Whether what goes by this name is nobody's to read. */
function isSecretName(name: string): boolean {
  const known = SECRECY.get(name);
  if (known !== undefined) return known;
  const isSecret = soundsSecret(name);
  if (SECRECY.size < MAX_REMEMBERED) SECRECY.set(name, isSecret);
  return isSecret;
}

function soundsSecret(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return SECRET_PARTS.test(words.join('')) || words.some((word) => SECRET_WORDS.has(word));
}

/** Every `name=value` of a secret name; a value ends with the parameter. */
function redactParameters(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (
    let equals = text.indexOf('=');
    equals !== -1;
    equals = text.indexOf('=', Math.max(done, equals + 1))
  ) {
    if (!isSecretName(nameBefore(text, equals))) continue;
    parts.push(text.slice(done, equals + 1), MASK);
    const rest = /[&\s]/g;
    rest.lastIndex = equals + 1;
    done = rest.exec(text)?.index ?? text.length;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

function nameBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start < MAX_NAME_LENGTH && NAME_CHARACTER.test(text.charAt(start - 1)))
    start -= 1;
  return text.slice(start, end);
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
