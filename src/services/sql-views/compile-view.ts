/**
 * Compiles a collection into the query of a view, with a typed column for each declared field that the
 * audience may read and a row for each record in its reach, or for each element of a list of objects. The
 * columns are those of tables in files (exporting/record-columns.ts), without the rest of undeclared fields,
 * and `_updated_at`, by which programs load what has changed.
 *
 * A view outlives the declaration and the rights it was made from, so it checks at each use what may have
 * changed: the version of the declaration (a view of another version fails with advice), and for a
 * user whether the user is active, the roles, and what records grant.
 */
import { hash } from 'node:crypto';
import pg from 'pg';
import { invariant } from '../../base/errors.js';
import type { Collection, Field, RowRule } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { type Domain, type Scope, systemPrincipal } from '../../base/model/scope.js';
import { findAccess, rowRulesOf } from '../../store/access/access.js';
import type { Queryable } from '../../store/database/queryable.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';
import { castOf, SCALAR_SQL } from '../../store/sql/scalar-sql.js';
import { Sql, sql } from '../../store/sql.js';
import { selectGrant } from '../auth/principals.js';
import { columnsOfRecords, type RecordColumn } from '../exporting/record-columns.js';

export interface CompiledView {
  readonly description: string;
  readonly columns: readonly ViewColumn[];
  readonly select: Sql;
}

interface ViewColumn {
  readonly name: string;
  /** Its SQL type. */
  readonly type: Sql;
  readonly description: string;
  /** Whether its texts are compared byte by byte, which the result of a function does not keep. */
  readonly isByteOrdered: boolean;
}

/**
 * `undefined` if the audience may read nothing. `collections` are all collections, for what they grant;
 * `list` is the list of objects whose elements are the rows.
 */
export function compileView(
  audience: Audience,
  collection: Collection,
  { collections, list }: { readonly collections: readonly Collection[]; readonly list?: string },
): CompiledView | undefined {
  const { domain } = audience;
  const principal = systemPrincipal('sql views', rolesOfAudience(audience), domain.id);
  const scope: Scope = { domain, principal, call: { requestId: 'sql views' } };
  const access = findAccess(scope, collection, 'read');
  if (access === undefined || (list !== undefined && access.hiddenFields.has(list))) return undefined;
  const declared = columnsOfRecords(collection, undefined, access.hiddenFields, list).map((column) => ({
    name: shortName(column.heading),
    description: descriptionOf(collection.fields, column.path),
    ...columnSql(column),
  }));
  // The id is first.
  const columns = [...declared.toSpliced(1, 0, ...(list === undefined ? [] : [POSITION])), UPDATED_AT];
  const conditions = [
    liveRecordsIn(domain.id, collection.name),
    isCurrent(collection),
    ...(audience.kind === 'user' ? [isActive(audience)] : []),
    ...rowConditions(rowRulesOf(scope, collection, 'read'), audience, collections),
  ];
  return {
    description:
      list === undefined ? collection.description : `${collection.description} A row for each of ${list}.`,
    columns: columns.map(({ sql: _, ...column }) => column),
    select: sql`
select
  ${sql.join(
    columns.map(({ name, sql: value }) => sql`${value} as ${sqlName(name)}`),
    ',\n  ',
  )}
from ${list === undefined ? sql.raw('records') : elementsOf(list)} r
where ${sql.join(conditions, '\n  and ')}`,
  };
}

const POSITION = {
  name: '_position',
  description: 'Its place in the list, from 1.',
  sql: sql`r.position`,
  type: sql`bigint`,
  isByteOrdered: false,
};
const UPDATED_AT = {
  name: '_updated_at',
  description: 'When the record was changed last.',
  sql: sql`r.updated_at`,
  type: sql`timestamptz`,
  isByteOrdered: false,
};

/** The records, once for each element of the list, which takes the place of the list. */
function elementsOf(list: string): Sql {
  const elements = `lax $.${JSON.stringify(list)}[*] ? (@.type() == "object")`;
  return sql`(
  select s.domain, s.collection, s.id, s.updated_at, s.deleted_at, e.position,
    s.data || jsonb_build_object(${list}::text, e.value) as data
  from records s
  cross join lateral jsonb_path_query(s.data, ${elements}::jsonpath)
    with ordinality as e(value, position)
)`;
}

function descriptionOf(fields: readonly Field[], [name, ...rest]: Path): string {
  const field = fields.find((one) => one.name === name);
  if (field === undefined) return '';
  return descriptionOf(field.fields, rest) || field.description;
}

/** The longest name in PostgreSQL, which cuts longer ones, so that two names might become the same. */
const MAX_NAME_BYTES = 63;
const HASH_LENGTH = 8;

/** The name itself if it is short enough for PostgreSQL; otherwise its start and a part of its hash. */
export function shortName(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const rest = `_${hash('sha256', name, 'hex').slice(0, HASH_LENGTH)}`;
  let start = name;
  while (Buffer.byteLength(start) + rest.length > MAX_NAME_BYTES) start = [...start].slice(0, -1).join('');
  return start + rest;
}

