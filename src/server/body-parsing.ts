/** Bodies of REST: JSON, read without passing a number through a float, and forms. Everything else is 415. */
import { isUtf8 } from 'node:buffer';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors.js';
import { type JsonValue, parseExactJson } from '../json.js';

const JSON_TYPES = ['application/json', /^application\/[\w.-]+\+json\b/i];

/** An empty body is none, whatever its type. */
export async function useBodyParsing(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers();
  for (const mediaType of JSON_TYPES) {
    app.addContentTypeParser(
      mediaType,
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => (body.length === 0 ? undefined : parseBody(body)),
    );
  }
  await app.register(formbody);
}

/** @throws MALFORMED_REQUEST (400) that says what is wrong and at which position */
export function parseBody(body: Buffer): JsonValue {
  if (!isUtf8(body)) throw new ServiceError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  try {
    return parseExactJson(body.toString('utf8'));
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
