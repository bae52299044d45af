/**
 * The source of all fee reports: CTEs of demand, concession and payment, up to
 *
 *   month_items  student, month, due, concession, paid, fine, balance, credit, balance_from, has_due: one row
 *                per student and month. Balance and credit are the sums over its heads of open amounts
 *                (due − concession − paid above 0) and of overpaid ones (below 0); `balance_from` is the
 *                first due date of an open head; `has_due`: there was a demand above 0.00.
 *   fee_faults   collection, id, reason: the records left out
 *
 * and, by `headItems`, one row per student, month and fee head.
 *
 * - A due counts unless it is cancelled and, with demand `due`, once its due date has come. The demand of
 *   a student who has left (roll.ts) ends with the month of leaving.
 * - The concession of a due is its fixed amounts and its percents of the base together, at most the due,
 *   rounded half up to the paisa.
 * - A receipt counts by its day unless it was rolled back by then.
 *
 * Dues and receipts are read from the table `fee_months`, which every write keeps in step with the records. A
 * month without an entry after the day is read from its columns (`settled_months`), less the concessions of
 * the student, head by head (`conceded`). Any other month is computed from its entries (`open_months`,
 * `open_items`).
 *
 * @see reports "Terms used by all", prisma/migrations/0005_fee_months
 */

import { liveRecordsIn } from '../../../store/sql/records-of.js';
import { type Sql, sql } from '../../../store/sql.js';
import type { Day, Month } from '../engine/parameter-types.js';
import type { ReportContext } from '../engine/report-context.js';
import { endOf } from '../engine/school-calendar.js';
import { orphanFees } from './orphans.js';
import { isDemanded, monthsAway } from './roll.js';

export interface FeeRange {
  readonly first: Month;
  readonly last: Month;
  readonly feeHead: string | null | undefined;
  readonly asOn: Day;
  /** The demand that counts: `due` by the day, or `all`. */
  readonly demand: 'due' | 'all';
  /** Only this student: an expression for the text of the `_id`. */
  readonly student?: Sql;
  /** Leaves out students who owe nothing: they have no open month, and none to compute from entries. */
  readonly owingOnly?: boolean;
}

