/** The look-ups of texts of a record that must stand in another one, as SQL. @see Link */
import { DEFAULT_FIRST_MONTH } from '../../base/model/calendar.js';
import type { Collection, Field, Link } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { fieldsAlong, linkTargetOf } from '../catalog/guarding-fields.js';
import { fieldJson } from '../sql/names.js';
import { liveRecordsById, liveRecordsByKey, liveRecordsIn } from '../sql/records-of.js';
import { nameLiteral, type Sql, sql } from '../sql.js';
import { HOLD } from './references.js';

/** The context of the look-ups. */
export interface LinkContext {
  readonly scope: Scope;
  readonly findCollection: (name: string) => Collection | undefined;
  /** @see liveRecordsByKey */
  readonly isRouted: boolean;
  /** Whether the records that are named may not be removed or renamed before the write has committed. */
  readonly holds: boolean;
}

/** The values of a link, whichever record has them. */
export interface Sought {
  /** The position of the link in `Collection.links`. */
  readonly link: number;
  /** The id of the reference and the day of its moment in the time zone of the school. */
  readonly id: string | null;
  readonly on: string | null;
  /** The text of each member; null if it is absent. */
  readonly texts: readonly (string | null)[];
}

/**
 * A query with a row for each value that no other record has, for a statement that checks while it writes;
 * `undefined` if there is nothing to look up. Its text depends only on the links.
 */
export function selectUnlinked(
  collection: Collection,
  sought: readonly Sought[],
  context: LinkContext,
): Sql | undefined {
  const selects = collection.links.flatMap((link, index) => {
    const ofLink = sought.filter((one) => one.link === index);
    const target = ofLink.length === 0 ? undefined : linkTargetOf(link, context.findCollection);
    if (target === undefined) return [];
    return [
      link.reference === undefined
        ? selectUnnamed(link, target, { index, ofLink, context })
        : selectDisagreeing(link, target, { index, ofLink, context }),
    ];
  });
  return selects.length === 0 ? undefined : sql.join(selects, ' union all ');
}

interface SoughtOfLink {
  readonly index: number;
  readonly ofLink: readonly Sought[];
  readonly context: LinkContext;
}

/** The texts that no record of the target has. While a collection has no records, nothing can be named. */
function selectUnnamed(link: Link, target: Collection, { index, ofLink, context }: SoughtOfLink): Sql {
  const { scope, isRouted, holds } = context;
  const lists = link.members.map((_, member) => ofLink.map((one) => one.texts[member] ?? null));
  const texts = link.members.map((_, member) => sql.raw(`sought.v${member}`));
  // If the first text may be null, any record serves that has the others.
  const isOpen = ofLink.some((one) => one.texts[0] === null);
  const place = { domain: scope.domain.id, isRouted };
  const isNamed = liveRecordsByKey(place, target.name, nameCondition(link, target, { texts, isOpen }));
  return sql`
    select ${sql.raw(String(index))} as link, sought.place::int as place, null::jsonb as found
    from unnest(${sql.join(lists.map((list) => sql`${list}::text[]`))})
      with ordinality as sought(${sql.join(listNames(link))}, place)
    where (select true from records r where ${isNamed} limit 1 ${holds ? HOLD : sql.empty}) is null
      and exists (select from records r where ${liveRecordsIn(scope.domain.id, target.name)})`;
}

function listNames({ members }: Link): readonly Sql[] {
  return members.map((_, member) => sql.raw(`v${member}`));
}

/** Whether the record `r` has the texts at the paths of the members; those that are null are not compared. */
export function nameCondition(
  { members }: Link,
  target: Collection,
  { texts, isOpen = false }: { readonly texts: readonly Sql[]; readonly isOpen?: boolean },
): Sql {
  const conditions = members.map(({ path }, index) => {
    const text = texts[index] ?? sql`null::text`;
    const has = hasText(target, path, text);
    // Without the alternative, the index of the name serves.
    return index === 0 && !isOpen ? has : sql`(${text} is null or ${has})`;
  });
  return sql.join(conditions, ' and ');
}

