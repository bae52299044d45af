/** Compiles a `Shape` to one SQL expression that prints the JSON text of a record. */

import type { Path } from '../../base/model/path.js';
import { type Sql, sql } from '../sql.js';
import {
  type EnumShape,
  type ListShape,
  type Member,
  type ReferrersShape,
  type Shape,
  type TargetShape,
} from './shape.js';

const ALLOWED_NAME = /^[A-Za-z0-9_$-]{1,63}$/;

/**
 * Selects the records that the caller may see in another collection: a condition over the alias `r` that
 * includes the domain and excludes tombstones.
 */
type VisibleRecords = (collection: string) => Sql;

/** The state that the expressions of one statement share. */
export interface Printing {
  /** jsonb: the visible fields of the record `r` within the projection of the query, without `_id`. */
  readonly fields: Sql;
  readonly visibleRecords: VisibleRecords;
  /** `select … as json`: one row, the page of records that reference the id, a jsonb expression. */
  readonly printReferrers: (shape: ReferrersShape, id: Sql, printing: Printing) => Sql;
  aliasCount: number;
}

export function startPrinting(options: Omit<Printing, 'aliasCount'>): Printing {
  return { ...options, aliasCount: 0 };
}

/**
 * The additions to the FROM item `r` that the printing of a record needs, beside the columns of a record.
 *
 * A value is read twice, once for its type and once for its text, and extracting it from the document costs
 * more than both reads. The FROM item therefore extracts each value once. This works only if Postgres does
 * not flatten the FROM item, e.g. because it has a limit.
 */
export interface RecordItem {
  /** The joins that follow the FROM item. */
  readonly joins: Sql[];
  /** The values that it selects, by name. */
  readonly values: Map<string, Sql>;
}

export function startRecordItem(): RecordItem {
  return { joins: [], values: new Map() };
}

/** The extracted values, to follow the other columns of the FROM item. */
export function valueColumns({ values }: RecordItem): Sql {
  if (values.size === 0) return sql.empty;
  const columns = [...values].map(([name, value]) => sql`${value} as ${sql.raw(`"${name}"`)}`);
  return sql`, ${sql.join(columns)}`;
}

export function joinsOf({ joins }: Pick<RecordItem, 'joins'>): Sql {
  return joins.length === 0 ? sql.empty : sql.join([...joins], ' ');
}

/** An expression for the JSON text of one record `r`. Joins and values that it needs are added to `item`. */
export function compileObject(members: readonly Member[], item: RecordItem, printing: Printing): Sql {
  const row: Row = { base: sql.raw('r.data'), joins: item.joins, found: { values: item.values, at: [] } };
  return printObject(members, row, printing);
}

/** One value in a JSON text, after a key. It is never null, and of a type that prints as JSON. */
export type Piece = Sql | { readonly json: string };

/**
 * Prints the text of a JSON object by `format`, whose first argument holds all constant parts. This is a
 * quarter faster than `json_build_object`, and the text contains no spaces.
 */
export function formatObject(members: readonly (readonly [string, Piece])[]): Sql {
  if (members.length > MAX_FORMATTED) {
    const parts: Sql[] = [];
    for (let start = 0; start < members.length; start += MAX_FORMATTED) {
      parts.push(formatMembers(members.slice(start, start + MAX_FORMATTED), '', ''));
    }
    return sql`('{' || ${sql.join(parts, " || ',' || ")} || '}')`;
  }
  return formatMembers(members, '{', '}');
}

/** A function takes at most 100 arguments. */
const MAX_FORMATTED = 90;

function formatMembers(members: readonly (readonly [string, Piece])[], start: string, end: string): Sql {
  const values: Sql[] = [];
  const texts = members.map(([key, piece]) => {
    if ('json' in piece) return `${JSON.stringify(key)}:${piece.json}`.replaceAll('%', '%%');
    values.push(piece);
    return `${JSON.stringify(key).replaceAll('%', '%%')}:%s`;
  });
  return sql`format(${sql.join([sql`${start + texts.join(',') + end}::text`, ...values])})`;
}

