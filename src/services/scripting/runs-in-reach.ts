/** Limits whose runs, and whose lines of the log, a caller may look at. */

import { credentialName, type Scope } from '../../base/model/scope.js';
import { isAdmin } from '../../store/access/access.js';
import { type Sql, sql } from '../../store/sql.js';

/**
 * A condition on rows with `domain_id`, `principal` and `credential`: all of the domain for an admin, else
 * what ran as the caller. Who has a part of its user's rights (an API key, a token of `platform.signToken`)
 * reaches what it started itself: what the user's other credentials were answered may be more than it may
 * read.
 */
export function runsInReach({ domain, principal }: Scope): Sql {
  const inDomain = sql`domain_id = ${domain.id}`;
  if (isAdmin(principal)) return inDomain;
  const own = sql`${inDomain} and principal = ${principal.id}`;
  if (principal.scopes === undefined) return own;
  return sql`${own} and credential = ${credentialName(principal.credential)}`;
}
