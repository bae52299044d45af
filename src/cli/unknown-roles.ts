/** A check of the settings that name roles, for the operator who starts the gateway. */

import { didYouMean } from '../base/text/did-you-mean.js';
import type { Services } from '../gateway/compose/services.js';
import { type Config, roleSettings } from '../gateway/config/config.js';
import { sql } from '../store/sql.js';

/**
 * One line for each role that a setting names, but no declaration of a collection and no user has. A misspelt
 * role in SECOND_FACTOR_ROLES would leave the roles that were meant without a second factor. The gateway
 * starts all the same, because the role may be given to users later.
 */
export async function findUnknownRoles(
  { database, catalog }: Pick<Services, 'database' | 'catalog'>,
  config: Config,
): Promise<string[]> {
  const declared = new Set(['admin', ...catalog.list().flatMap(({ access }) => [...access.keys()])]);
  const named = roleSettings(config).map(({ variable, roles }) => ({
    variable,
    roles: roles.filter((role) => !declared.has(role)),
  }));
  const undeclared = named.flatMap(({ roles }) => roles);
  if (undeclared.length === 0) return [];
  const rows = await database.query<{ role: string }>(sql`
    select distinct role
    from records r, jsonb_array_elements_text(
      case jsonb_typeof(r.data -> 'roles') when 'array' then r.data -> 'roles' else '[]' end
    ) as of (role)
    where r.collection = 'pltf_user' and r.deleted_at is null and role = any(${undeclared}::text[])`);
  const held = new Set(rows.map(({ role }) => role));
  return named.flatMap(({ variable, roles }) =>
    roles
      .filter((role) => !held.has(role))
      .map(
        (role) =>
          `${variable} names the role "${role}", which no collection declares and no user has.` +
          didYouMean(role, declared),
      ),
  );
}
