/**
 * Compiles an `AggregateQuery` to one SQL statement that returns one row for each group.
 *
 * Each value is cast to the SQL type that its field declares. A value that does not fit that type becomes
 * null, so that old records do not make the query fail. Sums are exact, because they are of type `numeric`.
 * Every operand is a parameter, and every name comes from the catalog.
 */
import { invalidAt, type ServiceError } from '../../base/errors.js';
import type {
  AggregateQuery,
  GroupComparison,
  GroupFilter,
  GroupKey,
  GroupOrder,
  Measure,
  Period,
} from '../../base/model/aggregate-query.js';
import type { Collection } from '../../base/model/collection.js';
import type { ScalarType } from '../../base/model/field-types/scalar-type.js';
import { SCALAR_TYPES, type ScalarName } from '../../base/model/field-types/scalar-types.js';
import type { Operand } from '../../base/model/operand.js';
import type { Path } from '../../base/model/path.js';
import { placeInRecord } from '../../base/model/place.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { combined, type Sql, sql } from '../sql.js';
import type { CompileContext } from './compile-filter.js';
import { fieldExpression } from './names.js';
import { castOf, SCALAR_SQL } from './scalar-sql.js';
import { jsonText, storable } from './storable-json.js';

/** `year` accepts any whole number. */
type ValueType = ScalarName | 'year';

/** A column of the subquery whose rows are grouped. */
interface Column extends Value {
  readonly name: Sql;
}

interface Value {
  readonly type: ValueType;
  readonly expression: Sql;
}

export interface AggregateOptions {
  readonly context: CompileContext;
  /** Over the alias `r`: selects the records to group. */
  readonly where: Sql;
  /** Over the alias `r`: selects the records that the caller may see in a collection which a key leads to. */
  readonly readable: (collection: string) => { readonly collection: Collection; readonly condition: Sql };
}

/**
 * `select json …`: one row for each group, in order. A row is a JSON list of the keys and the measures.
 *
 * @throws INVALID_VALUE (400) if a field does not have exactly one value of one type, or if its type does
 * not fit the measure, period or operand
 */
export function compileAggregate(query: AggregateQuery, options: AggregateOptions): Sql {
  const values = new Values(options);
  const keys = query.groupBy.map((key) => values.ofKey(key));
  const outputs = [
    ...keys.map(({ name, type }) => print({ type, expression: name })),
    ...query.measures.map((measure) => print(compileMeasure(measure, values))),
  ];
  const having =
    query.having === undefined
      ? sql.empty
      : sql`having ${compileGroupFilter(query.having, { values, query, options })}`;
  const order = compileOrder(query, { values, keys });
  // Without keys there is one group, even if no record matches.
  const grouping = keys.length === 0 ? sql.raw('()') : sql.join(keys.map((key) => key.name));
  // All calls above add columns to the source. It is therefore compiled last.
  const { ctes, from } = values.source(options.where);
  return sql`${ctes}
select json_build_array(${outputs.length === 0 ? sql.empty : sql.join(outputs)})::text as json
from ${from}
group by ${grouping}
${having}
${order}
limit ${query.limit}`;
}

/** The paths into the grouped records that a query reads. The caller needs the right to read all of them. */
export function listAggregatePaths(query: AggregateQuery): Path[] {
  const measures = [
    ...query.measures,
    ...conditionsOf(query.having ?? ALL).flatMap((one) => (one.kind === 'hasKey' ? [] : [one.measure])),
    ...query.order.flatMap(({ by }) => ('measure' in by ? [by.measure] : [])),
  ];
  return [
    ...listGroupKeys(query).map((key) => key.path),
    ...measures.flatMap((measure) => (measure.kind === 'records' ? [] : [measure.path])),
  ];
}

/** All keys of a query, including those in its conditions and its order. */
export function listGroupKeys({ groupBy, having, order }: AggregateQuery): readonly GroupKey[] {
  return [
    ...groupBy,
    ...conditionsOf(having ?? ALL).flatMap((one) => (one.kind === 'hasKey' ? [one.key] : [])),
    ...order.flatMap(({ by }) => ('key' in by ? [by.key] : [])),
  ];
}

