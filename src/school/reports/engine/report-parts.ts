/**
 * Composes the SQL of a report from those of its parts that are requested. A column that is not requested is
 * not in the statement, and Postgres does not compute a CTE that nothing refers to.
 */
import { nameLiteral, type Sql, sql } from '../../../store/sql.js';
import { type Column, type ColumnType, inSnakeCase, type RowClass } from './columns.js';
import type { ShownParts } from './shown-parts.js';

/**
 * The SQL of columns by name. It yields only the value, which is printed according to the type of the column
 * (`printed`). A column that is not named is the one of the same name in the statement (`rollNo` is
 * `roll_no`).
 */
type ColumnSql<Row extends object> = Partial<Readonly<Record<keyof Row & string, Sql>>>;

export interface ReportParts<Row extends object, Totals extends object> {
  /** The text between `with` and the first `select`. */
  readonly ctes: Sql;
  readonly rows: RowParts<Row>;
  readonly totals: TotalsParts<Totals>;
  /**
   * Statements with the columns collection, id and reason: a row for each record that the report leaves out.
   */
  readonly leftOut?: readonly Sql[];
}

interface RowParts<Row extends object> {
  /** The position in the report, from 1. Default: the column `position` of the table `of`. */
  readonly position?: Sql;
  /** Identifies the subject of the row, e.g. the student's `_id`: the next page continues after it. */
  readonly key: Sql;
  /** The alias of the table with the columns that are not named; `r.data`: they are members of a record. */
  readonly of?: string;
  readonly columns?: ColumnSql<Row>;
  readonly from: Sql;
}

interface TotalsParts<Totals extends object> {
  readonly of?: string;
  readonly columns?: ColumnSql<Totals>;
  /** `from …` with exactly one row. Absent: the columns read what they need themselves. */
  readonly from?: Sql;
  /** `from …` with rows that the columns aggregate, instead of `from`: a column not named is a sum. */
  readonly over?: Sql;
}

/** Composes the parts as described in report.ts; `undefined` if nothing is requested. */
export function composeReport(
  { ctes, rows, totals, leftOut }: ReportParts<object, object>,
  classes: { readonly row: RowClass; readonly totals: RowClass },
  shown: ShownParts,
): Sql | undefined {
  const selects = [
    ...(shown.rows ? [selectRows(rows, classes.row, shown.rows)] : []),
    ...(shown.totals ? [selectTotals(totals, classes.totals, shown.totals)] : []),
    ...(shown.warnings && leftOut ? [selectWarnings(leftOut)] : []),
  ];
  if (selects.length === 0) return undefined;
  return sql`with ${ctes}
${sql.join(selects, '\nunion all\n')}`;
}

/**
 * A list within a row or the totals: an aggregate of objects of the class over the columns of the same names,
 * of the table `of` where given, or of the SQL in `columns`.
 */
export function jsonListOf<Row extends object>(
  rowClass: RowClass<Row>,
  order: Sql,
  { of, columns = {} }: { readonly of?: string; readonly columns?: ColumnSql<Row> } = {},
): Sql {
  return sql`json_agg(${objectOf(membersOf(rowClass, columns, same(of)))} order by ${order})`;
}

/**
 * A list within the totals with an object for each group of rows that agree in the columns `by`. Of the other
 * columns of the class, one that is not named is a sum, as in totals. `order` is by default that of `by`.
 */
export function groupsOf<Row extends object>(
  rowClass: RowClass<Row>,
  { from, by, order }: { readonly from: string; readonly by: readonly string[]; readonly order?: Sql },
  columns: ColumnSql<Row> = {},
): Sql {
  const named: Readonly<Record<string, Sql | undefined>> = columns;
  const measures = rowClass.columns
    .map(({ name }) => ({ own: named[name], name: inSnakeCase(name) }))
    .filter(({ name }) => !by.includes(name))
    .map(({ own, name }) => sql`${own ?? sql.raw(`sum(${name})`)} as ${sql.raw(name)}`);
  const keys = sql.raw(by.join(', '));
  return sql`(
  select ${jsonListOf(rowClass, order ?? keys)}
  from (select ${keys}, ${sql.join(measures, ', ')} from ${sql.raw(from)} group by ${keys}) as grouped
)`;
}

