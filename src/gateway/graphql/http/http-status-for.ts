/** The HTTP status for a wrong document or wrong variables, which depends on the client's media type. */
import type { GraphQLFormattedError } from 'graphql';

/** The request was well-formed, but what it asks for is wrong. */
const DOCUMENT_CODES: ReadonlySet<unknown> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
  'LIMIT_EXCEEDED',
  'INVALID_VALUE',
]);

/**
 * Clients older than `application/graphql-response+json` take any status but 200 for the failure of a proxy.
 *
 * @see GraphQL over HTTP, 6.4.1
 */
export function httpStatusFor(
  status: number,
  errors: readonly GraphQLFormattedError[],
  accept: string | undefined,
): number {
  return status === 400 && isOfDocument(errors) && takesJsonAlone(accept) ? 200 : status;
}

function isOfDocument(errors: readonly GraphQLFormattedError[]): boolean {
  return errors.every(({ extensions }) => DOCUMENT_CODES.has(extensions?.code));
}

function takesJsonAlone(accept: string | undefined): boolean {
  return accept !== undefined && /^application\/json\b/i.test(accept) && !accept.includes('graphql-response');
}
