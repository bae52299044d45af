/**
 * `/x/<name>`: the arguments of a script that answers a request, and the conversion of its result to an
 * answer.
 */
import { isUtf8 } from 'node:buffer';
import { isIP } from 'node:net';
import { ServiceError } from '../../../base/errors.js';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  printExactJson,
} from '../../../base/json/json.js';
import type { Scope } from '../../../base/model/scope.js';

export interface EndpointRequest {
  readonly method: string;
  /** The rest of the path after the name of the script. */
  readonly path: string;
  readonly query: JsonObject;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: EndpointBody | undefined;
  readonly address: string;
}

export interface EndpointBody {
  readonly raw: Buffer;
  /** The value of JSON or a form. */
  readonly parsed: JsonValue | undefined;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Credentials are hidden from the script: it acts for the caller, but must not obtain the caller's keys. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** The `args` of a script that answers a request. */
export function endpointArguments(request: EndpointRequest, scope: Scope | undefined): JsonObject {
  const headers = Object.entries(request.headers).flatMap(([name, value]) => {
    if (value === undefined || SECRET_HEADERS.has(name)) return [];
    return [[name, typeof value === 'string' ? value : value.join(', ')]];
  });
  return {
    method: request.method,
    path: request.path,
    query: request.query,
    headers: Object.fromEntries(headers),
    ...bodyArguments(request.body),
    address: isIP(request.address) === 0 ? null : request.address,
    caller: scope === undefined ? null : { id: scope.principal.id, userName: scope.principal.userName },
  };
}

/** `rawBody` has the very text that a sender signed; bytes that are no text come as `bodyBase64`. */
function bodyArguments(body: EndpointBody | undefined): JsonObject {
  if (body === undefined || body.raw.length === 0) return { body: null, rawBody: null };
  const { raw, parsed } = body;
  if (!isUtf8(raw)) return { body: parsed ?? null, rawBody: null, bodyBase64: raw.toString('base64') };
  const rawBody = raw.toString('utf8');
  return { body: parsed ?? rawBody, rawBody };
}

const ANSWER_MEMBERS: ReadonlySet<string> = new Set(['status', 'headers', 'body']);
/** The headers that a script may set; not security headers, cookies and those of the connection. */
const ANSWER_HEADER =
  /^(?:content-type|content-language|content-disposition|cache-control|location|retry-after|etag|last-modified|x-(?!frame-options$|request-id$)[a-z0-9-]+)$/;
/** A page of ours would run it: `script-src 'self'`, and a frame of an answer has no origin. */
const SCRIPT_TYPE = /^[^;]*(?:javascript|ecmascript|jscript|livescript)/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Converts the result of a script to an answer: an object with only `status`, `headers` and `body` is one,
 * whose text body is sent as it is; anything else is sent as JSON with status 200; no value is 204.
 *
 * @throws SCRIPT_FAILED naming what is invalid
 */
export function toEndpointAnswer(script: string, value: JsonValue | undefined): EndpointAnswer {
  if (value === undefined) return { status: 204, headers: {}, body: '' };
  if (!isAnswer(value)) return jsonAnswer(200, {}, value);
  const status = toStatus(script, value.status);
  const headers = toHeaders(script, value.headers);
  const { body } = value;
  if (body === undefined || body === null) return { status, headers, body: '' };
  if (typeof body !== 'string') return jsonAnswer(status, headers, body);
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body };
}

function isAnswer(value: JsonValue): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const names = Object.keys(value);
  return ('status' in value || 'body' in value) && names.every((name) => ANSWER_MEMBERS.has(name));
}

function jsonAnswer(status: number, headers: EndpointAnswer['headers'], value: JsonValue): EndpointAnswer {
  return { status, headers: { 'content-type': JSON_TYPE, ...headers }, body: printExactJson(value) };
}

function toStatus(script: string, value: JsonValue | undefined): number {
  if (value === undefined) return 200;
  const status = Number(isExactNumber(value) ? value.toString() : value);
  if (Number.isInteger(status) && status >= 200 && status <= 599) return status;
  throw failed(
    script,
    `status: a whole number from 200 to 599 is expected, ${printExactJson(value)} was given`,
  );
}

function toHeaders(script: string, value: JsonValue | undefined): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw failed(script, 'headers: an object of names and texts is expected');
  return Object.fromEntries(
    Object.entries(value).map(([written, text]) => {
      const name = written.toLowerCase();
      if (!ANSWER_HEADER.test(name)) throw failed(script, `headers: a script may not set "${written}"`);
      if (typeof text !== 'string' || !HEADER_VALUE.test(text)) {
        throw failed(script, `headers: "${written}" must be one line of text`);
      }
      if (name === 'content-type' && SCRIPT_TYPE.test(text)) {
        throw failed(
          script,
          `headers: "${written}" is ${text}, and a script may not answer with code for pages`,
        );
      }
      return [name, text];
    }),
  );
}

function failed(script: string, why: string): ServiceError {
  return new ServiceError('SCRIPT_FAILED', `the script "${script}" gave no answer that can be sent: ${why}`);
}
