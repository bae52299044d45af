/**
 * Compiles the fields to return of a record to one expression over the alias `r`. Postgres prints the JSON,
 * and the gateway does not parse it.
 *
 * A projection is a part of the record. A field that is missing in the record is missing in the projection,
 * whatever its name. Null stays null. `b.c` keeps `{"b": {"c": …}}`. If `b` is a list, it keeps
 * each element that is an object, with its `c`. If `b` has no members, it keeps nothing.
 *
 * @see decisions 3
 */

import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { type Sql, sql } from '../sql.js';
import { fieldJson, fieldName, inJsonbOrder, isLiteralName } from './names.js';
import { storable } from './storable-json.js';

export interface ProjectionContext {
  readonly collection: Collection;
}

/**
 * The JSON text of `_id` and the requested fields that the caller may read, as jsonb prints it.
 *
 * `undefined` requests the whole record. `hidden` are the top-level fields that the caller may not read.
 * They are left out even if requested.
 */
export function compileProjection(
  projection: readonly Path[] | undefined,
  hidden: ReadonlySet<string>,
  context: ProjectionContext,
): Sql {
  if (projection === undefined) {
    return sql`(${wholeRecord(hidden)} || jsonb_build_object('_id', r.id))::text`;
  }
  return printRecord(visible(projection, hidden), context);
}

/** The same fields without `_id`, as jsonb. */
export function compileFields(
  projection: readonly Path[] | undefined,
  hidden: ReadonlySet<string>,
  context: ProjectionContext,
): Sql {
  if (projection === undefined) return wholeRecord(hidden);
  return projectRecord(visible(projection, hidden), context);
}

function wholeRecord(hidden: ReadonlySet<string>): Sql {
  return hidden.size === 0 ? sql.raw('r.data') : sql`(r.data - ${[...hidden]}::text[])`;
}

/** Names, each with the requested names below it. `undefined` requests the whole value. */
type Tree = Map<string, Tree | undefined>;

function visible(projection: readonly Path[], hidden: ReadonlySet<string>): Tree {
  const tree: Tree = new Map();
  for (const path of projection) {
    const [first] = path;
    if (first !== undefined && first !== '_id' && !hidden.has(first)) insert(tree, path);
  }
  return tree;
}

/** A field that is requested as a whole stays whole, even if one of its members is requested too. */
function insert(tree: Tree, [name, ...rest]: Path): void {
  if (name === undefined) return;
  storable(name);
  const below = tree.get(name);
  if (tree.has(name) && below === undefined) return;
  if (rest.length === 0) {
    tree.set(name, undefined);
    return;
  }
  const inner = below ?? new Map();
  tree.set(name, inner);
  insert(inner, rest);
}

interface Member {
  readonly name: Sql;
  readonly value: Sql;
}

/** `jsonb_build_object` takes at most 100 arguments. */
const MAX_BUILT_MEMBERS = 50;

function projectRecord(tree: Tree, context: ProjectionContext): Sql {
  const members = membersOf(tree, context);
  const isFlat = [...tree.values()].every((below) => below === undefined);
  if (!isFlat || members.length > MAX_BUILT_MEMBERS) return buildPresent(members);
  // This form is three times as fast if no member is missing.
  const names = [...tree.keys()];
  if (names.length === 0) return buildAll(members);
  return sql`case when r.data ?& ${names}::text[] then ${buildAll(members)}
    else ${buildPresent(members)} end`;
}

function membersOf(tree: Tree, { collection }: ProjectionContext): Member[] {
  return [...tree].map(([name, below]) => ({
    name: fieldName(collection, name),
    value: projectMember(name, below, collection),
  }));
}

function projectMember(name: string, below: Tree | undefined, collection: Collection): Sql {
  const json = fieldJson(collection, [name]);
  return below === undefined ? json : projectValue(json, { tree: below, depth: 1 });
}

/** With more members, concatenating their texts one by one would copy the first ones again and again. */
const MAX_PRINTED_MEMBERS = 90;
const ID = '_id';

/**
 * Prints the members one after the other. Building a jsonb object only to print it takes twice as long. A
 * missing member is null and adds no text.
 */
function printRecord(tree: Tree, context: ProjectionContext): Sql {
  if (tree.size > MAX_PRINTED_MEMBERS) {
    const id: Member = { name: sql.raw(`'${ID}'`), value: sql.raw('to_jsonb(r.id)') };
    return sql`${buildPresent([id, ...membersOf(tree, context)])}::text`;
  }
  const { collection } = context;
  // `_id` always exists. Only the members before or after it need a comma of their own.
  const texts = [...tree.keys(), ID].sort(inJsonbOrder).map((name) => {
    if (name === ID) return sql.raw(`'"${ID}": ' || to_json(r.id)::text`);
    const value = sql`${projectMember(name, tree.get(name), collection)}::text`;
    const isBefore = inJsonbOrder(name, ID) < 0;
    return isBefore
      ? sql`coalesce(${memberStart(collection, name, '')} || ${value} || ', ', '')`
      : sql`coalesce(${memberStart(collection, name, ', ')} || ${value}, '')`;
  });
  return sql`('{' || ${sql.join(texts, ' || ')} || '}')`;
}

/** `, "name": ` as SQL text. A declared name is a literal. */
function memberStart(collection: Collection, name: string, separator: '' | ', '): Sql {
  const start = `${separator}${JSON.stringify(name)}: `;
  return isLiteralName(collection, name) ? sql.raw(`'${start}'`) : sql`${start}::text`;
}

function projectValue(json: Sql, { tree, depth }: { readonly tree: Tree; readonly depth: number }): Sql {
  const element = sql.raw(`e${depth}`);
  const members = [...tree].map(([name, below]): Member => {
    const member = sql`(${element}.value->${name}::text)`;
    return {
      name: sql`${name}::text`,
      value: below === undefined ? member : projectValue(member, { tree: below, depth: depth + 1 }),
    };
  });
  return sql`(
  select case jsonb_typeof(${json})
    when 'array' then coalesce(jsonb_agg(p.value order by p.position), '[]'::jsonb)
    when 'object' then jsonb_agg(p.value)->0
  end
  from (
    select ${buildPresent(members)} as value, ${element}.position
    from jsonb_array_elements(
      case jsonb_typeof(${json}) when 'array' then ${json} when 'object' then jsonb_build_array(${json})
        else '[]'::jsonb end
    ) with ordinality as ${element}(value, position)
    where jsonb_typeof(${element}.value) = 'object'
  ) p
)`;
}

function buildAll(members: readonly Member[]): Sql {
  if (members.length === 0) return sql.raw(`'{}'::jsonb`);
  const pairs = members.map(({ name, value }) => sql`${name}, ${value}`);
  return sql.join(pairs, ', ', 'jsonb_build_object(', ')');
}

/** Prints only the members that exist. */
function buildPresent(members: readonly Member[]): Sql {
  const rows = members.map(({ name, value }) => sql`(${name}, ${value})`);
  return sql`(
  select coalesce(jsonb_object_agg(f.name, f.value) filter (where f.value is not null), '{}'::jsonb)
  from (values ${sql.join(rows, ', ')}) as f(name, value)
)`;
}