function columnSql({
  path,
  kind,
  isList,
}: RecordColumn): Omit<ViewColumn, 'name' | 'description'> & { readonly sql: Sql } {
  const [first] = path;
  if (path.length === 1 && first === '_id') {
    return { sql: sql`r.id`, type: sql`text`, isByteOrdered: false };
  }
  const json = jsonAt(path);
  if (isList || kind === 'json') return { sql: json, type: sql`jsonb`, isByteOrdered: false };
  const value = SCALAR_SQL[kind].read({ json, text: textAt(path), hasTrigrams: false }, undefined);
  return { sql: value, type: castOf(kind), isByteOrdered: SCALAR_SQL[kind].sqlType === 'text' };
}

function jsonAt(path: Path): Sql {
  return sql`(r.data${sql.join(
    path.map((step) => sql` -> ${step}::text`),
    '',
  )})`;
}

function textAt(path: Path): Sql {
  return sql`(${path.length > 1 ? jsonAt(path.slice(0, -1)) : sql`r.data`} ->> ${path.at(-1) ?? ''}::text)`;
}

/**
 * A view of an earlier declaration might show what is hidden by now. In that case the condition casts a
 * message to a boolean, which fails with that message. The message is made from a column, because a constant
 * would fail already while the view is planned.
 */
function isCurrent({ name, version }: Collection): Sql {
  const message = ' has another declaration by now: run campus sql-views to renew this view';
  return sql`(
    select case when c.version = ${version} and c.dropped_at is null then true
      else concat(c.name, ${message})::boolean end
    from collections c
    where c.name = ${name}
  )`;
}

function isActive({ domain, userId, roles }: Extract<Audience, { kind: 'user' }>): Sql {
  // Citus fails on a subquery without columns.
  return sql`exists (
    select 1 from records u
    where ${liveRecordsIn(domain.id, 'pltf_user', 'u')}
      and u.id = ${userId}
      and u.data -> 'active' = 'true'
      and u.data -> 'roles' @> ${JSON.stringify(roles)}::jsonb
      and ${JSON.stringify(roles)}::jsonb @> (u.data -> 'roles')
  )`;
}

/** A role without a user is granted nothing: only what is shared with the role itself applies. */
function rowConditions(
  rules: readonly RowRule[] | undefined,
  audience: Audience,
  collections: readonly Collection[],
): readonly Sql[] {
  if (rules === undefined) return [];
  if (rules.length === 0) return [sql`false`];
  return [
    sql`(${sql.join(
      rules.map((rule) => ruleSql(rule, audience, collections)),
      ' or ',
    )})`,
  ];
}

/** A key grants nothing if one of its parts is missing or is not a scalar. */
const UNUSABLE_PART = 'strict $[*] ? (@.type() == "null" || @.type() == "object" || @.type() == "array")';

function ruleSql(
  { fields, attribute }: RowRule,
  audience: Audience,
  collections: readonly Collection[],
): Sql {
  const [first] = fields;
  const roles = rolesOfAudience(audience);
  // `@>` covers both cases: a list that contains the element, and a text that equals it.
  if (attribute === 'roles' && first !== undefined) {
    return sql`${jsonAt(first)} @> any (${roles.map((role) => JSON.stringify(role))}::jsonb[])`;
  }
  if (audience.kind === 'role') return sql`false`;
  const { domain, userId } = audience;
  const values = sql`jsonb_build_array(${sql.join(fields.map(jsonAt))})`;
  if (attribute === 'self') return sql`${values} = jsonb_build_array(${userId}::text)`;
  const grants = collections.flatMap((collection) =>
    collection.grants
      .filter((grant) => grant.attribute === attribute)
      .map((grant) => selectGrant(collection, grant, { domainId: domain.id, userId })),
  );
  if (grants.length === 0) return sql`false`;
  return sql`${values} in (
    select g.key::jsonb
    from (${sql.join(grants, ' union all ')}) as g (attribute, key)
    where not jsonb_path_exists(g.key::jsonb, ${UNUSABLE_PART}::jsonpath)
  )`;
}

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
function rolesOfAudience(audience: Audience): readonly string[] {
  return audience.kind === 'role' ? [audience.role] : audience.roles;
}

/** E.g. `the role accountant of demo`. */
export function describeAudience(audience: Audience): string {
  const name = audience.kind === 'role' ? audience.role : audience.userName;
  return `the ${audience.kind} ${name} of ${audience.domain.id}`;
}

// Statements that define something take no parameters. They are nevertheless composed with parameters, which
// the driver quotes at one place, so that no text can become SQL by a mistake in quoting.
/** A name in a statement, e.g. of a column: any text of at most 63 bytes without a zero byte. */
class SqlName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The name as a part of a statement for `runDefinitions`. */
export function sqlName(name: string): Sql {
  return sql`${new SqlName(name)}`;
}

/** The statement with its values and names in place. */
export function definitionText({ strings, values }: Sql): string {
  const quoted = values.map(quote);
  return strings.map((text, index) => text + (quoted[index] ?? '')).join('');
}

export async function runDefinitions(database: Queryable, ...statements: readonly Sql[]): Promise<void> {
  for (const statement of statements) await database.query(sql.raw(definitionText(statement)));
}

function quote(value: unknown): string {
  if (value instanceof SqlName) return pg.escapeIdentifier(value.name);
  if (Array.isArray(value))
    return pg.escapeLiteral(`{${value.map((element) => quoteElement(String(element))).join(',')}}`);
  invariant(
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
    'a definition has texts, numbers and lists of texts',
  );
  return pg.escapeLiteral(String(value));
}

/** An element of the text of an array. */
function quoteElement(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
