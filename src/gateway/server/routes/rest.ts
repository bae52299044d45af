/** Serves the REST table. */

import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { assertPercentEncoded } from '../../../base/http/assert-percent-encoded.js';
import { isJsonObject, type JsonValue } from '../../../base/json/json.js';
import { requireScope } from '../../resolvers/request-context.js';
import { assertConditions } from '../../rest/conditional.js';
import { createNegotiation } from '../../rest/negotiation.js';
import { createParameterReader } from '../../rest/parameter-reader.js';
import type { Answer, RestServices, Route } from '../../rest/route.js';
import { mayBeLarge } from '../admission/body-admission.js';
import type { StreamLimits } from '../admission/stream-limits.js';
import type { Observe } from '../observation/observation.js';
import { isForm } from '../sending/body-parsing.js';
import { unsupported } from '../sending/error-answers.js';
import { sendAnswer } from '../sending/send-answer.js';
import { gatewayAddress } from './contract-files.js';

export interface RestOptions {
  readonly routes: readonly Route[];
  readonly services: RestServices;
  readonly observe: Observe;
  readonly streams: StreamLimits;
  /** The public address of the gateway. Absent: the address of each request. */
  readonly publicUrl: string | undefined;
}

interface RestGeneric {
  Params: Record<string, string>;
  Querystring: Record<string, string | string[]>;
  Body: JsonValue | undefined;
}

export function useRest(app: FastifyInstance, options: RestOptions): void {
  for (const route of options.routes) addRoute(app, route, options);
}

function addRoute(app: FastifyInstance, route: Route, options: RestOptions): void {
  const { formats = ['json'] } = route;
  const negotiate = route.mediaType === undefined ? createNegotiation(formats) : () => formats[0];
  const readUsual = createParameterReader(route);
  const readerFor = (query: RestGeneric['Querystring']) => {
    const parameters = route.parametersFor?.(query);
    return parameters ? createParameterReader({ ...route, parameters }) : readUsual;
  };
  const { services, observe, streams } = options;
  const assertAllowed = ({ requestContext: context, params: path, query }: FastifyRequest<RestGeneric>) =>
    route.assertAllowed?.(services, { context, path, query });
  app.route<RestGeneric>({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    // `/o/recs/{collection}` is `/o/recs/:collection` to Fastify.
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: {
      ...bodyConfigOf(route),
      urgencyOf: ({ query, body }) =>
        route.urgencyOf?.({ ...(isJsonObject(query) && query), ...(isJsonObject(body) && body) }) ?? 'short',
    },
    // This runs before a body is read.
    onRequest: async (request) => {
      if (!route.isOpen) requireScope(request.requestContext);
      if (mayBeLarge(request)) assertAllowed(request);
    },
    handler: async (request, reply) => {
      const answer = await run(request).catch((fault: unknown) => {
        if (fault instanceof ServiceError && fault.status === 400) assertAllowed(request);
        throw fault;
      });
      return await sendAnswer(withWholeLink(answer, request, options.publicUrl), {
        ...{ request, reply, observe, streams },
      });
    },
  });

  async function run(request: FastifyRequest<RestGeneric>): Promise<Answer> {
    const search = searchOf(request.url);
    assertPercentEncoded(search, 'The query');
    if (PLUS_BEFORE_DIGIT.test(search)) request.requestContext.scope?.call.onHint?.(PLUS_HINT);
    // A format by name wins, also where Accept admits none of ours: browsers and office programs send theirs.
    const format = namesFormat(request, formats) ? formats[0] : negotiate(request.headers.accept);
    assertConditions(route, request.headers);
    const body = bodyOf(request, route);
    return await route.run(services, {
      context: request.requestContext,
      path: request.params,
      parameters: readerFor(request.query)(request.query, body),
      body,
      headers: request.headers,
      format,
    });
  }
}

/** Routes know the query of the next page; clients that do not resolve references need the whole address. */
function withWholeLink(answer: Answer, request: FastifyRequest, publicUrl: string | undefined): Answer {
  if (!('headers' in answer) || answer.headers?.link === undefined) return answer;
  const [path] = request.url.split('?', 1);
  const link = String(answer.headers.link).replace('<', `<${gatewayAddress(request, publicUrl)}${path}`);
  return { ...answer, headers: { ...answer.headers, link } };
}

/** The start of a value such as a telephone number. Between words, a plus sign may well mean a blank. */
const PLUS_BEFORE_DIGIT = /(?:[=*"]|%3D|%2A|%22)\+\d/i;
const PLUS_HINT = 'In an address "+" means a blank. Write %2B for a plus sign, as in =%2B919876543210.';

/** Without the question mark; empty where there is none. */
function searchOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

function bodyConfigOf(route: Route): Pick<FastifyContextConfig, 'body'> {
  if (route.isOpen) return { body: 'small' };
  return route.body?.kind === 'parameters' ? { body: 'parameters' } : {};
}

/** Whether the parameters of a row with several formats name one; which, the row looks at. */
function namesFormat(
  { query, body }: FastifyRequest<RestGeneric>,
  formats: NonNullable<Route['formats']>,
): boolean {
  if (formats.length === 1) return false;
  return query.format !== undefined || (isJsonObject(body) && body.format !== undefined);
}

function bodyOf(request: FastifyRequest<RestGeneric>, route: Route): JsonValue | undefined {
  // `curl -X POST -d ''` sends an empty form.
  const body =
    isForm(request) && isJsonObject(request.body) && Object.keys(request.body).length === 0
      ? undefined
      : request.body;
  if (body !== undefined && route.body?.kind === 'record' && isForm(request)) throw unsupported();
  if (body === undefined && route.body?.isRequired) {
    throw new ServiceError('MALFORMED_REQUEST', `The body is missing: ${route.body.description}`);
  }
  return body;
}
