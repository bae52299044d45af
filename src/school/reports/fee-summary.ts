import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { summaryType } from './engine/parameter-types.js';
import { required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { endOf, firstDayOf, lastDayOf, monthsOf, startOf } from './engine/school-calendar.js';
import { asOn, inSession } from './shared/common-parameters.js';
import { feeItems, headItems } from './shared/fee-items.js';
import { byFeeHead, feeHeadPlaces } from './shared/record-parts.js';

const SUMS = {
  demand: column.money('Demand before concession.'),
  concession: column.money('Concession in force.'),
  net: column.money('Demand less concession.'),
  collectedFor: column.money('Paid for it, on whatever day, without fines.'),
  collectedIn: column.nullable.money(
    'Totals of the receipts dated in it, for whatever month, fines included. By month only.',
  ),
  fine: column.money('Fines paid with it.'),
  outstanding: column.money('Still owed; credit of another month or head is not set against it.'),
  credit: column.money('Paid beyond the net: net − collectedFor = outstanding − credit.'),
  collectionPercent: column.nullable.percent('collectedFor ÷ net; null if net is 0.'),
  studentsBilled: column.whole('Students with a demand above 0.00.'),
  studentsClear: column.whole('Those of them who owe nothing of it.'),
};

const FeeSummaryTotals = rowType('FeeSummaryTotals', 'The whole session.', SUMS);

const FeeSummaryRow = rowType('FeeSummaryRow', 'A month of the session, or a fee head.', {
  month: column.nullable.month('The month; null by head.'),
  feeHead: column.nullable.text('The fee head; null by month.'),
  ...SUMS,
});

const BY_MONTH = sql`
  select
    month, null as fee_head, student, due as demand, concession, paid, fine, balance as outstanding, credit,
      has_due as is_billed
  from month_items`;

const BY_HEAD = sql`
  select
    null as month, fee_head, student, exact_sum(due) as demand, exact_sum(concession) as concession,
      exact_sum(paid) as paid, exact_sum(fine) as fine,
    exact_sum(greatest(owed, 0)) as outstanding, exact_sum(greatest(-owed, 0)) as credit,
      bool_or(has_due) as is_billed
  from (${headItems({})}
  ) as item
  group by fee_head, student`;

/**
 * The fees of a session by month or by head: demand, payments and balance.
 *
 * All demand of the session that is not cancelled counts, even before it is due; the demand of a student who
 * has left ends with the month of leaving. Balance and credit are computed per student, month and head, as in
 * the defaulters' report: with `includeLeft`, the same months and a day after the last due date, both reports
 * agree.
 *
 * @see reports 3
 */
export const feeSummary = defineReport({
  name: 'fee-summary',
  title: 'Fee summary',
  description: 'Demand, concession, collection and what is open, by month of a session or by fee head.',
  routes: [{ method: 'GET', path: '/feesummary.svc' }],
  parameters: {
    type: required(summaryType, 'The subject of a row.'),
    session: inSession,
    asOn,
  },
  reads: ['fee_concession', 'fee_due', 'fee_head', 'fee_receipt', 'registration'],
  roles: ['accountant'],
  row: FeeSummaryRow,
  totals: FeeSummaryTotals,
  example: { type: 'month', session: '2026-27' },
  parts({ type, session, asOn: day }, { domain, timeZone, today, settings }, shown) {
    const { first, last } = monthsOf(session, settings.sessionFirstMonth);
    // The rows by student are materialized if they are read twice: for the sums, and to count each student
    // once.
    const isReadTwice = ['studentsBilled', 'studentsClear'].some((name) => shown.totals?.has(name));
    return {
      ctes: sql`
${feeItems(
  { domain, timeZone, today },
  { first, last, feeHead: undefined, asOn: day, demand: 'all' },
)},${feeHeadPlaces({ domain })},
-- One row a student and row of the report, so that students are counted once.
students as ${isReadTwice ? sql.empty : sql`not`} materialized (
  ${type === 'month' ? BY_MONTH : BY_HEAD}
),
sums as materialized (
  select
    month, fee_head, sum(demand) as demand, sum(concession) as concession, sum(paid) as paid,
      sum(fine) as fine,
    sum(outstanding) as outstanding, sum(credit) as credit,
    count(*) filter (where is_billed) as billed, count(*) filter (where is_billed
      and outstanding = 0) as clear
  from students
  group by month, fee_head
),
session_months as materialized (
  select
    to_char(m, 'YYYY-MM') as month, row_number() over (order by m) as position,
    -- The first instant of the month, in the format of records; comparing it gives the month of a receipt.
    to_char(m at time zone ${timeZone} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as starts
  from generate_series((${first} || '-01')::timestamp, (${last} || '-01')::timestamp, interval '1 month') as m
),
collected_in as materialized (
  select to_char((${first} || '-01')::date + make_interval(months => place - 1), 'YYYY-MM') as month,
    sum(total) as amount
  from (
    select
      width_bucket(c.at, (select array_agg(starts order by starts) from session_months)) as place, c.total
    from collected_receipts c
    where c.domain = ${domain} and ${type} = 'month'
      and c.at >= ${startOf(firstDayOf(first), timeZone)} and c.at < ${endOf(lastDayOf(last), timeZone)}
      and c.at < ${endOf(day, timeZone)}
      and (c.is_active or c.rolled_back_on >= ${endOf(day, timeZone)})
  ) as receipt
  group by place
),
billed as materialized (
  select count(*) filter (where is_billed) as billed, count(*) filter (where is_billed and not owes) as clear
  from (select bool_or(is_billed) as is_billed, bool_or(outstanding > 0) as owes from students
    group by student) as student
),
names as (
  select month, null as fee_head, position
  from session_months
  where ${type} = 'month'
  union all
  select null, fee_head, row_number() over (order by ${byFeeHead})
  from (
    select jsonb_object_keys((select places from head_places)) as fee_head
    union
    select fee_head from sums
  ) as head
  where ${type} = 'head' and fee_head is not null
)`,
      rows: {
        position: sql`n.position`,
        key: sql`coalesce(n.month, n.fee_head)`,
        of: 's',
        columns: {
          month: sql`n.month`,
          feeHead: sql`n.fee_head`,
          net: sql`s.demand - s.concession`,
          collectedFor: sql`s.paid`,
          collectedIn: sql`case when ${type} = 'month' then round(coalesce(c.amount, 0), 2) end`,
          collectionPercent: sql`round(100 * s.paid / nullif(s.demand - s.concession, 0), 2)`,
          studentsBilled: sql`s.billed`,
          studentsClear: sql`s.clear`,
        },
        from: sql`from names n
left join sums s on coalesce(s.month, s.fee_head) = coalesce(n.month, n.fee_head)
${shown.rows?.has('collectedIn') ? sql`left join collected_in c on c.month = n.month` : sql.empty}`,
      },
      totals: {
        columns: {
          net: sql`sum(demand - concession)`,
          collectedFor: sql`sum(paid)`,
          collectedIn: sql`case when ${type} = 'month'
            then round(coalesce((select sum(amount) from collected_in), 0), 2) end`,
          collectionPercent: sql`round(100 * sum(paid) / nullif(sum(demand - concession), 0), 2)`,
          studentsBilled: sql`(select billed from billed)`,
          studentsClear: sql`(select clear from billed)`,
        },
        over: sql`from sums`,
      },
      leftOut: [sql`select * from fee_faults`],
    };
  },
});
