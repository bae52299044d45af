/**
 * Composes the SQL of a report from those of its parts that are requested. A column that is not requested is
 * not in the statement, and Postgres does not compute a CTE that nothing refers to.
 */
import { type Sql, sql } from '../../../store/sql.js';
import type { ShownParts } from './shown-parts.js';

/** The SQL of each column by name, in the order of the JSON members. */
type ColumnSql<Row extends object> = Readonly<Record<keyof Row & string, Sql>>;

export interface ReportParts<Row extends object, Totals extends object> {
  /** The text between `with` and the first `select`. */
  readonly ctes: Sql;
  readonly rows: RowParts<Row>;
  readonly totals: TotalsParts<Totals>;
  /**
   * A statement with the columns collection, reason and id: a row for each record that the report leaves out.
   */
  readonly leftOut?: Sql;
}

interface RowParts<Row extends object> {
  /** The position in the report, from 1. */
  readonly position: Sql;
  /** Identifies the subject of the row, e.g. the student's `_id`: the next page continues after it. */
  readonly key: Sql;
  readonly columns: ColumnSql<Row>;
  readonly from: Sql;
}

interface TotalsParts<Totals extends object> {
  readonly columns: ColumnSql<Totals>;
  /** `from …` with exactly one row. Absent: the columns read what they need themselves. */
  readonly from?: Sql;
  /** `from …` with rows that the columns aggregate, instead of `from`. */
  readonly over?: Sql;
}

/** Columns of the same name in the statement (`rollNo` is `roll_no`), of the table `alias` where given. */
export function sameNamed<Name extends string>(names: readonly Name[], alias?: string): Record<Name, Sql> {
  const prefix = alias === undefined ? '' : `${alias}.`;
  return Object.fromEntries(names.map((name) => [name, sql.raw(prefix + inSql(name))])) as Record<Name, Sql>;
}

/** The sums of such columns; 0 without rows. */
export function sumsOf<Name extends string>(names: readonly Name[]): Record<Name, Sql> {
  const sumOf = (name: Name) => [name, sql.raw(`coalesce(sum(${inSql(name)}), 0)`)];
  return Object.fromEntries(names.map(sumOf)) as Record<Name, Sql>;
}

function inSql(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Composes the parts as described in report.ts; `undefined` if nothing is requested. A value missing from a
 * faulty record becomes the empty text in the columns `requiredTexts`, so that the row is returned, through
 * every front end alike.
 */
export function composeReport(
  { ctes, rows, totals, leftOut }: ReportParts<object, object>,
  shown: ShownParts,
  requiredTexts: ReadonlySet<string>,
): Sql | undefined {
  const selects = [
    ...(shown.rows ? [selectRows(withRequiredTexts(rows, requiredTexts), shown.rows)] : []),
    ...(shown.totals ? [selectTotals(totals, shown.totals)] : []),
    ...(shown.warnings && leftOut ? [selectWarnings(leftOut)] : []),
  ];
  if (selects.length === 0) return undefined;
  return sql`with ${ctes}
${sql.join(selects, '\nunion all\n')}`;
}

function withRequiredTexts(
  rows: RowParts<object>,
  requiredTexts: ReadonlySet<string>,
): RowParts<Readonly<Record<string, unknown>>> {
  const columns = Object.entries<Sql>(rows.columns).map(
    ([name, value]) => [name, requiredTexts.has(name) ? sql`coalesce(${value}, '')` : value] as const,
  );
  return { ...rows, columns: Object.fromEntries(columns) };
}

function selectRows({ position, key, columns, from }: RowParts<object>, shown: ReadonlySet<string>): Sql {
  return sql`select 'row' as part, ${position} as position, ${key} as key,
  ${objectOf(columns, shown)} as content
${from}`;
}

function selectTotals({ columns, from, over }: TotalsParts<object>, shown: ReadonlySet<string>): Sql {
  const content = objectOf(columns, shown);
  const start = sql`select 'totals' as part, 0::bigint as position, null::text as key,
    ${content} as content`;
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

function selectWarnings(leftOut: Sql): Sql {
  return sql`select 'warning' as part, 0::bigint as position, null::text as key, json_build_object(
  'collection', collection, 'reason', reason, 'count', count(*), 'ids', (array_agg(id order by id))[1:10]
) as content
from (
${leftOut}
) as left_out
group by collection, reason`;
}

function objectOf(columns: Readonly<Record<string, Sql>>, shown: ReadonlySet<string>): Sql {
  const members = Object.entries(columns)
    .filter(([name]) => shown.has(name))
    .map(
      ([name, value]) => sql`
  ${sql.raw(`'${name}'`)}, ${value}`,
    );
  return members.length === 0
    ? sql`json_build_object()`
    : sql`json_build_object(${sql.join(members, ',')}
)`;
}
