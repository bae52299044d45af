import { liveRecordsIn } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { amountType, type Day, monthType, textType } from './engine/parameter-types.js';
import { defaulted, optional, required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import type { ReportContext } from './engine/report-context.js';
import { groupsOf, jsonListOf } from './engine/report-parts.js';
import { endOf, monthsAfter, monthsOf, sessionOf } from './engine/school-calendar.js';
import { asksFor } from './engine/shown-parts.js';
import { assertFeeHead, assertPlace } from './shared/assert-place.js';
import { asOn, checkRange, inClass, includeLeft, inSection } from './shared/common-parameters.js';
import { entryItems, feeItems, type HeadSelection, headItems, settledItems } from './shared/fee-items.js';
import { byFeeHead, classOrders, feeHeadPlaces, isInPlace } from './shared/record-parts.js';
import { isOnRoll, rollDays, stayOn, unpromoted, unusableRoll } from './shared/roll.js';

const FeeDefaulterItem = rowType('FeeDefaulterItem', 'The balance for one fee head of one month.', {
  month: column.month('The month the fee is for.'),
  feeHead: column.text('The fee head.'),
  due: column.money('Demand before concession.'),
  concession: column.money('Concession in force.'),
  net: column.money('Demand less concession.'),
  paid: column.money('Paid by receipts that count.'),
  balance: column.money('Still owed: net less paid, at least 0.'),
  credit: column.money('Paid beyond the net, or before it is due.'),
  finePaid: column.money('Fines paid with it.'),
});

/** The first columns of both reports of debts. */
const STUDENT = {
  studentId: column.text('`_id` of the student.'),
  admissionNo: column.text('Admission number.'),
  name: column.text('Name of the student.'),
  class: column.text('Class the student is in now.'),
  section: column.text('Section the student is in now.'),
  rollNo: column.nullable.whole('Roll number.'),
};

const FeeDefaulter = rowType('FeeDefaulter', 'A student who owes more than the minimum.', {
  ...STUDENT,
  guardian: column.nullable.text('Name of the father, else of the mother.'),
  phone: column.nullable.text('Phone of the guardian.'),
  due: column.money('Demand before concession.'),
  concession: column.money('Concession in force.'),
  net: column.money('Demand less concession.'),
  paid: column.money('Paid by receipts that count.'),
  balance: column.money(
    'Still owed: the sum of what each month and head owes. Credit of another month is not set against it.',
  ),
  credit: column.money('Paid beyond the net, or before it is due.'),
  finePaid: column.money('Fines paid.'),
  monthsDue: column.texts('Months with something owed.'),
  monthsDueCount: column.whole('Number of months with something owed.'),
  oldestDueDate: column.day('Due date of the oldest demand that is not paid.'),
  daysOverdue: column.whole('Days from the oldest due date to the day of the report.'),
  lastReceiptNo: column.nullable.text('Number of the last receipt.'),
  lastReceiptDate: column.nullable.day('Day of the last receipt.'),
  lastReceiptAmount: column.nullable.money('Total of the last receipt.'),
  breakdown: column.rows(FeeDefaulterItem, 'By month and fee head.'),
});

const OWED = {
  due: column.money('Demand before concession.'),
  concession: column.money('Concession.'),
  paid: column.money('Paid.'),
  balance: column.money('Still owed.'),
  credit: column.money('Overpaid, or paid before it is due.'),
};

const FeeDefaulterClassTotals = rowType('FeeDefaulterClassTotals', 'The defaulters of one class.', {
  class: column.text('The class.'),
  students: column.whole('Number of students who owe.'),
  ...OWED,
});

const FeeDefaulterHeadTotals = rowType('FeeDefaulterHeadTotals', 'The balance of all for one fee head.', {
  feeHead: column.text('The fee head.'),
  students: column.whole('Number of listed students who owe something of it.'),
  ...OWED,
});

const FeeDefaulterTotals = rowType('FeeDefaulterTotals', 'All listed students together.', {
  students: column.whole('Number of listed students.'),
  due: column.money('Demand before concession.'),
  concession: column.money('Concession.'),
  net: column.money('Demand less concession.'),
  paid: column.money('Paid.'),
  balance: column.money('Still owed.'),
  credit: column.money('Overpaid, or paid before it is due.'),
  finePaid: column.money('Fines paid.'),
  classes: column.rows(FeeDefaulterClassTotals, 'By class.'),
  heads: column.rows(FeeDefaulterHeadTotals, 'By fee head.'),
});

const MOST_MONTHS = 24;

/**
 * The students who owe fees for a range of months: how much, and since when.
 *
 * For each student, month and fee head: net = demand − concession, balance = max(net − paid, 0), credit =
 * max(paid − net, 0), so that net − paid = balance − credit everywhere. Demand counts once it is due
 * (`due_date <= asOn`), unless it is cancelled; a payment for a month before that is credit. The demand of a
 * student who has left ends with the month of leaving.
 *
 * @see reports 1
 */
export const feeDefaulters = defineReport({
  name: 'fee-defaulters',
  title: 'Fee defaulters',
  description: 'Students who owe fees of a range of months: how much, of which heads, since when.',
  routes: [{ method: 'GET', path: '/getfeedefaultersv2.svc' }],
  parameters: {
    startMonth: required(monthType, 'First month of the range.'),
    endMonth: required(monthType, `Last month of the range; at most ${MOST_MONTHS} months.`),
    feeHead: optional(textType, 'Only this fee head.'),
    asOn,
    class: inClass,
    section: inSection,
    minimum: defaulted(amountType, 'Only students who owe more than this.', { default: '0.00' }),
    includeLeft,
  },
  reads: ['class', 'fee_concession', 'fee_due', 'fee_head', 'fee_receipt', 'registration'],
  roles: ['accountant'],
  row: FeeDefaulter,
  totals: FeeDefaulterTotals,
  example: { startMonth: '2026-04', endMonth: '2026-09' },
  async check({ startMonth, endMonth, feeHead, class: className, section }, context) {
    const most = [MOST_MONTHS, `${MOST_MONTHS} months`] as const;
    checkRange(['start_month', startMonth], ['end_month', endMonth], most, 'month');
    const head = await assertFeeHead(feeHead, context);
    return { ...head, ...(await assertPlace({ class: className, section }, context)) };
  },
  parts: (
    {
      startMonth,
      endMonth,
      feeHead,
      asOn: day,
      class: className = null,
      section = null,
      minimum,
      includeLeft: withLeft,
    },
    { domain, timeZone, today, settings },
    shown,
  ) => ({
    ctes: sql`
${feeItems(
  { domain, timeZone, today },
  { first: startMonth, last: endMonth, feeHead, asOn: day, demand: 'due', owingOnly: true },
)},${feeHeadPlaces({ domain })},
sums as materialized (
  select
    student,
    sum(due) as due, sum(concession) as concession, sum(paid) as paid, sum(fine) as fine,
    sum(balance) as balance, sum(credit) as credit, min(balance_from) as oldest
  from month_items
  group by student
  having sum(balance) > ${minimum}::numeric
),
${debtorsIn(sql`sums`, sql`b.due, b.concession, b.paid, b.balance, b.credit, b.fine, b.oldest`, {
  day,
  domain,
  today,
  className,
  section,
  withLeft,
})},
items_by_student as (
  select
    fee_head, student, exact_sum(due) as due, exact_sum(concession) as concession, exact_sum(paid) as paid,
    exact_sum(greatest(owed, 0)) as balance, exact_sum(greatest(-owed, 0)) as credit
  from (${headItems(OF_LISTED)}
  ) as item
  group by fee_head, student
),
-- Items from entries are computed for all students at once; other months are read for the shown rows only.
entries_of as materialized (
  select student, array_agg((month, fee_head, due, concession, paid, fine, owed)) as items
  from (${entryItems(OF_LISTED)}
  ) as item
  group by student
)`,
    rows: {
      key: sql`l.student`,
      of: 'l',
      columns: {
        studentId: sql`l.student`,
        net: sql`l.due - l.concession`,
        finePaid: sql`l.fine`,
        monthsDue: sql`b.months_due`,
        monthsDueCount: sql`b.months_due_count`,
        oldestDueDate: sql`l.oldest`,
        daysOverdue: sql`${day}::date - day_of(l.oldest)`,
        lastReceiptNo: sql`last.receipt_no`,
        lastReceiptDate: sql`last.day`,
        lastReceiptAmount: sql`last.total`,
        breakdown: sql`b.breakdown`,
      },
      from: sql`from listed l${
        asksFor(shown, 'monthsDue', 'monthsDueCount', 'breakdown') ? itemsOfListed : sql.empty
      }${
        asksFor(shown, 'lastReceiptNo', 'lastReceiptDate', 'lastReceiptAmount')
          ? lastReceiptOfListed({ domain, timeZone, asOn: day })
          : sql.empty
      }`,
    },
    totals: {
      of: 'l',
      columns: {
        students: sql`(select count(*) from listed)`,
        net: sql`sum(l.due - l.concession)`,
        finePaid: sql`sum(l.fine)`,
        classes: groupsOf(
          FeeDefaulterClassTotals,
          { from: 'listed', by: ['class_order', 'class'] },
          { students: sql`count(*)` },
        ),
        heads: groupsOf(
          FeeDefaulterHeadTotals,
          { from: 'items_by_student', by: ['fee_head'], order: byFeeHead },
          { students: sql`count(*) filter (where balance > 0)` },
        ),
      },
      over: sql`from listed l`,
    },
    leftOut: [
      sql`select * from fee_faults`,
      ...(withLeft ? [] : [unusableRoll]),
      unpromoted(sessionOf(day, settings.sessionFirstMonth), day, { today }),
    ],
  }),
});

const OF_LISTED: HeadSelection = {
  months: sql`f.student in (select student from listed)`,
  openItems: sql`student in (select student from listed)`,
};

const itemsOfListed = sql`
left join entries_of o on o.student = l.student
cross join lateral (
  select
    json_agg(distinct month) filter (where owed > 0) as months_due,
    count(distinct month) filter (where owed > 0) as months_due_count,
    ${jsonListOf(FeeDefaulterItem, sql`month, ${byFeeHead}`, {
      columns: {
        net: sql`due - concession`,
        balance: sql`greatest(owed, 0)`,
        credit: sql`greatest(-owed, 0)`,
        finePaid: sql`fine`,
      },
    })} as breakdown
  from (
    select month, fee_head, due, concession, paid, fine, owed
    from (${settledItems(sql`f.student = l.student`)}
    ) as settled
    union all
    select *
    from unnest(o.items) as item(month text, fee_head text, due numeric, concession numeric, paid numeric,
      fine numeric, owed numeric)
  ) as item
) as b`;

function lastReceiptOfListed({
  domain,
  timeZone,
  asOn,
}: Pick<ReportContext, 'domain' | 'timeZone'> & { readonly asOn: Day }): Sql {
  return sql`
left join lateral (
  select
    r.data->>'receipt_no' as receipt_no,
    to_char(instant_of(r.data->>'date') at time zone ${timeZone}, 'YYYY-MM-DD') as day,
    round(to_number(r.data->'total'), 2) as total
  from records r
  where ${liveRecordsIn(domain, 'fee_receipt')}
    and r.data->'student'->'value' = to_jsonb(l.student)
    and r.data->>'date' < ${endOf(asOn, timeZone)}
    and (r.data->'status' = '"active"' or r.data->>'rolled_back_on' >= ${endOf(asOn, timeZone)})
  order by r.data->>'date' desc, r.id desc
  limit 1
) as last on true`;
}

const BUCKETS = {
  days0To30: column.money('Due 0 to 30 days ago.'),
  days31To60: column.money('Due 31 to 60 days ago.'),
  days61To90: column.money('Due 61 to 90 days ago.'),
  daysOver90: column.money('Due more than 90 days ago.'),
  balance: column.money('All of it.'),
};

const StudentAgeing = rowType('StudentAgeing', 'The balance of a student, by the time since it was due.', {
  ...STUDENT,
  phone: column.nullable.text('Phone of the guardian.'),
  ...BUCKETS,
  oldestDueDate: column.day('The oldest due date with something owed.'),
});

const ClassAgeing = rowType('ClassAgeing', 'The balance of a class, by the time since it was due.', {
  class: column.text('The class.'),
  students: column.whole('Number of students who owe.'),
  ...BUCKETS,
});

const OutstandingAgeingTotals = rowType('OutstandingAgeingTotals', 'The whole school.', {
  students: column.whole('Number of students who owe.'),
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
    'The balance of each student, due 0–30, 31–60, 61–90 and more than 90 days ago, of this session and ' +
    'the one before.',
  parameters: {
    asOn,
    class: inClass,
    section: inSection,
    includeLeft,
  },
  reads: ['class', 'fee_concession', 'fee_due', 'fee_receipt', 'registration'],
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
${debtorsIn(
  sql`buckets`,
  sql`b.days0_to30, b.days31_to60, b.days61_to90, b.days_over90, b.balance, b.oldest`,
  { day, domain, today, className, section, withLeft },
)}`,
      rows: {
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
          classes: groupsOf(
            ClassAgeing,
            { from: 'listed', by: ['class_order', 'class'] },
            { students: sql`count(*)` },
          ),
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

/**
 * The CTEs `students`, `classes` and `listed`: the students of a CTE `b` that the report lists, in their
 * place on a day and in order, with these columns of `b`.
 */
function debtorsIn(
  cte: Sql,
  columns: Sql,
  of: Pick<ReportContext, 'domain' | 'today'> & {
    readonly day: Day;
    readonly className: string | null;
    readonly section: string | null;
    readonly withLeft: boolean;
  },
): Sql {
  return sql`students as materialized (
  select
    r.id as student, r.data->>'sequence' as admission_no, r.data->>'name' as name,
    stay.data->>'class' as class, stay.data->>'section' as section,
    stay.data->>'session' as session, to_number(stay.data->'roll_no') as roll_no,
    coalesce(r.data->>'father_name', r.data->>'mother_name') as guardian, r.data->>'guardian_phone' as phone,
    ${rollDays(of)}
  from records r
  cross join lateral (select ${stayOn(of.day)} as data offset 0) as stay
  where ${liveRecordsIn(of.domain, 'registration')}
    and r.id in (select student from ${cte})
    and ${isInPlace(of.className, of.section, 'stay')}
),
classes as (${classOrders(of)}
),
listed as materialized (
  select
    s.*, c.class_order, ${columns},
    row_number() over (order by c.class_order, s.class, s.section, s.roll_no, s.name, s.student) as position
  from students s
  join ${cte} b on b.student = s.student
  left join classes c on c.class = s.class
  where ${of.withLeft} or ${isOnRoll(of.day)}
)`;
}
