/** Bodies of `/graphql`: JSON, its numbers as graphql-js takes them, exact where a float would change them. */
import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../errors.js';
import { type JsonValue, parsePlainJson } from '../json.js';

/** Variables are read by functions that call themselves. */
const MAX_NESTING = 500;

/** An empty body is none. @throws MALFORMED_REQUEST (400) */
export function parseRequestBody(body: Buffer): JsonValue | undefined {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new ServiceError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  try {
    const parsed = parsePlainJson(body.toString('utf8'));
    if (body.length > MAX_NESTING && isNestedDeeply(parsed)) throw new RangeError('nested too deeply');
    return parsed;
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

function isNestedDeeply(value: JsonValue): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= MAX_NESTING; depth += 1) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}
