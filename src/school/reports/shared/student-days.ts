/**
 * Computes the days of each student for all reports on attendance. These CTEs must follow one named
 * `students(student, class, section, session_year, admitted_on, left_on, …)` with the requested students and
 * the place of their registration (`registeredStudents` prints its columns).
 *
 *   registered_places  the places of the registration and of earlier stays, by session
 *   marks          one row per student, month and place, from the session of the first day on: the days of
 *                  each status, as bits
 *   days           class, day, bit, month, session_year, is_working, is_shown (of the range), place (in the
 *                  shown days of the month)
 *   class_months   class, month, is_shown, session_year, first_day, last_day, days and working (bits),
 *                  day_count
 *   counted_marks  a row per mark of `marks` and month of its class: `counted`, the bits of working days with
 *                  the student on roll
 *   stays          one row per student and session with marks: the place, and whether it changed
 *   places         the places of each student with their first days, one row per class and section
 *   shown_months   the class_months within the range
 *   register       one row per student, place and shown month on roll: letters of its days, P A L H V,
 *                  `*` no school, `?` unmarked, `–` not on roll or elsewhere, and the number of each
 *
 * A student is on roll as roll.ts defines, in the class and section of the last mark on or before the day in
 * that session; before the first mark in that of the first; without any, in that of the stay in that session,
 * or of the registration of a student not promoted to it yet.
 *
 * Marks come from `attendance_months`, which every write keeps in step with the records. A month of days is
 * 31 bits, so that combining marks, working days and days on roll takes a few operations per student and
 * month.
 *
 * @see reports 9, "Terms used by all", prisma/migrations/0013_attendance_months
 */

import { liveRecordsIn } from '../../../store/sql/records-of.js';
import { type Sql, sql } from '../../../store/sql.js';
import { column } from '../engine/columns.js';
import type { Day, Session } from '../engine/parameter-types.js';
import type { ReportContext } from '../engine/report-context.js';
import { daysAfter, firstDayOf, monthOfDay, monthsOf, sessionOf } from '../engine/school-calendar.js';
import { rollNumber } from './record-parts.js';
import { isOnRoll, type RollContext, rollDays, unpromoted, unusableRoll } from './roll.js';
import { type DayRange, schoolDays, unusableHolidays } from './school-days.js';

/** The first day of the session that contains a day. */
export function sessionStart(day: Day, { settings }: Pick<ReportContext, 'settings'>): Day {
  return firstDayOf(monthsOf(sessionOf(day, settings.sessionFirstMonth), settings.sessionFirstMonth).first);
}

/**
 * The columns of `students`, from the registrations `r`. Invalid days are null, and such a student is never
 * on the roll.
 */
export function registeredStudents(context: RollContext): Sql {
  return sql`
    r.id as student, r.data->>'sequence' as admission_no, r.data->>'name' as name,${rollNumber} as roll_no,
    r.data->>'class' as class, r.data->>'section' as section, r.data->>'session' as session,
    case when r.data->>'session' ~ '^[0-9]{4}-' then left(r.data->>'session', 4)::int end as session_year,
    ${rollDays(context)}`;
}

/**
 * The CTE `students` with those registered in a class or section in the sessions of the range, and those
 * marked in it from the day before to the day after but registered elsewhere by now. The latter are few, so
 * they are filtered out before their registrations are read.
 */
