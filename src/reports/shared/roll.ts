/**
 * Who is on the roll of the school on a day: one rule for every report.
 *
 * A student is on the roll from `admitted_on` to `left_on`, both days included. Without a `left_on`, a
 * student whose status is withdrawn or transferred is on the roll until yesterday: the day of leaving is
 * unknown, but it was before today. Any other status, known or not, does not end a stay. A student whose
 * `admitted_on` or `left_on` is not a valid day is never on the roll, and is reported in the warnings
 * (`unusableRoll`).
 *
 * Every fragment refers to the registrations `r` of the surrounding statement.
 *
 * @see reports "Terms used by all" (on the roll)
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Sql } from '../../generated/prisma/internal/prismaNamespace.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';
import type { Day, Session } from '../engine/parameter-types.js';
import { daysAfter, firstDayOf, monthsOf } from '../engine/school-calendar.js';
import type { SchoolSettings } from '../engine/school-settings.js';

/** What the rule needs beside the records. */
export interface RollContext {
  readonly today: Day;
}

/** The first day on the roll, as text; null if it is invalid. */
const firstRollDay: Sql = Prisma.sql`substring(r.data->>'admitted_on' from '^[0-9]{4}-[0-9]{2}-[0-9]{2}$')`;

/**
 * The last day on the roll, as text: far in the future for a student who has not left, null if `left_on` is
 * invalid.
 */
function lastRollDay({ today }: RollContext): Sql {
  return Prisma.sql`case
      when coalesce(r.data->>'left_on', '') <> '' then substring(r.data->>'left_on'
        from '^[0-9]{4}-[0-9]{2}-[0-9]{2}$')
      when r.data->>'status' in ('withdrawn', 'transferred') then ${daysAfter(today, -1)}
      else '9999-12-31'
    end`;
}

/**
 * Two columns, `admitted_on` and `left_on`: the first and the last day on the roll, each null if it is
 * invalid.
 */
export function rollDays(context: RollContext): Sql {
  return Prisma.sql`${firstRollDay} as admitted_on, ${lastRollDay(context)} as left_on`;
}

/** Whether somebody with the columns of `rollDays` is on the roll on a day; null if unknown. */
export function isOnRoll(day: Day): Sql {
  return Prisma.sql`(admitted_on <= ${day} and left_on >= ${day})`;
}

/**
 * The registrations, in a CTE `students(student, admitted_on, left_on)`, that are never on the roll: rows for
 * the warnings.
 */
export const unusableRoll: Sql = Prisma.sql`
  select 'registration' as collection, student as id, 'admitted_on or left_on is not a day' as reason
  from students
  where admitted_on is null or left_on is null`;

/**
 * The last month of demand of students who have left by a day, as one JSON object by student: a CTE named
 * `last_months(by_student)`. Null if nobody has left. `student` is an expression for the `_id` of a single
 * student; default: all.
 */
export function lastMonths(
  { domain, today }: RollContext & { readonly domain: string },
  asOn: Day,
  student?: Sql,
): Sql {
  const ofStudent = student
    ? Prisma.sql`
      and r.id = ${student}`
    : Prisma.empty;
  return Prisma.sql`
last_months as materialized (
  select jsonb_object_agg(student, left(left_on, 7)) as by_student
  from (
    select r.id as student, ${lastRollDay({ today })} as left_on
    from records r
    where ${liveRecordsIn(domain, 'registration')}
      and (r.data->'left_on' < ${JSON.stringify(asOn)}::jsonb
        or r.data->'status' in ('"withdrawn"', '"transferred"'))${ofStudent}
  ) as gone
  where left_on < ${asOn}
)`;
}

/** The day for the strength of a session: today, or the first day of a future session. */
export function dayOfStrength(
  session: Session,
  { today, settings }: RollContext & { readonly settings: SchoolSettings },
): Day {
  const start = firstDayOf(monthsOf(session, settings.sessionFirstMonth).first);
  return start > today ? start : today;
}
