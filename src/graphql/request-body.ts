/** Bodies of `/graphql`: JSON, its numbers as graphql-js takes them, exact where a float would change them. */
import { type JsonValue, parsePlainJson } from '../json.js';
import { readJsonBody } from '../json-body.js';

/** Variables are read by functions that call themselves. */
const MAX_NESTING = 500;

/** An empty body is none. @throws MALFORMED_REQUEST (400) */
export function parseRequestBody(body: Buffer): JsonValue | undefined {
  if (body.length === 0) return undefined;
  return readJsonBody(body, (text) => {
    const parsed = parsePlainJson(text);
    if (body.length > MAX_NESTING && isNestedDeeply(parsed)) throw new RangeError('nested too deeply');
    return parsed;
  });
}

function isNestedDeeply(value: JsonValue): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= MAX_NESTING; depth += 1) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}
