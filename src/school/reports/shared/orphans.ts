/** Records of students who do not exist: rows of `left_out`, so that no report drops them in silence. */

import { liveRecordsById, liveRecordsIn } from '../../../store/sql/records-of.js';
import { nameLiteral, type Sql, sql } from '../../../store/sql.js';
import type { Month } from '../engine/parameter-types.js';

interface MonthRange {
  readonly domain: string;
  readonly first: Month;
  readonly last: Month;
}

/** The dues and receipts of the months. */
export function orphanFees(range: MonthRange): Sql {
  return sql`
  select entry.collection, entry.id, ${REASON}
  from (${strayStudents('fee_months', range)}) as s
  join fee_months f on f.domain = ${range.domain} and f.student = s.student
    and f.month between ${range.first} and ${range.last}
  cross join lateral (
    select 'fee_due' as collection, id from jsonb_object_keys(f.dues) as id
    union all
    select 'fee_receipt', id from jsonb_object_keys(f.payments) as id
  ) as entry`;
}

/** The marks of the months; `where` selects among the records `r`. */
export function orphanMarks(range: MonthRange, where: Sql): Sql {
  return sql`
  select 'attendance', r.id, ${REASON}
  from (${strayStudents('attendance_months', range)}) as s
  join records r on ${liveRecordsIn(range.domain, 'attendance')}
    and r.data->'student'->'value' = to_jsonb(s.student)
    and left(right(r.keys->>'student_day', 12), 7) between ${range.first} and ${range.last}
  where ${where}`;
}

/** Whether nobody has the `_id`: neither a registration, nor a person who was erased. */
export function isNobody(domain: string, student: Sql): Sql {
  return sql`not exists (
      select from records r where ${liveRecordsById(domain, 'registration', sql`= ${student}`)}
    ) and not exists (
      select from erasures e where e.domain = ${domain} and e.pseudonym = ${student}
    )`;
}

const REASON = nameLiteral('its student does not exist');

function strayStudents(table: 'fee_months' | 'attendance_months', { domain, first, last }: MonthRange): Sql {
  return sql`
    select student
    from (
      select distinct m.student from ${sql.raw(table)} m
      where m.domain = ${domain} and m.month between ${first} and ${last}
      offset 0
    ) as one
    where ${isNobody(domain, sql`one.student`)}`;
}