/** Whether the record `r` has a text at a path, or in a list on the way. */
function hasText(collection: Collection, path: readonly string[], text: Sql): Sql {
  const fields = fieldsAlong(collection.fields, path) ?? [];
  if (!fields.some(({ isList }) => isList)) return sql`${fieldJson(collection, path)} = to_jsonb(${text})`;
  return holdsWithin(fields, text);
}

/** Whether the record `r` has the value at the end of the fields, or in a list on the way. */
export function holdsWithin(fields: readonly Field[], value: Sql): Sql {
  const holder = fields.reduceRight((inner, { name, isList }) => {
    const held = isList ? sql`jsonb_build_array(${inner})` : inner;
    return sql`jsonb_build_object(${nameLiteral(name)}, ${held})`;
  }, value);
  return sql`r.data @> ${holder}`;
}

function selectDisagreeing(link: Link, target: Collection, { index, ofLink, context }: SoughtOfLink): Sql {
  const texts = link.members.map((_, member) => ofLink.map((one) => one.texts[member] ?? null));
  const lists = [ofLink.map(({ id }) => id), ofLink.map(({ on }) => on), ...texts];
  const sought = sql`unnest(${sql.join(lists.map((list) => sql`${list}::text[]`))})
      with ordinality as sought(id, moment, ${sql.join(listNames(link))}, place)`;
  const differs = link.members.map((_, member) => {
    const place = sql.raw(String(member));
    return sql`found.texts->>${place} <> sought.v${place}`;
  });
  return sql`
    select ${sql.raw(String(index))} as link, sought.place::int as place, found.texts as found
    from ${sought}
    cross join lateral (${selectAgreeing(link, target, context)}) as found
    where ${sql.join(differs, ' or ')}`;
}

/**
 * The texts of the record `sought.id` for the members of a link, as one list. `offset 0` keeps PostgreSQL
 * from finding the place anew for each member, `limit 1` from joining by reading all records.
 */
function selectAgreeing(link: Link, target: Collection, { scope }: LinkContext): Sql {
  const texts = link.members.map(({ path }) => sql`place.data#>>${path as string[]}::text[]`);
  const isTarget = liveRecordsById(scope.domain.id, target.name, sql`= sought.id`);
  return sql`
      select jsonb_build_array(${sql.join(texts)}) as texts
      from records r cross join lateral (${placeOf(link, target, scope)} offset 0) as place(data)
      where ${isTarget}
      limit 1`;
}

/** The record `r`, or the stay of it that counts at `sought.moment`; null where none is known. */
function placeOf({ on, members }: Link, { stays }: Collection, { domain }: Scope): Sql {
  if (on === undefined || stays === undefined) return sql`select r.data`;
  const [list, session] = [stays.list, stays.session ?? ''].map(nameLiteral);
  // Most records have no earlier stays: then a subquery over them would be most of the work.
  const hasEarlier = sql`jsonb_typeof(r.data->${list}) = 'array'`;
  const earlier = sql`
    jsonb_array_elements(case when ${hasEarlier} then r.data->${list} else '[]' end) as stay`;
  const month = String(domain.sessionFirstMonth ?? DEFAULT_FIRST_MONTH).padStart(2, '0');
  const firstDay = sql`left(r.data->>${session}, 4) || ${`-${month}-01`}`;
  const isHere = members.map(({ path }, member) => {
    const text = sql.raw(`sought.v${member}`);
    return sql`(stay#>>${path as string[]}::text[] = ${text} or nullif(${text}, '') is null)`;
  });
  return sql`
        select case
          when sought.moment ~ '^\\d{4}-\\d{2}-\\d{2}$' then coalesce(
            case when ${hasEarlier} then (
              select stay from ${earlier}
              where stay->>'from' <= sought.moment and stay->>'to' >= sought.moment
              order by stay->>'from' desc limit 1
            ) end,
            case when sought.moment >= ${firstDay} then r.data end
          )
          else (
            select stay
            from (select stay from ${earlier} union all select r.data) as known(stay)
            where stay->>${session} = sought.moment
            order by (${sql.join(isHere, ' and ')}) is true desc
            limit 1
          )
        end`;
}
