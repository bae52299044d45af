/**
 * Keeps credentials out of logs: replaces the values of secret parameters in a URL, or in a text that
 * contains one. Secrets are recognized by parts of their names, because scripts and other programs invent
 * names of their own.
 */
import { rememberLatest } from '../../../base/process/remember-latest.js';

/** Match anywhere in a name, in any spelling: `my_token`, `accessToken`, `token[]`, `api-key`. */
const SECRET_PARTS = new RegExp(
  [
    ...['token', 'secret', 'apikey', 'credential', 'signature', 'authori[sz]ation', 'bearer', 'privatekey'],
    // `passwort`, `pass_word` and their kind, but no `passed` and no `passport`.
    ...['passw', 'passphrase', 'passcode', 'passkey', 'pasword', 'pswd', 'kennwort'],
    '(?:recovery|backup|verification|confirmation|access|login|onetime)code',
  ].join('|'),
);
/** Words that mark a secret only as a separate word of a name, not as a part of another word. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  'pass pwd psw pin mpin otp totp key keys auth jwt sig cvv sid'.split(' '),
);

/**
 * GraphQL documents in a URL, which may contain a login; `code`, by which a provider's log-in continues; and
 * parameters with percent-encoded names.
 */
const OPAQUE_PARAMETERS = /([?&](?:query|variables|code|[^=&?%\s]*%[^=&?\s]*))=[^&\s]*/gi;

/** The characters of a parameter name. */
const NAME_CHARACTER = /[\w.$[\]-]/;
const MAX_NAME_LENGTH = 128;

/** `://user:password@host`, the authority of a URL. */
const AUTHORITY = /:\/\/[^\s/?#]+/g;

const MASK = '[redacted]';

/**
 * `/auth?user_name=a&password=b` becomes `/auth?user_name=a&password=[redacted]`. A text with neither `=` nor
 * `@` costs nothing.
 */
export function redactSecrets(text: string): string {
  const withoutParameters = text.includes('=')
    ? redactParameters(text.replace(OPAQUE_PARAMETERS, `$1=${MASK}`))
    : text;
  return withoutParameters.includes('@')
    ? withoutParameters.replace(AUTHORITY, redactPassword)
    : withoutParameters;
}

/** Replaces the text between the first colon, after the user name, and the last @. */
function redactPassword(authority: string): string {
  const end = authority.lastIndexOf('@');
  const colon = authority.slice(0, Math.max(end, 0)).indexOf(':', '://'.length);
  return colon === -1 ? authority : `${authority.slice(0, colon + 1)}${MASK}${authority.slice(end)}`;
}

/** Most names are our own parameters. */
const MAX_REMEMBERED = 256;

/** Whether a parameter of this name holds a secret. */
const isSecretName = rememberLatest((name) => {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return SECRET_PARTS.test(words.join('')) || words.some((word) => SECRET_WORDS.has(word));
}, MAX_REMEMBERED);

/** Replaces every `name=value` with a secret name; a value extends to the end of the parameter. */
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
