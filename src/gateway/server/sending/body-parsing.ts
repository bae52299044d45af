/**
 * Parses REST bodies: JSON, without passing numbers through a float, and forms of both kinds. Everything else
 * is 415. An empty body counts as none, whatever its type.
 */

import { isUtf8 } from 'node:buffer';
import { parse as parseFields } from 'node:querystring';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { assertPercentEncoded } from '../../../base/http/assert-percent-encoded.js';
import {
  assertFormShape,
  type BodyShape,
  MAX_PARAMETER_MEMBERS,
  readJsonBody,
  withoutBom,
} from '../../../base/json/body-shape.js';
import type { JsonValue } from '../../../base/json/json.js';
import { parseJsonBody } from '../../../base/json/json-body-parser.js';
import type { Config } from '../../config/config.js';
import { bodyShapeFor } from '../admission/body-admission.js';
import { unsupported } from './error-answers.js';

type Limits = Pick<Config, 'bodyMaxMembers'>;
type Parser = (body: Buffer, request: FastifyRequest, limits: Limits) => JsonValue | Promise<JsonValue>;

const FORM_TYPES = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const PARSERS: readonly (readonly [type: RegExp, parse: Parser])[] = [
  [
    /^\s*(?:application\/json|text\/json|application\/[\w.-]+\+json)\b/i,
    (body, request, limits) => parseBody(body, bodyShapeFor(request, limits)),
  ],
  [/^\s*application\/x-www-form-urlencoded\b/i, parseForm],
  [/^\s*multipart\/form-data\b/i, parseMultipart],
];

export function isForm({ headers }: FastifyRequest): boolean {
  return FORM_TYPES.test(headers['content-type'] ?? '');
}

export function useBodyParsing(app: FastifyInstance, limits: Limits): void {
  app.removeAllContentTypeParsers();
  for (const [type, parse] of PARSERS) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
      body.length === 0 ? undefined : await parse(body, request, limits),
    );
  }
  // Only whether there is a body is looked at; it is not read.
  app.addContentTypeParser('*', (request, payload, done) => {
    if (request.headers['content-length'] === '0') return done(null);
    const onEnd = () => done(null);
    payload.once('end', onEnd).once('readable', () => {
      if (payload.read() === null) return;
      payload.off('end', onEnd);
      done(unsupported(request.routeOptions.config.body));
    });
  });
}

/** The value of a body by its media type; `undefined` for types that are not parsed. */
export async function parseByType(
  body: Buffer,
  request: FastifyRequest,
  limits: Limits,
): Promise<JsonValue | undefined> {
  const [, parse] = PARSERS.find(([type]) => type.test(request.headers['content-type'] ?? '')) ?? [];
  return await parse?.(body, request, limits);
}

/** @throws MALFORMED_REQUEST (400) with the error and its position; LIMIT_EXCEEDED (400) */
export function parseBody(body: Buffer, shape: BodyShape): JsonValue {
  return readJsonBody(body, shape, parseJsonBody);
}

/** The fields by name; a repeated field becomes a list. @throws LIMIT_EXCEEDED (400) for too many */
function parseForm(sent: Buffer, request: FastifyRequest): JsonValue {
  const body = withoutBom(sent);
  // Scripts accept forms from programs with other character sets; forms of our own parameters must be UTF-8.
  if (request.routeOptions.config.body !== undefined) assertUtf8Form(body);
  assertFormShape(body, MAX_PARAMETER_MEMBERS);
  return parseFields(body.toString('utf8'), '&', '=', { maxKeys: MAX_PARAMETER_MEMBERS }) as JsonValue;
}

/** Parses a form; a file becomes an object with its name, type and content. */
async function parseMultipart(body: Buffer, { headers }: FastifyRequest): Promise<JsonValue> {
  assertFormShape(body, MAX_PARAMETER_MEMBERS, 'form-data; name="');
  const type = headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch((cause: unknown) => {
      const detail =
        'The body is not valid multipart/form-data. Expected: Content-Type: multipart/form-data; ' +
        'boundary=…, and parts between lines with that boundary, each with a name.';
      throw new ServiceError('MALFORMED_REQUEST', detail, { cause });
    });
  const fields = [...new Set(form.keys())].map(async (name): Promise<[string, JsonValue]> => {
    const [only = '', ...more] = await Promise.all(form.getAll(name).map(toJson));
    return [name, more.length ? [only, ...more] : only];
  });
  return Object.fromEntries(await Promise.all(fields));
}

async function toJson(value: File | string): Promise<JsonValue> {
  if (typeof value === 'string') return value;
  const base64 = Buffer.from(await value.arrayBuffer()).toString('base64');
  return { name: value.name, type: value.type, base64 };
}

/** @throws MALFORMED_REQUEST (400) for a form that is not UTF-8 */
function assertUtf8Form(body: Buffer): void {
  if (!isUtf8(body)) throw new ServiceError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  assertPercentEncoded(body.toString('utf8'), 'The body');
}
