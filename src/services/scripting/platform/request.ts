/** `platform.request`. */

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { invalidAt, ServiceError, tryTo } from '../../../base/errors.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../../../base/json/json.js';
import type { HttpMethod, OutboundAnswer, OutboundClient } from '../requests/outbound-client.js';
import type { ScriptLimits } from '../script-settings.js';
import { bindFunction, type HostBinding, jsonValue } from './host-binding.js';

export interface RequestServices {
  readonly outbound: OutboundClient;
  readonly limits: Pick<ScriptLimits, 'requests' | 'requestTimeoutMs'>;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const MOST_RETRIES = 5;

/** Headers that frame the message or belong to the connection are set by the client only. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const fields = z.record(z.string(), z.union([scalar, z.array(scalar)]));

const options = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).default('GET'),
  headers: z.record(z.string(), scalar).default({}),
  query: fields.default({}),
  json: jsonValue.optional(),
  form: fields.optional(),
  body: z.string().optional(),
  timeoutMs: z.number().int().min(1).optional(),
  retries: z.number().int().min(0).max(MOST_RETRIES).default(0),
  redirects: z.enum(['follow', 'return']).default('follow'),
  answer: z.enum(['auto', 'json', 'text', 'base64']).default('auto'),
});

type RequestOptions = z.output<typeof options>;

export function createRequestBinding(services: RequestServices): HostBinding {
  const { outbound, limits } = services;
  return bindFunction(
    'request',
    { url: z.string(), options: options.prefault({}) },
    async (given, { signal }) => {
      const { method, retries, redirects, timeoutMs = DEFAULT_TIMEOUT_MS } = given.options;
      const request = {
        method: method satisfies HttpMethod,
        url: toUrl(given.url, given.options.query),
        ...toMessage(given.options),
        timeoutMs: Math.min(timeoutMs, limits.requestTimeoutMs),
        redirects,
        signal,
      };
      const answer = await withRetries(retries, signal, () => outbound.send(request));
      return toResult(answer, given.options.answer);
    },
    { maxCalls: limits.requests },
  );
}

function toUrl(text: string, query: RequestOptions['query']): URL {
  if (!URL.canParse(text))
    throw invalid('url', `"${text.slice(0, 200)}" is not a URL`, 'e.g. https://api.example.org/fees');
  const url = new URL(text);
  for (const [name, value] of pairsOf(query)) url.searchParams.append(name, value);
  return url;
}

function toMessage(given: RequestOptions): { headers: Record<string, string>; body: string | undefined } {
  const headers: Record<string, string> = {};
  for (const [written, value] of Object.entries(given.headers)) {
    const name = written.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || /[\0\r\n]/.test(String(value))) {
      throw invalid(
        'options.headers',
        `"${written.slice(0, 100)}" is not a header, or its value has a line break`,
      );
    }
    if (RESERVED_HEADERS.has(name)) throw invalid('options.headers', `a script may not set ${name}`);
    headers[name] = String(value);
  }
  const bodies = [
    given.json === undefined ? undefined : { type: 'application/json', text: printExactJson(given.json) },
    given.form && {
      type: 'application/x-www-form-urlencoded',
      text: new URLSearchParams(pairsOf(given.form)).toString(),
    },
    given.body === undefined ? undefined : { type: 'text/plain; charset=utf-8', text: given.body },
  ].filter((body) => body !== undefined);
  const [body, second] = bodies;
  if (second !== undefined) throw invalid('options', 'json, form and body exclude one another: one of them');
  if (body === undefined) return { headers, body: undefined };
  if (given.method === 'GET') throw invalid('options.method', 'a GET has no body', 'POST, PUT or DELETE');
  return { headers: { 'content-type': body.type, ...headers }, body: body.text };
}

function pairsOf(record: RequestOptions['query']): [string, string][] {
  return Object.entries(record).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  );
}

function toResult(
  { url, status, headers, cookies, body }: OutboundAnswer,
  kind: RequestOptions['answer'],
): JsonValue {
  return {
    status,
    ok: status >= 200 && status < 300,
    url: url.href,
    headers: { ...headers, ...(cookies.length > 0 && { 'set-cookie': cookies }) },
    body: readBody(body, headers, kind),
  };
}

function readBody(
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  kind: RequestOptions['answer'],
): JsonValue {
  const isJson = kind === 'json' || (kind === 'auto' && /[/+]json\b/i.test(headers['content-type'] ?? ''));
  if (kind === 'base64') return body.toString('base64');
  const text = decode(body, headers['content-type']);
  if (!isJson) return text;
  try {
    return text === '' ? null : parsePlainJson(text);
  } catch (error) {
    if (kind === 'auto') return text;
    throw new ServiceError('INVALID_VALUE', `the answer is not JSON: ${text.slice(0, 100)}`, {
      cause: error,
    });
  }
}

/** By the charset that the answer names, if it is a known one; else as UTF-8. */
function decode(body: Buffer, contentType = ''): string {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  return tryTo(() => new TextDecoder(charset).decode(body)) ?? body.toString('utf8');
}

function invalid(parameter: string, detail: string, expected?: string): ServiceError {
  return invalidAt(`platform.request(url, options): ${parameter}: ${detail}`, {
    parameter,
    detail,
    ...(expected && { expected }),
  });
}

const WORTH_ANOTHER_TRY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

/**
 * Sends a request, and repeats it up to `retries` times if there is no answer, or one that permits a retry.
 * Waits a quarter of a second, doubling each time, or as long as `Retry-After`; at most ten seconds. Returns
 * the last result.
 */
async function withRetries(
  retries: number,
  signal: AbortSignal,
  send: () => Promise<OutboundAnswer>,
): Promise<OutboundAnswer> {
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= retries;
    let answer: OutboundAnswer | undefined;
    try {
      answer = await send();
      if (isLast || !WORTH_ANOTHER_TRY.has(answer.status)) return answer;
    } catch (error) {
      const isWorthIt = error instanceof ServiceError && error.code === 'UNAVAILABLE';
      if (isLast || !isWorthIt || signal.aborted) throw error;
    }
    await sleep(waitMs(attempt, answer?.headers['retry-after']), undefined, { signal });
  }
}

function waitMs(attempt: number, retryAfter: string | undefined): number {
  const requestedMs = Number(retryAfter) * 1000;
  // Random, so that scripts waiting for the same server do not return all at once.
  const own = FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random());
  return Math.min(LONGEST_WAIT_MS, Number.isFinite(requestedMs) ? Math.max(requestedMs, own) : own);
}
