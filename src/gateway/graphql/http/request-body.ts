/**
 * Parses JSON bodies of `/graphql`; numbers are as graphql-js expects them, exact if a float would change
 * them.
 */
import type { BodyShape } from '../../../base/json/body-shape.js';
import { type JsonValue, parsePlainJson, toPlainNumber } from '../../../base/json/json.js';
import { readJsonBody } from '../../../base/json/json-body.js';
import { type NumberReading, parseJsonBody } from '../../../base/json/json-body-parser.js';

/**
 * An empty body counts as none. @throws MALFORMED_REQUEST (400); LIMIT_EXCEEDED (400) for too many members
 */
export function parseRequestBody(body: Buffer, shape: BodyShape): JsonValue | undefined {
  return body.length === 0 ? undefined : readJsonBody(body, shape, parsePlainBody);
}

function parsePlainBody(text: string, bytes: Buffer): JsonValue {
  return parseJsonBody(text, bytes, PLAIN);
}

const PLAIN: NumberReading = { ofFloat: (value) => value, ofDigits: toPlainNumber, parse: parsePlainJson };
