import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { monthsAfter, monthsOf, sessionOf } from './engine/school-calendar.js';
import { assertPlace } from './shared/assert-place.js';
import { asOn, inClass, includeLeft, inSection } from './shared/common-parameters.js';
import { feeItems, headItems } from './shared/fee-items.js';
import { classOrders, isInPlace } from './shared/record-parts.js';
import { isOnRoll, rollDays, stayOn, unpromoted, unusableRoll } from './shared/roll.js';

const BUCKETS = {
  days0To30: column.money('Due 0 to 30 days ago.'),
  days31To60: column.money('Due 31 to 60 days ago.'),
  days61To90: column.money('Due 61 to 90 days ago.'),
  daysOver90: column.money('Due more than 90 days ago.'),
  balance: column.money('All of it.'),
};

const StudentAgeing = rowType('StudentAgeing', 'What a student owes, by how long it is overdue.', {
  studentId: column.text('`_id` of the student.'),
  admissionNo: column.text('Admission number.'),
  name: column.text('Name of the student.'),
  class: column.text('Class the student is in now.'),
  section: column.text('Section the student is in now.'),
  rollNo: column.nullable.whole('Roll number.'),
  phone: column.nullable.text('Phone of the guardian.'),
  ...BUCKETS,
  oldestDueDate: column.day('The oldest due date with something owed.'),
});

const ClassAgeing = rowType('ClassAgeing', 'What a class owes, by how long it is overdue.', {
  class: column.text('The class.'),
  students: column.whole('How many students owe.'),
  ...BUCKETS,
});

const OutstandingAgeingTotals = rowType('OutstandingAgeingTotals', 'The whole school.', {
  students: column.whole('How many students owe.'),
  ...BUCKETS,
  classes: column.rows(ClassAgeing, 'By class.'),
});

/**
 * The balances on a day, by how long ago they were due. Counts the dues of this session and the one before,
 * with the same balances as the defaulters' report.
 *
 * @see reports "Beyond the document"
 */
export const outstandingAgeing = defineReport({
  name: 'outstanding-ageing',
  title: 'Outstanding ageing',
  description:
    'What each student owes, due 0–30, 31–60, 61–90 and more than 90 days ago, of this session and ' +
    'the one before.',
  parameters: {
    asOn,
    class: inClass,
    section: inSection,
    includeLeft,
  },
  roles: ['accountant'],
  row: StudentAgeing,
  totals: OutstandingAgeingTotals,
  example: { asOn: '2026-09-30' },
  check: assertPlace,
  parts(
    { asOn: day, class: className = null, section = null, includeLeft: withLeft },
    { domain, timeZone, today, settings },
  ) {
    const session = sessionOf(day, settings.sessionFirstMonth);
    const { first, last } = monthsOf(session, settings.sessionFirstMonth);
    const range = {
      first: monthsAfter(first, -12),
      last,
      feeHead: undefined,
      asOn: day,
      demand: 'due',
    } as const;
    return {
      ctes: sql`
${feeItems({ domain, timeZone, today }, range)},
buckets as materialized (
  select
    student,
    coalesce(sum(owed) filter (where days <= 30), 0) as days0_to30,
      coalesce(sum(owed) filter (where days between 31 and 60), 0) as days31_to60,
    coalesce(sum(owed) filter (where days between 61 and 90), 0) as days61_to90,
      coalesce(sum(owed) filter (where coalesce(days, 91) > 90), 0) as days_over90,
    sum(owed) as balance, min(due_date) as oldest
  from (
    select student, owed, due_date, ${day}::date - day_of(due_date) as days
    from (${headItems({ months: sql`f.balance > 0`, openItems: sql`owed > 0` })}
    ) as item
    where owed > 0
    offset 0
  ) as item
  group by student
),
classes as (${classOrders({ domain })}
),
students as materialized (
  select
    r.id as student, r.data->>'sequence' as admission_no, r.data->>'name' as name, 
    stay.data->>'class' as class, stay.data->>'section' as section, stay.data->>'session' as session,
    to_number(stay.data->'roll_no') as roll_no, r.data->>'guardian_phone' as phone,
    ${rollDays({ today })}
  from records r
  cross join lateral (select ${stayOn(day)} as data offset 0) as stay
  where ${liveRecordsIn(domain, 'registration')}
    and r.id in (select student from buckets)
    and ${isInPlace(className, section, 'stay')}
),
listed as materialized (
  select
    s.*, b.days0_to30, b.days31_to60, b.days61_to90, b.days_over90, b.balance, b.oldest, c.class_order,
    row_number() over (order by c.class_order, s.class, s.section, s.roll_no, s.name, s.student) as position
  from students s
  join buckets b on b.student = s.student
  left join classes c on c.class = s.class
  where ${withLeft} or ${isOnRoll(day)}
)`,
      rows: {
        position: sql`position`,
        key: sql`student`,
        columns: {
          studentId: sql`student`,
          oldestDueDate: sql`oldest`,
        },
        from: sql`from listed`,
      },
      totals: {
        columns: {
          students: sql`count(*)`,
          classes: sql`(
            select ${jsonListOf(ClassAgeing, sql`class_order, class`)}
            from (
              select class, class_order, count(*) as students, sum(days0_to30) as days0_to30,
                sum(days31_to60) as days31_to60,
                sum(days61_to90) as days61_to90, sum(days_over90) as days_over90, sum(balance) as balance
              from listed group by class, class_order
            ) as by_class
          )`,
        },
        over: sql`from listed`,
      },
      leftOut: [
        sql`select * from fee_faults`,
        ...(withLeft ? [] : [unusableRoll]),
        unpromoted(session, day, { today }),
      ],
    };
  },
});