export function feeItems(
  { domain, timeZone, today }: Pick<ReportContext, 'domain' | 'timeZone' | 'today'>,
  range: FeeRange,
): Sql {
  const { first, last, asOn, demand, feeHead = null, student } = range;
  // A month has no balance by head, so no student is known to owe nothing of one head.
  const owingOnly = range.owingOnly === true && feeHead === null;
  const ofOwing = owingOnly ? sql` and student in (select student from owing)` : sql.empty;
  const end = endOf(asOn, timeZone);
  // Months with only future dues and payments have no items.
  const stillToCome = sql`not is_quiet and not (is_regular and ${demand} = 'due'
      and coalesce(due_from > ${asOn}, true) and coalesce(paid_from >= ${end}, true))`;
  const demanded = isDemanded(sql`f.month`, sql`f.student`);
  const openMonths =
    feeHead === null ? openOfChosen({ domain, stillToCome, owingOnly }) : openOfAll(stillToCome);
  const ofStudent = student ? sql`and f.student = ${student}` : sql.empty;
  return sql`
${monthsAway({ domain, today }, asOn, student)},
${grantedConcessions({ ...range, domain, end })},
months as not materialized (
  select
    f.*,
    ${demanded} as is_demanded,
    -- The planner expects half of the rows from a CASE. With the plain conditions it would expect none, and
    -- join by loops.
    case
      when ${feeHead}::text is null and f.is_regular and coalesce(f.paid_to < ${end}, true)
        and coalesce(f.cancelled_to <= ${asOn}, true)
        and (${demand} = 'all' or coalesce(f.due_to <= ${asOn}, true))
        and ${demanded}
      then true else false
    end as is_quiet,
    case when f.student in (select student from granted where student is not null) then true else false end
      as is_conceded
  from fee_months f
  where f.domain = ${domain} and f.month between ${first} and ${last} ${ofStudent}
),
${openMonths},${owingOnly ? OWING : sql.empty}
settled_months as not materialized (
  select * from months where is_quiet and not is_conceded and (due is not null or paid is not null)
),
conceded_months as materialized (
  select m.student, m.month, m.due, m.paid, m.fine, m.balance, m.credit, m.balance_from, m.heads, m.dues
  from (select distinct student from granted where student is not null${ofOwing}) as g
  -- Reads the months of each student by the key.
  cross join lateral (select * from months where student = g.student offset 0) as m
  where m.is_quiet and (m.due is not null or m.paid is not null)
),
dues as materialized (
  select
    m.student, m.month, entry.id, entry.due->>0 as fee_head, (entry.due->>1)::numeric as amount,
      entry.due->>2 as due_date, entry.due->4 as session
  from open_months m
  cross join lateral jsonb_each(m.dues) as entry(id, due)
  where m.is_demanded
    and (${demand} = 'all' or entry.due->>2 <= ${asOn}) and coalesce(entry.due->>3, '9999') > ${asOn}
    and (${feeHead}::text is null or entry.due->>0 = ${feeHead}::text)
),
payments as materialized (
  select m.student, m.month, entry.id, line->>0 as fee_head, (line->>1)::numeric as amount,
    (line->>2)::numeric as fine
  from open_months m
  cross join lateral jsonb_each(m.payments) as entry(id, payment)
  cross join lateral jsonb_array_elements(entry.payment->3) as line
  where entry.payment->>0 < ${end} and (entry.payment->1 = 'true' or entry.payment->>2 >= ${end})
    and (${feeHead}::text is null or line->>0 = ${feeHead}::text)
),
concessions as (
  select
    d.is_open, d.student, d.month, d.fee_head, d.head,
    ${concessionOfDue} as amount
  from (
    select true as is_open, d.*, null::jsonb as head, g.kind, g.value
    from granted g
    join dues d
      on d.student = g.student and d.session = g.session and d.month between g.from_month and g.to_month
      and (g.fee_head is null or d.fee_head = g.fee_head)
    union all
    select
      false, m.student, m.month, entry.id, entry.due->>0, (entry.due->>1)::numeric, null, null,
      m.heads->(entry.due->>0), g.kind, g.value
    from granted g
    join conceded_months m on m.student = g.student and m.month between g.from_month and g.to_month
    cross join lateral jsonb_each(m.dues) as entry(id, due)
    where (g.fee_head is null or entry.due->>0 = g.fee_head) and entry.due->4 = g.session
      and entry.due->>3 is null
  ) as d
  where d.amount > 0
  group by d.is_open, d.id, d.student, d.month, d.fee_head, d.amount, d.head
),
-- Adds the change by a concession to the columns of its month. For a join, the planner would expect few rows
-- of both, and scan all rows of one for each row of the other.
conceded as materialized (
  select
    student, month, coalesce(sum(due), 0) as due, coalesce(sum(concession), 0) as concession,
    coalesce(sum(paid), 0) as paid, coalesce(sum(fine), 0) as fine, sum(balance) as balance,
    sum(credit) as credit, min(balance_from) as balance_from, bool_or(settles) as settles,
    (array_agg(heads) filter (where heads is not null))[1] as heads,
    coalesce(jsonb_object_agg(fee_head, concession) filter (where fee_head is not null), '{}') as concessions
  from (
    select
      student, month, due, null::numeric as concession, paid, fine, balance, credit, balance_from,
      false as settles, heads, null as fee_head
    from conceded_months
    union all
    select
      student, month, null, amount, null, null, greatest(owed - amount, 0) - greatest(owed, 0),
      greatest(amount - owed, 0) - greatest(-owed, 0), null, owed > 0 and owed <= amount, null, fee_head
    from (
      select
        student, month, fee_head, sum(amount) as amount,
        min(coalesce((head->>0)::numeric, 0) - coalesce((head->>1)::numeric, 0)) as owed
      from concessions
      where not is_open
      group by student, month, fee_head
    ) as head
  ) as change
  group by student, month
),
open_items as materialized (
  select
    student, month, fee_head, coalesce(due, 0) as due, coalesce(concession, 0) as concession,
      coalesce(paid, 0) as paid, coalesce(fine, 0) as fine,
    coalesce(due, 0) - coalesce(concession, 0) - coalesce(paid, 0) as owed, due_date,
      coalesce(due, 0) > 0 as has_due
  from (
    select
      student, month, fee_head, exact_sum(due) as due, exact_sum(concession) as concession,
        exact_sum(paid) as paid, exact_sum(fine) as fine,
      min(due_date) as due_date
    from (
      select student, month, fee_head, amount as due, null::numeric as concession, null::numeric as paid,
        null::numeric as fine, due_date
      from dues
      union all
      select student, month, fee_head, null, amount, null, null, null from concessions where is_open
      union all
      select student, month, fee_head, null, null, amount, fine, null from payments
    ) as entry
    group by student, month, fee_head
  ) as item
),
month_items as (
  select
    student, month, coalesce(due, 0) as due, 0 as concession, coalesce(paid, 0) as paid,
      coalesce(fine, 0) as fine, balance, credit, balance_from,
    coalesce(due, 0) > 0 as has_due
  from settled_months
  where true${ofOwing}
  union all
  select
    student, month, due, concession, paid, fine, balance, credit,
    -- The first open head may no longer be open.
    case when settles then (
      select min(head.state->>3)
      from jsonb_each(heads) as head(fee_head, state)
      where coalesce((head.state->>0)::numeric, 0) - coalesce((head.state->>1)::numeric, 0)
        > coalesce((concessions->>head.fee_head)::numeric, 0)
    ) else balance_from end,
    due > 0
  from conceded
  union all
  select
    student, month, sum(due), sum(concession), sum(paid), sum(fine),
    coalesce(sum(owed) filter (where owed > 0), 0), coalesce(-sum(owed) filter (where owed < 0), 0),
      min(due_date) filter (where owed > 0),
    bool_or(has_due)
  from open_items
  group by student, month
),
fee_faults as (
  select 'fee_due' as collection, id, 'amount is not a number' as reason from dues where amount is null
  union
  select 'fee_due', r.id, 'month is not YYYY-MM'
  from records r
  where ${liveRecordsIn(domain, 'fee_due')}
    and (r.data->'month' is null or r.data->'month' < '"1900-01"' or r.data->'month' > '"2199-12"')
  union
  select 'fee_receipt', id, 'amount of a line is not a number' from payments where amount is null
  union
  select 'fee_concession', id, 'value is not a number' from granted where value is null${
    student
      ? sql.empty
      : sql`
  union${orphanFees({ domain, first, last })}`
  }
)`;
}

