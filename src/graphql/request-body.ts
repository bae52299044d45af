/** Bodies of `/graphql`: JSON, its numbers as graphql-js takes them, exact where a float would change them. */
import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../errors.js';
import { type JsonValue, parsePlainJson } from '../json.js';

/** An empty body is none. @throws MALFORMED_REQUEST (400) */
export function parseRequestBody(body: Buffer): JsonValue | undefined {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new ServiceError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  try {
    return parsePlainJson(body.toString('utf8'));
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
