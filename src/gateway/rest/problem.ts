/** Renders a `ServiceError` for REST callers; the only place that does. */
import type { ServiceError } from '../../base/errors.js';
import { problemTypeFor } from './negotiation.js';

/** The prefix of a problem's type, followed by the code of the catalog. */
export const PROBLEM_TYPE_PREFIX = 'urn:campus:error:';

/** The parts of a request that decide how its error is rendered. */
export interface ProblemRequest {
  readonly requestId: string;
  readonly accept: string | undefined;
  readonly hasCredential: boolean;
}

/**
 * The complete answer to a failed request: the body, and the headers its status calls for
 * (`WWW-Authenticate`, `Allow`, `Accept-Encoding`, `Retry-After`).
 *
 * @see decisions 4
 */
export function renderProblem(error: ServiceError, request: ProblemRequest) {
  // The members of RFC 9457; the instance is the request id, as in the log.
  const problem = {
    type: PROBLEM_TYPE_PREFIX + error.code,
    title: error.title,
    status: error.status,
    detail: error.message,
    instance: request.requestId,
    ...(error.errors && { errors: error.errors }),
  };
  return {
    status: error.status,
    headers: {
      'content-type': `${problemTypeFor(request.accept)}; charset=utf-8`,
      ...problemHeaders(error, request),
    },
    body: JSON.stringify(problem),
  };
}

/** The headers that an error's status calls for, whatever the format of its body. */
export function problemHeaders(
  error: ServiceError,
  request: Pick<ProblemRequest, 'hasCredential'>,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (error.status === 401)
    headers['www-authenticate'] = request.hasCredential ? WRONG_CREDENTIAL : NO_CREDENTIAL;
  if (error.allow) headers.allow = error.allow.join(', ');
  if (error.acceptEncoding) headers['accept-encoding'] = error.acceptEncoding;
  if (error.retryAfterSeconds !== undefined) {
    const seconds = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
    headers['retry-after'] = seconds;
    // The numbers are those of the limit that was hit, not of the requests of the minute.
    if (error.limit !== undefined) {
      headers['ratelimit-limit'] = String(error.limit);
      headers['ratelimit-remaining'] = '0';
      headers['ratelimit-reset'] = seconds;
    }
  }
  return headers;
}

/**
 * RFC 6750: without a credential the answer names only the scheme; with a wrong one it also names the error.
 */
const NO_CREDENTIAL = 'Bearer realm="campus"';
const WRONG_CREDENTIAL = `${NO_CREDENTIAL}, error="invalid_token"`;
