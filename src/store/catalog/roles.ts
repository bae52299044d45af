/** The roles that declarations and users name; there is no list of them. */
import type { Collection } from '../../base/model/collection.js';
import type { Queryable } from '../database/queryable.js';
import { type Sql, sql } from '../sql.js';

/** No school has more roles, unless a program created them. */
const MOST_ROLES = 1_000;

/** The roles that declarations name, `admin` among them. */
export function declaredRoles(collections: readonly Pick<Collection, 'access'>[]): ReadonlySet<string> {
  return new Set(['admin', ...collections.flatMap(({ access }) => [...access.keys()])]);
}

/** The roles that some users have: those whose records `r` fulfil the condition on them and their `role`. */
export async function listHeldRoles(database: Queryable, condition: Sql): Promise<readonly string[]> {
  const rows = await database.query<{ role: string }>(sql`
    select distinct role
    from records r, jsonb_array_elements_text(
      case jsonb_typeof(r.data -> 'roles') when 'array' then r.data -> 'roles' else '[]' end
    ) as of (role)
    where ${condition}
    limit ${MOST_ROLES}::int`);
  return rows.map(({ role }) => role);
}
