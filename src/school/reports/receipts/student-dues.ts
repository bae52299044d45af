/** The current dues of a student, to which a payment is allocated. */

import type { Domain } from '../../../base/model/scope.js';
import type { Queryable } from '../../../store/database/queryable.js';
import { sql } from '../../../store/sql.js';
import { type Day, EVERY_MONTH } from '../engine/parameter-types.js';
import { feeItems, headItems } from '../shared/fee-items.js';
import { byFeeHead, feeHeadPlaces } from '../shared/record-parts.js';

/** A fee head of a month with a demand. Amounts are exact texts. */
export interface StudentDue {
  readonly month: string;
  readonly feeHead: string;
  readonly dueDate: string;
  readonly amount: string;
  readonly concession: string;
  readonly paid: string;
  /** Demand less concession less payments; 0.00 if nothing is open. */
  readonly open: string;
}

/**
 * The dues of a student, including future months: the oldest due date first, then by month and in the order
 * of the fee heads. They are computed as in the fee reports of today, so a student who has left owes nothing
 * after the month of leaving.
 *
 * @see reports "Terms used by all", 1
 */
export function listStudentDues(
  queryable: Queryable,
  { domain, studentId, today }: { readonly domain: Domain; readonly studentId: string; readonly today: Day },
): Promise<StudentDue[]> {
  const context = { domain: domain.id, timeZone: domain.timeZone, today };
  const student = sql`${studentId}::text`;
  const items = feeItems(context, {
    ...EVERY_MONTH,
    feeHead: undefined,
    asOn: today,
    demand: 'all',
    student,
  });
  return queryable.query<StudentDue>(sql`
with ${items},${feeHeadPlaces(context)},
items as (${headItems({})}
)
select month, fee_head as "feeHead", due_date as "dueDate", round(due, 2)::text as amount,
  round(concession, 2)::text as concession, round(paid, 2)::text as paid,
  round(greatest(owed, 0), 2)::text as open
from items
where due_date is not null and fee_head is not null
order by due_date, month, ${byFeeHead}`);
}
