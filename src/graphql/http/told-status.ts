/** What HTTP says where a document or its variables are wrong, which depends on what the client reads. */
import type { GraphQLFormattedError } from 'graphql';

/** The request was in order, what it asks for is not. */
const DOCUMENT_CODES: ReadonlySet<unknown> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
  'LIMIT_EXCEEDED',
  'INVALID_VALUE',
]);

/**
 * Clients of before `application/graphql-response+json` take any status but 200 for the failure of a proxy.
 *
 * @see GraphQL over HTTP, 6.4.1
 */
export function toldStatus(
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
