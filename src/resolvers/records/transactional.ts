/** Marks the mutations that can be part of one transaction with others. @see transaction.ts */
import type { GraphQLFieldExtensions } from 'graphql';

/**
 * The mark of a mutation whose resolver does all it does, and reads all it reads, in
 * `RequestContext.transaction`. Its type is never null.
 */
export const TRANSACTIONAL_FIELD = { isTransactional: true } as const;

export function isTransactionalField(field: {
  readonly extensions: Readonly<GraphQLFieldExtensions<unknown, unknown>>;
}): boolean {
  return field.extensions.isTransactional === true;
}
