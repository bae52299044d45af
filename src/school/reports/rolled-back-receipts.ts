import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { FeeHeadAmount, PaymentTypeAmount } from './daily-fee-collection.js';
import { column, rowType } from './engine/columns.js';
import { type Day, dayType, interval, rollbackBasis } from './engine/parameter-types.js';
import { defaulted, optional, parameterError } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { faultsIn, groupsOf, jsonListOf } from './engine/report-parts.js';
import { endOf } from './engine/school-calendar.js';
import { asOn, checkRange, fromAndTo } from './shared/common-parameters.js';
import { byFeeHead, feeHeadPlaces, isWithinDays, linesOfNothing } from './shared/record-parts.js';

const RolledBackReceipt = rowType('RolledBackReceipt', 'A receipt that was rolled back.', {
  receiptNo: column.text('Receipt number.'),
  date: column.instant('When it was written.'),
  studentId: column.nullable.text('`_id` of the student.'),
  student: column.nullable.text('Name of the student.'),
  class: column.nullable.text('Class on the receipt.'),
  section: column.nullable.text('Section on the receipt.'),
  heads: column.rows(FeeHeadAmount, 'By fee head.', { label: 'feeHead', value: 'amount' }),
  fine: column.money('Fines.'),
  total: column.money('Total of the receipt.'),
  paymentType: column.nullable.text('cash, cheque, card or neft.'),
  collectedBy: column.nullable.text('Who collected it.'),
  rolledBackAt: column.instant('When it was rolled back.'),
  rolledBackBy: column.nullable.text('Who rolled it back.'),
  reason: column.nullable.text('Why.'),
  type: column.nullable.text('entry_error, bounce, refund or duplicate.'),
  replacement: column.nullable.text('Number of the receipt that replaces it.'),
});

const RollbackTypeAmount = rowType('RollbackTypeAmount', 'Receipts rolled back for one kind of reason.', {
  type: column.text('entry_error, bounce, refund or duplicate.'),
  receipts: column.whole('Number of receipts.'),
  amount: column.money('Their totals.'),
});

const RolledBackReceiptTotals = rowType('RolledBackReceiptTotals', 'All receipts rolled back.', {
  receipts: column.whole('Number of receipts.'),
  heads: column.rows(FeeHeadAmount, 'By fee head.'),
  fine: column.money('Fines.'),
  total: column.money('Totals of the receipts.'),
  types: column.rows(RollbackTypeAmount, 'By kind of reason.'),
  paymentTypes: column.rows(PaymentTypeAmount, 'By payment type.'),
});

/** The faults of a receipt with `data` in which its amounts cannot be read: branches of a `case`. */
const FAULTS = sql`when jsonb_typeof(data->'lines') is distinct from 'array' then 'lines is not a list'
      when jsonb_typeof(data->'total') is distinct from 'number' then 'total is not a number'
      when data @? '$.lines[*] ? (
          !exists(@.amount) || @.amount.type() != "number"
          || (exists(@.fine) && @.fine.type() != "number" && @.fine.type() != "null")
        )'
        then 'amount of a line is not a number'`;

/** Either one day, or a range; without any, today. */
function daysOf(
  { date, from, to }: Readonly<Record<'date' | 'from' | 'to', Day | undefined>>,
  today: Day,
): { readonly first: Day; readonly last: Day } {
  if (date !== undefined && (from !== undefined || to !== undefined)) {
    throw parameterError('date', 'does not go with from and to; expected either', {
      expected: 'date, or from and to',
      sent: date,
    });
  }
  if ((from === undefined) !== (to === undefined)) {
    const missing = from === undefined ? 'from' : 'to';
    throw parameterError(missing, 'is missing; expected from and to together', {
      expected: 'from and to together',
    });
  }
  if (from === undefined || to === undefined) return { first: date ?? today, last: date ?? today };
  const range = checkRange(['from', from], ['to', to], [366, 'a year']);
  return { first: range.from, last: range.to };
}

/**
 * Receipts rolled back on a day or in a range of days; or, by basis RECEIPT, receipts of those days that were
 * rolled back since.
 *
 * @see reports 7, decisions 8
 */
