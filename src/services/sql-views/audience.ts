/** Whom views are made for: a role of a school, or one of its users. */
import type { Domain } from '../../base/model/scope.js';

export type Audience =
  | { readonly kind: 'role'; readonly domain: Domain; readonly role: string }
  | {
      readonly kind: 'user';
      readonly domain: Domain;
      readonly userId: string;
      readonly userName: string;
      readonly roles: readonly string[];
    };

/** The roles whose rights the views apply. */
export function rolesOfAudience(audience: Audience): readonly string[] {
  return audience.kind === 'role' ? [audience.role] : audience.roles;
}

/** E.g. `the role accountant of demo`. */
export function describeAudience(audience: Audience): string {
  const name = audience.kind === 'role' ? audience.role : audience.userName;
  return `the ${audience.kind} ${name} of ${audience.domain.id}`;
}