/** The concessions in force on a day, for months of a range: a CTE `granted`. */
export function grantedConcessions(of: {
  readonly domain: string;
  readonly first: Month;
  readonly last: Month;
  readonly asOn: Day;
  /** The first instant after that day. */
  readonly end: string;
  readonly student?: Sql;
}): Sql {
  const { domain, first, last, asOn, end, student } = of;
  const toStudent = student ? sql`and r.data->'name'->'value' = to_jsonb(${student})` : sql.empty;
  return sql`granted as materialized (
  select
    r.id, r.data->'name'->>'value' as student, r.data->'session' as session, nullif(r.data->>'fee_head',
      '') as fee_head,
    r.data->>'from_month' as from_month, r.data->>'to_month' as to_month, r.data->>'kind' as kind,
    to_number(r.data->'value') as value
  from records r
  where ${liveRecordsIn(domain, 'fee_concession')}
    ${toStudent}
    and r.data->>'created_on' < ${end}
    and coalesce(r.data->>'revoked_on', '9999') > ${asOn}
    and r.data->>'from_month' <= ${last} and r.data->>'to_month' >= ${first}
)`;
}

/** The concession of a due of `d.amount`, over the `d.kind` and `d.value` of those granted to it. */
export const concessionOfDue = sql`round(least(
      d.amount,
      coalesce(sum(d.value) filter (where d.kind = 'amount'), 0)
        + coalesce(sum(d.value) filter (where d.kind = 'percent'), 0) * d.amount / 100
    ), 2)`;

