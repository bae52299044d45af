/**
 * What each student's day was, said once for every report on attendance: CTEs to lay after one named
 * `students(student, class, section, session_year, admitted_on, left_on, …)`, which lists the students asked about with the place of
 * their registration (`registeredStudents` prints its columns).
 *
 *   marks         a line a mark of the range, and the last before it in the session; its day is that of the unique rule
 *   days          class, day, month, session_year, is_working, is_shown (of the range), place (in the shown days of the month)
 *   marked_days   marks with the day of their class; `counts`: a working day, the student on roll
 *   places        where each student was since when, a class and section a line
 *   student_days  a line a student and shown day on roll, with its letter: P A L H V, `*` no school, `?` unmarked
 *
 * A student is on roll from `admitted_on` to `left_on`, in the class and section of the last mark on or before the day in that session;
 * before the first mark in that of the first; without any, in that of the registration, if it is of that session.
 *
 * @see reports.md 9, "Terms used by all"
 */
import { Prisma } from '../generated/prisma/client.js';
import type { Sql } from '../generated/prisma/internal/prismaNamespace.js';
import { firstDay, monthsOf, sessionOf } from './calendar.js';
import type { Day } from './parameter-types.js';
import type { ReportContext } from './report.js';
import { type DayRange, schoolDays, unusableHolidays } from './school-days.js';

/** The first day of the session a day is in. */
export function sessionStart(day: Day, { settings }: Pick<ReportContext, 'settings'>): Day {
  return firstDay(monthsOf(sessionOf(day, settings.sessionFirstMonth), settings.sessionFirstMonth).first);
}

/** The columns of `students`, of the registrations `r`. Days that are none are null, and such a student is never on roll. */
export const registeredStudents: Sql = Prisma.sql`
    r.id as student, r.data->>'sequence' as admission_no, r.data->>'name' as name,
    case when to_number(r.data->'roll_no') between 0 and 999999 then to_number(r.data->'roll_no')::int end as roll_no,
    r.data->>'class' as class, r.data->>'section' as section,
    case when r.data->>'session' ~ '^[0-9]{4}-' then left(r.data->>'session', 4)::int end as session_year,
    case when r.data->>'admitted_on' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then r.data->>'admitted_on' end as admitted_on,
    case when coalesce(r.data->>'left_on', '9999-12-31') ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then coalesce(r.data->>'left_on', '9999-12-31') end as left_on`;

/** The ids of students registered in a class or section in the sessions of the range, and of those marked in it who are elsewhere by now. */
export function studentsOfClass(
  { className, section }: { readonly className: string; readonly section: string | null },
  { first, last }: DayRange,
  context: ReportContext,
): Sql {
  const { domain, settings, today } = context;
  const [firstSession, lastSession] = [first, last].map((day) => sessionOf(day, settings.sessionFirstMonth));
  return Prisma.sql`
      select r.id
      from records r
      where r.domain = ${domain} and r.collection = 'registration' and r.deleted_at is null
        and r.data->'class' = to_jsonb(${className}::text)
        and (${section}::text is null or r.data->>'section' = ${section}::text)
        and r.data->>'session' in (${firstSession}, ${lastSession})
      union
      select r.data->'student'->>'value'
      from records r
      where r.domain = ${domain} and r.collection = 'attendance' and r.deleted_at is null
        and r.data->'class' = to_jsonb(${className}::text)
        and (${section}::text is null or r.data->>'section' = ${section}::text)
        and r.data->'created' >= to_jsonb(to_char(${first}::date - 1, 'YYYY-MM-DD'))
        and r.data->'created' < to_jsonb(to_char(least(${last}::date, ${today}::date) + 2, 'YYYY-MM-DD'))`;
}

export interface StudentDaysOptions extends DayRange {
  /** Selects classes whose days are wanted beside those of the students. */
  readonly classes: Sql;
  /** Which of the places `p` are shown. */
  readonly where: Sql;
}

