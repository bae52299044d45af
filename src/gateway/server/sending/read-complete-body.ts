import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../base/errors.js';

/** The bytes of a body. @throws MALFORMED_REQUEST if it is cut off */
export async function* readCompleteBody(body: IncomingMessage): AsyncGenerator<Buffer, void> {
  yield* body;
  if (!body.complete) throw brokenOff();
}

export function brokenOff(): ServiceError {
  return new ServiceError('MALFORMED_REQUEST', 'The upload was broken off.');
}
