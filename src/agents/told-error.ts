/** An error as agents are told of it: in the words, and with the code and status, that GraphQL has for it. */
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { formatGraphqlError } from '../graphql/operation/graphql-errors.js';

/** What is no error of the catalog is masked. */
export function toToldError(error: unknown): GraphQLFormattedError {
  // It is one of an operation, and was formatted there.
  if (error instanceof GraphQLError) return error.toJSON();
  const original = error instanceof Error ? error : new Error(String(error));
  const graphql = new GraphQLError(original.message, { originalError: original });
  return formatGraphqlError(graphql.toJSON(), graphql);
}