const ALL: GroupFilter = { kind: 'all', filters: [] };
type GroupCondition = Exclude<GroupFilter, { readonly kind: 'all' | 'any' | 'not' }>;

function conditionsOf(filter: GroupFilter): readonly GroupCondition[] {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.filters.flatMap(conditionsOf);
    case 'not':
      return conditionsOf(filter.filter);
    default:
      return [filter];
  }
}

/** The columns that keys and measures use, each value once. */
class Values {
  readonly #options: AggregateOptions;
  readonly #columns = new Map<string, Column>();
  readonly #joins: Sql[] = [];
  readonly #periods = new Map<string, Column & { readonly alias: string; readonly of: Sql }>();

  constructor(options: AggregateOptions) {
    this.#options = options;
  }

  /**
   * The rows to group: `select … ` follows `ctes`, and the FROM item has the aliases that the columns use.
   */
  source(where: Sql): { readonly ctes: Sql; readonly from: Sql } {
    const values = sql`
  select ${this.#selected}
  from records r ${this.#joined}
  where ${where}
`;
    const periods = [...this.#periods.values()];
    if (periods.length === 0) return { ctes: sql.empty, from: sql`(${values}) as v` };
    const ctes = periods.map(
      ({ alias, of, expression }) => sql`${sql.raw(alias)} as (
  select d.k, ${expression} as value from (select distinct ${of} as k from v) as d
)`,
    );
    const joins = periods.map(
      ({ alias, of }) => sql`left join ${sql.raw(alias)} on ${sql.raw(`${alias}.k`)} = ${of}`,
    );
    return {
      ctes: sql`with v as materialized (${values}), ${sql.join(ctes, ', ')}`,
      from: sql`v ${sql.join(joins, ' ')}`,
    };
  }

  get #selected(): Sql {
    const columns = [...this.#columns.values()].map(
      ({ expression }, index) => sql`${expression} as ${sql.raw(`c${index + 1}`)}`,
    );
    // Counting records needs no value.
    return columns.length === 0 ? sql.raw('1') : sql.join(columns, ', ');
  }

  get #joined(): Sql {
    return this.#joins.length === 0 ? sql.empty : sql.join(this.#joins, ' ');
  }

  ofKey(key: GroupKey): Column {
    if (key.period !== undefined && key.of === undefined) return this.#ofPeriod(key.path, key.period);
    return this.#column(textOf(key), () => {
      const value = key.of === undefined ? this.#own(key.path) : this.#ofTarget(key.path, key.of);
      return key.period === undefined ? value : this.#inPeriod(value, key.period, key.path);
    });
  }

  ofPath(path: Path): Column {
    return this.ofKey({ path });
  }

  #column(key: string, make: () => Value): Column {
    return getOrMake(this.#columns, key, () => ({
      ...make(),
      name: sql.raw(`v.c${this.#columns.size + 1}`),
    }));
  }

  /**
   * A period of a field of the record itself. It is computed once for each distinct minute or day, because
   * many records share a minute. A guarded cast for each record takes three times as long (300,000 records
   * by day: 1.4 s instead of 0.5 s).
   */
  #ofPeriod(path: Path, period: Period): Column {
    const key = textOf({ path, period });
    const known = this.#periods.get(key);
    if (known !== undefined) return known;
    const { collection } = this.#options.context;
    const { type } = fieldValue(collection, path);
    const { text } = fieldExpression(collection, path);
    const { name: of } = this.#column(`${textOf({ path })} minute`, () => ({
      type: 'text',
      expression: type === 'datetime' ? minuteOf(text) : text,
    }));
    const time = type === 'datetime' ? sql`instant_of(d.k)` : sql`day_of(d.k)`;
    const alias = `p${this.#periods.size + 1}`;
    const column = {
      ...this.#inPeriod({ type, expression: time }, period, path),
      name: sql.raw(`${alias}.value`),
      alias,
      of,
    };
    this.#periods.set(key, column);
    return column;
  }

  #own(path: Path): Value {
    return fieldValue(this.#options.context.collection, path);
  }

  /** A join, not a subquery in the select list: Postgres caches a target that several records reference. */
  #ofTarget(path: Path, of: { readonly collection: string; readonly path: Path }): Value {
    const { collection, condition } = this.#options.readable(of.collection);
    const { type, expression } = fieldValue(collection, of.path);
    const reference = this.#own([...path, 'value']);
    const alias = `t${this.#joins.length + 1}`;
    this.#joins.push(sql`
  cross join lateral (select ${reference.expression} as id) as ${sql.raw(`${alias}_id`)}
  left join lateral (
    select ${expression} as value from records r where ${condition} and r.id = ${sql.raw(`${alias}_id.id`)}
  ) as ${sql.raw(alias)} on true`);
    return { type, expression: sql.raw(`${alias}.value`) };
  }

  #inPeriod(value: Value, period: Period, path: Path): Value {
    const { type, expression } = value;
    if (type !== 'datetime' && type !== 'date') throw unfitting(path, `grouped by ${period}`, 'a datetime');
    const local =
      type === 'datetime'
        ? sql`(${expression} at time zone ${this.#options.context.timeZone}::text)`
        : sql`(${expression})::timestamp`;
    switch (period) {
      case 'day':
        return { type: 'date', expression: sql`${local}::date` };
      case 'week':
        return { type: 'date', expression: sql`date_trunc('week', ${local})::date` };
      case 'month':
        return { type: 'month', expression: sql`to_char(${local}, 'YYYY-MM') collate "C"` };
      case 'year':
        return { type: 'year', expression: sql`date_part('year', ${local})::int` };
    }
  }
}

