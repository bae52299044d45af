/** What a student owes at the moment, due by due: what a payment is allocated to. */
import { Prisma } from '../../generated/prisma/client.js';
import type { Queryable } from '../../store/database/database.js';
import type { Domain } from '../../store/scope.js';
import { endOf } from '../calendar.js';
import type { Day } from '../parameter-types.js';

/** A fee head of a month with a demand. Amounts are exact texts. */
export interface StudentDue {
  readonly month: string;
  readonly feeHead: string;
  readonly dueDate: string;
  /** Demand less concession less what was paid; 0.00 where nothing is open. */
  readonly open: string;
}

/** The dues of a student, the oldest due date first, as on today: concessions in force, receipts that count. @see reports.md "Terms used by all" */
export function listStudentDues(
  queryable: Queryable,
  { domain, studentId, today }: { readonly domain: Domain; readonly studentId: string; readonly today: Day },
): Promise<StudentDue[]> {
  return queryable.query<StudentDue>(Prisma.sql`
with dues as materialized (
  select
    r.id, r.data->>'session' as session, r.data->>'month' as month, r.data->>'fee_head' as fee_head, r.data->>'due_date' as due_date,
    (r.data->'amount')::numeric as amount
  from records r
  where r.domain = ${domain.id} and r.collection = 'fee_due' and r.deleted_at is null
    and r.data->'student'->'value' = to_jsonb(${studentId}::text)
    and jsonb_typeof(r.data->'amount') = 'number'
    and coalesce(r.data->>'cancelled_on', '9999') > ${today}
),
nets as (
  select
    d.month, d.fee_head, d.due_date,
    d.amount - coalesce(round(least(
      d.amount,
      coalesce(sum((c.data->'value')::numeric) filter (where c.data->>'kind' = 'amount'), 0)
        + coalesce(sum((c.data->'value')::numeric) filter (where c.data->>'kind' = 'percent'), 0) * d.amount / 100
    ), 2), 0) as net
  from dues d
  left join records c
    on c.domain = ${domain.id} and c.collection = 'fee_concession' and c.deleted_at is null
    and c.data->'name'->'value' = to_jsonb(${studentId}::text) and jsonb_typeof(c.data->'value') = 'number'
    and c.data->>'session' = d.session and d.month between c.data->>'from_month' and c.data->>'to_month'
    and coalesce(nullif(c.data->>'fee_head', ''), d.fee_head) = d.fee_head
    and c.data->>'created_on' < ${endOf(today, domain.timeZone)} and coalesce(c.data->>'revoked_on', '9999') > ${today}
  group by d.id, d.month, d.fee_head, d.due_date, d.amount
),
paid as (
  select line->>'month' as month, line->>'fee_head' as fee_head, sum((line->'amount')::numeric) as amount
  from records r
  cross join lateral jsonb_array_elements(case when jsonb_typeof(r.data->'lines') = 'array' then r.data->'lines' else '[]' end) as line
  where r.domain = ${domain.id} and r.collection = 'fee_receipt' and r.deleted_at is null
    and r.data->'student'->'value' = to_jsonb(${studentId}::text)
    and r.data->>'status' = 'active' and jsonb_typeof(line->'amount') = 'number'
  group by 1, 2
)
select
  n.month, n.fee_head as "feeHead", min(n.due_date) as "dueDate",
  round(greatest(sum(n.net) - coalesce(max(p.amount), 0), 0), 2)::text as open
from nets n
left join paid p on p.month = n.month and p.fee_head = n.fee_head
group by n.month, n.fee_head
order by min(n.due_date), n.month, n.fee_head`);
}
