/** Bodies of REST: JSON, read without passing a number through a float, and forms. Everything else is 415. */
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type JsonValue, parseExactJson } from '../json.js';
import { readJsonBody } from '../json-body.js';

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
  return readJsonBody(body, parseExactJson);
}
