import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { faultsIn, groupsOf } from './engine/report-parts.js';
import { onDate } from './shared/common-parameters.js';
import { isWithinDays } from './shared/record-parts.js';

const LeaveRequestRow = rowType('LeaveRequestRow', 'A request for leave made on the day.', {
  id: column.text('`_id` of the request.'),
  createdOn: column.instant('When it was made.'),
  kind: column.text('student or staff.'),
  personId: column.text('`_id` of the student or member of staff.'),
  person: column.nullable.text('Name of the student or member of staff.'),
  class: column.nullable.text('Class and section of a student.'),
  department: column.nullable.text('Department of a member of staff.'),
  from: column.day('First day of the requested leave.'),
  to: column.day('Last day of the requested leave.'),
  days: column.whole('Requested days, first and last included.'),
  leaveType: column.nullable.text('sick, casual …'),
  reason: column.nullable.text('Why.'),
  status: column.text('pending, approved or rejected.'),
  decidedBy: column.nullable.text('Who decided.'),
});

const LeaveRequestCount = rowType('LeaveRequestCount', 'Requests of one kind and status.', {
  kind: column.text('student or staff.'),
  status: column.text('pending, approved or rejected.'),
  requests: column.whole('Number of requests.'),
  days: column.whole('Requested days.'),
});

const LeaveRequestTotals = rowType('LeaveRequestTotals', 'All requests of the day.', {
  requests: column.whole('Number of requests.'),
  days: column.whole('Requested days.'),
  byKindAndStatus: column.rows(LeaveRequestCount, 'By kind and status.'),
});

/**
 * The requests for leave made on a day.
 *
 * @see reports 5
 */
export const leaveRequests = defineReport({
  name: 'leave-requests',
  title: 'Daily leave requests',
  description: 'Requests for leave made on a day, of students and staff, with the requested days.',
  recordRoute: { method: 'GET', path: '/o/recs/leave_request', query: 'stream=true&oquery=created_on=today' },
  parameters: { date: onDate },
  reads: ['leave_request', 'pltf_user', 'registration'],
  roles: ['clerk'],
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
    and ${isWithinDays("r.data->'created_on'", [date, date], timeZone)}
),
usable as materialized (
  select *, row_number() over (order by data->>'created_on', id) as position from requests where fault is null
)`,
    rows: {
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
        byKindAndStatus: groupsOf(
          LeaveRequestCount,
          { from: 'usable', by: ['kind', 'status'] },
          { requests: sql`count(*)` },
        ),
      },
    },
    leftOut: [faultsIn('requests', 'leave_request')],
  }),
});