export function studentsOfClass(
  { className, section }: { readonly className: string; readonly section: string | null },
  { first, last }: DayRange,
  context: ReportContext,
): Sql {
  const { domain, settings, today } = context;
  const [before, after] = [daysAfter(first, -1), daysAfter(last < today ? last : today, 1)];
  const firstSession = sessionOf(first, settings.sessionFirstMonth);
  const lastSession = sessionOf(last, settings.sessionFirstMonth);
  const inEarlierStay = (session: Session) => {
    const stay = { class: className, ...(section === null ? {} : { section }), session };
    return sql`r.data @> ${JSON.stringify({ earlier_stays: [stay] })}::jsonb`;
  };
  return sql`
registered as materialized (
  select ${registeredStudents(context)}
  from records r
  where ${liveRecordsIn(domain, 'registration')}
    and r.data->'class' = to_jsonb(${className}::text)
    and (${section}::text is null or r.data->>'section' = ${section}::text)
    and (r.data->>'session' in (${firstSession}, ${lastSession})
      -- Those not promoted to the last of them yet.
      or r.data->>'session' < ${lastSession}
      and coalesce(nullif(r.data->>'left_on', ''), '9999') >= ${first})
),
were_registered as materialized (
  select ${registeredStudents(context)}
  from records r
  where ${liveRecordsIn(domain, 'registration')}
    and (${inEarlierStay(firstSession)} or ${inEarlierStay(lastSession)})
    and r.id not in (select student from registered)
),
students as materialized (
  select * from registered
  union all
  select * from were_registered
  union all
  select ${registeredStudents(context)}
  from records r
  where ${liveRecordsIn(domain, 'registration')}
    and r.id in (
      select m.student
      from attendance_months m
      where m.domain = ${domain} and m.class = ${className}
        and (${section}::text is null or m.section = ${section}::text)
        and m.month between ${monthOfDay(before)} and ${monthOfDay(after)}
        and (m.present | m.absent | m.late | m.half_day | m.leave | m.other)
          & case when m.month = ${monthOfDay(before)} then ${bitsFrom(before)} else ${ALL_DAYS}::int end
          & case when m.month = ${monthOfDay(after)} then ${bitsTo(after)} else ${ALL_DAYS}::int end <> 0
      except
      select student from registered
      except
      select student from were_registered
    )
)`;
}

export interface StudentDaysOptions extends DayRange {
  /** Selects classes whose days are needed beside those of the students. */
  readonly classes: Sql;
  /** The condition on the places `p` that are shown. */
  readonly where: Sql;
  /**
   * Whether `register` has the letters of the days, which cost more than counting the days. Default `with`.
   */
  readonly letters?: 'with' | 'without';
}

