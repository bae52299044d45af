/** Marks the mutations that can share a transaction. @see transaction.ts */
import type { GraphQLFieldExtensions } from 'graphql';

/**
 * Marks a mutation whose resolver does all its reads and writes in `RequestContext.transaction`. Its type is
 * never null.
 */
export const TRANSACTIONAL_FIELD = { isTransactional: true } as const;

export function isTransactionalField(field: {
  readonly extensions: Readonly<GraphQLFieldExtensions<unknown, unknown>>;
}): boolean {
  return field.extensions.isTransactional === true;
}
