/** Text of a URL or a form, which is percent-encoded UTF-8. */
import { ServiceError, tryTo } from '../errors.js';

const PERCENT_WITHOUT_CODE = /%(?![0-9A-Fa-f]{2})/;
const ENCODED_BYTES = /(?:%[0-9A-Fa-f]{2})+/g;

/**
 * Refuses a query or form that cannot be decoded. A lenient decoder would turn `name=!*%E9` (é in Latin-1)
 * into a filter by U+FFFD that matches every record, and `name=%E9` into one that matches none, without an
 * error.
 *
 * `named` begins the sentence: "The query".
 *
 * @throws MALFORMED_REQUEST (400) that shows what is not percent-encoded UTF-8
 */
export function assertPercentEncoded(text: string, named: string): void {
  if (!text.includes('%') || isDecodable(text)) return;
  throw new ServiceError(
    'MALFORMED_REQUEST',
    PERCENT_WITHOUT_CODE.test(text)
      ? `${named} has a % that is not percent-encoding; a % itself is %25.`
      : `${named} has ${JSON.stringify(undecodable(text))}, which is not UTF-8 in percent-encoding: ` +
          'é is %C3%A9.',
  );
}

function undecodable(text: string): string {
  return (text.match(ENCODED_BYTES) ?? []).find((bytes) => !isDecodable(bytes)) ?? text;
}

function isDecodable(text: string): boolean {
  return tryTo(() => decodeURIComponent(text)) !== undefined;
}
