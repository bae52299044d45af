/**
 * Bodies of `/graphql`: JSON, its numbers as graphql-js takes them, exact where a float would change them.
 */
import type { BodyShape } from '../../body-shape.js';
import { type JsonValue, parsePlainJson } from '../../json.js';
import { readJsonBody } from '../../json-body.js';
import { scanJsonText } from '../../json-text-scan.js';

/** An empty body is none. @throws MALFORMED_REQUEST (400); LIMIT_EXCEEDED (400) for too many members */
export function parseRequestBody(body: Buffer, shape: BodyShape): JsonValue | undefined {
  return body.length === 0 ? undefined : readJsonBody(body, shape, parsePlainBody);
}

/** The look at the bytes tells a number from the digits of a text, as `parsePlainJson` by itself cannot. */
function parsePlainBody(text: string, bytes: Uint8Array): JsonValue {
  return scanJsonText(bytes).areNumbersPlain ? (JSON.parse(text) as JsonValue) : parsePlainJson(text);
}