/**
 * Chooses the months by the index of the key, which contains all of a month except its entries and heads.
 * Entries are read only for months with one after the day.
 */
function openOfChosen({
  domain,
  stillToCome,
  owingOnly,
}: {
  readonly domain: string;
  readonly stillToCome: Sql;
  readonly owingOnly: boolean;
}): Sql {
  return sql`
chosen_months as materialized (
  select student, month, is_demanded, is_quiet
  from months
  where ${owingOnly ? sql`balance > 0 and is_quiet or ` : sql.empty}${stillToCome}
),
open_months as materialized (
  select m.student, m.month, m.is_demanded, entries.dues, entries.payments
  from chosen_months m
  cross join lateral (
    select f.dues, f.payments
    from fee_months f
    where f.domain = ${domain} and f.student = m.student and f.month = m.month
    offset 0
  ) as entries
  where not m.is_quiet
)`;
}

/** Every month is read from its entries here, so a look-up of each in the index would be slower. */
function openOfAll(stillToCome: Sql): Sql {
  return sql`
open_months as materialized (
  select student, month, is_demanded, dues, payments from months where ${stillToCome}
)`;
}

/** Every concession lowers the balance, except one with a negative value. */
const OWING = sql`
owing as materialized (
  select student from chosen_months
  union
  select student from granted where value < 0
),`;

export interface HeadSelection {
  /** The condition on the months `f` without an entry after the day. Default all. */
  readonly months?: Sql;
  /** The condition on the rows of `open_items`, with the names of its columns. Default all. */
  readonly openItems?: Sql;
}

/**
 * Must follow `feeItems`. Selects one row per student, month and head: student, month, fee_head, due,
 * concession, paid, fine, owed, due_date, has_due.
 */
export function headItems(selection: HeadSelection): Sql {
  return sql`${settledItems(selection.months ?? ALL)}
  union all${entryItems(selection)}`;
}

const ALL = sql`true`;

/** The rows of `headItems` from the columns of months; those of one student are read by the key. */
export function settledItems(months: Sql): Sql {
  return itemsOfHeads(sql`select *, null::jsonb as concessions from settled_months f where ${months}`);
}

/** The rows of `headItems` with a concession or a later entry, computed for all students at once. */
export function entryItems({ months = ALL, openItems = ALL }: HeadSelection): Sql {
  return sql`${itemsOfHeads(sql`select * from conceded f where ${months}`)}
  union all
  select student, month, nullif(fee_head, ''), due, concession, paid, fine, owed, due_date, has_due
  from open_items
  where ${openItems}`;
}

function itemsOfHeads(months: Sql): Sql {
  return sql`
  select
    student, month, nullif(fee_head, '') as fee_head, due, concession, paid, fine,
      due - concession - paid as owed, due_date, due > 0 as has_due
  from (
    select
      m.student, m.month, head.fee_head, coalesce((head.state->>0)::numeric, 0) as due,
      coalesce((m.concessions->>head.fee_head)::numeric, 0) as concession,
      coalesce((head.state->>1)::numeric, 0) as paid, coalesce((head.state->>2)::numeric, 0) as fine,
        head.state->>3 as due_date
    -- Chooses months first, and computes each value once.
    from (${months} offset 0) as m
    cross join lateral jsonb_each(m.heads) as head(fee_head, state)
    offset 0
  ) as item`;
}
