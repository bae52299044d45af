/** JSON request bodies: REST and GraphQL report malformed ones in the same words. */
import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../errors.js';
import { assertJsonShape, type BodyShape } from './body-shape.js';
import type { JsonValue } from './json.js';

/**
 * Parses the text by `parse`, after checking that it has no more members and levels than `shape` allows.
 *
 * @throws MALFORMED_REQUEST (400) that says what is wrong and at which position; LIMIT_EXCEEDED (400) for too
 *   many members
 */
export function readJsonBody(
  sent: Buffer,
  shape: BodyShape,
  parse: (text: string, bytes: Buffer) => JsonValue,
): JsonValue {
  const body = withoutBom(sent);
  if (!isUtf8(body)) throw new ServiceError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  assertJsonShape(body, shape);
  try {
    return parse(body.toString('utf8'), body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ServiceError('MALFORMED_REQUEST', `The body is not JSON: ${error.message}.`, { cause: error });
  }
}

const BOM = Buffer.from('\ufeff');

/** The body without the byte order mark that some programs put in front of UTF-8. */
export function withoutBom(body: Buffer): Buffer {
  return body.subarray(0, BOM.length).equals(BOM) ? body.subarray(BOM.length) : body;
}
