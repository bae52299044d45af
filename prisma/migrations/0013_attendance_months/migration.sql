-- What the class register counts from: a row for each student, month, class and section with the days that have a mark, 50,000 rows in
-- place of 1,000,000 marks. The triggers below keep it in step in the transaction of every write, whatever way that comes; nothing
-- else writes it.
--
-- Days are bits, the first of the month the highest of 31, so that `bits::bit(31)` reads like the month. Every mark with a key of
-- student and day, the rule of which makes it the only one of that day, is in one of the six; `other` is a status that is none of
-- the five. A class or a section that is missing is ''.
create table attendance_months (
  domain text not null,
  student text not null,
  month text not null,
  class text not null,
  section text not null,
  present integer not null,
  absent integer not null,
  late integer not null,
  half_day integer not null,
  leave integer not null,
  other integer not null,
  constraint attendance_months_pkey primary key (domain, student, month, class, section)
)
-- Room on the page for the next day: an update that stays on its page touches no index.
with (fillfactor = 70);

create index attendance_months_domain_class_month_idx on attendance_months (domain, class, month);

-- What one mark is a month of: no row for a tombstone, or for a mark whose key is none of student and day.
create function attendance_month_of(domain text, data jsonb, keys jsonb, deleted_at timestamptz)
returns setof attendance_months
language sql immutable parallel safe
as $$
  select
    domain, student, left(day, 7), coalesce(data->>'class', ''), coalesce(data->>'section', ''),
    case when status = 'present' then bit else 0 end,
    case when status = 'absent' then bit else 0 end,
    case when status = 'late' then bit else 0 end,
    case when status = 'half_day' then bit else 0 end,
    case when status = 'leave' then bit else 0 end,
    case when status in ('present', 'absent', 'late', 'half_day', 'leave') then 0 else bit end
  from (
    select key->>0 as student, key->>1 as day, 1 << (31 - right(key->>1, 2)::int) as bit, data->>'status' as status
    from (
      -- A key as the store writes it is a list of two texts; of a long one it keeps the hash, which tells no day.
      select
        case
          when keys->>'student_day' ~ '^\[\s*"([^"\\\u0001-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"\s*,\s*"[-0-9]*"\s*\]$'
          then (keys->>'student_day')::jsonb
        end as key
      offset 0
    ) as of_mark
    where deleted_at is null and key->>0 is not null and key->>1 ~ '^\d{4}-\d{2}-(0[1-9]|[12]\d|3[01])$'
    -- So that the day is read of what is one.
    offset 0
  ) as mark
$$;

-- Takes the day of a mark that was out of the month, and puts in what is marked on the day now: read from the records, for in one
-- statement a mark may be taken back and another put in its place, in either order. The update locks the row: of two writes at
-- once, the second adds to what the first has left.
create function keep_attendance_months() returns trigger
language plpgsql
-- Planned once a connection: left to itself, PostgreSQL plans these statements anew for every record, for a millisecond.
set plan_cache_mode = force_generic_plan
as $$
declare
  was attendance_months;
  bit integer;
begin
  if tg_op <> 'INSERT' then
    select * into was from attendance_month_of(old.domain, old.data, old.keys, old.deleted_at);
    if found then
      bit := was.present | was.absent | was.late | was.half_day | was.leave | was.other;
      update attendance_months m
      set present = m.present & ~bit, absent = m.absent & ~bit, late = m.late & ~bit, half_day = m.half_day & ~bit, leave = m.leave & ~bit,
        other = m.other & ~bit
      where m.domain = was.domain and m.student = was.student and m.month = was.month and m.class = was.class and m.section = was.section;
      perform add_attendance_day(r.domain, r.data, r.keys, r.deleted_at)
      from records r
      where r.domain = old.domain and r.collection = 'attendance' and r.deleted_at is null
        and r.keys->>'student_day' = old.keys->>'student_day';
      delete from attendance_months m
      where m.domain = was.domain and m.student = was.student and m.month = was.month and m.class = was.class and m.section = was.section
        and m.present | m.absent | m.late | m.half_day | m.leave | m.other = 0;
    end if;
  end if;
  if tg_op <> 'DELETE' then
    perform add_attendance_day(new.domain, new.data, new.keys, new.deleted_at);
  end if;
  return null;
end;
$$;

create function add_attendance_day(domain text, data jsonb, keys jsonb, deleted_at timestamptz) returns void
language sql
as $$
  insert into attendance_months as m
  select * from attendance_month_of(domain, data, keys, deleted_at)
  on conflict on constraint attendance_months_pkey do update
  set present = m.present | excluded.present, absent = m.absent | excluded.absent, late = m.late | excluded.late,
    half_day = m.half_day | excluded.half_day, leave = m.leave | excluded.leave, other = m.other | excluded.other
$$;

create trigger keep_attendance_months_inserted
after insert on records
for each row
when (new.collection = 'attendance')
execute function keep_attendance_months();

-- A remark is no reason.
create trigger keep_attendance_months_updated
after update on records
for each row
when (
  new.collection = 'attendance'
  and (old.deleted_at, old.keys, old.data->'class', old.data->'section', old.data->'status')
    is distinct from (new.deleted_at, new.keys, new.data->'class', new.data->'section', new.data->'status')
)
execute function keep_attendance_months();

create trigger keep_attendance_months_removed
after delete on records
for each row
when (old.collection = 'attendance')
execute function keep_attendance_months();

-- All of it anew from the records: for those that are there already, and after a load that has put the triggers aside.
create function fill_attendance_months() returns void
language sql
set work_mem = '128MB'
as $$
  delete from attendance_months;
  insert into attendance_months
  select
    m.domain, m.student, m.month, m.class, m.section,
    bit_or(m.present), bit_or(m.absent), bit_or(m.late), bit_or(m.half_day), bit_or(m.leave), bit_or(m.other)
  from records r
  cross join lateral attendance_month_of(r.domain, r.data, r.keys, r.deleted_at) as m
  where r.collection = 'attendance'
  group by m.domain, m.student, m.month, m.class, m.section
  order by m.domain, m.student, m.month, m.class, m.section;
$$;

select fill_attendance_months();