export function studentDays(
  { first, last, classes, where, letters = 'with' }: StudentDaysOptions,
  context: ReportContext,
): Sql {
  const { domain, settings, today } = context;
  const since = sessionStart(first, context);
  const until = last < today ? last : today;
  const sessions = [...new Set([first, last].map((day) => sessionOf(day, settings.sessionFirstMonth)))];
  const sessionYears = sessions.map((session) => Number(session.slice(0, 4)));
  return sql`
-- The places of the registration and of earlier stays, by session of the days.
registered_places as materialized (
  select student, session_year, class, section,
    case when row_number() over in_session = 1 then '' else from_day end as from_day,
    coalesce(lead(from_day) over in_session, '9999') as to_day
  from (
    select s.student, shown.session_year, s.class, s.section,
      case when s.earlier_stays is null then '' else greatest(s.admitted_on, (
        select to_char(day_of(max(stay->>'to')) + 1, 'YYYY-MM-DD')
        from jsonb_array_elements(s.earlier_stays) as stay
      )) end as from_day, 1 as place
    from students s
    join unnest(array[${sql.join(sessionYears)}]::int[]) as shown(session_year)
      on s.session_year = shown.session_year or s.session_year < shown.session_year and not s.left_unknown
    union all
    select s.student, left(stay->>'session', 4)::int, stay->>'class', stay->>'section', stay->>'from', 0
    from students s
    cross join lateral jsonb_array_elements(s.earlier_stays) as stay
    where stay->>'session' in (${sql.join(sessions)})
  ) as place
  window in_session as (partition by student, session_year order by place, from_day)
),
marks as materialized (
  select m.*, m.present | m.absent | m.late | m.half_day | m.leave | m.other as marked, s.admitted_on,
    s.left_on, s.earlier_stays
  from students s
  cross join lateral (
    select
      m.student, m.month, nullif(m.class, '') as class, m.section,
      left(m.month, 4)::int - case when right(m.month, 2)::int < ${settings.sessionFirstMonth}::int then 1
        else 0 end as session_year,
      m.present & d.bits as present, m.absent & d.bits as absent, m.late & d.bits as late,
        m.half_day & d.bits as half_day,
      m.leave & d.bits as leave, m.other & d.bits as other
    from attendance_months m
    cross join lateral (select case when m.month = ${monthOfDay(until)} then ${bitsTo(until)}
      else ${ALL_DAYS}::int end as bits) as d
    where m.domain = ${domain} and m.student = s.student and m.month between ${monthOfDay(since)}
      and ${monthOfDay(until)}
    -- Reads the rows of each student by the key, even before the table has statistics.
    offset 0
  ) as m
  where m.present | m.absent | m.late | m.half_day | m.leave | m.other <> 0
),
school_classes as materialized (
  select class from registered_places
  union
  select class from marks
  union
  ${classes}
),
${schoolDays(context, { first: since, last })},
days as materialized (
  select
    d.class, d.day, 1 << (31 - right(d.day, 2)::int) as bit, d.month, d.is_working, d.day >= ${first} as is_shown,
    row_number() over (partition by d.class, d.month, d.day >= ${first} order by d.day) as place,
    extract(year from d.day::date - make_interval(months => ${settings.sessionFirstMonth} - 1))::int as session_year
  from school_days d
),
class_months as materialized (
  select
    class, month, is_shown, session_year, min(day) as first_day, max(day) as last_day, bit_or(bit) as days,
    coalesce(bit_or(bit) filter (where is_working), 0) as working, count(*)::int as day_count
  from days
  group by class, month, is_shown, session_year
),
counted_marks as materialized (
  select
    m.*, c.is_shown, c.days,
    case when m.admitted_on <= c.first_day and m.left_on >= c.last_day then c.working else coalesce((
      select bit_or(d.bit)
      from days d
      where d.class = c.class and d.month = c.month and d.is_shown = c.is_shown and d.is_working
        and ${isOnRoll(DAY, 'm')}
    ), 0) end as counted
  from marks m
  join class_months c on c.class = m.class and c.month = m.month
),
stays as materialized (
  select
    student, session_year, min(class) as class, min(section) as section,
    min(class) < max(class) or min(section) < max(section) or (student, session_year) in (
      select student, session_year from registered_places where from_day <> ''
    ) as has_changed
  from marks
  where class is not null
  group by student, session_year
),
places as materialized (
  select student, session_year, class, section, '' as from_day, '9999' as to_day
  from stays
  where not has_changed
  union all
  -- Every mark of the students who changed.
  select
    student, session_year, class, section,
    case when row_number() over in_session = 1 then '' else day end as from_day,
    coalesce(lead(day) over in_session, '9999') as to_day
  from (
    select
      m.*, (class, section) is distinct from lag((class, section)) over (
        partition by student, session_year order by day, is_mark
      ) as is_change
    from (
      select m.student, d.day, m.session_year, m.class, m.section, true as is_mark
      from (
        select m.*
        from stays s
        join marks m on m.student = s.student and m.session_year = s.session_year
        where s.has_changed
        -- Runs before the join with the days, which are many for each mark.
        offset 0
      ) as m
      join days d on d.class = m.class and d.month = m.month and m.marked & d.bit <> 0
      union all
      -- Where a session has several stays, each begins in its own place.
      select student, from_day, session_year, class, section, false
      from registered_places
      where from_day <> '' or to_day <> '9999'
    ) as m
  ) as mark
  where is_change
  window in_session as (partition by student, session_year order by day)
  union all
  select student, session_year, class, section, from_day, to_day
  from registered_places
  where (student, session_year) not in (select student, session_year from stays)
),
-- A CTE of its own, because each place reads it again.
shown_months as materialized (
  select * from class_months where is_shown
),
register as materialized (
  select
    student, class, section, month, session_year, day_count,${letters === 'with' ? REGISTER_LETTERS : sql.empty}
    bit_count(possible::bit(31)) as working_days, bit_count(unmarked::bit(31)) as unmarked,
    bit_count(present::bit(31)) as present, bit_count(absent::bit(31)) as absent, bit_count(late::bit(31)) as late,
    bit_count(half_day::bit(31)) as half_day, bit_count(leave::bit(31)) as leave
  from (
    select
      student, class, section, month, session_year, first_day, day_count, working, on_roll, possible,
      possible & present_of_month as present, possible & absent_of_month as absent, possible & late_of_month as late,
      possible & half_day_of_month as half_day, possible & leave_of_month as leave,
      possible & ~(present_of_month | absent_of_month | late_of_month | half_day_of_month | leave_of_month) as unmarked
    from (
      select
        entry.*, on_roll & working as possible,
        bit_or(present) over of_month as present_of_month, bit_or(absent) over of_month as absent_of_month,
        bit_or(late) over of_month as late_of_month, bit_or(half_day) over of_month as half_day_of_month,
        bit_or(leave) over of_month as leave_of_month
      from (
        select
          student, class, section, month, session_year, first_day, day_count, working, bit_or(bits) as on_roll,
          0 as present, 0 as absent, 0 as late, 0 as half_day, 0 as leave
        from (
          select
            p.student, p.class, p.section, c.month, c.session_year, c.first_day, c.day_count, c.working,
            case
              when p.from_day <= c.first_day and p.to_day > c.last_day and s.admitted_on <= c.first_day and s.left_on >= c.last_day then c.days
              else (
                select bit_or(d.bit)
                from days d
                where d.class = c.class and d.month = c.month and d.is_shown and d.day >= p.from_day and d.day < p.to_day
                  and ${isOnRoll(DAY, 's')}
              )
            end as bits
          from places p
          join students s on s.student = p.student
          join shown_months c on c.class = p.class and c.session_year = p.session_year
          where ${where}
        ) as stay
        where bits <> 0
        group by student, class, section, month, session_year, first_day, day_count, working
        union all
        -- The marks of the month, wherever they were made: among the lines, so that nothing need be joined.
        -- Months before the range have no lines.
        select student, null, null, month, null, null, null, null, null, present, absent, late, half_day, leave
        from marks
        where month >= ${monthOfDay(first)}
      ) as entry
      window of_month as (partition by student, month)
    ) as l
    where on_roll is not null
    -- Computes each once, not at each use.
    offset 0
  ) as line
)`;
}

