import { liveRecordsIn } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';
import * as column from './engine/columns.js';
import { textType } from './engine/parameter-types.js';
import { required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { endOf, firstDayOf, monthsOf, sessionOf, startOf } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { assertStudent } from './shared/assert-student.js';
import { feeItems } from './shared/fee-items.js';
import { listOrEmpty } from './shared/list-or-empty.js';
import { isInSections } from './shared/place-conditions.js';

@column.rowType('Sibling', 'A student with the same phone of the guardian.')
class Sibling {
  @column.text('`_id` of the student.') readonly studentId!: string;
  @column.text('Admission number.') readonly admissionNo!: string;
  @column.text('Name.') readonly name!: string;
  @column.text('Class.') readonly class!: string;
  @column.text('Section.') readonly section!: string;
}

@column.rowType('StudentMarks', 'How a student was marked this session.')
class StudentMarks {
  @column.whole('Days marked present.') readonly present!: number;
  @column.whole('Days marked absent.') readonly absent!: number;
  @column.whole('Days marked late.') readonly late!: number;
  @column.whole('Half days.') readonly halfDay!: number;
  @column.whole('Days of leave.') readonly leave!: number;
  @column.day('The last day with a mark.', { nullable: true }) readonly lastMarkedOn!: string | null;
}

@column.rowType('StudentFees', 'The fees of a student this session, as on today.')
class StudentFees {
  @column.money('Demand of which the due date has come.') readonly due!: string;
  @column.money('Concession in force.') readonly concession!: string;
  @column.money('Paid.') readonly paid!: string;
  @column.money('Still owed.') readonly balance!: string;
  @column.money('Overpaid, or paid before it is due.') readonly credit!: string;
}

@column.rowType('StudentResult', 'A result of a student.')
class StudentResult {
  @column.text('`_id` of the result.') readonly id!: string;
  @column.text('The session.') readonly session!: string;
  @column.text('halfyear or finalyear.') readonly term!: string;
  @column.flag('Whether it is published.') readonly published!: boolean;
}

@column.rowType('StudentLeave', 'A request for leave of a student.')
class StudentLeave {
  @column.text('`_id` of the request.') readonly id!: string;
  @column.day('First day.') readonly from!: string;
  @column.day('Last day.') readonly to!: string;
  @column.text('sick, casual …', { nullable: true }) readonly leaveType!: string | null;
  @column.text('pending, approved or rejected.') readonly status!: string;
}

@column.rowType(
  'StudentProfile',
  'A student, and what the school knows around the student. What the caller may not see is null.',
)
class StudentProfile {
  @column.text('`_id` of the student.') readonly studentId!: string;
  @column.text('Admission number.') readonly admissionNo!: string;
  @column.text('Name.') readonly name!: string;
  @column.text('Class.') readonly class!: string;
  @column.text('Section.') readonly section!: string;
  @column.whole('Roll number.', { nullable: true }) readonly rollNo!: number | null;
  @column.text('male, female or other.', { nullable: true }) readonly gender!: string | null;
  @column.day('Date of birth. Not for accountants.', { nullable: true }) readonly dob!: string | null;
  @column.text('Name of the father.', { nullable: true }) readonly fatherName!: string | null;
  @column.text('Name of the mother.', { nullable: true }) readonly motherName!: string | null;
  @column.text('Phone of the guardian.', { nullable: true }) readonly guardianPhone!: string | null;
  @column.text('Email.', { nullable: true }) readonly email!: string | null;
  @column.text('Address. Not for teachers.', { nullable: true }) readonly address!: string | null;
  @column.text('Category. For clerks.', { nullable: true }) readonly category!: string | null;
  @column.text('The session of class and section.') readonly session!: string;
  @column.day('Admitted.') readonly admittedOn!: string;
  @column.day('Last day at the school.', { nullable: true }) readonly leftOn!: string | null;
  @column.text('active, withdrawn or transferred.', { nullable: true }) readonly status!: string | null;
  @column.text('The route of the bus.', { nullable: true }) readonly route!: string | null;
  @column.text('`_id` of the class teacher.', { nullable: true }) readonly classTeacherId!: string | null;
  @column.text('The class teacher.', { nullable: true }) readonly classTeacher!: string | null;
  @column.rows(() => Sibling, 'Students with the same phone of the guardian; a teacher sees those taught.')
  readonly siblings!: readonly Sibling[];
  @column.row(() => StudentMarks, 'Attendance of the session. For clerks and teachers.', { nullable: true })
  readonly attendance!: StudentMarks | null;
  @column.row(() => StudentFees, 'Fees of the session. For accountants.', { nullable: true })
  readonly fees!: StudentFees | null;
  @column.rows(() => StudentResult, 'Results, the latest first. For teachers.')
  readonly results!: readonly StudentResult[];
  @column.rows(() => StudentLeave, 'Requests for leave, the latest first. For clerks.')
  readonly leave!: readonly StudentLeave[];
}

@column.rowType('StudentTotals', 'Whether there is such a student.')
class StudentTotals {
  @column.whole('1.') readonly students!: number;
}

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
  field: 'student',
  title: 'Student information',
  description:
    "A student's profile with guardians, class teacher and siblings, and what there is of " +
    'attendance, fees, results and leave.',
  recordRoute: {
    method: 'GET',
    path: '/o/recs/registration',
    query: 'stream=true&oquery=sequence=<admission_no>',
  },
  parameters: {
    admissionNo: required(textType, {
      restName: 'admission_no',
      formerName: 'sequence',
      description: 'Admission number.',
    }),
  },
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
        columns: {
          studentId: sql`s.id`,
          admissionNo: sql`s.data->>'sequence'`,
          name: sql`s.data->>'name'`,
          class: sql`s.data->>'class'`,
          section: sql`s.data->>'section'`,
          rollNo: sql`case when jsonb_typeof(s.data->'roll_no') = 'number' then s.data->'roll_no' end`,
          gender: sql`s.data->>'gender'`,
          dob: sql`case when ${visible.dob} then s.data->>'dob' end`,
          fatherName: sql`s.data->>'father_name'`,
          motherName: sql`s.data->>'mother_name'`,
          guardianPhone: sql`s.data->>'guardian_phone'`,
          email: sql`s.data->>'email'`,
          address: sql`case when ${visible.address} then s.data->>'address' end`,
          category: sql`case when ${visible.category} then s.data->>'category' end`,
          session: sql`s.data->>'session'`,
          admittedOn: sql`s.data->>'admitted_on'`,
          leftOn: sql`s.data->>'left_on'`,
          status: sql`s.data->>'status'`,
          route: sql`s.data->>'route'`,
          classTeacherId: sql`t.teacher->>'value'`,
          classTeacher: sql`t.teacher->>'label'`,
          siblings: sql`(
            select ${jsonListOf(Sibling, sql`r.data->>'sequence'`, {
              columns: {
                studentId: sql`r.id`,
                admissionNo: sql`r.data->>'sequence'`,
                name: sql`r.data->>'name'`,
                class: sql`r.data->>'class'`,
                section: sql`r.data->>'section'`,
              },
            })}
            from records r
            where ${liveRecordsIn(domain, 'registration')}
              and r.data->'guardian_phone' = s.data->'guardian_phone' and r.id <> s.id
              and (${sections}::jsonb is null
                or ${sections}::jsonb @> jsonb_build_array(jsonb_build_array(r.data->'class',
                  r.data->'section')))
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
                of: 'r',
                columns: {
                  session: sql`r.data->>'session'`,
                  term: sql`r.data->>'term'`,
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
              of: 'r',
              columns: {
                from: sql`r.data->>'from'`,
                to: sql`r.data->>'to'`,
                leaveType: sql`r.data->>'leave_type'`,
                status: sql`r.data->>'status'`,
              },
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
      leftOut: sql`select collection, reason, id
from fee_faults
-- A due without a month is nobody's here: the reports over the school speak of it.
where ${visible.fees} and reason <> 'month is not YYYY-MM'`,
    };
  },
});
