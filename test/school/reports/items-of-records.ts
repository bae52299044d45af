/**
 * The items of the fee reports as a person would compute them from the records themselves, document by
 * document: the reading that the table `fee_months` saves, kept to compare with. Ends in `items`: student,
 * month, fee_head, due, concession, paid, fine, owed, due_date, has_due (whether something above 0 was asked
 * for); and `fee_faults`.
 */

import { endOf } from '../../../src/school/reports/engine/school-calendar.js';
import { json } from '../../../src/school/reports/engine/statement.js';
import type { FeeRange } from '../../../src/school/reports/shared/fee-items.js';
import { type Sql, sql } from '../../../src/store/sql.js';

export function itemsOfRecords(
  { domain, timeZone }: { readonly domain: string; readonly timeZone: string },
  range: FeeRange,
): Sql {
  const { first, last, asOn, demand, feeHead = null } = range;
  const end = endOf(asOn, timeZone);
  return sql`
-- The last month of demand of those who have left.
last_months as materialized (
  select jsonb_object_agg(r.id, left(r.data->>'left_on', 7)) as by_student
  from records r
  where r.domain = ${domain} and r.collection = 'registration' and r.deleted_at is null
    and r.data->'left_on' > '""' and r.data->'left_on' < ${json(asOn)}::jsonb
),
dues as not materialized (
  select
    r.id, r.data->'student'->>'value' as student, r.data->'student'->'value' as student_json,
      r.data->'session' as session,
    r.data->>'month' as month, r.data->>'fee_head' as fee_head, r.data->>'due_date' as due_date,
    case when jsonb_typeof(r.data->'amount') = 'number' then (r.data->'amount')::numeric end as amount
  from records r
  where r.domain = ${domain} and r.collection = 'fee_due' and r.deleted_at is null
    and r.data->'month' >= ${json(first)}::jsonb and r.data->'month' <= ${json(last)}::jsonb
    and (${feeHead}::text is null or r.data->'fee_head' = ${json(feeHead)}::jsonb)
    and (${demand} = 'all' or r.data->>'due_date' <= ${asOn})
    and coalesce(r.data->>'cancelled_on', '9999') > ${asOn}
    and coalesce(r.data->>'month' <= (select by_student from last_months)->>(r.data->'student'->>'value'),
      true)
),
payments as not materialized (
  select
    r.id, r.data->'student'->>'value' as student, r.data->'student'->'value' as student_json,
    line->>'month' as month, line->>'fee_head' as fee_head,
    case when jsonb_typeof(line->'amount') = 'number' then (line->'amount')::numeric end as amount,
    case when jsonb_typeof(line->'fine') = 'number' then (line->'fine')::numeric end as fine
  from records r
  cross join lateral jsonb_array_elements(case
    when jsonb_typeof(r.data->'lines') = 'array' then r.data->'lines' else '[]' end) as line
  where r.domain = ${domain} and r.collection = 'fee_receipt' and r.deleted_at is null
    and r.data->>'date' < ${end}
    and (r.data->>'status' = 'active' or r.data->>'rolled_back_on' >= ${end})
    and line->>'month' between ${first} and ${last}
    and (${feeHead}::text is null or line->>'fee_head' = ${feeHead}::text)
),
granted as materialized (
  select
    r.id, r.data->'name'->'value' as student, r.data->'session' as session, nullif(r.data->>'fee_head',
      '') as fee_head,
    r.data->>'from_month' as from_month, r.data->>'to_month' as to_month, r.data->>'kind' as kind,
    case when jsonb_typeof(r.data->'value') = 'number' then (r.data->'value')::numeric end as value
  from records r
  where r.domain = ${domain} and r.collection = 'fee_concession' and r.deleted_at is null
    and r.data->>'created_on' < ${end}
    and coalesce(r.data->>'revoked_on', '9999') > ${asOn}
    and r.data->>'from_month' <= ${last} and r.data->>'to_month' >= ${first}
),
concessions as (
  select
    d.student, d.month, d.fee_head,
    round(least(
      d.amount,
      coalesce(sum(g.value) filter (where g.kind = 'amount'), 0)
        + coalesce(sum(g.value) filter (where g.kind = 'percent'), 0) * d.amount / 100
    ), 2) as amount
  from granted g
  join dues d
    on d.student_json = g.student and d.session = g.session and d.month between g.from_month and g.to_month
    and (g.fee_head is null or d.fee_head = g.fee_head)
  where d.amount > 0
  group by d.id, d.student, d.month, d.fee_head, d.amount
),
items as materialized (
  select
    student, month, fee_head,
    coalesce(due, 0) as due, coalesce(concession, 0) as concession, coalesce(paid, 0) as paid,
      coalesce(fine, 0) as fine,
    coalesce(due, 0) - coalesce(concession, 0) - coalesce(paid, 0) as owed, due_date, has_due
  from (
    select
      student, month, fee_head, exact_sum(due) as due, exact_sum(concession) as concession,
        exact_sum(paid) as paid, exact_sum(fine) as fine,
      min(due_date) as due_date, coalesce(sum(due), 0) > 0 as has_due
    from (
      select student, month, fee_head, amount as due, null::numeric as concession, null::numeric as paid,
        null::numeric as fine, due_date
      from dues
      union all
      select student, month, fee_head, null, amount, null, null, null from concessions
      union all
      select student, month, fee_head, null, null, amount, fine, null from payments
    ) as entry
    group by student, month, fee_head
  ) as item
),
fee_faults as (
  select 'fee_due' as collection, d.id, 'amount is not a number' as reason
  from dues d
  where d.amount is null
  union
  select 'fee_due', r.id, 'month is not YYYY-MM'
  from records r
  where r.domain = ${domain} and r.collection = 'fee_due' and r.deleted_at is null
    and (r.data->'month' is null or r.data->'month' < '"1900-01"' or r.data->'month' > '"2199-12"')
  union
  select 'fee_receipt', p.id, 'amount of a line is not a number'
  from payments p
  where p.amount is null
  union
  select 'fee_concession', g.id, 'value is not a number' from granted g where g.value is null
)`;
}