/** The letters of a line of the register. */
const REGISTER_LETTERS: Sql = sql`
    -- A number of 31 digits for each letter,
    -- with a digit for each of its days: no two share a day. Their sum has the letter of each day.
    translate(
      substr((
        (on_roll & ~working)::bit(31)::text::numeric + unmarked::bit(31)::text::numeric * 2 + present::bit(31)::text::numeric * 3
          + absent::bit(31)::text::numeric * 4 + late::bit(31)::text::numeric * 5 + half_day::bit(31)::text::numeric * 6
          + leave::bit(31)::text::numeric * 7 + 1e31
      )::text, 1 + right(first_day, 2)::int, day_count),
      '01234567', '–*?PALHV'
    ) as letters,`;

/** The day of a row of `days`. */
const DAY = sql`d.day`;

/** Every day of a month. */
const ALL_DAYS = 2 ** 31 - 1;

/** The bits for the days of a month from a day on. */
function bitsFrom(day: Day): Sql {
  return sql`${ALL_DAYS >> (Number(day.slice(-2)) - 1)}::int`;
}

/** The bits for the days of a month up to and including a day. */
function bitsTo(day: Day): Sql {
  return sql`${ALL_DAYS & ~(ALL_DAYS >> Number(day.slice(-2)))}::int`;
}

/**
 * The marks `r` of a student `s` in a range of days, by the key of the unique rule (student and day of the
 * school): its index keeps a student's days together, in order. None is after today.
 */
