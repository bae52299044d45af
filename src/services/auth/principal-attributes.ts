/** The attributes that records grant to a user, for use in row rules. */

import { type JsonValue, parseExactJson } from '../../base/json/json.js';
import type { Collection, Grant } from '../../base/model/collection.js';
import type { Queryable } from '../../store/database/queryable.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';

export type PrincipalAttributes = Readonly<Record<string, readonly (readonly JsonValue[])[]>>;

/**
 * The attributes of a user, from the records of all granting collections, in one round trip (none without
 * grants).
 *
 * With `{ attribute: 'sectionsTaught', list: 'sections', caller: 'class_teacher', key: [['name'],
 * ['sections', 'name']] }` the class teacher of 5 A has `sectionsTaught: [["5", "A"]]`. An element that lacks
 * a part of the key grants nothing.
 *
 * @see Grant
 */
export async function loadPrincipalAttributes(
  database: Queryable,
  collections: readonly Collection[],
  user: { readonly domainId: string; readonly userId: string },
): Promise<PrincipalAttributes> {
  const selects = collections.flatMap((collection) =>
    collection.grants.map((grant) => selectGrant(collection, grant, user)),
  );
  if (selects.length === 0) return {};
  const rows = await database.query<{ attribute: string; key: string }>(sql.join(selects, ' union all '));
  const keysByAttribute = new Map<string, (readonly JsonValue[])[]>();
  for (const { attribute, key } of rows) {
    const parts = parseExactJson(key);
    if (!Array.isArray(parts) || parts.includes(null)) continue;
    keysByAttribute.set(attribute, [...(keysByAttribute.get(attribute) ?? []), parts]);
  }
  return Object.fromEntries(keysByAttribute);
}

/**
 * Selects the rows `attribute` and `key` (a list, as JSON text) that a collection grants to a user. A key
 * with a null grants nothing.
 */
export function selectGrant(
  collection: Collection,
  grant: Grant,
  user: { readonly domainId: string; readonly userId: string },
): Sql {
  const isCaller = `${jsonPathOf([grant.caller, 'value'])} ? (@ == ${JSON.stringify(user.userId)})`;
  const list = sql`r.data -> ${grant.list}::text`;
  return sql`
    select ${grant.attribute}::text as attribute,
      jsonb_build_array(${sql.join(grant.key.map((path) => selectPart(path, grant)))})::text as key
    from records r
    cross join lateral jsonb_array_elements(case jsonb_typeof(${list}) when 'array' then ${list}
      else '[]' end) as e (element)
    where ${liveRecordsIn(user.domainId, collection.name)}
      and r.data @? ${`$.${JSON.stringify(grant.list)}[*]${isCaller.slice(1)}`}::jsonpath
      and jsonb_path_exists(e.element, ${isCaller}::jsonpath)`;
}

function selectPart(path: readonly string[], grant: Grant): Sql {
  const [first, ...rest] = path;
  return first === grant.list ? sql`e.element #> ${rest}::text[]` : sql`r.data #> ${[...path]}::text[]`;
}

/** In lax mode a step also descends into lists. */
function jsonPathOf(path: readonly string[]): string {
  return ['$', ...path.map((step) => JSON.stringify(step))].join('.');
}
