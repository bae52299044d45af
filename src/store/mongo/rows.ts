/**
 * `Rows`: the documents between two stages, as the pieces of one SELECT. A stage adds to the pieces as long
 * as the order of SQL's clauses allows (condition, order, part), and otherwise begins an outer SELECT. So the
 * conditions of a stage reach the table with its indexes.
 */
import type { Path } from '../../base/model/path.js';
import type { SortKey } from '../../base/model/record-query.js';
import { storable } from '../sql/storable-json.js';
import { Sql, sql } from '../sql.js';
import { type DocumentRoot, documentRoot } from './document-root.js';
import {
  type ExpressionContext,
  type ExpressionValue,
  fill,
  objectOf,
  resultOf,
} from './expression-value.js';
import { type FieldTree, type FieldValue, treeJson } from './mongo-projection.js';

export interface Rows {
  /** FROM items, whose aliases the root is over. */
  readonly from: Sql;
  readonly where: readonly Sql[];
  readonly root: DocumentRoot;
  readonly orderBy: Sql | undefined;
  /** The order if no other is requested; `undefined`: that in which the rows come. */
  readonly naturalOrder: Sql | undefined;
  readonly limit: number | undefined;
  readonly skip: number;
  /** The root has fields that are computed wherever they are named. */
  readonly isComputed: boolean;
  /** Whether the sort key is never missing, so that an index may give the order. */
  readonly isAlwaysThere: (path: Path) => boolean;
}

/** Names for aliases, each once a statement. */
export class Aliases {
  #count = 0;

  next(letter: string): string {
    this.#count += 1;
    return `${letter}${this.#count}`;
  }
}

export interface PipelineContext extends ExpressionContext {
  readonly aliases: Aliases;
}

const NEVER = () => false;

/** Documents that are one column. */
export function rowsOf(from: Sql, document: Sql): Rows {
  return {
    from,
    where: [],
    root: documentRoot(document),
    orderBy: undefined,
    naturalOrder: undefined,
    limit: undefined,
    skip: 0,
    isComputed: false,
    isAlwaysThere: NEVER,
  };
}

/** `select … from …` with all that the rows have gathered. */
export function select(columns: Sql, rows: Rows): Sql {
  const order = rows.orderBy ?? (isPart(rows) ? rows.naturalOrder : undefined);
  const clauses = [
    sql`select ${columns}`,
    sql`from ${rows.from}`,
    rows.where.length > 0 && sql`where ${sql.join([...rows.where], ' and ')}`,
    order && sql`order by ${order}`,
    rows.limit !== undefined && sql`limit ${rows.limit}::bigint`,
    rows.skip > 0 && sql`offset ${rows.skip}::bigint`,
  ];
  return sql.join(
    clauses.filter((clause) => clause instanceof Sql),
    '\n',
  );
}

/** The rows in their order, or in the natural one if no other is requested. */
export function inOrder(rows: Rows): Rows {
  return { ...rows, orderBy: rows.orderBy ?? rows.naturalOrder };
}

/** The documents made, as the rows of an outer SELECT; Postgres hands them on in the order it has them in. */
export function wrapped(rows: Rows, { aliases }: PipelineContext): Rows {
  const alias = aliases.next('d');
  // `offset 0` keeps Postgres from putting what a document is made of in place of every mention of it.
  const fence = isPart(rows) ? sql.empty : sql.raw('\noffset 0');
  const inner = sql`${select(sql`${rows.root.json} as doc`, rows)}${fence}`;
  return rowsOf(sql`(${inner}) as ${sql.raw(alias)}`, sql.raw(`${alias}.doc`));
}

/** Whether a part of the rows is taken already: what comes now is of that part. */
export function isPart({ limit, skip }: Rows): boolean {
  return limit !== undefined || skip > 0;
}

/** Conditions, orders and joins are of all rows, not of a part. */
export function wholeRows(rows: Rows, context: PipelineContext): Rows {
  return isPart(rows) ? wrapped(rows, context) : rows;
}

