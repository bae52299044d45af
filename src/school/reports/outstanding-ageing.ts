import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import * as column from './engine/columns.js';
import { flagType } from './engine/parameter-types.js';
import { defaulted } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { monthsAfter, monthsOf, sessionOf } from './engine/school-calendar.js';
import { assertPlace } from './shared/assert-place.js';
import { classOrders } from './shared/class-orders.js';
import { asOn, inClass, inSection } from './shared/common-parameters.js';
import { feeItems, headItems } from './shared/fee-items.js';
import { isInPlace } from './shared/place-conditions.js';
import { isOnRoll, rollDays, stayOn, unpromoted, unusableRoll } from './shared/roll.js';

@column.rowType('StudentAgeing', 'What a student owes, by how long it is overdue.')
class StudentAgeing {
  @column.text('`_id` of the student.') readonly studentId!: string;
  @column.text('Admission number.') readonly admissionNo!: string;
  @column.text('Name of the student.') readonly name!: string;
  @column.text('Class the student is in now.') readonly class!: string;
  @column.text('Section the student is in now.') readonly section!: string;
  @column.whole('Roll number.', { nullable: true }) readonly rollNo!: number | null;
  @column.text('Phone of the guardian.', { nullable: true }) readonly phone!: string | null;
  @column.money('Due 0 to 30 days ago.') readonly days0To30!: string;
  @column.money('Due 31 to 60 days ago.') readonly days31To60!: string;
  @column.money('Due 61 to 90 days ago.') readonly days61To90!: string;
  @column.money('Due more than 90 days ago.') readonly daysOver90!: string;
  @column.money('All of it.') readonly balance!: string;
  @column.day('The oldest due date with something owed.') readonly oldestDueDate!: string;
}

@column.rowType('ClassAgeing', 'What a class owes, by how long it is overdue.')
class ClassAgeing {
  @column.text('The class.') readonly class!: string;
  @column.whole('How many students owe.') readonly students!: number;
  @column.money('Due 0 to 30 days ago.') readonly days0To30!: string;
  @column.money('Due 31 to 60 days ago.') readonly days31To60!: string;
  @column.money('Due 61 to 90 days ago.') readonly days61To90!: string;
  @column.money('Due more than 90 days ago.') readonly daysOver90!: string;
  @column.money('All of it.') readonly balance!: string;
}

@column.rowType('OutstandingAgeingTotals', 'The whole school.')
class OutstandingAgeingTotals {
  @column.whole('How many students owe.') readonly students!: number;
  @column.money('Due 0 to 30 days ago.') readonly days0To30!: string;
  @column.money('Due 31 to 60 days ago.') readonly days31To60!: string;
  @column.money('Due 61 to 90 days ago.') readonly days61To90!: string;
  @column.money('Due more than 90 days ago.') readonly daysOver90!: string;
  @column.money('All of it.') readonly balance!: string;
  @column.rows(() => ClassAgeing, 'By class.') readonly classes!: readonly ClassAgeing[];
}

/**
 * The balances on a day, by how long ago they were due. Counts the dues of this session and the one before,
 * with the same balances as the defaulters' report.
 *
 * @see reports "Beyond the document"
 */
export const outstandingAgeing = defineReport({
  name: 'outstanding-ageing',
  field: 'outstandingAgeing',
  title: 'Outstanding ageing',
  description:
    'What each student owes, due 0–30, 31–60, 61–90 and more than 90 days ago, of this session and ' +
    'the one before.',
  parameters: {
    asOn,
    class: inClass,
    section: inSection,
    includeLeft: defaulted(flagType, {
      restName: 'include_left',
      description:
        'Also students who are not on the roll on the day: who have left, or are not admitted yet.',
      default: 'false',
      value: () => false,
    }),
  },
  roles: ['accountant'],
  teachers: 'none',
  row: StudentAgeing,
  totals: OutstandingAgeingTotals,
  example: { asOn: '2026-09-30' },
  check: assertPlace,
  parts(
    { asOn: day, class: className = null, section = null, includeLeft },
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
    coalesce(sum(owed) filter (where days <= 30), 0) as days_0_30,
      coalesce(sum(owed) filter (where days between 31 and 60), 0) as days_31_60,
    coalesce(sum(owed) filter (where days between 61 and 90), 0) as days_61_90,
      coalesce(sum(owed) filter (where coalesce(days, 91) > 90), 0) as days_over_90,
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
    s.*, b.days_0_30, b.days_31_60, b.days_61_90, b.days_over_90, b.balance, b.oldest, c.class_order,
    row_number() over (order by c.class_order, s.class, s.section, s.roll_no, s.name, s.student) as position
  from students s
  join buckets b on b.student = s.student
  left join classes c on c.class = s.class
  where ${includeLeft} or ${isOnRoll(day)}
)`,
      rows: {
        position: sql`position`,
        key: sql`student`,
        columns: {
          studentId: sql`student`,
          days0To30: sql`days_0_30`,
          days31To60: sql`days_31_60`,
          days61To90: sql`days_61_90`,
          daysOver90: sql`days_over_90`,
          oldestDueDate: sql`oldest`,
        },
        from: sql`from listed`,
      },
      totals: {
        columns: {
          students: sql`count(*)`,
          days0To30: sql`sum(days_0_30)`,
          days31To60: sql`sum(days_31_60)`,
          days61To90: sql`sum(days_61_90)`,
          daysOver90: sql`sum(days_over_90)`,
          classes: sql`(
            select ${jsonListOf(ClassAgeing, sql`class_order, class`, {
              columns: {
                days0To30: sql`days_0_30`,
                days31To60: sql`days_31_60`,
                days61To90: sql`days_61_90`,
                daysOver90: sql`days_over_90`,
              },
            })}
            from (
              select class, class_order, count(*) as students, sum(days_0_30) as days_0_30,
                sum(days_31_60) as days_31_60,
                sum(days_61_90) as days_61_90, sum(days_over_90) as days_over_90, sum(balance) as balance
              from listed group by class, class_order
            ) as by_class
          )`,
        },
        over: sql`from listed`,
      },
      leftOut: sql`select collection, reason, id
from (
  select * from fee_faults
  union all
  select * from (${unusableRoll}) as registrations where not ${includeLeft}
  union all
  ${unpromoted(session, day, { today })}
) as left_out`,
    };
  },
});
