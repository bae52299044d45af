-- Three migrations were edited after databases had been made by them: 0005_fee_months, 0010_document_functions and
-- 0013_attendance_months. This one brings every database to the functions that their texts make today, whichever text had made
-- it. From now on a migration is never edited; a test holds what each of them is.

-- Planned once a connection, no longer for every record.
create or replace function keep_fee_months() returns trigger
language plpgsql
-- Planned once a connection: left to itself, PostgreSQL plans these statements anew for every record, for a millisecond.
set plan_cache_mode = force_generic_plan
as $$
declare
  record_domain text := coalesce(new.domain, old.domain);
  record_id text := coalesce(new.id, old.id);
  is_due boolean := coalesce(new.collection, old.collection) = 'fee_due';
  place record;
  entries jsonb;
begin
  for place in
    select student, month, n.entry
    from fee_entries_of(new.collection, new.id, new.data, new.deleted_at) as n
    full join (select student, month from fee_entries_of(old.collection, old.id, old.data, old.deleted_at)) as o using (student, month)
    order by student, month
  loop
    entries := case when place.entry is null then '{}' else jsonb_build_object(record_id, place.entry) end;
    insert into fee_months as m
    select
      record_domain, place.student, place.month, s.*,
      case when is_due then entries else '{}' end, case when is_due then '{}' else entries end
    from fee_month_state(case when is_due then entries else '{}' end, case when is_due then '{}' else entries end) as s
    on conflict (domain, student, month) do update
    set (due, paid, fine, balance, credit, balance_from, due_from, due_to, cancelled_to, paid_from, paid_to, is_regular, heads, dues, payments) = (
      select s.*, kept.dues, kept.payments
      from (
        select
          case when is_due then m.dues - record_id || excluded.dues else m.dues end as dues,
          case when is_due then m.payments else m.payments - record_id || excluded.payments end as payments
        offset 0
      ) as kept
      cross join lateral fee_month_state(kept.dues, kept.payments) as s
    );
    if place.entry is null then
      delete from fee_months m
      where m.domain = record_domain and m.student = place.student and m.month = place.month and m.dues = '{}' and m.payments = '{}';
    end if;
  end loop;
  return null;
end;
$$;

-- The earlier text named the first parameter "value", which some of the bodies took for a column of theirs. PostgreSQL renames no
-- parameter of a function that exists, so those are dropped; nothing that is stored depends on them.
do $$
begin
  if exists (select from pg_proc where oid = to_regprocedure('doc_values(jsonb, text[])') and proargnames[1] = 'value') then
    drop function
      doc_values(jsonb, text[]), doc_value(jsonb, text[]), doc_pick(jsonb, jsonb), doc_omit(jsonb, jsonb), doc_put(jsonb, text[], jsonb);
  end if;
end
$$;

create or replace function doc_values(input jsonb, path text[]) returns setof jsonb
language plpgsql immutable parallel safe
as $$
declare
  element jsonb;
begin
  if cardinality(path) = 0 then
    return next input;
  elsif jsonb_typeof(input) = 'object' then
    return query select * from doc_values(input -> path[1], path[2:]);
  elsif jsonb_typeof(input) = 'array' then
    if path[1] ~ '^\d{1,6}$' then
      return query select * from doc_values(input -> path[1]::int, path[2:]);
    end if;
    for element in select jsonb_array_elements(input) loop
      if jsonb_typeof(element) = 'object' and (element ? path[1] or path[1] !~ '^\d{1,6}$') then
        return query select * from doc_values(element, path);
      end if;
    end loop;
  else
    return next null::jsonb;
  end if;
end
$$;

create or replace function doc_value(input jsonb, path text[]) returns jsonb
language plpgsql immutable strict parallel safe
as $$
declare
  step int := 1;
begin
  while step <= cardinality(path) and input is not null loop
    if jsonb_typeof(input) = 'array' then
      return (
        select coalesce(jsonb_agg(m.member order by m.position), '[]')
        from (
          select doc_value(e.value, path[step:]) as member, e.position
          from jsonb_array_elements(input) with ordinality as e(value, position)
          where jsonb_typeof(e.value) in ('object', 'array')
        ) m
        where m.member is not null
      );
    end if;
    input := case jsonb_typeof(input) when 'object' then input -> path[step] end;
    step := step + 1;
  end loop;
  return input;
end
$$;

create or replace function doc_pick(input jsonb, tree jsonb) returns jsonb
language plpgsql immutable strict parallel safe
as $$
begin
  if jsonb_typeof(input) = 'array' then
    return (
      select coalesce(jsonb_agg(doc_pick(e.value, tree) order by e.position), '[]')
      from jsonb_array_elements(input) with ordinality as e(value, position)
      where jsonb_typeof(e.value) in ('object', 'array')
    );
  end if;
  return (
    select coalesce(jsonb_object_agg(t.key, case when t.value = 'true' then input -> t.key else doc_pick(input -> t.key, t.value) end), '{}')
    from jsonb_each(tree) as t
    where input ? t.key and (t.value = 'true' or jsonb_typeof(input -> t.key) in ('object', 'array'))
  );
end
$$;

create or replace function doc_omit(input jsonb, tree jsonb) returns jsonb
language plpgsql immutable strict parallel safe
as $$
declare
  name text;
  below jsonb;
begin
  if jsonb_typeof(input) = 'array' then
    return (
      select coalesce(jsonb_agg(doc_omit(e.value, tree) order by e.position), '[]')
      from jsonb_array_elements(input) with ordinality as e(value, position)
    );
  end if;
  if jsonb_typeof(input) <> 'object' then
    return input;
  end if;
  for name, below in select t.key, t.value from jsonb_each(tree) as t where input ? t.key loop
    if below = 'true' then
      input := input - name;
    else
      input := input || jsonb_build_object(name, doc_omit(input -> name, below));
    end if;
  end loop;
  return input;
end
$$;

create or replace function doc_put(input jsonb, path text[], member jsonb) returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  if jsonb_typeof(input) = 'array' then
    return (
      select coalesce(jsonb_agg(doc_put(e.value, path, member) order by e.position), '[]')
      from jsonb_array_elements(input) with ordinality as e(value, position)
    );
  end if;
  if jsonb_typeof(input) is distinct from 'object' then
    input := '{}';
  end if;
  if cardinality(path) = 1 then
    if member is null then
      return input - path[1];
    end if;
    return input || jsonb_build_object(path[1], member);
  end if;
  if member is null and not input ? path[1] then
    return input;
  end if;
  return input || jsonb_build_object(path[1], doc_put(input -> path[1], path[2:], member));
end
$$;

-- Without "is json array", which PostgreSQL 15 does not have.
create or replace function attendance_month_of(domain text, data jsonb, keys jsonb, deleted_at timestamptz)
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