/** Computed fields longer than this are made before they are named. */
const SHORT = 1_500;

/** A field grows with each field that it is computed of, so those are made first, as one column. */
export function shallow(rows: Rows, context: PipelineContext): Rows {
  return rows.isComputed ? wrapped(inOrder(rows), context) : rows;
}

/** Rows of a root with computed fields; long ones are made at once. */
export function computed(rows: Rows, made: readonly Sql[], context: PipelineContext): Rows {
  const length = made.reduce((soFar, sql) => soFar + sql.sql.length, 0);
  return length > SHORT
    ? wrapped(inOrder(rows), context)
    : { ...rows, isComputed: made.length > 0 || rows.isComputed };
}

/**
 * The order of `doc_rank`, then of the values, and what is missing or null last in both directions. The last
 * key is `_id`, so that an order is total. A key that is never missing compares as it is where text compares
 * by bytes, which is the form an index has.
 */
export function orderOf(keys: readonly SortKey[], rows: Rows, context: PipelineContext): Sql {
  const hasId = keys.some(({ path }) => path.length === 1 && path[0] === '_id');
  const last = keys.at(-1)?.direction ?? 'ascending';
  const all = hasId ? keys : [...keys, { path: ['_id'], direction: last }];
  return sql.join(
    all.flatMap(({ path, direction }) => orderItems(path, direction, rows, context)),
    ', ',
  );
}

function orderItems(
  path: Path,
  direction: SortKey['direction'],
  rows: Rows,
  { isByteOrdered }: PipelineContext,
): Sql[] {
  const way = sql.raw(direction === 'ascending' ? ' asc' : ' desc');
  const target = rows.root.targetAt(path);
  if (target.form === 'id') return [sql`r.id${way}`];
  const value = rows.root.valueAt(path);
  if (isByteOrdered && target.form === 'column' && rows.isAlwaysThere(path)) return [sql`${value}${way}`];
  // Null and missing are one in an order.
  const rank = sql`nullif(greatest(doc_rank(${value}), 2), 2)${way} nulls last`;
  const byValue = sql`nullif(${value}, 'null')${way} nulls last`;
  if (isByteOrdered) return [rank, byValue];
  return [rank, sql`doc_text(${value}) collate "C"${way} nulls last`, byValue];
}

/** Documents made of others, as roots: a single field is computed without the document around it. */
const MISSING = sql.raw('null::jsonb');

/** The document with other values in some places. `value` is jsonb, null to take the field away. */
export function withFields(
  base: DocumentRoot,
  fields: readonly FieldValue<Sql>[],
  put = putThrough,
): DocumentRoot {
  const json = fields.reduce((soFar, { path, value }) => {
    const [name] = path;
    if (path.length === 1 && name !== undefined) {
      const key = sql`array[${storable(name)}::text]`;
      return sql`jsonb_set_lax(${soFar}, ${key}, ${value}, true, 'delete_key')`;
    }
    return put(soFar, path, value);
  }, base.json);
  return rootOf(
    json,
    (name) => {
      const [set, ...more] = fields.filter(({ path }) => path[0] === name);
      if (set === undefined) return 'as in the base';
      // Below the top, a value may be put into every element of a list.
      return more.length === 0 && set.path.length === 1 ? set.value : 'in the document';
    },
    base,
  );
}

function putAt(document: Sql, path: Path, value: Sql): Sql {
  return sql`doc_put(${document}, ${path.map(storable)}::text[], ${value})`;
}

/** The objects on the way are made where the value is missing, too. */
function putThrough(document: Sql, path: Path, value: Sql): Sql {
  const at = sql`${path.map(storable)}::text[]`;
  return fill(`doc_put(doc_put($1, $2, coalesce($3, 'null')), $2, $3)`, [document, at, value]);
}

