/**
 * The SQL of a report, part by part,
   and the one statement made of the parts that are asked for. A column that
 * nobody asks for is not in its text, and Postgres computes no CTE that nothing names.
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Sql } from '../../generated/prisma/internal/prismaNamespace.js';
import type { ShownParts } from './shown-parts.js';

/** The SQL of each column by its name, in the order in which the JSON has them. */
type ColumnSql<Row extends object> = Readonly<Record<keyof Row & string, Sql>>;

export interface ReportParts<Row extends object, Totals extends object> {
  /** What stands between `with` and the first `select`. */
  readonly ctes: Sql;
  readonly rows: RowParts<Row>;
  readonly totals: TotalsParts<Totals>;
  /** A statement of the columns collection, reason
    and id: a row for each record that the report leaves out. */
  readonly leftOut?: Sql;
}

interface RowParts<Row extends object> {
  /** The place in the order of the report, from 1. */
  readonly position: Sql;
  /** What the row is about, e.g. the student's `_id`: a page goes on after it. */
  readonly key: Sql;
  readonly columns: ColumnSql<Row>;
  readonly from: Sql;
}

interface TotalsParts<Totals extends object> {
  readonly columns: ColumnSql<Totals>;
  /** `from …` of exactly one row. Absent: the columns read what they need themselves. */
  readonly from?: Sql;
  /** `from …` of rows that the columns add up, in the place of `from`. */
  readonly over?: Sql;
}

/**
 * Composes the parts as report.ts describes them; `undefined` where nothing is asked for. Of the columns
 * `requiredTexts`, a value that a wrong record lacks is the empty text: the row is answered, through every
 * door alike.
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
  return Prisma.sql`with ${ctes}
${Prisma.join(selects, '\nunion all\n')}`;
}

function withRequiredTexts(
  rows: RowParts<object>,
  requiredTexts: ReadonlySet<string>,
): RowParts<Readonly<Record<string, unknown>>> {
  const columns = Object.entries<Sql>(rows.columns).map(
    ([name, value]) => [name, requiredTexts.has(name) ? Prisma.sql`coalesce(${value}, '')` : value] as const,
  );
  return { ...rows, columns: Object.fromEntries(columns) };
}

function selectRows({ position, key, columns, from }: RowParts<object>, shown: ReadonlySet<string>): Sql {
  return Prisma.sql`select 'row' as part, ${position} as position, ${key} as key,
  ${objectOf(columns, shown)} as content
${from}`;
}

function selectTotals({ columns, from, over }: TotalsParts<object>, shown: ReadonlySet<string>): Sql {
  const content = objectOf(columns, shown);
  const start = Prisma.sql`select 'totals' as part, 0::bigint as position, null::text as key,
    ${content} as content`;
  if (shown.size === 0) return start;
  // One row also where none of the columns shown is an aggregate.
  if (over)
    return Prisma.sql`${start}
${over}
having true`;
  return from
    ? Prisma.sql`${start}
${from}`
    : start;
}

function selectWarnings(leftOut: Sql): Sql {
  return Prisma.sql`select 'warning' as part, 0::bigint as position, null::text as key, json_build_object(
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
      ([name, value]) => Prisma.sql`
  ${Prisma.raw(`'${name}'`)}, ${value}`,
    );
  return members.length === 0
    ? Prisma.sql`json_build_object()`
    : Prisma.sql`json_build_object(${Prisma.join(members, ',')}
)`;
}
