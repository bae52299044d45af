/** Errors are caught here; each front end reports the same error in its own format. */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, ServiceError } from '../../../base/errors.js';
import { type ProblemRequest, problemHeaders, renderProblem } from '../../rest/problem.js';
import type { AdmissionControl } from '../admission/admission-control.js';
import { keyOfAddress } from '../admission/request-admission.js';
import type { Observe } from '../observation/observation.js';
import { API_HEADERS } from './security-headers.js';
import { leaveUnreadBody } from './streamed-body.js';

/**
 * Answers with problem details, except on `/graphql`: errors that occur before GraphQL sees the request have
 * the format of GraphQL clients there. @see decisions 4
 */
export function useErrorAnswers(app: FastifyInstance, observe: Observe): void {
  app.setErrorHandler((error, request, reply) => {
    leaveUnreadBody(request, reply);
    const { requestId, hasCredential, route } = request.lifecycle;
    const send = route === '/graphql' ? sendGraphqlError : sendProblem;
    const asked = { requestId, hasCredential, accept: request.headers.accept };
    return send(noted(error, request, observe), asked, reply);
  });
}

/**
 * Creates Fastify's `frameworkErrors`, for a path that Fastify cannot parse, before there is a route or a
 * hook. Such a request waits for its turn like any other.
 */
export function createUnreadablePathAnswer(admission: AdmissionControl) {
  return async (error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const refusal = await admitted(admission, request, reply).then(
      () => undefined,
      (reason: Error) => reason,
    );
    const { id: requestId, headers } = request;
    reply.headers({ ...API_HEADERS, 'x-request-id': requestId });
    const hasCredential = headers.authorization !== undefined;
    const asked = { requestId, hasCredential, accept: headers.accept };
    sendProblem(translateFrameworkError(refusal ?? error), asked, reply);
  };
}

async function admitted(
  admission: AdmissionControl,
  { ip }: FastifyRequest,
  { raw }: FastifyReply,
): Promise<void> {
  const permit = await admission.acquire(keyOfAddress(ip));
  if (raw.closed) permit.release();
  else raw.once('close', () => permit.release());
}

function sendGraphqlError(error: ServiceError, asked: ProblemRequest, reply: FastifyReply): FastifyReply {
  const { message, code, status, errors } = error;
  const extensions = { code, status, requestId: asked.requestId, ...(errors && { errors }) };
  return reply
    .code(status)
    .headers(problemHeaders(error, asked))
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ errors: [{ message, extensions }] }));
}

function sendProblem(error: ServiceError, asked: ProblemRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = renderProblem(error, asked);
  return reply.code(status).headers(headers).send(body);
}

/** Converts an error into one of our catalog, and reports it unless it is the caller's mistake. */
function noted(error: unknown, request: FastifyRequest, observe: Observe): ServiceError {
  const known = translateFrameworkError(error);
  const { notes, requestId, signal } = request.lifecycle;
  notes.errorCode = known.code;
  const isOurs = known.status >= 500 && known.code !== 'MAINTENANCE';
  if (isOurs && !signal.aborted) {
    observe({ kind: 'requestFailed', requestId, error: known.cause ?? known });
  }
  return known;
}

const TRANSLATIONS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['TOO_LARGE', 'The body is larger than this service takes (BODY_LIMIT_BYTES).'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'MALFORMED_REQUEST',
    'The length of the body differs from Content-Length.',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['MALFORMED_REQUEST', 'The body is empty; expected JSON.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['MALFORMED_REQUEST', 'The body is not JSON.'],
  FST_ERR_BAD_URL: ['MALFORMED_REQUEST', 'The path has a % that is not percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'A part of the path is too long to name anything.'],
};

function translateFrameworkError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupported();
  const translation = TRANSLATIONS[code];
  if (translation) return new ServiceError(...translation);
  return new ServiceError('INTERNAL', 'A fault of ours. It is in the log by the id in instance.', {
    cause: error,
  });
}

/** `body` is the kind of body that the route takes: parameters may also come as a form. */
export function unsupported(body?: FastifyContextConfig['body']): ServiceError {
  const isForm = body === 'small' || body === 'parameters';
  return new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Send the body as Content-Type: application/json${isForm ? FORMS : '. Files go to POST /files'}.`,
  );
}

const FORMS = ', application/x-www-form-urlencoded or multipart/form-data';
