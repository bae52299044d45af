/** `Shape` to one SQL expression that prints the JSON text of a record. */

import { Prisma } from '../../generated/prisma/client.js';
import type { Path } from '../../model/path.js';
import {
  type EnumShape,
  type ListShape,
  type Member,
  type ReferrersShape,
  readsOthers,
  type Shape,
  type TargetShape,
} from './shape.js';

type Sql = Prisma.Sql;

const ALLOWED_NAME = /^[A-Za-z0-9_$-]{1,63}$/;

/**
 * What of another collection the caller may see: a condition over the alias `r`, the domain and the
 * tombstones included.
 */
type VisibleRecords = (collection: string) => Sql;

/** What the expressions of one statement share. */
export interface Printing {
  /**
   * A jsonb expression: all visible fields of the record `r` as the query's projection leaves them, without
   * `_id`.
   */
  readonly fields: Sql;
  readonly visibleRecords: VisibleRecords;
  /** `select … as json`: one row, the page of what points to the record with this id, a jsonb expression. */
  readonly printReferrers: (shape: ReferrersShape, id: Sql, printing: Printing) => Sql;
  aliasCount: number;
}

export function startPrinting(options: Omit<Printing, 'aliasCount'>): Printing {
  return { ...options, aliasCount: 0 };
}

/**
 * What the expressions that print a record need of the FROM item `r`, beside the columns of a record.
 *
 * A value is looked at twice, once for its type and once for its text, and finding it in the document costs
 * more than both: so the FROM item finds each once. It must be one that Postgres does not dissolve, e.g.
 * because it has a limit.
 */
export interface RecordItem {
  /** The joins that stand after it. */
  readonly joins: Sql[];
  /** What it selects, by the name. */
  readonly values: Map<string, Sql>;
}

export function startRecordItem(): RecordItem {
  return { joins: [], values: new Map() };
}

/** The values that are found once, to stand after the other columns of the FROM item. */
export function valueColumns({ values }: RecordItem): Sql {
  if (values.size === 0) return Prisma.empty;
  const columns = [...values].map(([name, value]) => Prisma.sql`${value} as ${Prisma.raw(`"${name}"`)}`);
  return Prisma.sql`, ${Prisma.join(columns)}`;
}

export function joinsOf({ joins }: RecordItem): Sql {
  return joins.length === 0 ? Prisma.empty : Prisma.join([...joins], ' ');
}

/** An expression for the JSON text of one record `r`. What it needs of `r` is added to `item`. */
export function compileObject(members: readonly Member[], item: RecordItem, printing: Printing): Sql {
  const known = COMPILED.get(members);
  const compiled = known ?? printWithItem(members, printing);
  item.joins.push(...compiled.item.joins);
  for (const [name, value] of compiled.item.values) item.values.set(name, value);
  if (known === undefined && isTheSameForAll(members)) COMPILED.set(members, compiled);
  return compiled.json;
}

interface CompiledObject {
  readonly json: Sql;
  readonly item: RecordItem;
}

/** Shapes are kept with the documents that were sent, and so is what they compile to. */
const COMPILED = new WeakMap<readonly Member[], CompiledObject>();

function printWithItem(members: readonly Member[], printing: Printing): CompiledObject {
  const item = startRecordItem();
  const row: Row = { base: Prisma.raw('r.data'), joins: item.joins, found: { values: item.values, at: [] } };
  return { json: printObject(members, row, printing), item };
}

/**
 * No part of it depends on who asks: neither what a reference leads to, nor the hidden fields of a whole
 * record.
 */
function isTheSameForAll(members: readonly Member[]): boolean {
  return !readsOthers(members) && members.every((member) => member.shape.kind !== 'fields');
}

/**
 * One piece of a JSON text: what `formatObject` puts behind a key. Never null; of any type that prints as
 * JSON.
 */
export type Piece = Sql | { readonly json: string };

/**
 * The text of a JSON object: `format` with one parameter for all that is constant. It is a fourth faster than
 * `json_build_object`, and the text has no spaces in it.
 */
export function formatObject(members: readonly (readonly [string, Piece])[]): Sql {
  if (members.length > MAX_FORMATTED) {
    const parts: Sql[] = [];
    for (let start = 0; start < members.length; start += MAX_FORMATTED) {
      parts.push(formatMembers(members.slice(start, start + MAX_FORMATTED), '', ''));
    }
    return Prisma.sql`('{' || ${Prisma.join(parts, " || ',' || ")} || '}')`;
  }
  return formatMembers(members, '{', '}');
}

