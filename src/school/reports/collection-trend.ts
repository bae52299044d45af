import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { interval } from './engine/parameter-types.js';
import { defaulted } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { faultsIn } from './engine/report-parts.js';
import { endOf } from './engine/school-calendar.js';
import { asOn, checkRange, fromAndTo } from './shared/common-parameters.js';
import { isWithinDays } from './shared/record-parts.js';

const CollectionPeriod = rowType('CollectionPeriod', 'What was collected in one day, week or month.', {
  start: column.day('First day of the period within the range.'),
  end: column.day('Last day of the period within the range.'),
  receipts: column.whole('How many receipts.'),
  students: column.whole('How many students paid.'),
  total: column.money('Totals of the receipts, fines included.'),
  cumulative: column.money('From the first day of the range to the end of the period.'),
  change: column.nullable.money('Total less that of the period before; null for the first.'),
});

const CollectionTrendTotals = rowType('CollectionTrendTotals', 'The whole range.', {
  receipts: column.whole('How many receipts.'),
  students: column.whole('How many students paid.'),
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
    'What was collected by day, week or month, with the change from the period before and the running total.',
  parameters: {
    ...fromAndTo('two years'),
    interval: defaulted(interval, {
      restName: 'interval',
      description: 'How long a row is.',
      default: 'day',
      value: () => 'day',
    }),
    asOn,
  },
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
      when jsonb_typeof(data->'lines') is distinct from 'array' then 'lines is not a list'
      when jsonb_typeof(data->'total') is distinct from 'number' then 'total is not a number'
      when data @? '$.lines[*] ? (
          !exists(@.amount) || @.amount.type() != "number"
          || (exists(@.fine) && @.fine.type() != "number" && @.fine.type() != "null")
        )'
        then 'amount of a line is not a number'
    end as fault
  from (
    select r.id, r.data, instant_of(r.data->>'date') as at
    from records r
    where ${liveRecordsIn(domain, 'fee_receipt')}
      and ${isWithinDays("r.data->'date'", [from, to], timeZone)}
      and r.data->>'date' < ${endOf(day, timeZone)}
      and (r.data->>'status' = 'active' or r.data->>'rolled_back_on' >= ${endOf(day, timeZone)})
    -- So that the instant is read once, and not wherever it is named.
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