/** The elements of the list at a path, one a document. */
export function withElement(base: DocumentRoot, path: Path, element: Sql): DocumentRoot {
  const made = withFields(base, [{ path, value: element }], putAt);
  const valueAt = (wanted: Path): Sql => {
    if (!path.every((step, index) => wanted[index] === step)) return made.valueAt(wanted);
    const rest = wanted.slice(path.length);
    return rest.length === 0 ? element : sql`doc_value(${element}, ${rest.map(storable)}::text[])`;
  };
  return {
    ...made,
    valueAt,
    targetAt(wanted) {
      if (!path.every((step, index) => wanted[index] === step)) return made.targetAt(wanted);
      const target = base.targetAt(wanted);
      return {
        form: 'path',
        json: objectOf([['v', resultOf('json', element)]]).sql,
        path: ['v', ...wanted.slice(path.length)],
        declared: target.form === 'id' ? undefined : target.declared,
      };
    },
  };
}

/** Some fields of the document, and some that are computed. */
export function onlyFields(
  base: DocumentRoot,
  {
    fields,
    computed,
  }: {
    readonly fields: FieldTree;
    readonly computed: readonly FieldValue<ExpressionValue>[];
  },
): DocumentRoot {
  const kept = [...fields].map(([name, below]): [string, ExpressionValue] => {
    const whole = base.valueAt([name]);
    if (below === true) return [name, resultOf('json', whole)];
    return [name, resultOf('json', picked(whole, below))];
  });
  const own = computed.flatMap(({ path, value }): [string, ExpressionValue][] => {
    const [name] = path;
    return path.length === 1 && name !== undefined ? [[name, value]] : [];
  });
  const members = [...kept, ...own];
  const flat = objectOf(members);
  const made: DocumentRoot = rootOf(
    flat.sql,
    (name) => {
      const member = members.find(([one]) => one === name)?.[1];
      if (member === undefined) return MISSING;
      if (fields.get(name) === true) return 'as in the base';
      return member.type === 'json' ? member.sql : 'in the document';
    },
    base,
  );
  const nested = computed.filter(({ path }) => path.length > 1);
  if (nested.length === 0) return made;
  return withFields(
    made,
    nested.map(({ path, value }) => ({ path, value: sql`(${objectOf([['v', value]]).sql} -> 'v')` })),
  );
}

/** A scalar has no members to pick; a list those of its objects. */
function picked(whole: Sql, tree: FieldTree): Sql {
  return sql`(case when jsonb_typeof(${whole}) in ('object', 'array') then doc_pick(${whole},
    ${JSON.stringify(treeJson(tree))}::jsonb) end)`;
}

export function withoutFields(base: DocumentRoot, fields: FieldTree): DocumentRoot {
  const names = [...fields].flatMap(([name, below]) => (below === true ? [name] : []));
  const isFlat = names.length === fields.size;
  const json = isFlat
    ? sql`(${base.json} - ${names.map(storable)}::text[])`
    : sql`doc_omit(${base.json}, ${JSON.stringify(treeJson(fields))}::jsonb)`;
  return rootOf(
    json,
    (name) => {
      const below = fields.get(name);
      if (below === undefined) return 'as in the base';
      return below === true ? MISSING : 'in the document';
    },
    base,
  );
}

type Found = Sql | 'as in the base' | 'in the document';

/**
 * A root whose top-level fields are found by name: as SQL, as the base has them, or by making the document.
 */
function rootOf(json: Sql, find: (name: string) => Found, base: DocumentRoot): DocumentRoot {
  const whole = documentRoot(json);
  return {
    json,
    targetAt(path) {
      const [name] = path;
      const found = name === undefined ? 'in the document' : find(name);
      if (found === 'as in the base') return base.targetAt(path);
      if (found === 'in the document' || name === undefined) return whole.targetAt(path);
      return { form: 'path', json: objectOf([[name, resultOf('json', found)]]).sql, path };
    },
    valueAt(path) {
      const [name, ...rest] = path;
      if (name === undefined) return json;
      const found = find(name);
      if (found === 'as in the base') return base.valueAt(path);
      if (found === 'in the document') return whole.valueAt(path);
      return rest.length === 0 ? found : sql`doc_value(${found}, ${rest.map(storable)}::text[])`;
    },
  };
}