export const rolledBackReceipts = defineReport({
  name: 'rolled-back-receipts',
  title: 'Daily rolled-back receipts',
  description: 'Receipts that were rolled back: when, by whom, why, and what replaces them.',
  routes: [{ method: 'GET', path: '/dailyrolledbackreceipts.svc' }],
  parameters: {
    date: optional(dayType, 'One day. Default: today, if no range is given.'),
    from: optional(dayType, 'First day of a range.'),
    to: optional(dayType, 'Last day of a range; at most a year.'),
    dateBasis: defaulted(rollbackBasis, 'Which day of a receipt counts.', { default: 'ROLLBACK' }),
  },
  reads: ['fee_head', 'fee_receipt'],
  roles: ['accountant'],
  row: RolledBackReceipt,
  totals: RolledBackReceiptTotals,
  example: { date: '2026-07-09' },
  check(values, { today }) {
    const { first } = daysOf(values, today);
    return values.from === undefined ? { date: first } : {};
  },
  parts(values, { domain, timeZone, today }, shown) {
    const { first, last } = daysOf(values, today);
    return {
      ctes: sql`
${feeHeadPlaces({ domain })},
rolled_back as materialized (
  select
    r.id, r.data, r.data->>'receipt_no' as receipt_no,
    case when ${values.dateBasis} = 'ROLLBACK' then r.data->>'rolled_back_on' else r.data->>'date' end as at,
    case
      when jsonb_typeof(r.data->'rolled_back_on') is distinct
        from 'string' then 'rolled_back_on is not an instant'
      ${FAULTS}
    end as fault
  from records r
  where ${liveRecordsIn(domain, 'fee_receipt')}
    and r.data->'status' = '"rolled_back"'
    and (${values.dateBasis} <> 'ROLLBACK' or (
      ${isWithinDays("r.data->'rolled_back_on'", [first, last], timeZone)}))
    and (${values.dateBasis} <> 'RECEIPT' or (
      ${isWithinDays("r.data->'date'", [first, last], timeZone)}))
),
receipts as materialized (
  select *, (data->'total')::numeric as total, row_number() over (order by at, id) as position
    from rolled_back where fault is null
),
lines as materialized (
  select
    r.id, coalesce(line->>'fee_head', 'unknown') as fee_head, sum((line->'amount')::numeric) as amount,
    sum(case when jsonb_typeof(line->'fine') = 'number' then (line->'fine')::numeric else 0 end) as fine
  from receipts r
  cross join lateral jsonb_array_elements(r.data->'lines') as line
  group by 1, 2${linesOfNothing(shown)}
)`,
      rows: {
        position: sql`r.position`,
        key: sql`r.receipt_no`,
        of: 'r.data',
        columns: {
          studentId: sql`r.data->'student'->>'value'`,
          student: sql`r.data->'student'->>'label'`,
          heads: sql`(select ${jsonListOf(FeeHeadAmount, byFeeHead)} from lines l where l.id = r.id)`,
          total: sql`r.total`,
          fine: sql`(select round(coalesce(sum(l.fine), 0), 2) from lines l where l.id = r.id)`,
          collectedBy: sql`r.data->'collected_by'->>'label'`,
          rolledBackAt: sql`r.data->>'rolled_back_on'`,
          rolledBackBy: sql`r.data->'rolled_back_by'->>'label'`,
          reason: sql`r.data->>'rollback_reason'`,
          type: sql`r.data->>'rollback_type'`,
          replacement: sql`(
            select min(n.data->>'receipt_no')
            from records n
            where ${liveRecordsIn(domain, 'fee_receipt', 'n')}
              and n.data->'replaces' = to_jsonb(r.receipt_no)
          )`,
        },
        from: sql`from receipts r`,
      },
      totals: {
        columns: {
          receipts: sql`(select count(*) from receipts)`,
          heads: groupsOf(FeeHeadAmount, { from: 'lines', by: ['fee_head'], order: byFeeHead }),
          fine: sql`(select round(coalesce(sum(fine), 0), 2) from lines)`,
          total: sql`(select round(coalesce(sum(total), 0), 2) from receipts)`,
          types: sql`(
            select ${jsonListOf(RollbackTypeAmount, sql`type`)}
            from (select coalesce(data->>'rollback_type', 'unknown') as type, count(*) as receipts,
              sum(total) as amount from receipts group by 1) as by_type
          )`,
          paymentTypes: sql`(
            select ${jsonListOf(PaymentTypeAmount, sql`payment_type`)}
            from (select coalesce(data->>'payment_type', 'unknown') as payment_type, sum(total) as amount
              from receipts group by 1) as by_payment
          )`,
        },
      },
      leftOut: [faultsIn('rolled_back', 'fee_receipt')],
    };
  },
});

