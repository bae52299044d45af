import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import * as column from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { endOf, startOf } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { onDate } from './shared/common-parameters.js';

@column.rowType('LeaveRequestRow', 'A request for leave made on the day.')
class LeaveRequestRow {
  @column.text('`_id` of the request.') readonly id!: string;
  @column.instant('When it was made.') readonly createdOn!: string;
  @column.text('student or staff.') readonly kind!: string;
  @column.text('`_id` of the student or member of staff.') readonly personId!: string;
  @column.text('Name of the student or member of staff.', { nullable: true }) readonly person!: string | null;
  @column.text('Class and section of a student.', { nullable: true }) readonly class!: string | null;
  @column.text('Department of a member of staff.', { nullable: true }) readonly department!: string | null;
  @column.day('First day asked for.') readonly from!: string;
  @column.day('Last day asked for.') readonly to!: string;
  @column.whole('Days asked for, both ends counted.') readonly days!: number;
  @column.text('sick, casual …', { nullable: true }) readonly leaveType!: string | null;
  @column.text('Why.', { nullable: true }) readonly reason!: string | null;
  @column.text('pending, approved or rejected.') readonly status!: string;
  @column.text('Who decided.', { nullable: true }) readonly decidedBy!: string | null;
}

@column.rowType('LeaveRequestCount', 'Requests of one kind and status.')
class LeaveRequestCount {
  @column.text('student or staff.') readonly kind!: string;
  @column.text('pending, approved or rejected.') readonly status!: string;
  @column.whole('How many requests.') readonly requests!: number;
  @column.whole('Days asked for.') readonly days!: number;
}

@column.rowType('LeaveRequestTotals', 'All requests of the day.')
class LeaveRequestTotals {
  @column.whole('How many requests.') readonly requests!: number;
  @column.whole('Days asked for.') readonly days!: number;
  @column.rows(() => LeaveRequestCount, 'By kind and status.')
  readonly byKindAndStatus!: readonly LeaveRequestCount[];
}

/**
 * The requests for leave made on a day.
 *
 * @see reports 5
 */
export const leaveRequests = defineReport({
  name: 'leave-requests',
  field: 'leaveRequests',
  title: 'Daily leave requests',
  description: 'Requests for leave made on a day, of students and staff, with the days asked for.',
  recordRoute: { method: 'GET', path: '/o/recs/leave_request', query: 'stream=true&oquery=created_on=today' },
  parameters: { date: onDate },
  roles: ['clerk'],
  teachers: 'none',
  row: LeaveRequestRow,
  totals: LeaveRequestTotals,
  example: { date: '2026-07-06' },
  parts: ({ date }, { domain, timeZone }) => ({
    ctes: sql`
requests as materialized (
  select
    r.id, r.data, coalesce(r.data->>'kind', '') as kind, coalesce(r.data->>'status', '') as status,
    day_of(r.data->>'to') - day_of(r.data->>'from') + 1 as days,
    case
      when jsonb_typeof(r.data->'name'->'value') is distinct from 'string' then 'name is not a person'
      when day_of(r.data->>'from') is null or day_of(r.data->>'to') is null then 'from or to is not a day'
      when instant_of(r.data->>'created_on') is null then 'created_on is not an instant'
    end as fault
  from records r
  where ${liveRecordsIn(domain, 'leave_request')}
    and r.data->'created_on' >= ${json(startOf(date, timeZone))}::jsonb
    and r.data->'created_on' < ${json(endOf(date, timeZone))}::jsonb
),
usable as materialized (
  select *, row_number() over (order by data->>'created_on', id) as position from requests where fault is null
)`,
    rows: {
      position: sql`q.position`,
      key: sql`q.id`,
      of: 'q',
      columns: {
        createdOn: sql`q.data->>'created_on'`,
        personId: sql`q.data->'name'->>'value'`,
        person: sql`coalesce(s.data->>'name', u.data->>'name', q.data->'name'->>'label')`,
        class: sql`s.data->>'class' || ' ' || (s.data->>'section')`,
        department: sql`u.data->>'department'`,
        from: sql`q.data->>'from'`,
        to: sql`q.data->>'to'`,
        leaveType: sql`q.data->>'leave_type'`,
        reason: sql`q.data->>'reason'`,
        decidedBy: sql`q.data->'decided_by'->>'label'`,
      },
      from: sql`from usable q
left join records s
  on ${liveRecordsIn(domain, 'registration', 's')} and q.kind = 'student' and s.id = q.data->'name'->>'value'
left join records u
  on ${liveRecordsIn(domain, 'pltf_user', 'u')} and q.kind = 'staff'
    and u.id = q.data->'name'->>'value'`,
    },
    totals: {
      columns: {
        requests: sql`(select count(*) from usable)`,
        days: sql`(select coalesce(sum(days), 0) from usable)`,
        byKindAndStatus: sql`(
          select ${jsonListOf(LeaveRequestCount, sql`kind, status`)}
          from (select kind, status, count(*) as requests, sum(days) as days from usable
            group by kind, status) as counted
        )`,
      },
    },
    leftOut: sql`select 'leave_request' as collection, fault as reason, id
from requests
where fault is not null`,
  }),
});