/** Truncates a stored instant to its minute, within which no period begins. Other texts are unchanged. */
function minuteOf(text: Sql): Sql {
  const isStoredInstant = sql`${text} like '____-__-__T__:__:__.___Z'
    and translate(substr(${text}, 18, 6), '0123456789', '') = '.'`;
  return sql`case when ${isStoredInstant} then left(${text}, 16) || ':00Z' else ${text} end`;
}

function textOf({ path, period, of }: GroupKey): string {
  return JSON.stringify([path, period, of?.collection, of?.path]);
}

/** The value of a field over the alias `r`, in its SQL type. Null if the value does not fit. */
function fieldValue(collection: Collection, path: Path): Value {
  const target = placeInRecord(collection, path);
  if (target.form === 'id') return { type: 'text', expression: sql.raw('r.id collate "C"') };
  if (target.form === 'path') throw unfitting(path, 'aggregated', 'a declared field with one value');
  switch (target.type) {
    case 'reference':
      return fieldValue(collection, [...path, 'value']);
    case 'object':
    case 'any':
      throw unfitting(path, 'aggregated', 'a text, number, boolean, datetime or reference');
    default: {
      const type = target.type === 'id' ? 'text' : target.type;
      const { read } = SCALAR_SQL[type];
      return { type, expression: read(fieldExpression(collection, path), target.field?.allowed) };
    }
  }
}

function print({ type, expression }: Value): Sql {
  return type === 'year' ? expression : SCALAR_SQL[type].print(expression);
}

/** `year` stands for any whole number. */
function compileMeasure(measure: Measure, values: Values): Value {
  if (measure.kind === 'records') return { type: 'year', expression: sql.raw('count(*)') };
  const { name, type } = values.ofPath(measure.path);
  switch (measure.kind) {
    case 'count':
      return { type: 'year', expression: sql`count(${name})` };
    case 'countDistinct':
      return { type: 'year', expression: sql`count(distinct ${name})` };
    case 'sum':
    case 'avg':
      if (measuresOfType(type) !== 'sums')
        throw unfitting(measure.path, measure.kind === 'sum' ? 'summed' : 'averaged', 'a number');
      return { type, expression: sql`${sql.raw(measure.kind)}(${name})` };
    case 'min':
    case 'max':
      if (measuresOfType(type) === 'counts')
        throw unfitting(measure.path, 'compared', 'a text, number or datetime');
      return { type, expression: sql`${sql.raw(measure.kind)}(${name})` };
  }
}