/** The records of a CTE with the columns `id` and `fault` that have a fault: rows of `leftOut`. */
export function faultsIn(cte: string, collection: string, where: Sql = sql`true`): Sql {
  return sql`select distinct ${nameLiteral(collection)} as collection, id, fault as reason
from ${sql.raw(cte)}
where fault is not null and ${where}`;
}

function selectRows(
  { key, of, position = same(of)('position'), columns = {}, from }: RowParts<object>,
  rowClass: RowClass,
  shown: ReadonlySet<string>,
): Sql {
  const members = membersOf(rowClass, columns, same(of), shown);
  return sql`select 'row' as part, ${position} as position, ${key} as key,
  ${objectOf(members)} as content
${from}`;
}

function selectTotals(
  { of, columns = {}, from, over }: TotalsParts<object>,
  rowClass: RowClass,
  shown: ReadonlySet<string>,
): Sql {
  const inSql = same(of);
  const members = membersOf(rowClass, columns, over ? (name) => sql`sum(${inSql(name)})` : inSql, shown);
  const start = sql`select 'totals' as part, 0::bigint as position, null::text as key,
    ${objectOf(members)} as content`;
  if (shown.size === 0) return start;
  // Returns a row even if no shown column is an aggregate.
  if (over)
    return sql`${start}
${over}
having true`;
  return from
    ? sql`${start}
${from}`
    : start;
}

/** The column of a name as the statement has it: `rollNo` is `roll_no`, of a record `s.data->>'roll_no'`. */
function same(of: string | undefined): (name: string) => Sql {
  const [before, after] = of?.endsWith('.data') ? [`${of}->>'`, "'"] : [of === undefined ? '' : `${of}.`, ''];
  return (name) => sql.raw(before + inSnakeCase(name) + after);
}

type Member = readonly [name: string, value: Sql];

function membersOf(
  rowClass: RowClass,
  columns: Readonly<Record<string, Sql | undefined>>,
  inStatement: (name: string) => Sql,
  shown?: ReadonlySet<string>,
): readonly Member[] {
  return rowClass.columns
    .filter(({ name }) => shown?.has(name) ?? true)
    .map((column) => [column.name, printed(column, columns[column.name] ?? inStatement(column.name))]);
}

/**
 * The value as the type of its column prints it. What may not be null becomes 0, an empty list or the empty
 * text, so that a faulty record is returned through every front end alike.
 */
function printed({ type, isNullable }: Column, value: Sql): Sql {
  const missing = isNullable ? undefined : IF_MISSING[type];
  const present = missing === undefined ? value : sql`coalesce(${value}, ${sql.raw(missing)})`;
  if (type === 'money' || type === 'decimal') return sql`round(${present}, 2)`;
  return type === 'number' ? sql`trim_scale(${present})` : present;
}

const IF_MISSING: Partial<Record<ColumnType, string>> = {
  ...{ text: "''", rows: "'[]'", texts: "'[]'" },
  ...{ whole: '0', number: '0', money: '0', decimal: '0' },
};

function selectWarnings(leftOut: readonly Sql[]): Sql {
  return sql`select 'warning' as part, 0::bigint as position, null::text as key, json_build_object(
  'collection', collection, 'reason', reason, 'count', count(*), 'ids', (array_agg(id order by id))[1:10]
) as content
from (
${sql.join(leftOut, '\nunion all\n')}
) as left_out
group by collection, reason`;
}

function objectOf(members: readonly Member[]): Sql {
  const listed = members.map(
    ([name, value]) => sql`
  ${sql.raw(`'${name}'`)}, ${value}`,
  );
  return members.length === 0
    ? sql`json_build_object()`
    : sql`json_build_object(${sql.join(listed, ',')}
)`;
}
