/** Errors are caught here; each front end reports the same error in its own format. */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { problemHeaders, renderProblem } from '../../rest/problem.js';
import type { AdmissionControl } from '../admission/admission-control.js';
import { keyOfAddress } from '../admission/request-admission.js';
import type { Observe } from '../observation/observation.js';
import { API_HEADERS } from './security-headers.js';
import { leaveUnreadBody } from './unread-body.js';

/**
 * Answers with problem details, except on `/graphql`: errors that occur before GraphQL sees the request have
 * the format of GraphQL clients there. @see decisions 4
 */
export function useErrorAnswers(app: FastifyInstance, observe: Observe): void {
  app.setErrorHandler((error, request, reply) => {
    leaveUnreadBody(request, reply);
    const send = request.lifecycle.route === '/graphql' ? sendGraphqlError : sendProblem;
    return send(noted(error, request, observe), request, reply);
  });
}

/**
 * Creates Fastify's `frameworkErrors`, for a path that Fastify cannot parse, before there is a route or a
 * hook. Such a request waits for its turn like any other.
 */
export function createUnreadablePathAnswer(admission: AdmissionControl) {
  return async (error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const known = await admitted(admission, request, reply).then(
      () => error,
      (refusal: Error) => refusal,
    );
    const hasCredential = request.headers.authorization !== undefined;
    const { accept } = request.headers;
    const { status, headers, body } = renderProblem(translateFrameworkError(known), {
      requestId: request.id,
      accept,
      hasCredential,
    });
    reply
      .code(status)
      .headers({ ...API_HEADERS, ...headers, 'x-request-id': request.id })
      .send(body);
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

function sendGraphqlError(
  error: ServiceError,
  { lifecycle }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { message, code, status, errors } = error;
  const extensions = { code, status, requestId: lifecycle.requestId, ...(errors && { errors }) };
  return reply
    .code(status)
    .headers(problemHeaders(error, lifecycle))
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ errors: [{ message, extensions }] }));
}

function sendProblem(error: ServiceError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { requestId, hasCredential } = request.lifecycle;
  const problem = { requestId, hasCredential, accept: request.headers.accept };
  const { status, headers, body } = renderProblem(error, problem);
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

const TRANSLATIONS: Readonly<Record<string, (error: Error) => ServiceError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new ServiceError('TOO_LARGE', 'The body is larger than this service takes (BODY_LIMIT_BYTES).'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => unsupported(),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ServiceError('MALFORMED_REQUEST', 'The length of the body differs from Content-Length.'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () =>
    new ServiceError('MALFORMED_REQUEST', 'The body is empty; expected JSON.'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new ServiceError('MALFORMED_REQUEST', 'The body is not JSON.'),
  FST_ERR_BAD_URL: () =>
    new ServiceError('MALFORMED_REQUEST', 'The path has a % that is not percent-encoding.'),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new ServiceError('NOT_FOUND', 'A part of the path is too long to name anything.'),
};

function translateFrameworkError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const translate = TRANSLATIONS[error.code];
    if (translate) return translate(error);
  }
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
