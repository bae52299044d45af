/** The one place that shows a `ServiceError` to a REST caller. */
import type { ErrorDetail, ServiceError } from '../errors.js';
import { problemTypeFor } from './negotiation.js';

/**
 * The members of RFC 9457. `type` ends in the code of the catalog, `instance` is the request id, which the
 * log has too.
 */
interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly errors?: readonly ErrorDetail[];
}

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The type of a problem begins so; the code of the catalog follows. */
export const PROBLEM_TYPE_PREFIX = 'urn:campus:error:';

function toProblem(error: ServiceError, requestId: string): Problem {
  return {
    type: PROBLEM_TYPE_PREFIX + error.code,
    title: error.title,
    status: error.status,
    detail: error.message,
    instance: requestId,
    ...(error.errors && { errors: error.errors }),
  };
}

/** What of a request decides how its failure is shown. */
export interface ProblemRequest {
  readonly requestId: string;
  readonly accept: string | undefined;
  readonly hasCredential: boolean;
}

/**
 * The whole answer to a failed request: body and the headers its status calls for
 * (`WWW-Authenticate`, `Allow`, `Accept-Encoding`, `Retry-After`).
 *
 * @see decisions 4
 */
export function renderProblem(error: ServiceError, request: ProblemRequest): ProblemAnswer {
  return {
    status: error.status,
    headers: {
      'content-type': `${problemTypeFor(request.accept)}; charset=utf-8`,
      ...problemHeaders(error, request),
    },
    body: JSON.stringify(toProblem(error, request.requestId)),
  };
}

/** The headers an error's status calls for, whatever the form of its body. */
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
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  }
  return headers;
}

/** RFC 6750: a request without a credential is told the scheme only; a wrong one is told so. */
const NO_CREDENTIAL = 'Bearer realm="campus"';
const WRONG_CREDENTIAL = `${NO_CREDENTIAL}, error="invalid_token"`;
