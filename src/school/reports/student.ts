import { liveRecordsIn } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { textType } from './engine/parameter-types.js';
import { required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { endOf, firstDayOf, monthsOf, sessionOf, startOf } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { assertStudent } from './shared/assert-place.js';
import { feeItems } from './shared/fee-items.js';
import { isInSections, listOrEmpty } from './shared/record-parts.js';
import { MARKS } from './shared/student-days.js';

const Sibling = rowType('Sibling', 'A student with the same phone of the guardian.', {
  studentId: column.text('`_id` of the student.'),
  admissionNo: column.text('Admission number.'),
  name: column.text('Name.'),
  class: column.text('Class.'),
  section: column.text('Section.'),
});

const StudentMarks = rowType('StudentMarks', 'The attendance counts of a student in this session.', {
  ...MARKS,
  lastMarkedOn: column.nullable.day('The last day with a mark.'),
});

const StudentFees = rowType('StudentFees', 'The fees of a student this session, as on today.', {
  due: column.money('Demand of which the due date has come.'),
  concession: column.money('Concession in force.'),
  paid: column.money('Paid.'),
  balance: column.money('Still owed.'),
  credit: column.money('Overpaid, or paid before it is due.'),
});

const StudentResult = rowType('StudentResult', 'A result of a student.', {
  id: column.text('`_id` of the result.'),
  session: column.text('The session.'),
  term: column.text('halfyear or finalyear.'),
  published: column.flag('Whether it is published.'),
});

const StudentLeave = rowType('StudentLeave', 'A request for leave of a student.', {
  id: column.text('`_id` of the request.'),
  from: column.day('First day.'),
  to: column.day('Last day.'),
  leaveType: column.nullable.text('sick, casual …'),
  status: column.text('pending, approved or rejected.'),
});

const StudentProfile = rowType(
  'StudentProfile',
  'A student, and what the school knows around the student. What the caller may not see is null.',
  {
    studentId: column.text('`_id` of the student.'),
    admissionNo: column.text('Admission number.'),
    name: column.text('Name.'),
    class: column.text('Class.'),
    section: column.text('Section.'),
    rollNo: column.nullable.whole('Roll number.'),
    gender: column.nullable.text('male, female or other.'),
    dob: column.nullable.day('Date of birth. Not for accountants.'),
    fatherName: column.nullable.text('Name of the father.'),
    motherName: column.nullable.text('Name of the mother.'),
    guardianPhone: column.nullable.text('Phone of the guardian.'),
    email: column.nullable.text('Email.'),
    address: column.nullable.text('Address. Not for teachers.'),
    category: column.nullable.text('Category. For clerks.'),
    session: column.text('The session of class and section.'),
    admittedOn: column.day('Admitted.'),
    leftOn: column.nullable.day('Last day at the school.'),
    status: column.nullable.text('active, withdrawn or transferred.'),
    route: column.nullable.text('The route of the bus.'),
    classTeacherId: column.nullable.text('`_id` of the class teacher.'),
    classTeacher: column.nullable.text('The class teacher.'),
    siblings: column.rows(
      Sibling,
      'Students with the same phone of the guardian; a teacher sees those taught.',
    ),
    attendance: column.nullable.row(StudentMarks, 'Attendance of the session. For clerks and teachers.'),
    fees: column.nullable.row(StudentFees, 'Fees of the session. For accountants.'),
    results: column.rows(StudentResult, 'Results, the latest first. For teachers.'),
    leave: column.rows(StudentLeave, 'Requests for leave, the latest first. For clerks.'),
  },
);

const StudentTotals = rowType('StudentTotals', 'Whether there is such a student.', {
  students: column.whole('1.'),
});

/** The parts of a student that a role may see, derived from the collections it may read. */
function sees(roles: ReadonlySet<string>) {
  const isAny = (...allowed: readonly string[]) => ['admin', ...allowed].some((role) => roles.has(role));
  return {
    dob: isAny('clerk', 'teacher'),
    address: isAny('clerk', 'accountant'),
    category: isAny('clerk'),
    attendance: isAny('clerk', 'teacher'),
    fees: isAny('accountant'),
    results: isAny('teacher'),
    leave: isAny('clerk'),
  };
}

/**
 * Everything about one student. A teacher sees the students of the sections taught; each part is visible to
 * those who may read its collection.
 *
 * @see reports 11
 */
export const student = defineReport({
  name: 'student',
  title: 'Student information',
  description:
    "A student's profile with guardians, class teacher and siblings, and attendance, fees, results and " +
    'leave, if any.',
  recordRoute: {
    method: 'GET',
    path: '/o/recs/registration',
    query: 'stream=true&oquery=sequence=<admission_no>',
  },
  parameters: {
    admissionNo: required(textType, 'Admission number.', { formerName: 'sequence' }),
  },
  reads: [
    'attendance',
    'class',
    'fee_concession',
    'fee_due',
    'fee_receipt',
    'leave_request',
    'registration',
    'result',
  ],
  roles: ['accountant', 'clerk'],
  teachers: 'taught',
  row: StudentProfile,
  totals: StudentTotals,
  example: { admissionNo: 'GV-01042' },
  check: ({ admissionNo }, context) => assertStudent(context, admissionNo),
  parts({ admissionNo }, { domain, timeZone, today, settings, sections, scope }) {
    const visible = sees(scope.principal.roles);
    const session = sessionOf(today, settings.sessionFirstMonth);
    const { first, last } = monthsOf(session, settings.sessionFirstMonth);
    const id: Sql = sql`(select id from student)`;
    return {
      ctes: sql`
student as materialized (
  select r.id, r.data
  from records r
  where ${liveRecordsIn(domain, 'registration')} and r.data->'sequence' = ${json(admissionNo)}::jsonb
    and ${isInSections(sections)}
  limit 1
),
${feeItems(
  { domain, timeZone, today },
  { first, last, feeHead: undefined, asOn: today, demand: 'due', student: id },
)},
marks as (
  select
    count(*) filter (where r.data->>'status' = 'present') as present,
      count(*) filter (where r.data->>'status' = 'absent') as absent,
    count(*) filter (where r.data->>'status' = 'late') as late,
      count(*) filter (where r.data->>'status' = 'half_day') as half_day,
    count(*) filter (where r.data->>'status' = 'leave') as on_leave, max(r.data->>'created') as last_at
  from records r
  where ${liveRecordsIn(domain, 'attendance')}
    and r.data->'student'->'value' = to_jsonb(${id})
    and r.data->>'created' >= ${startOf(firstDayOf(first), timeZone)}
      and r.data->>'created' < ${endOf(today, timeZone)}
)`,
      rows: {
        position: sql`1::bigint`,
        key: sql`s.id`,
        of: 's.data',
        columns: {
          studentId: sql`s.id`,
          admissionNo: sql`s.data->>'sequence'`,
          rollNo: sql`case when jsonb_typeof(s.data->'roll_no') = 'number' then s.data->'roll_no' end`,
          dob: sql`case when ${visible.dob} then s.data->>'dob' end`,
          address: sql`case when ${visible.address} then s.data->>'address' end`,
          category: sql`case when ${visible.category} then s.data->>'category' end`,
          classTeacherId: sql`t.teacher->>'value'`,
          classTeacher: sql`t.teacher->>'label'`,
          siblings: sql`(
            select ${jsonListOf(Sibling, sql`r.data->>'sequence'`, {
              of: 'r.data',
              columns: { studentId: sql`r.id`, admissionNo: sql`r.data->>'sequence'` },
            })}
            from records r
            where ${liveRecordsIn(domain, 'registration')}
              and r.data->'guardian_phone' = s.data->'guardian_phone' and r.id <> s.id
              and ${isInSections(sections)}
          )`,
          attendance: sql`case when ${visible.attendance} then (
            select json_build_object(
              'present', present, 'absent', absent, 'late', late, 'halfDay', half_day, 'leave', on_leave,
              'lastMarkedOn', to_char(instant_of(last_at) at time zone ${timeZone}, 'YYYY-MM-DD')
            )
            from marks
          ) end`,
          fees: sql`case when ${visible.fees} then (
            select json_build_object(
              'due', round(coalesce(sum(due), 0), 2), 'concession', round(coalesce(sum(concession), 0), 2),
                'paid', round(coalesce(sum(paid), 0), 2),
              'balance', round(coalesce(sum(balance), 0), 2), 'credit', round(coalesce(sum(credit), 0), 2)
            )
            from month_items
          ) end`,
          results: sql`case when ${visible.results} then (
            select ${jsonListOf(
              StudentResult,
              sql`r.data->>'session' desc, r.data->>'term' = 'finalyear' desc`,
              {
                of: 'r.data',
                columns: {
                  id: sql`r.id`,
                  published: sql`coalesce(r.data->'published' = 'true', false)`,
                },
              },
            )}
            from records r
            where ${liveRecordsIn(domain, 'result')}
              and r.data->'admission_no' = ${json(admissionNo)}::jsonb
          ) end`,
          leave: sql`case when ${visible.leave} then (
            select ${jsonListOf(StudentLeave, sql`r.data->>'from' desc`, {
              of: 'r.data',
              columns: { id: sql`r.id` },
            })}
            from records r
            where ${liveRecordsIn(domain, 'leave_request')}
              and r.data->'name'->'value' = to_jsonb(${id}) and r.data->>'kind' = 'student'
          ) end`,
        },
        from: sql`from student s
left join lateral (
  select section->'class_teacher' as teacher
  from records r
  cross join lateral jsonb_array_elements(${listOrEmpty(sql`r.data->'sections'`)}) as section
  where ${liveRecordsIn(domain, 'class')}
    and r.data->'name' = s.data->'class' and section->'name' = s.data->'section'
  limit 1
) as t on true`,
      },
      totals: {
        columns: {
          students: sql`count(*)`,
        },
        over: sql`from student`,
      },
      leftOut: [
        // A due without a month is left out here, because the reports of the whole school list it.
        sql`select * from fee_faults where ${visible.fees} and reason <> 'month is not YYYY-MM'`,
      ],
    };
  },
});
