import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { collectionBasis, dayType, paymentChoice } from './engine/parameter-types.js';
import { defaulted, required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { faultsIn, groupsOf, jsonListOf } from './engine/report-parts.js';
import { endOf, startOf } from './engine/school-calendar.js';
import { asksFor } from './engine/shown-parts.js';
import { asOn, checkRange } from './shared/common-parameters.js';
import { byFeeHead, feeHeadPlaces, linesOfNothing } from './shared/record-parts.js';

export const FeeHeadAmount = rowType('FeeHeadAmount', 'The collection for one fee head.', {
  feeHead: column.text('The fee head.'),
  amount: column.money('Collected, without fines.'),
});

export const PaymentTypeAmount = rowType('PaymentTypeAmount', 'The collection by one payment type.', {
  paymentType: column.text('cash, cheque, card or neft.'),
  amount: column.money('Totals of the receipts, fines included.'),
});

const CollectorAmount = rowType('CollectorAmount', 'The collection of one member of staff.', {
  collectorId: column.nullable.text('`_id` of the member of staff.'),
  collector: column.nullable.text('Name of the member of staff.'),
  receipts: column.whole('Number of receipts.'),
  amount: column.money('Totals of the receipts, fines included.'),
});

const DailyFeeCollection = rowType('DailyFeeCollection', 'The collection of one day.', {
  day: column.day('The day.'),
  receipts: column.whole('Number of receipts.'),
  rolledBack: column.whole('Number of receipts rolled back on the day; always 0 with basis RECEIPT.'),
  firstReceiptNo: column.nullable.text('First receipt number, in natural order: R-9 before R-10.'),
  lastReceiptNo: column.nullable.text('Last receipt number, in natural order.'),
  heads: column.rows(FeeHeadAmount, 'By fee head.', { label: 'feeHead', value: 'amount' }),
  fine: column.money('Fines.'),
  total: column.money('Heads and fines together.'),
  paymentTypes: column.rows(PaymentTypeAmount, 'By payment type.', {
    label: 'paymentType',
    value: 'amount',
  }),
});

const DailyFeeCollectionTotals = rowType('DailyFeeCollectionTotals', 'All days together.', {
  receipts: column.whole('Number of receipts.'),
  rolledBack: column.whole('Number of receipts rolled back.'),
  heads: column.rows(FeeHeadAmount, 'By fee head.'),
  fine: column.money('Fines.'),
  total: column.money('Heads and fines together.'),
  paymentTypes: column.rows(PaymentTypeAmount, 'By payment type.'),
  collectors: column.rows(CollectorAmount, 'By who collected it.'),
  difference: column.money(
    'Heads and fines less the totals on the receipts. Anything but 0 is a fault in the records.',
  ),
  missingReceiptNumbers: column.texts(
    'Numbers between the first and the last of the range that no receipt has; at most 1,000 of a gap.',
  ),
  missingReceiptCount: column.whole('Number of missing numbers.'),
});

/** The format of stored instants, because instants are compared as texts. */
const INSTANT = sql`'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/** A column that was not requested. */
const NOT_SHOWN = sql`null::text`;

/**
 * The amounts collected each day, by fee head and payment type. Every day of the range has a row.
 *
 * Basis RECEIPT: receipts that count as on the day of the report, on their own day. Basis DAY_BOOK: every
 * receipt on its own day, and a negative amount on the day of its rollback, so that a closed day never
 * changes. A receipt with an unusable amount is left out as a whole.
 *
 * Receipts are read from the table `collected_receipts`, which every write keeps consistent with the records.
 *
 * @see reports 2, prisma/migrations/0020_collected_receipts
 */
export const dailyFeeCollection = defineReport({
  name: 'daily-fee-collection',
  title: 'Daily fee collection by head',
  description:
    'The collection of each day, by fee head, payment type and collector, with missing receipt numbers.',
  routes: [{ method: 'POST', path: '/getdailyfeecollectionheadwise.svc' }],
  parameters: {
    from: required(dayType, 'First day.'),
    to: required(dayType, 'Last day; at most a year.'),
    paymentType: required(paymentChoice, 'Receipts paid this way.'),
    dateBasis: defaulted(collectionBasis, 'Where a rolled-back receipt counts.', { default: 'RECEIPT' }),
    asOn,
  },
  reads: ['fee_head', 'fee_receipt'],
  roles: ['accountant'],
  planning: 'once',
  row: DailyFeeCollection,
  totals: DailyFeeCollectionTotals,
  example: { from: '2026-07-01', to: '2026-07-31', paymentType: 'all' },
  check({ from, to }) {
    checkRange(['from', from], ['to', to], [366, 'a year']);
  },
  parts({ from, to, paymentType, dateBasis, asOn: day }, { domain, timeZone }, shown) {
    const byCollector = asksFor(shown, 'collectors');
    const byPaymentType = asksFor(shown, 'paymentTypes', 'difference');
    const withNumbers = asksFor(shown, 'firstReceiptNo', 'lastReceiptNo');
    const isDayBook = dateBasis === 'DAY_BOOK';
    const countsStill = sql`and (c.is_active or c.rolled_back_on >= ${endOf(day, timeZone)})`;
    const paidThisWay = paymentType === 'all' ? sql.empty : sql`and c.payment_type = ${paymentType}`;
    const takenBack = sql`union all
  select d.place, -1, c.*
  from days d
  join collected_receipts c
    on c.domain = ${domain} and c.rolled_back_on >= d.start and c.rolled_back_on < d.next_start
  where c.is_rolled_back and c.rolled_back_on < ${endOf(day, timeZone)}
    ${paidThisWay}`;
    return {
      ctes: sql`
${feeHeadPlaces({ domain })},
days as materialized (
  select
    place, to_char(d, 'YYYY-MM-DD') as day,
    to_char(d at time zone ${timeZone} at time zone 'UTC', ${INSTANT}) as start,
    to_char((d + interval '1 day') at time zone ${timeZone} at time zone 'UTC', ${INSTANT}) as next_start
  from generate_series(${from}::timestamp, ${to}::timestamp, interval '1 day') with ordinality as d(d, place)
),
-- Joined day by day through the index, because computing the day of each receipt would take a fifth longer.
entries as not materialized (
  select d.place, 1 as sign, c.*
  from days d
  join collected_receipts c on c.domain = ${domain} and c.at >= d.start and c.at < d.next_start
  where c.at < ${endOf(day, timeZone)}
    ${isDayBook ? sql.empty : countsStill}
    ${paidThisWay}
  ${isDayBook ? takenBack : sql.empty}
),
-- Groups receipts with the same lines, which most receipts of a class and month have; also by collector,
-- payment type and series of numbers, if these are requested.
groups as materialized (
  select
    place, sign, lines, payment_type, collector_id, series, max(collector) as collector, count(*) as count,
    sum(sign * total) as amount,
    min(ordered_no) filter (where sign = 1) as first, max(ordered_no) filter (where sign = 1) as last
  from (
    select
      place, sign, lines,
      ${byPaymentType ? sql`payment_type` : NOT_SHOWN} as payment_type,
      ${byCollector ? sql`collector_id` : NOT_SHOWN} as collector_id,
      ${byCollector ? sql`collector` : NOT_SHOWN} as collector,
      ${byCollector || byPaymentType ? sql`total` : sql`null::numeric`} as total,
      ${withNumbers ? sql`series` : NOT_SHOWN} as series,
      ${withNumbers ? sql`ordered_no` : NOT_SHOWN} as ordered_no
    from entries
    where fault is null
  ) as receipt
  group by place, sign, lines, payment_type, collector_id, series
),
lists as materialized (
  select place, lines, sum(sign * count) as count from groups group by place, lines
),
-- Many days have the same lists, so each list is read once.
read_lists as materialized (
  select
    distinct_lists.lines, line->>0 as fee_head, (line->1)::numeric as amount, (line->2)::numeric as fine
  from (select distinct lines from lists) as distinct_lists
  cross join lateral jsonb_array_elements(distinct_lists.lines::jsonb) as line
),
lines as materialized (
  select l.place, r.fee_head, sum(l.count * r.amount) as amount, sum(l.count * r.fine) as fine
  from lists l join read_lists r on r.lines = l.lines
  group by 1, 2${linesOfNothing(shown)}
),
sums_of_day as (
  select place, sum(fine) as fine, sum(amount + fine) as total from lines group by place
),
by_day as (
  select
    place, sum(count) filter (where sign = 1) as receipts, sum(count) filter (where sign = -1) as rolled_back,
    min(array[series, left(first, 30), substr(first, 31)]) filter (where sign = 1) as first,
    max(array[series, left(last, 30), substr(last, 31)]) filter (where sign = 1) as last
  from groups
  group by place
),
by_type as materialized (
  select place, payment_type, sum(amount) as amount from groups group by place, payment_type
),
heads as materialized (
  select fee_head, row_number() over (order by ${byFeeHead}) as position
  from (select distinct fee_head from lines) as l
),
payment_types as materialized (
  select payment_type, min(position) as position
  from (
    select payment_type, position
    from unnest(array['cash', 'cheque', 'card', 'neft']) with ordinality as known(payment_type, position)
    where ${paymentType} in ('all', payment_type)
    union all
    select payment_type, 99 from by_type
  ) as any_type
  group by payment_type
),
heads_of_day as (
  select
    d.place,
    ${jsonListOf(FeeHeadAmount, sql`h.position`, { of: 'h', columns: { amount: sql`l.amount` } })} as heads
  from days d
  cross join heads h
  left join lines l on l.place = d.place and l.fee_head = h.fee_head
  group by d.place
),
payment_types_of_day as (
  select
    d.place,
    ${jsonListOf(PaymentTypeAmount, sql`p.position, p.payment_type`, {
      of: 'p',
      columns: { amount: sql`r.amount` },
    })} as payment_types
  from days d
  cross join payment_types p
  left join by_type r on r.place = d.place and r.payment_type = p.payment_type
  group by d.place
),
ends as (
  select c.series, min(c.number) as first, max(c.number) as last
  from collected_receipts c
  where c.domain = ${domain} and c.at >= ${startOf(from, timeZone)} and c.at < ${endOf(to, timeZone)}
    and c.number is not null
  group by c.series
),
missing as materialized (
  select g.series, n.number,
    g.series || lpad(n.number::text, greatest(w.width, length(n.number::text)), '0') as receipt_no
  from (
    select e.series, c.*
    from ends e
    cross join lateral (
      select c.number, lead(c.number) over (order by c.number) as next_number
      from collected_receipts c
      where c.domain = ${domain} and c.series = e.series and c.number between e.first and e.last
    ) as c
  ) as g
  cross join lateral (
    select length(c.receipt_no) - length(c.series) as width
    from collected_receipts c
    where c.domain = ${domain} and c.series = g.series and c.number = g.number
    limit 1
  ) as w
  cross join lateral generate_series(g.number + 1, least(g.next_number - 1, g.number + 1000)) as n(number)
  where g.next_number > g.number + 1
)`,
      rows: {
        position: sql`row_number() over (order by d.day)`,
        key: sql`d.day`,
        of: 'b',
        columns: {
          day: sql`d.day`,
          firstReceiptNo: sql`b.first[3]`,
          lastReceiptNo: sql`b.last[3]`,
          heads: sql`h.heads`,
          fine: sql`s.fine`,
          total: sql`s.total`,
          paymentTypes: sql`p.payment_types`,
        },
        // PostgreSQL omits joins of which no column is shown.
        from: sql`from days d
left join by_day b on b.place = d.place
left join sums_of_day s on s.place = d.place
left join heads_of_day h on h.place = d.place
left join payment_types_of_day p on p.place = d.place`,
      },
      totals: {
        columns: {
          receipts: sql`(select coalesce(sum(receipts), 0) from by_day)`,
          rolledBack: sql`(select coalesce(sum(rolled_back), 0) from by_day)`,
          heads: groupsOf(FeeHeadAmount, {
            ...{ from: 'heads join lines using (fee_head)', by: ['position', 'fee_head'] },
          }),
          fine: sql`(select round(coalesce(sum(fine), 0), 2) from lines)`,
          total: sql`(select round(coalesce(sum(amount + fine), 0), 2) from lines)`,
          paymentTypes: groupsOf(PaymentTypeAmount, {
            from: 'payment_types left join by_type using (payment_type)',
            by: ['position', 'payment_type'],
          }),
          collectors: groupsOf(
            CollectorAmount,
            { from: 'groups', by: ['collector_id'], order: sql`collector, collector_id` },
            { collector: sql`max(collector)`, receipts: sql`sum(count) filter (where sign = 1)` },
          ),
          difference: sql`round(
        coalesce((select sum(amount + fine) from lines), 0) - coalesce((select sum(amount) from by_type),
          0), 2)`,
          missingReceiptNumbers: sql`(select coalesce(json_agg(receipt_no order by series, number),
          '[]') from missing)`,
          missingReceiptCount: sql`(select count(*) from missing)`,
        },
      },
      leftOut: [faultsIn('entries', 'fee_receipt')],
    };
  },
});
