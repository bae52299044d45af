/**
 * Formats errors for GraphQL: `extensions` has the `code`, `status` and `requestId` of the error catalog.
 * Anything else than the caller's mistakes and errors of the catalog is masked.
 *
 * @see decisions 4
 */
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ERRORS, type ErrorCode, ServiceError } from '../../../base/errors.js';
import { placedMessage } from './placed-message.js';

/** The codes by which graphql-js and Apollo name mistakes in a document or its variables. */
const REQUEST_CODES: ReadonlySet<unknown> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** The statuses of errors by which the whole request failed, not one of its fields. */
const REQUEST_STATUSES: ReadonlySet<number> = new Set([401, 429, 503]);

/** How graphql-js shows a number that no float holds. */
const SHOWN_EXACT_NUMBER = /\{ value: "([\d.eE+-]+)", isLosslessNumber: true \}/g;

/** Formats an error for the client. `formatted` is graphql-js's own format. */
export function formatGraphqlError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const { locations, path } = formatted;
  const message = formatted.message.replaceAll(SHOWN_EXACT_NUMBER, '$1');
  const place = { ...(locations && { locations }), ...(path && { path }) };
  const service = findServiceError(error);
  if (service) return { message: service.message, ...place, extensions: toExtensions(service) };
  const code = formatted.extensions?.code;
  if (code === 'LIMIT_EXCEEDED') return { message, ...place, extensions: { code, status: 400 } };
  if (REQUEST_CODES.has(code)) {
    return { message: placedMessage(message, error), ...place, extensions: { code, status: 400 } };
  }
  if (isRefusedOperation(error))
    return { message, ...place, extensions: { code: 'BAD_REQUEST', status: 400 } };
  if (isArgumentError(error))
    return { message, ...place, extensions: { code: 'BAD_USER_INPUT', status: 400 } };
  return {
    message: ERRORS.INTERNAL.title,
    ...place,
    extensions: { code: 'INTERNAL' satisfies ErrorCode, status: ERRORS.INTERNAL.status },
  };
}

/** Whether it is a fault of ours, which must be reported to operators. */
export function isFault(error: GraphQLError): boolean {
  return formatGraphqlError(error.toJSON(), error).extensions?.status === ERRORS.INTERNAL.status;
}

/**
 * The HTTP status and headers of a result without data, if all its fields share an error that concerns the
 * whole request.
 */
export function requestFailure(
  errors: readonly GraphQLFormattedError[],
): { readonly status: number; readonly headers: ReadonlyMap<string, string> } | undefined {
  const statuses = new Set(errors.map((error) => error.extensions?.status));
  const [status] = statuses;
  if (statuses.size !== 1 || typeof status !== 'number' || !REQUEST_STATUSES.has(status)) return undefined;
  const headers = new Map<string, string>();
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  const retryAfter = errors[0]?.extensions?.retryAfterSeconds;
  if (typeof retryAfter === 'number') headers.set('retry-after', String(retryAfter));
  return { status, headers };
}

function toExtensions(error: ServiceError): Record<string, unknown> {
  return {
    code: error.code,
    status: error.status,
    ...(error.errors && { errors: error.errors }),
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  };
}

function findServiceError(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  return error instanceof GraphQLError ? findServiceError(error.originalError) : undefined;
}

/**
 * Errors of graphql-js before any field has run, e.g. for a subscription where there are none: no field is at
 * fault.
 */
function isRefusedOperation(error: unknown): boolean {
  return error instanceof GraphQLError && error.path === undefined && error.originalError === undefined;
}

/**
 * A value that turned out wrong only at execution, such as a missing variable for a required argument:
 * graphql-js points at the argument.
 */
function isArgumentError(error: unknown): boolean {
  if (!(error instanceof GraphQLError)) return false;
  const { originalError } = error;
  return (
    originalError instanceof GraphQLError && originalError.nodes !== undefined && !originalError.originalError
  );
}
