import type { Filter } from '../../base/model/filter.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { type Day, textType } from './engine/parameter-types.js';
import { required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { groupsOf } from './engine/report-parts.js';
import { endOf, monthOfDay, monthsOf, sessionOf } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { hintAtStudentId } from './shared/assert-place.js';
import { asOn } from './shared/common-parameters.js';
import { byFeeHead, feeHeadPlaces } from './shared/record-parts.js';
import { isDemanded, monthsAway } from './shared/roll.js';

const StudentConcession = rowType('StudentConcession', 'A concession of the student that is in force.', {
  id: column.text('`_id` of the concession.'),
  feeHead: column.nullable.text('The fee head; null: every head.'),
  kind: column.text('percent or amount.'),
  value: column.decimal('Percent of the demand, or an amount a month.'),
  session: column.text('The session.'),
  fromMonth: column.month('First month.'),
  toMonth: column.month('Last month.'),
  type: column.nullable.text('sibling, staff, merit, RTE …'),
  reason: column.nullable.text('Why it was granted.'),
  approvedBy: column.nullable.text('Who approved it.'),
  grantedOn: column.nullable.day('When it was granted.'),
});

const ConcessionAmount = rowType('ConcessionAmount', 'The concession for one fee head of one month.', {
  month: column.month('The month.'),
  feeHead: column.text('The fee head.'),
  demand: column.money('Demand before concession.'),
  concession: column.money(
    'Concession: fixed amounts and percents of the demand together, at most the demand.',
  ),
});

const StudentConcessionTotals = rowType(
  'StudentConcessionTotals',
  'All concessions of the session together.',
  {
    concessions: column.whole('Number of concessions in force.'),
    amounts: column.rows(
      ConcessionAmount,
      'By month and fee head of the session, all concessions granted and not revoked.',
    ),
    total: column.money('For the whole session.'),
  },
);

/**
 * The concessions of a student in force on a day: its month is within their range, they are granted by then
 * and not revoked. The totals show what all concessions take off the dues of the session; the demand of a
 * student who has left ends with the month of leaving.
 *
 * @see reports 4
 */
export const studentConcession = defineReport({
  name: 'student-concession',
  title: "Student's current concession",
  description:
    "A student's concessions in force, and what they take off each month and fee head of the session.",
  recordRoute: {
    method: 'POST',
    path: '/o/recs/fee_concession',
    query: 'stream=true&name.value=<student ID>',
  },
  parameters: {
    studentId: required(textType, '`_id` of the student.', { restName: 'name.value' }),
    asOn,
  },
  reads: ['fee_concession', 'fee_due', 'fee_head', 'registration'],
  roles: ['accountant'],
  row: StudentConcession,
  totals: StudentConcessionTotals,
  example: { studentId: 'stu-00042' },
  check: ({ studentId }, context) => hintAtStudentId(context, studentId),
  parts({ studentId, asOn: day }, { domain, timeZone, today, settings }) {
    const { first, last } = monthsOf(sessionOf(day, settings.sessionFirstMonth), settings.sessionFirstMonth);
    return {
      ctes: sql`
${feeHeadPlaces({ domain })},${monthsAway({ domain, today }, day)},
granted as materialized (
  select
    r.id, nullif(r.data->>'fee_head', '') as fee_head, r.data->>'session' as session,
    r.data->>'from_month' as from_month, r.data->>'to_month' as to_month, r.data->>'kind' as kind, r.data,
    to_number(r.data->'value') as value
  from records r
  where ${liveRecordsIn(domain, 'fee_concession')}
    and r.data->'name'->'value' = ${json(studentId)}::jsonb
    and r.data->>'created_on' < ${endOf(day, timeZone)}
    and coalesce(r.data->>'revoked_on', '9999') > ${day}
),
amounts as materialized (
  select
    d.data->>'month' as month, d.data->>'fee_head' as fee_head, (d.data->'amount')::numeric as demand,
    round(least(
      (d.data->'amount')::numeric,
      coalesce(sum(g.value) filter (where g.kind = 'amount'), 0)
        + coalesce(sum(g.value) filter (where g.kind = 'percent'), 0) * (d.data->'amount')::numeric / 100
    ), 2) as concession
  from records d
  join granted g
    on g.session = d.data->>'session' and d.data->>'month' between g.from_month and g.to_month
    and (g.fee_head is null or g.fee_head = d.data->>'fee_head')
  where ${liveRecordsIn(domain, 'fee_due', 'd')}
    and d.data->'student'->'value' = ${json(studentId)}::jsonb
    and d.data->>'month' between ${first} and ${last}
    and coalesce(d.data->>'cancelled_on', '9999') > ${day}
    and ${isDemanded(sql`d.data->>'month'`, sql`${studentId}::text`)}
    and case when jsonb_typeof(d.data->'amount') = 'number' then (d.data->'amount')::numeric > 0
      else false end
  group by d.id, d.data
),
in_force as materialized (
  select *, row_number() over (order by from_month, fee_head is not null, ${byFeeHead}, id) as position
  from granted
  where value is not null and ${monthOfDay(day)} between from_month and to_month
)`,
      rows: {
        key: sql`id`,
        columns: {
          type: sql`data->>'type'`,
          reason: sql`data->>'reason'`,
          approvedBy: sql`data->'approved_by'->>'label'`,
          grantedOn: sql`to_char(instant_of(data->>'created_on') at time zone ${timeZone},
            'YYYY-MM-DD')`,
        },
        from: sql`from in_force`,
      },
      totals: {
        columns: {
          concessions: sql`(select count(*) from in_force)`,
          amounts: groupsOf(ConcessionAmount, {
            ...{ from: 'amounts', by: ['month', 'fee_head'], order: sql`month, ${byFeeHead}` },
          }),
          total: sql`(select round(coalesce(sum(concession), 0), 2) from amounts)`,
        },
      },
      leftOut: [
        sql`select 'fee_concession' as collection, id, 'value is not a number' as reason
from granted
where value is null`,
        sql`select 'fee_due', d.id, 'amount is not a number'
from records d
where ${liveRecordsIn(domain, 'fee_due', 'd')}
  and d.data->'student'->'value' = ${json(studentId)}::jsonb
  and d.data->>'month' between ${first} and ${last}
  and jsonb_typeof(d.data->'amount') is distinct from 'number'`,
      ],
    };
  },
});

/** The same as a filter on `fee_concession`, for the documented path. @see interface 4.5, reports 4 */
export function concessionsInForce(studentId: string, day: Day): Filter {
  return {
    kind: 'all',
    filters: [
      { kind: 'equals', path: ['name', 'value'], value: studentId },
      { kind: 'lessOrEqual', path: ['from_month'], value: monthOfDay(day) },
      { kind: 'greaterOrEqual', path: ['to_month'], value: monthOfDay(day) },
      { kind: 'not', filter: { kind: 'lessOrEqual', path: ['revoked_on'], value: day } },
    ],
  };
}
