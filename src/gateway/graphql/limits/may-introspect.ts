/**
 * Introspection depends on the caller's roles, not on the environment: analysts work in production. @see
 * decisions 6
 */
import { type DocumentNode, visit } from 'graphql';
import { ServiceError } from '../../../base/errors.js';
import type { RequestContext } from '../../resolvers/request-context.js';
import { isIntrospectionField } from './introspection-cost.js';

const INTROSPECTING = new WeakMap<DocumentNode, boolean>();

/**
 * Refuses `__schema` and `__type` to callers who may not introspect. `*` in `roles` allows every
 * authenticated caller.
 *
 * @throws UNAUTHENTICATED without a credential, FORBIDDEN for a caller without such a role
 */
export function assertMayIntrospect(
  document: DocumentNode,
  context: RequestContext,
  roles: readonly string[],
): void {
  if (isIntrospecting(document)) assertIntrospectionRole(context, roles);
}

/** Like `assertMayIntrospect`, for other ways of showing the schema. */
export function assertIntrospectionRole(context: RequestContext, roles: readonly string[]): void {
  if (!context.scope) {
    throw new ServiceError(
      'UNAUTHENTICATED',
      'Introspection needs a credential: Authorization: Bearer <token>. The mutation login gives one.',
    );
  }
  if (roles.includes('*')) return;
  const { principal } = context.scope;
  if (roles.some((role) => principal.roles.has(role))) return;
  throw new ServiceError('FORBIDDEN', `Introspection is for these roles: ${roles.join(', ') || 'none'}.`);
}

/** Whether the document has a field of introspection. */
export function isIntrospecting(document: DocumentNode): boolean {
  const known = INTROSPECTING.get(document);
  if (known !== undefined) return known;
  let found = false;
  visit(document, {
    Field(field) {
      if (isIntrospectionField(field.name.value)) found = true;
    },
  });
  INTROSPECTING.set(document, found);
  return found;
}