const CollectionPeriod = rowType('CollectionPeriod', 'The collection of one day, week or month.', {
  start: column.day('First day of the period within the range.'),
  end: column.day('Last day of the period within the range.'),
  receipts: column.whole('Number of receipts.'),
  students: column.whole('Number of students who paid.'),
  total: column.money('Totals of the receipts, fines included.'),
  cumulative: column.money('From the first day of the range to the end of the period.'),
  change: column.nullable.money('Total less that of the period before; null for the first.'),
});

const CollectionTrendTotals = rowType('CollectionTrendTotals', 'The whole range.', {
  receipts: column.whole('Number of receipts.'),
  students: column.whole('Number of students who paid.'),
  total: column.money('Totals of the receipts, fines included.'),
  average: column.nullable.money('The average of a period.'),
});

/**
 * The amounts collected by day, week or month, from receipts that count. Every period of the range has a row;
 * the totals equal those of the daily collection for the same days.
 *
 * @see reports "Beyond the document"
 */
export const collectionTrend = defineReport({
  name: 'collection-trend',
  title: 'Collection trend',
  description:
    'The collection by day, week or month, with the change from the period before and the running total.',
  parameters: {
    ...fromAndTo('two years'),
    interval: defaulted(interval, 'The period of a row.', { default: 'day' }),
    asOn,
  },
  reads: ['fee_receipt'],
  roles: ['accountant'],
  row: CollectionPeriod,
  totals: CollectionTrendTotals,
  example: { from: '2026-04-01', to: '2026-09-30', interval: 'month' },
  check({ from, to }) {
    checkRange(['from', from], ['to', to], [731, 'two years']);
  },
  parts: ({ from, to, interval: length, asOn: day }, { domain, timeZone }) => ({
    ctes: sql`
periods as materialized (
  select date_trunc(${length}, d) as period, min(d) as first_day, max(d) as last_day
  from generate_series(${from}::timestamp, ${to}::timestamp, interval '1 day') as d
  group by 1
),
found as materialized (
  select
    id, data->'student'->>'value' as student, date_trunc(${length}, at at time zone ${timeZone}) as period,
    case when jsonb_typeof(data->'total') = 'number' then (data->'total')::numeric end as total,
    case
      when at is null then 'date is not an instant'
      ${FAULTS}
    end as fault
  from (
    select r.id, r.data, instant_of(r.data->>'date') as at
    from records r
    where ${liveRecordsIn(domain, 'fee_receipt')}
      and ${isWithinDays("r.data->'date'", [from, to], timeZone)}
      and r.data->>'date' < ${endOf(day, timeZone)}
      and (r.data->>'status' = 'active' or r.data->>'rolled_back_on' >= ${endOf(day, timeZone)})
    -- Reads the instant once, not at each use.
    offset 0
  ) as receipt
),
sums as materialized (
  select
    p.period, p.first_day, p.last_day, count(f.id) as receipts, count(distinct f.student) as students,
      coalesce(sum(f.total), 0) as total
  from periods p
  left join found f on f.period = p.period and f.fault is null
  group by p.period, p.first_day, p.last_day
)`,
    rows: {
      position: sql`row_number() over (order by period)`,
      key: sql`to_char(first_day, 'YYYY-MM-DD')`,
      columns: {
        start: sql`to_char(first_day, 'YYYY-MM-DD')`,
        end: sql`to_char(last_day, 'YYYY-MM-DD')`,
        cumulative: sql`sum(total) over (order by period)`,
        change: sql`total - lag(total) over (order by period)`,
      },
      from: sql`from sums`,
    },
    totals: {
      columns: {
        students: sql`(select count(distinct student) from found where fault is null)`,
        average: sql`avg(total)`,
      },
      over: sql`from sums`,
    },
    leftOut: [faultsIn('found', 'fee_receipt')],
  }),
});
