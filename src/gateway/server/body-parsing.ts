/** Parses REST bodies: JSON, without passing numbers through a float, and forms. Everything else is 415. */
import { isUtf8 } from 'node:buffer';
import { parse as parseFields } from 'node:querystring';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../base/errors.js';
import { assertPercentEncoded } from '../../base/http/assert-percent-encoded.js';
import { assertFormShape, type BodyShape, MAX_PARAMETER_MEMBERS } from '../../base/json/body-shape.js';
import type { JsonValue } from '../../base/json/json.js';
import { readJsonBody } from '../../base/json/json-body.js';
import { parseJsonBody } from '../../base/json/json-body-parser.js';
import { type BodyLimits, bodyShapeFor } from './body-admission.js';

const JSON_TYPES = ['application/json', /^application\/[\w.-]+\+json\b/i];

/** An empty body counts as none, whatever its type. */
export function useBodyParsing(app: FastifyInstance, limits: Pick<BodyLimits, 'maxMembers'>): void {
  app.removeAllContentTypeParsers();
  for (const mediaType of JSON_TYPES) {
    app.addContentTypeParser(
      mediaType,
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) =>
        body.length === 0 ? undefined : parseBody(body, bodyShapeFor(request, limits)),
    );
  }
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      // Scripts accept forms from programs with other character sets; forms of our own parameters must be
      // UTF-8.
      if (request.routeOptions.config.body !== undefined) assertUtf8Form(body);
      return parseForm(body);
    },
  );
}

/** @throws MALFORMED_REQUEST (400) that says what is wrong and at which position; LIMIT_EXCEEDED (400) */
export function parseBody(body: Buffer, shape: BodyShape): JsonValue {
  return readJsonBody(body, shape, parseJsonBody);
}

/** @throws MALFORMED_REQUEST (400) for a form that is not UTF-8 */
function assertUtf8Form(body: Buffer): void {
  if (!isUtf8(body)) throw new ServiceError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  assertPercentEncoded(body.toString('utf8'), 'The body');
}

/** The fields by name; a repeated field becomes a list. @throws LIMIT_EXCEEDED (400) for too many */
function parseForm(body: Buffer): NodeJS.Dict<string | string[]> {
  assertFormShape(body, MAX_PARAMETER_MEMBERS);
  return parseFields(body.toString('utf8'), '&', '=', { maxKeys: MAX_PARAMETER_MEMBERS });
}
