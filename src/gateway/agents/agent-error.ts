/** Formats an error for agents, with GraphQL's message, code and status. */
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { formatGraphqlError } from '../graphql/operation/graphql-errors.js';

/** Errors that are not in the catalog are masked. */
export function toAgentError(error: unknown): GraphQLFormattedError {
  // An operation's error, already formatted.
  if (error instanceof GraphQLError) return error.toJSON();
  const original = error instanceof Error ? error : new Error(String(error));
  const graphql = new GraphQLError(original.message, { originalError: original });
  return formatGraphqlError(graphql.toJSON(), graphql);
}
