/**
 * Tells who is on the roll of the school on a day: one rule for every report, whatever it counts.
 *
 * A student is on the roll from `admitted_on` to `left_on`, both days included. Without a `left_on`, a
 * student whose status says withdrawn or transferred is on the roll until yesterday: when the student left is
 * not known, only that it was before today. Any other status, known or not, does not end a stay. A student
 * with an `admitted_on` or a `left_on` that is no day is on the roll on no day, and belongs into the warnings
 * (`unusableRoll`).
 *
 * Every fragment is about the registrations `r` of the statement it is laid into.
 *
 * @see reports "Terms used by all" (on the roll)
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Sql } from '../../generated/prisma/internal/prismaNamespace.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';
import type { Day, Session } from '../engine/parameter-types.js';
import { daysAfter, firstDayOf, monthsOf } from '../engine/school-calendar.js';
import type { SchoolSettings } from '../engine/school-settings.js';

/** What the rule needs to know beside the records. */
export interface RollContext {
  readonly today: Day;
}

/** The first day on the roll, as text; null where it is no day. */
const firstRollDay: Sql = Prisma.sql`substring(r.data->>'admitted_on' from '^[0-9]{4}-[0-9]{2}-[0-9]{2}$')`;

/**
 * The last day on the roll, as text: far ahead for a student who has not left, null where `left_on` is no
 * day.
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
 * Two columns, `admitted_on` and `left_on`: the first and the last day on the roll. Either is null where it
 * is no day.
 */
export function rollDays(context: RollContext): Sql {
  return Prisma.sql`${firstRollDay} as admitted_on, ${lastRollDay(context)} as left_on`;
}

/**
 * Whether somebody with the columns of `rollDays` is on the roll on a day; null where that cannot be told.
 */
export function isOnRoll(day: Day): Sql {
  return Prisma.sql`(admitted_on <= ${day} and left_on >= ${day})`;
}

/**
 * The registrations, of a CTE `students(student, admitted_on, left_on)`, that are on the roll on no day: rows
 * to go to the warnings.
 */
export const unusableRoll: Sql = Prisma.sql`
  select 'registration' as collection, student as id, 'admitted_on or left_on is not a day' as reason
  from students
  where admitted_on is null or left_on is null`;

/**
 * The last month of demand of those who have left by a day, as one JSON object by student: a CTE named
 * `last_months(by_student)`. Null where nobody has left. `student` is an expression of the `_id` of the one
 * student asked about; default: everybody.
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

/** The day on which the strength of a session is counted: today, or the first day of a session to come. */
export function dayOfStrength(
  session: Session,
  { today, settings }: RollContext & { readonly settings: SchoolSettings },
): Day {
  const start = firstDayOf(monthsOf(session, settings.sessionFirstMonth).first);
  return start > today ? start : today;
}