/** A FROM item whose `base` is a JSON object: the record, or an element of a list in it. */
interface Row {
  readonly base: Sql;
  readonly joins: Sql[];
  /**
   * The values that the FROM item extracts once, and the place of `base` in the record. `undefined`: values
   * are extracted where they are used.
   */
  readonly found?: { readonly values: Map<string, Sql>; readonly at: Path } | undefined;
}

function printObject(members: readonly Member[], row: Row, state: Printing): Sql {
  return formatObject(members.map(({ key, shape }) => [key, printShape(shape, row, state)]));
}

function printShape(shape: Shape, row: Row, state: Printing): Piece {
  switch (shape.kind) {
    case 'constant':
      return { json: JSON.stringify(shape.text) };
    case 'id':
      return sql.raw('to_json(r.id)');
    case 'nodeId':
      return sql`to_json(${shape.prefix}::text || r.id)`;
    case 'version':
      return sql.raw('r.version');
    case 'createdAt':
      return instant('r.created_at');
    case 'updatedAt':
      return instant('r.updated_at');
    case 'fields':
      return state.fields;
    case 'json':
      return sql`coalesce(${valueAt(row, shape.path)}, 'null')`;
    case 'text':
      return valueOfType(row, shape.path, 'string');
    case 'number':
    case 'boolean':
      return valueOfType(row, shape.path, shape.kind);
    case 'decimal': {
      const value = valueAt(row, shape.path);
      return sql`case when jsonb_typeof(${value}) = 'number' then '"' || ${value}::text || '"'
        else 'null' end`;
    }
    case 'enum':
      return printEnum(shape, row);
    case 'object': {
      const value = valueAt(row, shape.path);
      const object = printObject(shape.members, rowWithin(row, shape.path), state);
      return sql`case when jsonb_typeof(${value}) = 'object' then ${object} else 'null' end`;
    }
    case 'list':
      return printList(shape, row, state);
    case 'target':
      return printTarget(shape, row, state);
    case 'referrers':
      return printReferrers(shape, row, state);
  }
}

/** Looks the value up in a small object, which takes the same time for any number of values. */
function printEnum(shape: EnumShape, row: Row): Sql {
  const names = JSON.stringify(Object.fromEntries(shape.namesByValue));
  const value = valueAt(row, shape.path);
  return sql`coalesce(case when jsonb_typeof(${value}) = 'string' then ${names}::jsonb->(${value}
    #>> '{}') end, 'null')`;
}

function printList(shape: ListShape, row: Row, state: Printing): Sql {
  const value = valueAt(row, shape.path);
  const alias = nextAlias('e', state);
  const inner: Row = { base: sql.raw(`${alias}.value`), joins: [] };
  const piece = printShape(shape.element, inner, state);
  const element = 'json' in piece ? sql`${piece.json}::text` : sql`(${piece})::text`;
  return sql`case when jsonb_typeof(${value}) = 'array' then (
  select '[' || coalesce(string_agg(${element}, ',' order by ${sql.raw(alias)}.position), '') || ']'
  from jsonb_array_elements(${value}) with ordinality as ${sql.raw(alias)}(value,
    position) ${joinsOf(inner)}
  where ${elementHasType(shape.element, inner.base)}
) else 'null' end`;
}

function elementHasType(element: Shape, base: Sql): Sql {
  switch (element.kind) {
    case 'text':
      return sql`jsonb_typeof(${base}) = 'string'`;
    case 'number':
    case 'decimal':
      return sql`jsonb_typeof(${base}) = 'number'`;
    case 'boolean':
    case 'object':
      return sql`jsonb_typeof(${base}) = ${sql.raw(`'${element.kind}'`)}`;
    case 'enum':
      return sql`jsonb_typeof(${base}) = 'string'
        and (${base} #>> '{}') = any(${[...element.namesByValue.keys()]}::text[])`;
    default:
      return sql`${base} <> 'null'`;
  }
}

