import { Prisma } from '../generated/prisma/client.js';
import { liveRecordsIn } from '../store/sql/records-of.js';
import * as column from './engine/columns.js';
import { collectionBasis, dayType, paymentChoice } from './engine/parameter-types.js';
import { defaulted, required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { endOf, startOf } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { asOn, checkRange } from './shared/common-parameters.js';
import { byFeeHead, feeHeadPlaces } from './shared/fee-heads.js';

@column.rowType('FeeHeadAmount', 'What was collected of one fee head.')
export class FeeHeadAmount {
  @column.text('The fee head.') readonly feeHead!: string;
  @column.money('Collected, without fines.') readonly amount!: string;
}

@column.rowType('PaymentTypeAmount', 'What was collected by one way of paying.')
export class PaymentTypeAmount {
  @column.text('cash, cheque, card or neft.') readonly paymentType!: string;
  @column.money('Totals of the receipts, fines included.') readonly amount!: string;
}

@column.rowType('CollectorAmount', 'What one member of staff collected.')
class CollectorAmount {
  @column.text('`_id` of the member of staff.', { nullable: true }) readonly collectorId!: string | null;
  @column.text('Name of the member of staff.', { nullable: true }) readonly collector!: string | null;
  @column.whole('How many receipts.') readonly receipts!: number;
  @column.money('Totals of the receipts, fines included.') readonly amount!: string;
}

@column.rowType('DailyFeeCollection', 'What was collected on one day.')
class DailyFeeCollection {
  @column.day('The day.') readonly day!: string;
  @column.whole('How many receipts.') readonly receipts!: number;
  @column.whole('How many receipts were taken back on the day; always 0 by basis RECEIPT.')
  readonly rolledBack!: number;
  @column.text('First receipt number, in natural order: R-9 before R-10.', { nullable: true })
  readonly firstReceiptNo!: string | null;
  @column.text('Last receipt number, in natural order.', { nullable: true }) readonly lastReceiptNo!:
    | string
    | null;
  @column.rows(() => FeeHeadAmount, 'By fee head.', { kind: 'spread', label: 'feeHead', value: 'amount' })
  readonly heads!: readonly FeeHeadAmount[];
  @column.money('Fines.') readonly fine!: string;
  @column.money('Heads and fines together.') readonly total!: string;
  @column.rows(() => PaymentTypeAmount, 'By way of paying.', {
    kind: 'spread',
    label: 'paymentType',
    value: 'amount',
  })
  readonly paymentTypes!: readonly PaymentTypeAmount[];
}

@column.rowType('DailyFeeCollectionTotals', 'All days together.')
class DailyFeeCollectionTotals {
  @column.whole('How many receipts.') readonly receipts!: number;
  @column.whole('How many receipts were taken back.') readonly rolledBack!: number;
  @column.rows(() => FeeHeadAmount, 'By fee head.') readonly heads!: readonly FeeHeadAmount[];
  @column.money('Fines.') readonly fine!: string;
  @column.money('Heads and fines together.') readonly total!: string;
  @column.rows(() => PaymentTypeAmount, 'By way of paying.')
  readonly paymentTypes!: readonly PaymentTypeAmount[];
  @column.rows(() => CollectorAmount, 'By who collected it.')
  readonly collectors!: readonly CollectorAmount[];
  @column.money('Heads and fines less the totals on the receipts. Anything but 0 is a fault in the records.')
  readonly difference!: string;
  @column.texts(
    'Numbers between the first and the last of the range that no receipt has; at most 1,000 of a gap.',
  )
  readonly missingReceiptNumbers!: readonly string[];
  @column.whole('How many numbers are missing.') readonly missingReceiptCount!: number;
}

/**
 * What was collected each day, by fee head and by way of paying. Every day of the range has a row.
 *
 * Basis RECEIPT: receipts that count as on the day of the report, on their own day. Basis DAY_BOOK: every
 * receipt on its own day as it was, and a negative on the day of its rollback, so that a closed day never
 * changes. A receipt with an unusable amount is left out whole.
 *
 * @see reports 2
 */
export const dailyFeeCollection = defineReport({
  name: 'daily-fee-collection',
  field: 'dailyFeeCollection',
  title: 'Daily fee collection by head',
  description:
    'What was collected each day, by fee head, way of paying and collector, with missing receipt numbers.',
  routes: [{ method: 'POST', path: '/getdailyfeecollectionheadwise.svc' }],
  parameters: {
    from: required(dayType, { restName: 'from', description: 'First day.' }),
    to: required(dayType, { restName: 'to', description: 'Last day; at most a year.' }),
    paymentType: required(paymentChoice, {
      restName: 'payment_type',
      description: 'Receipts paid this way.',
    }),
    dateBasis: defaulted(collectionBasis, {
      restName: 'date_basis',
      description: 'Where a rolled-back receipt counts.',
      default: 'RECEIPT',
      value: () => 'RECEIPT',
    }),
    asOn,
  },
  roles: ['accountant'],
  teachers: 'none',
  row: DailyFeeCollection,
  totals: DailyFeeCollectionTotals,
  example: { from: '2026-07-01', to: '2026-07-31', paymentType: 'all' },
  check({ from, to }) {
    checkRange({ name: 'from', value: from }, { name: 'to', value: to }, { days: 366, said: 'a year' });
  },
  parts: ({ from, to, paymentType, dateBasis, asOn: day }, { domain, timeZone }) => ({
    ctes: Prisma.sql`
${feeHeadPlaces({ domain })},
days as materialized (
  -- The first instant of each day, as records write it: which one a receipt is after says its day, and nothing has to be cast.
  select array_agg(to_char(d at time zone ${timeZone} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') order by d) as starts
  from generate_series(${from}::timestamp, ${to}::timestamp, interval '1 day') as d
),
entries as (
  select 1 as sign, r.id, r.data, r.data->>'date' as at
  from records r
  where ${liveRecordsIn(domain, 'fee_receipt')}
    and r.data->'date' >= ${json(startOf(from, timeZone))}::jsonb and r.data->'date' < ${json(endOf(to, timeZone))}::jsonb
    and r.data->>'date' < ${endOf(day, timeZone)}
    and (${dateBasis} = 'DAY_BOOK' or r.data->>'status' = 'active' or r.data->>'rolled_back_on' >= ${endOf(day, timeZone)})
  union all
  select -1, r.id, r.data, r.data->>'rolled_back_on'
  from records r
  where ${liveRecordsIn(domain, 'fee_receipt')} and ${dateBasis} = 'DAY_BOOK'
    and r.data->'rolled_back_on' >= ${json(startOf(from, timeZone))}::jsonb
    and r.data->'rolled_back_on' < ${json(endOf(to, timeZone))}::jsonb
    and r.data->>'rolled_back_on' < ${endOf(day, timeZone)}
    and r.data->>'status' = 'rolled_back'
),
-- Receipts with the same lines, as those of a class and month mostly have, together: each list of lines is read once a day. In a series
-- the digits, all as long, come before the number.
groups as materialized (
  select
    place, sign, lines, has_total, payment_type, collector_id, series, max(collector) as collector, count(*) as count,
    sum(sign * total) as amount, array_agg(id) as ids,
    min(digits || receipt_no) filter (where sign = 1) as first, max(digits || receipt_no) filter (where sign = 1) as last
  from (
    select
      width_bucket(at, (select starts from days)) as place, sign, id, data->'lines' as lines, receipt_no, series,
      jsonb_typeof(data->'total') is not distinct from 'number' as has_total,
      case when jsonb_typeof(data->'total') = 'number' then (data->'total')::numeric end as total,
      coalesce(data->>'payment_type', 'unknown') as payment_type,
      data->'collected_by'->>'value' as collector_id, data->'collected_by'->>'label' as collector,
      lpad(substr(receipt_no, length(series) + 1), 30, '0') as digits
    from (
      select entries.*, data->>'receipt_no' as receipt_no, rtrim(data->>'receipt_no', '0123456789') as series
      from entries
      where ${paymentType} = 'all' or data->>'payment_type' = ${paymentType}
      -- So that each is computed once, and not wherever it is named.
      offset 0
    ) as entry
    offset 0
  ) as receipt
  group by place, sign, lines, has_total, payment_type, collector_id, series
),
-- A receipt counts whole or not at all.
checked as materialized (
  select
    groups.*,
    case
      when jsonb_typeof(lines) is distinct from 'array' then 'lines is not a list'
      when not has_total then 'total is not a number'
      when lines @? '$[*] ? (!exists(@.amount) || @.amount.type() != "number" || (exists(@.fine) && @.fine.type() != "number" && @.fine.type() != "null"))'
        then 'amount of a line is not a number'
    end as fault
  from groups
),
lines as materialized (
  select
    g.place, coalesce(line->>'fee_head', 'unknown') as fee_head,
    sum(g.sign * g.count * (line->'amount')::numeric) as amount,
    coalesce(sum(g.sign * g.count * case when jsonb_typeof(line->'fine') = 'number' then (line->'fine')::numeric end), 0) as fine
  from checked g
  cross join lateral jsonb_array_elements(g.lines) as line
  where g.fault is null
  group by 1, 2
),
by_day as (
  select
    place, sum(count) filter (where sign = 1) as receipts, sum(count) filter (where sign = -1) as rolled_back,
    min(array[series, left(first, 30), substr(first, 31)]) filter (where sign = 1) as first,
    max(array[series, left(last, 30), substr(last, 31)]) filter (where sign = 1) as last
  from checked
  where fault is null
  group by place
),
by_type as materialized (
  select place, payment_type, sum(amount) as amount from checked where fault is null group by place, payment_type
),
heads as materialized (
  select fee_head, row_number() over (order by ${byFeeHead}) as position from (select distinct fee_head from lines) as l
),
payment_types as materialized (
  select payment_type, min(position) as position
  from (
    select payment_type, position from unnest(array['cash', 'cheque', 'card', 'neft']) with ordinality as known(payment_type, position)
    where ${paymentType} in ('all', payment_type)
    union all
    select payment_type, 99 from by_type
  ) as any_type
  group by payment_type
),
numbered as (
  select rtrim(receipt_no, '0123456789') as series, receipt_no
  from (
    select r.data->>'receipt_no' as receipt_no
    from records r
    where ${liveRecordsIn(domain, 'fee_receipt')}
      and r.data->'date' >= ${json(startOf(from, timeZone))}::jsonb and r.data->'date' < ${json(endOf(to, timeZone))}::jsonb
    offset 0
  ) as receipt
  -- So that each is computed once, and not wherever it is named.
  offset 0
),
gaps as (
  select series, width, number, next_number
  from (
    select series, number, width, lead(number) over (partition by series order by number) as next_number
    from (
      select series, substr(receipt_no, length(series) + 1)::bigint as number, length(receipt_no) - length(series) as width
      from numbered
      where length(receipt_no) - length(series) between 1 and 18
    ) as number
  ) as neighbours
  where next_number > number + 1
),
missing as materialized (
  select g.series, n.number, candidate.receipt_no
  from gaps g
  cross join lateral generate_series(g.number + 1, least(g.next_number - 1, g.number + 1000)) as n(number)
  cross join lateral (select g.series || lpad(n.number::text, greatest(g.width, length(n.number::text)), '0') as receipt_no) as candidate
  where not exists (
    select from records r
    where ${liveRecordsIn(domain, 'fee_receipt')}
      and r.data->'receipt_no' = to_jsonb(candidate.receipt_no)
  )
)`,
    rows: {
      position: Prisma.sql`row_number() over (order by d.day)`,
      key: Prisma.sql`d.day`,
      columns: {
        day: Prisma.sql`d.day`,
        receipts: Prisma.sql`coalesce(b.receipts, 0)`,
        rolledBack: Prisma.sql`coalesce(b.rolled_back, 0)`,
        firstReceiptNo: Prisma.sql`b.first[3]`,
        lastReceiptNo: Prisma.sql`b.last[3]`,
        heads: Prisma.sql`(
          select coalesce(json_agg(json_build_object('feeHead', h.fee_head, 'amount',
            round(coalesce(l.amount, 0), 2)) order by h.position), '[]')
          from heads h left join lines l on l.fee_head = h.fee_head and l.place = d.place
        )`,
        fine: Prisma.sql`round(coalesce((select sum(l.fine) from lines l where l.place = d.place), 0), 2)`,
        total: Prisma.sql`round(coalesce((select sum(l.amount + l.fine) from lines l
          where l.place = d.place), 0), 2)`,
        paymentTypes: Prisma.sql`(
          select json_agg(json_build_object('paymentType', p.payment_type, 'amount',
            round(coalesce(r.amount, 0), 2)) order by p.position, p.payment_type)
          from payment_types p
          left join by_type r on r.place = d.place and r.payment_type = p.payment_type
        )`,
      },
      from: Prisma.sql`from (
  select to_char(day, 'YYYY-MM-DD') as day, place
  from generate_series(${from}::timestamp, ${to}::timestamp, interval '1 day') with ordinality as d(day, place)
) as d
left join by_day b on b.place = d.place`,
    },
    totals: {
      columns: {
        receipts: Prisma.sql`(select coalesce(sum(receipts), 0) from by_day)`,
        rolledBack: Prisma.sql`(select coalesce(sum(rolled_back), 0) from by_day)`,
        heads: Prisma.sql`(
          select coalesce(json_agg(json_build_object('feeHead', h.fee_head, 'amount', round(l.amount, 2))
            order by h.position), '[]')
          from heads h join (select fee_head, sum(amount) as amount from lines
            group by fee_head) as l on l.fee_head = h.fee_head
        )`,
        fine: Prisma.sql`(select round(coalesce(sum(fine), 0), 2) from lines)`,
        total: Prisma.sql`(select round(coalesce(sum(amount + fine), 0), 2) from lines)`,
        paymentTypes: Prisma.sql`(
          select json_agg(json_build_object('paymentType', p.payment_type, 'amount',
            round(coalesce(r.amount, 0), 2)) order by p.position, p.payment_type)
          from payment_types p
          left join (select payment_type, sum(amount) as amount from by_type
            group by payment_type) as r on r.payment_type = p.payment_type
        )`,
        collectors: Prisma.sql`(
          select coalesce(json_agg(json_build_object(
            'collectorId', collector_id, 'collector', collector, 'receipts', receipts, 'amount',
              round(amount, 2)
          ) order by collector, collector_id), '[]')
          from (
            select collector_id, max(collector) as collector,
              coalesce(sum(count) filter (where sign = 1), 0) as receipts, sum(amount) as amount
            from checked where fault is null group by collector_id
          ) as by_collector
        )`,
        difference: Prisma.sql`round(
        coalesce((select sum(amount + fine) from lines), 0) - coalesce((select sum(amount) from by_type),
          0), 2)`,
        missingReceiptNumbers: Prisma.sql`(select coalesce(json_agg(receipt_no order by series, number),
          '[]') from missing)`,
        missingReceiptCount: Prisma.sql`(select count(*) from missing)`,
      },
    },
    leftOut: Prisma.sql`select distinct 'fee_receipt' as collection, fault as reason, id
from checked
cross join lateral unnest(ids) as id
where fault is not null`,
  }),
});