export function studentDays(
  { first, last, classes, where }: StudentDaysOptions,
  context: ReportContext,
): Sql {
  const { settings } = context;
  const since = sessionStart(first, context);
  return Prisma.sql`
marks as materialized (
  select
    r.id, s.student, left(right(r.keys->>'student_day', 12), 10) as day, m.class, m.section, m.status,
    s.admitted_on, s.left_on
  from students s
  cross join lateral (
    select r.id, r.data, r.keys
    from records r
    where ${marksOf(first, last, context)}
    union all
    (
      select r.id, r.data, r.keys
      from records r
      where ${marksBefore(first, context)}
      order by r.keys->>'student_day' desc
      limit 1
    )
  ) as r
  cross join lateral jsonb_to_record(r.data) as m(class text, section text, status text, student jsonb)
  where m.student->>'value' = s.student
),
school_classes as materialized (
  select class from students
  union
  select class from marks
  union
  ${classes}
),
${schoolDays(context, { first: since, last })},
days as materialized (
  select
    d.class, d.day, d.month, d.is_working, d.day >= ${first} as is_shown,
    row_number() over (partition by d.class, d.month, d.day >= ${first} order by d.day) as place,
    extract(year from d.day::date - make_interval(months => ${settings.sessionFirstMonth} - 1))::int as session_year
  from school_days d
),
marked_days as materialized (
  select
    m.*, d.month, d.session_year, d.is_working, d.is_shown,
    d.is_working and d.day between m.admitted_on and m.left_on as counts
  from marks m
  join days d on d.class = m.class and d.day = m.day
),
places as materialized (
  select
    student, session_year, class, section,
    case when row_number() over in_session = 1 then '' else day end as from_day,
    coalesce(lead(day) over in_session, '9999') as to_day
  from (
    select
      student, day, session_year, class, section,
      (class, section) is distinct from lag((class, section)) over (partition by student, session_year order by day) as is_change
    from marked_days
  ) as mark
  where is_change
  window in_session as (partition by student, session_year order by day)
  union all
  select s.student, s.session_year, s.class, s.section, '', '9999'
  from students s
  where not exists (select from marked_days m where m.student = s.student and m.session_year = s.session_year)
),
-- One value a student: a join by student and day, of whose rows the planner expects one, would be a loop over all marks.
statuses as materialized (
  select student, jsonb_object_agg(day, status) as by_day from marks group by student
),
student_days as materialized (
  select day.*, lead(place) over (partition by student, section, month order by place) as next_place
  from (
    select
      p.student, p.class, p.section, d.month, d.day, d.place, d.is_working, d.session_year,
      case when not d.is_working then '*' else
        case m.by_day->>d.day when 'present' then 'P' when 'absent' then 'A' when 'late' then 'L' when 'half_day' then 'H' when 'leave' then 'V' else '?' end
      end as letter
    from places p
    join students s on s.student = p.student
    join days d
      on d.class = p.class and d.session_year = p.session_year and d.day >= p.from_day and d.day < p.to_day and d.is_shown
      and d.day between s.admitted_on and s.left_on
    left join statuses m on m.student = p.student
    where ${where}
    -- So that letters are sorted, and not all marks of a student with each of them.
    offset 0
  ) as day
)`;
}

/**
 * The marks `r` of a student `s` from a day to a day, by the key of the unique rule, student and day of the school: its index holds a
 * student's days together, in order. None is after today.
 */
export function marksOf(first: Day, last: Day, { domain, today }: ReportContext): Sql {
  return Prisma.sql`r.domain = ${domain} and r.collection = 'attendance' and r.deleted_at is null
      and r.keys->>'student_day' >= '[' || to_json(s.student)::text || ',"' || ${first} || '"]'
      and r.keys->>'student_day' <= '[' || to_json(s.student)::text || ',"' || least(${last}, ${today}) || '"]'`;
}

/** The marks `r` of a student `s` in the session of a day, before that day. */
export function marksBefore(day: Day, context: ReportContext): Sql {
  return Prisma.sql`r.domain = ${context.domain} and r.collection = 'attendance' and r.deleted_at is null
      and r.keys->>'student_day' >= '[' || to_json(s.student)::text || ',"' || ${sessionStart(day, context)} || '"]'
      and r.keys->>'student_day' < '[' || to_json(s.student)::text || ',"' || ${day} || '"]'`;
}

/** Whether a mark `r` of a student `s` counts: on a working day of its class, the student on roll. */
export const countingMark: Sql = Prisma.sql`left(right(r.keys->>'student_day', 12), 10) between s.admitted_on and s.left_on
      and not (select places from days_off) ? ((r.data->>'class') || ' ' || left(right(r.keys->>'student_day', 12), 10))`;

/** How many days of the letters count present: a sum over lines with a `letter`. */
export function presentDays({ leaveCountsPresent }: ReportContext['settings']): Sql {
  return leaveCountsPresent
    ? Prisma.sql`(count(*) filter (where letter in ('P', 'L', 'V')) + 0.5 * count(*) filter (where letter = 'H'))`
    : Prisma.sql`(count(*) filter (where letter in ('P', 'L')) + 0.5 * count(*) filter (where letter = 'H'))`;
}

/** What did not count: rows of `left_out`, to go to the warnings. `where` says which of the marks `marked_days` are asked about. */
export function unusableAttendance(where: Sql, context: ReportContext): Sql {
  return Prisma.sql`
  select 'attendance' as collection, id, 'status is none of present, absent, late, half_day, leave' as reason
  from marked_days
  where is_shown and ${where} and coalesce(status not in ('present', 'absent', 'late', 'half_day', 'leave'), true)
  union all
  select 'attendance', id, 'the day is no school day of the class'
  from marked_days
  where is_shown and ${where} and not is_working
  union all
  select 'attendance', id, 'the student is not on roll on the day'
  from marked_days
  where is_shown and ${where} and not day between admitted_on and left_on
  union all
  select 'registration', student, 'admitted_on or left_on is not a day'
  from students
  where admitted_on is null or left_on is null
  union all
  ${unusableHolidays(context)}`;
}

/** The marks of a class without a day or a student. */
export function marksOfNoDay(className: string, { domain }: Pick<ReportContext, 'domain'>): Sql {
  return Prisma.sql`
  select 'attendance', r.id, 'student or created is unusable'
  from records r
  where r.domain = ${domain} and r.collection = 'attendance' and r.deleted_at is null
    and r.keys->>'student_day' is null and r.data->>'class' = ${className}`;
}