export function marksOf(first: Day, last: Day, { domain, today }: ReportContext): Sql {
  return sql`${liveRecordsIn(domain, 'attendance')}
      and r.keys->>'student_day' >= '[' || to_json(s.student)::text || ',"' || ${first} || '"]'
      and r.keys->>'student_day' <= '[' || to_json(s.student)::text || ',"' || least(${last},
        ${today}) || '"]'`;
}

/**
 * Whether a mark `r` of a student `s` counts: on a working day of its class, with the student on the roll.
 */
export const countingMark: Sql = sql`${isOnRoll(sql`left(right(r.keys->>'student_day', 12), 10)`, 's')}
      and not (select places from days_off) ?
        ((r.data->>'class') || ' ' || left(right(r.keys->>'student_day', 12), 10))`;

/** How many days of a student count as present, as `presentDays` has it. */
export const PRESENT_DAYS = column.number(
  'Days that count present: present + late + 0.5 half (+ leave, by setting). Unit: days.',
);

/** The number of marks of each kind. */
export const MARKS = {
  present: column.whole('Days marked present.'),
  absent: column.whole('Days marked absent.'),
  late: column.whole('Days marked late.'),
  halfDay: column.whole('Half days.'),
  leave: column.whole('Days of leave.'),
};

/** Those of one student, from which percentages are computed. */
export const STUDENT_MARKS = {
  ...MARKS,
  late: column.whole('Days marked late; they count present.'),
  halfDay: column.whole('Half days; each counts 0.5.'),
};

/** Those of all students listed. */
export const SUMS_OF_MARKS = {
  ...MARKS,
  unmarked: column.whole('Working days without a mark.'),
  presentDays: column.number('Sum of the days that count present. Unit: days.'),
};

/** How many days count as present, for a line with the counts `present`, `late`, `half_day` and `leave`. */
export function presentDays({ leaveCountsPresent }: ReportContext['settings']): Sql {
  return leaveCountsPresent
    ? sql`(present + late + leave + 0.5 * half_day)`
    : sql`(present + late + 0.5 * half_day)`;
}

/** Marks that did not count: statements for the warnings. `where` selects among the `counted_marks`. */
export function unusableAttendance(where: Sql, last: Day, context: ReportContext): readonly Sql[] {
  return [
    sql`
  select 'attendance' as collection, mark.id, fault.reason
  from (
    select m.student, d.day, d.is_working, m.other & d.bit <> 0 as is_other,
      ${isOnRoll(DAY, 'm')} as is_on_roll
    from (
      select * from counted_marks where is_shown and ${where}
        and (marked & days & ~counted <> 0 or other & days <> 0)
    ) as m
    join days d on d.class = m.class and d.month = m.month and d.is_shown and m.marked & d.bit <> 0
    offset 0
  ) as d
  cross join lateral (
    select 'status is none of present, absent, late, half_day, leave' where d.is_other
    union all
    select 'the day is no school day of the class' where not d.is_working
    union all
    select 'the student is not on roll on the day' where not d.is_on_roll
  ) as fault(reason)
  cross join lateral (
    select r.id
    from records r
    where ${liveRecordsIn(context.domain, 'attendance')}
      and r.keys->>'student_day' = '[' || to_json(d.student)::text || ',"' || d.day || '"]'
    limit 1
  ) as mark`,
    unusableRoll,
    unpromotedBy(last, context),
    unusableHolidays(context),
  ];
}

/** The students not promoted yet to the session of the last day that counts: rows for the warnings. */
export function unpromotedBy(last: Day, context: ReportContext): Sql {
  const day = last < context.today ? last : context.today;
  return unpromoted(sessionOf(day, context.settings.sessionFirstMonth), day, context);
}

/** The marks of a class, or of all, without a day or a student. */
export function marksOfNoDay(className: string | null, { domain }: Pick<ReportContext, 'domain'>): Sql {
  return sql`
  select 'attendance', r.id, 'student or created is unusable'
  from records r
  where ${liveRecordsIn(domain, 'attendance')}
    and r.keys->>'student_day' is null
    and (${className}::text is null or r.data->>'class' = ${className}::text)`;
}