/** A join, not a subquery in the select list: Postgres caches a target that several records reference. */
function printTarget(shape: TargetShape, row: Row, state: Printing): Sql {
  const reference = nextAlias('reference', state);
  row.joins.push(
    sql`cross join lateral (select ${textAt(row, [...shape.path, 'value'])} as id) as
      ${sql.raw(reference)}`,
  );
  const found = shape.targets.map((target) => {
    const alias = nextAlias('target', state);
    const inner: Row = { base: sql.raw('r.data'), joins: [] };
    const json = printObject(target.members, inner, state);
    row.joins.push(sql`left join lateral (
  select ${json} as json
  from records as r ${joinsOf(inner)}
  where ${state.visibleRecords(target.collection)} and r.id = ${sql.raw(reference)}.id
) as ${sql.raw(alias)} on true`);
    return sql.raw(`${alias}.json`);
  });
  return sql`coalesce(${sql.join([...found, sql.raw("'null'")])})`;
}

/** One index scan for each record, all in one statement. */
function printReferrers(shape: ReferrersShape, row: Row, state: Printing): Sql {
  const parent = nextAlias('parent', state);
  const alias = nextAlias('referrers', state);
  row.joins.push(sql`cross join lateral (select to_jsonb(r.id) as id) as ${sql.raw(parent)}
left join lateral (${state.printReferrers(shape, sql.raw(`${parent}.id`), state)}) as ${sql.raw(alias)}
  on true`);
  return sql.raw(`${alias}.json`);
}

function valueAt({ base, found }: Row, path: Path): Sql {
  if (path.length === 0) return base;
  // A cast binds tighter than an arrow and needs the parentheses.
  const value = sql`(${base}${sql.join(path.map(step), '')})`;
  const name = found && nameOfValue([...found.at, ...path]);
  if (found === undefined || name === undefined) return value;
  found.values.set(name, sql`(r.data${sql.join([...found.at, ...path].map(step), '')})`);
  return sql.raw(`r."${name}"`);
}

/** The members of an object in the record. */
function rowWithin(row: Row, path: Path): Row {
  const found = row.found && { values: row.found.values, at: [...row.found.at, ...path] };
  return { base: valueAt(row, path), joins: row.joins, found };
}

/** Postgres would cut a longer name, which might then equal the name of another value. */
const MAX_NAME_LENGTH = 63;

/** The column of a value, e.g. `value.student.label`. `undefined` if its path is not usable as a name. */
function nameOfValue(path: Path): string | undefined {
  const name = ['value', ...path].join('.');
  return name.length <= MAX_NAME_LENGTH && path.every((part) => ALLOWED_NAME.test(part)) ? name : undefined;
}

/** A declared name is a literal, so that the statement is always the same and can be prepared. */
function step(name: string): Sql {
  return ALLOWED_NAME.test(name) ? sql.raw(`->'${name}'`) : sql`->${name}::text`;
}

function valueOfType(row: Row, path: Path, type: 'string' | 'number' | 'boolean'): Sql {
  const value = valueAt(row, path);
  return sql`case when jsonb_typeof(${value}) = ${sql.raw(`'${type}'`)} then ${value}
    else 'null' end`;
}

/** The characters of a text. Null for any other value. */
function textAt(row: Row, path: Path): Sql {
  const value = valueAt(row, path);
  return sql`case when jsonb_typeof(${value}) = 'string' then ${value} #>> '{}' end`;
}

function instant(column: string): Sql {
  return sql.raw(`to_char(${column} at time zone 'UTC', '"\\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\\""')`);
}

function nextAlias(stem: string, state: Printing): string {
  state.aliasCount += 1;
  return `${stem}_${state.aliasCount}`;
}
