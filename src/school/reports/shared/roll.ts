/**
 * Selects the students on the roll on a day, and their classes: one rule for every report.
 *
 * A student has a present stay and, in `earlier_stays`, those before it. The present stay lasts from
 * `admitted_on` to `left_on`, an earlier one from its `from` to its `to`, all days included. Without a
 * `left_on`, a student whose status is withdrawn or transferred is on the roll until yesterday: the day of
 * leaving is unknown, but it was before today. Any other status, known or not, does not end a stay. A student
 * whose `admitted_on` or `left_on` is not a valid day is never on the roll, and is reported in the warnings
 * (`unusableRoll`).
 *
 * Class and section of a day are those of the earlier stay that contains it, or else of the registration. In
 * a session to which a student is not promoted yet, the student counts in the last class, with a warning
 * (`unpromoted`).
 *
 * Every fragment refers to the registrations `r` of the surrounding statement.
 *
 * @see reports "Terms used by all" (on the roll)
 */

import { liveRecordsById, liveRecordsIn } from '../../../store/sql/records-of.js';
import { type Sql, sql } from '../../../store/sql.js';
import type { Day, Session } from '../engine/parameter-types.js';
import { daysAfter, firstDayOf, lastDayOf, monthsOf } from '../engine/school-calendar.js';
import type { SchoolSettings } from '../engine/school-settings.js';

/** The values the rule needs beside the records. */
export interface RollContext {
  readonly today: Day;
}

/** The first day of the present stay, as text; null if it is invalid. */
const firstRollDay: Sql = sql`substring(r.data->>'admitted_on' from '^[0-9]{4}-[0-9]{2}-[0-9]{2}$')`;

/** Whether the student has left by status, without a stored day of leaving. */
const leftUnknown: Sql = sql`(coalesce(r.data->>'left_on', '') = ''
      and r.data->>'status' in ('withdrawn', 'transferred')) is true`;

/**
 * The last day of the present stay, as text: far in the future for a student who has not left, null if
 * `left_on` is invalid.
 */
function lastRollDay({ today }: RollContext): Sql {
  return sql`case
      when ${leftUnknown} then ${daysAfter(today, -1)}
      when coalesce(r.data->>'left_on', '') = '' then '9999-12-31'
      else substring(r.data->>'left_on' from '^[0-9]{4}-[0-9]{2}-[0-9]{2}$')
    end`;
}

/** The list of earlier stays; null for a student without. */
const earlierStays: Sql = sql`case when jsonb_typeof(r.data->'earlier_stays') = 'array'
      then r.data->'earlier_stays' end`;

/**
 * The columns of `isOnRoll`: `admitted_on` and `left_on`, the first and the last day of the present stay,
 * each null if it is invalid; `left_unknown`; and `earlier_stays`.
 */
export function rollDays(context: RollContext): Sql {
  return sql`${firstRollDay} as admitted_on, ${lastRollDay(context)} as left_on,
    ${leftUnknown} as left_unknown, ${earlierStays} as earlier_stays`;
}

/**
 * Whether somebody with the columns of `rollDays` is on the roll on a day; null if unknown. `of` is the name
 * of the relation with these columns.
 */
export function isOnRoll(day: Day | Sql, of?: string): Sql {
  const own = of === undefined ? sql.empty : sql.raw(`${of}.`);
  return sql`(${own}admitted_on <= ${day} and ${own}left_on >= ${day}
      or ${own}admitted_on is not null and ${own}left_on is not null and ${own}earlier_stays is not null
      and exists (
        select from jsonb_array_elements(${own}earlier_stays) as stay where ${contains(day)}
      ))`;
}

/** Whether an earlier stay contains a day. A text that is not a day is after every day. */
function contains(day: Day | Sql): Sql {
  return sql`stay->>'from' <= ${day} and stay->>'to' between ${day} and '9999-12-31'`;
}

/**
 * The stay of a day, an object with class, section, roll_no and session: the earlier stay that contains it,
 * or else the registration. With a session, a student who is on the roll neither on the day nor by the
 * registration in that session has the last stay in it.
 */
export function stayOn(day: Day, session?: Session): Sql {
  const ofSession = session
    ? sql`
      case when r.data->>'session' is distinct from ${session} then (
        select stay from jsonb_array_elements(r.data->'earlier_stays') as stay
        where stay->>'session' = ${session} order by stay->>'from' desc limit 1
      ) end,`
    : sql.empty;
  return sql`case when jsonb_typeof(r.data->'earlier_stays') = 'array' then coalesce(
      (
        select stay from jsonb_array_elements(r.data->'earlier_stays') as stay
        where ${contains(day)} order by stay->>'from' desc limit 1
      ),${ofSession}
      r.data
    ) else r.data end`;
}

/**
 * The students of a session, each with the class and section of a day in it: rows of a CTE `students`, also
 * those who have left and those who are not promoted to the session yet (`isInSession`).
 */