function measuresOfType(type: ValueType): ScalarType['measures'] {
  return SCALAR_TYPES[type === 'year' ? 'number' : type].measures;
}

interface GroupContext {
  readonly values: Values;
  readonly query: AggregateQuery;
  readonly options: AggregateOptions;
}

/** The result is never null, so that negation has two values. */
function compileGroupFilter(filter: GroupFilter, context: GroupContext): Sql {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return combined(filter, (part) => compileGroupFilter(part, context));
    case 'not':
      return sql`(not ${compileGroupFilter(filter.filter, context)})`;
    case 'hasKey':
      return sql`(${groupedBy(filter.key, context).name} is not null)`;
    default: {
      const { expression, type } = compileMeasure(filter.measure, context.values);
      const value = operand(filter.value, type, {
        measure: filter.measure,
        timeZone: context.options.context.timeZone,
      });
      return sql`coalesce(${expression} ${COMPARISONS[filter.kind]} ${value}, false)`;
    }
  }
}

const COMPARISONS: Readonly<Record<GroupComparison, Sql>> = {
  equals: sql.raw('='),
  notEquals: sql.raw('<>'),
  greaterThan: sql.raw('>'),
  greaterOrEqual: sql.raw('>='),
  lessThan: sql.raw('<'),
  lessOrEqual: sql.raw('<='),
};

function operand(
  value: Operand,
  type: ValueType,
  { measure, timeZone }: { readonly measure: Measure; readonly timeZone: string },
): Sql {
  const name = type === 'year' ? 'number' : type;
  const { toMeasured, comparesWith } = SCALAR_TYPES[name];
  const compared = toMeasured(value, timeZone);
  if (compared === undefined) throw wrongOperand(measure, value, comparesWith);
  const text = typeof compared === 'string' ? storable(compared) : jsonText(compared);
  // PostgreSQL has no year 0, and every value it has is after it.
  const isBeforeAll = (name === 'datetime' || name === 'date') && text.startsWith('0000-');
  return sql`${isBeforeAll ? '-infinity' : text}::${castOf(name)}`;
}

function compileOrder(
  query: AggregateQuery,
  { values, keys }: { readonly values: Values; readonly keys: readonly Column[] },
): Sql {
  const parts = query.order.map(({ by, direction }) => {
    if ('measure' in by) return ordered(compileMeasure(by.measure, values).expression, direction);
    return ordered(groupedBy(by.key, { query, values }).name, direction);
  });
  const ties = keys.map((key) => ordered(key.name, 'ascending'));
  const all = [...parts, ...ties];
  return all.length === 0 ? sql.empty : sql`order by ${sql.join(all, ', ')}`;
}

function groupedBy(key: GroupKey, { values, query }: Omit<GroupContext, 'options'>): Column {
  if (query.groupBy.some((one) => textOf(one) === textOf(key))) return values.ofKey(key);
  const field = key.path.join('.');
  const detail = `Groups have a "${field}" only where they are grouped by it.`;
  throw invalidAt(detail, {
    parameter: 'groupBy',
    expected: 'all keys that an order or a condition names',
    sent: field,
  });
}

function ordered(expression: Sql, direction: GroupOrder['direction']): Sql {
  return sql`${expression} ${direction === 'ascending' ? ASCENDING : DESCENDING}`;
}

const ASCENDING = sql.raw('asc nulls last');
const DESCENDING = sql.raw('desc nulls last');

function unfitting(path: Path, action: string, expected: string): ServiceError {
  const field = path.join('.');
  const detail = `The field "${field}" cannot be ${action}: that takes ${expected}.`;
  return invalidAt(detail, { expected, sent: field });
}

function wrongOperand(measure: Measure, value: Operand, expected: string): ServiceError {
  const of = measure.kind === 'records' ? 'count' : `${measure.kind} of "${measure.path.join('.')}"`;
  const detail = `The ${of} compares with ${expected}, not with ${JSON.stringify(String(value))}.`;
  return invalidAt(detail, { parameter: 'having', expected, sent: String(value) });
}
