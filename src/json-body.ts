/** A request body as JSON: what REST and GraphQL say alike of one that is none. */
import { isUtf8 } from 'node:buffer';
import { ServiceError } from './errors.js';
import type { JsonValue } from './json.js';

/**
 * `parse` reads the text; it may throw a RangeError for nesting it does not take.
 *
 * @throws MALFORMED_REQUEST (400) that says what is wrong and at which position
 */
export function readJsonBody(body: Buffer, parse: (text: string) => JsonValue): JsonValue {
  if (!isUtf8(body)) throw new ServiceError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  try {
    return parse(body.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new ServiceError('MALFORMED_REQUEST', `The body is not JSON: ${error.message}.`, {
        cause: error,
      });
    }
    if (error instanceof RangeError) {
      throw new ServiceError('MALFORMED_REQUEST', 'The body is nested too deeply.', { cause: error });
    }
    throw error;
  }
}
