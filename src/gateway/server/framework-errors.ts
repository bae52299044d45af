/** Fastify's own errors, in the words of our catalog. Any that is missing here is a fault of ours. */
import type { FastifyContextConfig } from 'fastify';
import { ServiceError } from '../../base/errors.js';

const TRANSLATIONS: Readonly<Record<string, (error: Error) => ServiceError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new ServiceError('TOO_LARGE', 'The body is larger than this service takes (BODY_LIMIT_BYTES).'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => unsupported(),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ServiceError('MALFORMED_REQUEST', 'The body is not as long as Content-Length says.'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () =>
    new ServiceError('MALFORMED_REQUEST', 'The body is empty; expected JSON.'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new ServiceError('MALFORMED_REQUEST', 'The body is not JSON.'),
  FST_ERR_BAD_URL: () =>
    new ServiceError('MALFORMED_REQUEST', 'The path has a % that is not percent-encoding.'),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new ServiceError('NOT_FOUND', 'A part of the path is too long to name anything.'),
};

export function translateFrameworkError(error: unknown): ServiceError {
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
  const forms = body === 'small' || body === 'parameters' ? FORMS : '';
  return new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Send the body as Content-Type: application/json${forms}.`,
  );
}

const FORMS = ', application/x-www-form-urlencoded or multipart/form-data';