/** A function takes 100 arguments. */
const MAX_FORMATTED = 90;

function formatMembers(members: readonly (readonly [string, Piece])[], start: string, end: string): Sql {
  const values: Sql[] = [];
  const texts = members.map(([key, piece]) => {
    if ('json' in piece) return `${JSON.stringify(key)}:${piece.json}`.replaceAll('%', '%%');
    values.push(piece);
    return `${JSON.stringify(key).replaceAll('%', '%%')}:%s`;
  });
  return Prisma.sql`format(${Prisma.join([Prisma.sql`${start + texts.join(',') + end}::text`, ...values])})`;
}

/** One FROM item whose `base` is a JSON object: the record, or an element of a list in it. */
interface Row {
  readonly base: Sql;
  readonly joins: Sql[];
  /**
   * The values that are found once, and where in the record their `base` is. `undefined`: they are found
   * where they are used.
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
      return Prisma.raw('to_json(r.id)');
    case 'nodeId':
      return Prisma.sql`to_json(${shape.prefix}::text || r.id)`;
    case 'version':
      return Prisma.raw('r.version');
    case 'createdAt':
      return instant('r.created_at');
    case 'updatedAt':
      return instant('r.updated_at');
    case 'fields':
      return state.fields;
    case 'json':
      return Prisma.sql`coalesce(${valueAt(row, shape.path)}, 'null')`;
    case 'text':
      return valueOfType(row, shape.path, 'string');
    case 'number':
      return valueOfType(row, shape.path, 'number');
    case 'boolean':
      return valueOfType(row, shape.path, 'boolean');
    case 'decimal': {
      const value = valueAt(row, shape.path);
      return Prisma.sql`case when jsonb_typeof(${value}) = 'number' then '"' || ${value}::text || '"'
        else 'null' end`;
    }
    case 'enum':
      return printEnum(shape, row);
    case 'object': {
      const value = valueAt(row, shape.path);
      const object = printObject(shape.members, rowWithin(row, shape.path), state);
      return Prisma.sql`case when jsonb_typeof(${value}) = 'object' then ${object} else 'null' end`;
    }
    case 'list':
      return printList(shape, row, state);
    case 'target':
      return printTarget(shape, row, state);
    case 'referrers':
      return printReferrers(shape, row, state);
  }
}

/** One look-up in a small object, however many values there are. */
function printEnum(shape: EnumShape, row: Row): Sql {
  const names = JSON.stringify(Object.fromEntries(shape.namesByValue));
  const value = valueAt(row, shape.path);
  return Prisma.sql`coalesce(case when jsonb_typeof(${value}) = 'string' then ${names}::jsonb->(${value}
    #>> '{}') end, 'null')`;
}

function printList(shape: ListShape, row: Row, state: Printing): Sql {
  const value = valueAt(row, shape.path);
  const alias = nextAlias('e', state);
  const inner: Row = { base: Prisma.raw(`${alias}.value`), joins: [] };
  const piece = printShape(shape.element, inner, state);
  const element = 'json' in piece ? Prisma.sql`${piece.json}::text` : Prisma.sql`(${piece})::text`;
  return Prisma.sql`case when jsonb_typeof(${value}) = 'array' then (
  select '[' || coalesce(string_agg(${element}, ',' order by ${Prisma.raw(alias)}.position), '') || ']'
  from jsonb_array_elements(${value}) with ordinality as ${Prisma.raw(alias)}(value,
    position) ${joined(inner.joins)}
  where ${elementHasType(shape.element, inner.base)}
) else 'null' end`;
}

function elementHasType(element: Shape, base: Sql): Sql {
  switch (element.kind) {
    case 'text':
      return Prisma.sql`jsonb_typeof(${base}) = 'string'`;
    case 'number':
    case 'decimal':
      return Prisma.sql`jsonb_typeof(${base}) = 'number'`;
    case 'boolean':
      return Prisma.sql`jsonb_typeof(${base}) = 'boolean'`;
    case 'object':
      return Prisma.sql`jsonb_typeof(${base}) = 'object'`;
    case 'enum':
      return Prisma.sql`jsonb_typeof(${base}) = 'string'
        and (${base} #>> '{}') = any(${[...element.namesByValue.keys()]}::text[])`;
    default:
      return Prisma.sql`${base} <> 'null'`;
  }
}

/**
 * A join and no subquery in the select list: Postgres then remembers a target that several records point to.
 */
function printTarget(shape: TargetShape, row: Row, state: Printing): Sql {
  const reference = nextAlias('reference', state);
  row.joins.push(
    Prisma.sql`cross join lateral (select ${textAt(row, [...shape.path, 'value'])} as id) as
      ${Prisma.raw(reference)}`,
  );
  const found = shape.targets.map((target) => {
    const alias = nextAlias('target', state);
    const inner: Row = { base: Prisma.raw('r.data'), joins: [] };
    const json = printObject(target.members, inner, state);
    row.joins.push(Prisma.sql`left join lateral (
  select ${json} as json
  from records as r ${joined(inner.joins)}
  where ${state.visibleRecords(target.collection)} and r.id = ${Prisma.raw(reference)}.id
) as ${Prisma.raw(alias)} on true`);
    return Prisma.raw(`${alias}.json`);
  });
  return Prisma.sql`coalesce(${Prisma.join([...found, Prisma.raw("'null'")])})`;
}

/** One index scan a record, all in the one statement. */
function printReferrers(shape: ReferrersShape, row: Row, state: Printing): Sql {
  const parent = nextAlias('parent', state);
  const alias = nextAlias('referrers', state);
  row.joins.push(Prisma.sql`cross join lateral (select to_jsonb(r.id) as id) as ${Prisma.raw(parent)}
left join lateral (${state.printReferrers(shape, Prisma.raw(`${parent}.id`), state)}) as ${Prisma.raw(alias)}
  on true`);
  return Prisma.raw(`${alias}.json`);
}

function valueAt({ base, found }: Row, path: Path): Sql {
  if (path.length === 0) return base;
  // It stands in brackets: a cast binds tighter than an arrow.
  const value = Prisma.sql`(${base}${Prisma.join(path.map(step), '')})`;
  const name = found && nameOfValue([...found.at, ...path]);
  if (found === undefined || name === undefined) return value;
  found.values.set(name, Prisma.sql`(r.data${Prisma.join([...found.at, ...path].map(step), '')})`);
  return Prisma.raw(`r."${name}"`);
}

/** The members of an object in the record. */
function rowWithin(row: Row, path: Path): Row {
  const found = row.found && { values: row.found.values, at: [...row.found.at, ...path] };
  return { base: valueAt(row, path), joins: row.joins, found };
}

/** A longer name would be cut by Postgres, and might then be the name of another value. */
const MAX_NAME_LENGTH = 63;

/** The column of a value, e.g. `value.student.label`; `undefined`: its path makes no name. */
function nameOfValue(path: Path): string | undefined {
  const name = ['value', ...path].join('.');
  return name.length <= MAX_NAME_LENGTH && path.every((part) => ALLOWED_NAME.test(part)) ? name : undefined;
}

/** A declared name is a literal, so that statements stay the same and can be prepared. */
function step(name: string): Sql {
  return ALLOWED_NAME.test(name) ? Prisma.raw(`->'${name}'`) : Prisma.sql`->${name}::text`;
}

function valueOfType(row: Row, path: Path, type: 'string' | 'number' | 'boolean'): Sql {
  const value = valueAt(row, path);
  return Prisma.sql`case when jsonb_typeof(${value}) = ${Prisma.raw(`'${type}'`)} then ${value}
    else 'null' end`;
}

/** The characters of a text, null for any other value. */
function textAt(row: Row, path: Path): Sql {
  const value = valueAt(row, path);
  return Prisma.sql`case when jsonb_typeof(${value}) = 'string' then ${value} #>> '{}' end`;
}

function instant(column: string): Sql {
  return Prisma.raw(`to_char(${column} at time zone 'UTC', '"\\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\\""')`);
}

function joined(joins: readonly Sql[]): Sql {
  return joins.length === 0 ? Prisma.empty : Prisma.join([...joins], ' ');
}

function nextAlias(stem: string, state: Printing): string {
  state.aliasCount += 1;
  return `${stem}_${state.aliasCount}`;
}
