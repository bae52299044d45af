/** Wraps the SQL of a report: a page of its rows, or all of them as one column of text to stream. */

import { invalidAt } from '../../../base/errors.js';
import { type Sql, sql } from '../../../store/sql.js';

/**
 * The position after which a page continues: after the row with this key or, if that row no longer exists,
 * after the position.
 */
export interface ReportCursor {
  readonly position: number;
  readonly key: string;
}

export interface ReportLine {
  readonly part: 'row' | 'totals' | 'warning';
  /** From 1, of a row. */
  readonly position: string | null;
  readonly key: string | null;
  readonly content: string;
}

/**
 * Totals, warnings and at most `limit` rows after the cursor, in order.
 *
 * The first page names the report once, so that the condition on the position reaches into it and the content
 * of other rows is not computed. Lines that are not rows have position 0: a second condition, joined by `or`,
 * would prevent Postgres from stopping at the limit when only rows are requested.
 */
export function pageStatement(report: Sql, limit: number, after: ReportCursor | undefined): Sql {
  if (after === undefined)
    return sql`
select part, report.position::text, key, content::text
from (${report}) as report
where report.position <= ${limit}
order by report.position`;
  return sql`
with report as materialized (${report}),
start as (
  select coalesce(
    (select position from report where part = 'row' and key = ${after.key}),
    ${after.position}::bigint
  ) as position
)
(
  select part, position::text, key, content::text
  from report
  where part = 'row' and report.position > (select start.position from start)
  order by report.position
  limit ${limit}
)
union all
select part, null, null, content::text from report where part <> 'row'`;
}

/** The number of rows, without computing their content. */
export function countStatement(report: Sql): Sql {
  return sql`select count(*)::int as rows from (${report}) as report where part = 'row'`;
}

/** One text per line: a letter for the part (`t`otals first, `w`arnings, `r`ows in order) and the JSON. */
export function streamStatement(report: Sql): Sql {
  return sql`
select case part when 'totals' then 't' when 'warning' then 'w' else 'r' end || content::text
from (${report}) as report
order by case part when 'totals' then 0 when 'warning' then 1 else 2 end, position`;
}

/**
 * A text as JSON to compare with, to be cast in the statement: `r.data->'month' >= ${json(month)}::jsonb`.
 * That is a constant; `to_jsonb(…)` would be computed for every record.
 */
export function json(text: string | null | undefined): string {
  return JSON.stringify(text ?? null);
}

export function printReportCursor(cursor: ReportCursor): string {
  return Buffer.from(`${cursor.position}:${cursor.key}`).toString('base64url');
}

/** @throws INVALID_VALUE (400) */
export function parseReportCursor(text: string): ReportCursor {
  const [, position, key] = /^(\d{1,9}):(.*)$/s.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (position !== undefined && key !== undefined && !key.includes('\0'))
    return { position: Number(position), key };
  throw invalidAt(`after is ${JSON.stringify(text)}; expected a cursor of this report.`, {
    parameter: 'after',
    detail: 'is no cursor of this report',
    expected: 'the endCursor of a page',
    sent: text,
  });
}

export function printStatement(sql: Sql): string {
  return sql.text
    .replaceAll(/\$(\d+)/g, (_, position: string) => printLiteral(sql.values[Number(position) - 1]))
    .trim();
}

function printLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return `'${String(value).replaceAll("'", "''")}'`;
}