export function studentsOfSession(
  session: Session,
  day: Day,
  context: RollContext & { readonly domain: string },
): Sql {
  return sql`
  select r.id as student, coalesce(stay.data->>'class', '') as class,
    coalesce(stay.data->>'section', '') as section, stay.data->>'session' as session,
    r.data->>'gender' as gender, ${rollDays(context)}
  from records r
  cross join lateral (select ${stayOn(day, session)} as data offset 0) as stay
  where ${liveRecordsIn(context.domain, 'registration')}
    and (stay.data->>'session' = ${session}
      or stay.data->>'session' < ${session} and coalesce(nullif(r.data->>'left_on', ''), '9999') >= ${day})`;
}

/**
 * Whether one of `studentsOfSession` is in the session on a day, promoted or not. A session to come has the
 * students who are registered in it.
 */
export function isInSession(session: Session, day: Day, context: RollContext): Sql {
  return sql`(${isOnRoll(day)} and (session = ${session} or ${isUnpromoted(session, day, context)}))`;
}

/** Whether a student on the roll on a day is not promoted to its session yet. */
function isUnpromoted(session: Session, day: Day, { today }: RollContext): Sql {
  if (day > today) return sql`false`;
  return sql`(session >= '1900-01' and session < ${session} and not left_unknown)`;
}

/**
 * The students, in a CTE `students` with `session` beside the columns of `rollDays`, who are on the roll on a
 * day and not promoted to its session yet: rows for the warnings.
 */
export function unpromoted(session: Session, day: Day, context: RollContext): Sql {
  return sql`
  select 'registration' as collection, student as id,
    'not promoted to ' || ${session} || ' yet: counted in the class of ' || session as reason
  from students
  where ${isUnpromoted(session, day, context)} and ${isOnRoll(day)}`;
}

/**
 * The registrations, in a CTE `students(student, admitted_on, left_on)`, that are never on the roll: rows for
 * the warnings.
 */
export const unusableRoll: Sql = sql`
  select 'registration' as collection, student as id, 'admitted_on or left_on is not a day' as reason
  from students
  where admitted_on is null or left_on is null`;

/**
 * The months in which students are away, because they have left by a day: a CTE named `away(by_student)`, one
 * JSON object by student with a list of `{"after", "before"}`. `before` is the month of the next stay that
 * has begun by the day, or `9999`. Null if nobody has left. `student` is an expression for the `_id` of one
 * student; default: all.
 */
export function monthsAway(
  { domain, today }: RollContext & { readonly domain: string },
  asOn: Day,
  student?: Sql,
): Sql {
  const isAsked = student
    ? liveRecordsById(domain, 'registration', sql`= ${student}`)
    : liveRecordsIn(domain, 'registration');
  const hasReturned = sql`(r.data ? 'earlier_stays'
        and jsonb_path_exists(r.data, '$.earlier_stays[*] ? (@.to < $.admitted_on)'))`;
  return sql`
away as materialized (
  select jsonb_object_agg(student, months) as by_student
  from (
    select student, jsonb_agg(jsonb_build_object('after', left(last_day, 7), 'before', before)) as months
    from (
      select r.id as student, ${lastRollDay({ today })} as last_day, '9999' as before
      from records r
      where ${isAsked}
        and (r.data->'left_on' < ${JSON.stringify(asOn)}::jsonb
          or r.data->'status' in ('"withdrawn"', '"transferred"'))
        and not ${hasReturned}
      union all
      select student, to_char(upper(stay) - 1, 'YYYY-MM-DD'),
        coalesce(to_char(lead(lower(stay)) over (partition by student order by stay), 'YYYY-MM'), '9999')
      from (
        select r.id as student,
          unnest(range_agg(daterange(day_of(first_day), day_of(last_day), '[]'))) as stay
        from records r
        cross join lateral (
          select ${firstRollDay}, least(${lastRollDay({ today })}, '2999-12-31')
          union all
          select stay->>'from', stay->>'to' from jsonb_array_elements(${earlierStays}) as stay
        ) as stay(first_day, last_day)
        where ${isAsked} and ${hasReturned}
          and first_day <= ${asOn} and day_of(first_day) <= day_of(last_day)
        group by r.id
      ) as merged
    ) as ended
    where last_day < ${asOn}
    group by student
  ) as gone
)`;
}

/** Stands after `monthsAway`: whether a due of a month counts, because the student is not away in it. */
export function isDemanded(month: Sql, student: Sql): Sql {
  return sql`case when (select by_student from away) ? ${student} then not jsonb_path_exists(
      (select by_student from away)->${student}, '$[*] ? (@.after < $month && @.before > $month)',
      jsonb_build_object('month', ${month})
    ) else true end`;
}

/** The day for the strength of a session: today, or the day of the session that is nearest to it. */
export function dayOfStrength(
  session: Session,
  { today, settings }: RollContext & { readonly settings: SchoolSettings },
): Day {
  const { first, last } = monthsOf(session, settings.sessionFirstMonth);
  if (today < firstDayOf(first)) return firstDayOf(first);
  return today > lastDayOf(last) ? lastDayOf(last) : today;
}
