-- Lists and objects compare as MongoDB compares them: a list by its elements, one after the other, an object by its members. What is
-- stored as jsonb has no order of members, so they are taken by their names. jsonb itself compares the lengths first.

-- The elements of a list, or the members of an object in the order of their names.
create function doc_parts(input jsonb) returns table (place bigint, name text, part jsonb)
language sql immutable strict parallel safe
as $$
  select e.place, '', e.part
  from jsonb_array_elements(doc_list(input)) with ordinality as e(part, place)
  union all
  select row_number() over (order by m.key collate "C"), m.key, m.value
  from jsonb_each(case jsonb_typeof(input) when 'object' then input else '{}' end) as m
$$;

create function doc_compare_parts(one jsonb, other jsonb) returns int
language plpgsql immutable strict parallel safe
as $$
declare
  pair record;
begin
  for pair in
    select place, a.name, a.part, b.name as other_name, b.part as other_part
    from doc_parts(one) as a full join doc_parts(other) as b using (place)
    order by place
  loop
    if pair.part is null then
      return -1;
    elsif pair.other_part is null then
      return 1;
    elsif doc_rank(pair.part) <> doc_rank(pair.other_part) then
      return sign(doc_rank(pair.part) - doc_rank(pair.other_part))::int;
    elsif pair.name <> pair.other_name then
      return case when pair.name collate "C" < pair.other_name then -1 else 1 end;
    elsif pair.part <> pair.other_part then
      return doc_compare(pair.part, pair.other_part);
    end if;
  end loop;
  return 0;
end
$$;

create or replace function doc_compare(one jsonb, other jsonb) returns int
language sql immutable parallel safe
return case
  when doc_rank(one) <> doc_rank(other) then sign(doc_rank(one) - doc_rank(other))::int
  when one is null or one = other then 0
  when jsonb_typeof(one) = 'string' then case when (one #>> '{}') collate "C" < (other #>> '{}') then -1 else 1 end
  when jsonb_typeof(one) in ('array', 'object') then doc_compare_parts(one, other)
  when one < other then -1
  else 1
end;

-- Refuses a pipeline for what only its documents show. The gateway passes the reason on to the caller.
create function doc_refuse(reason text) returns jsonb
language plpgsql volatile parallel safe
as $$
begin
  raise exception using errcode = 'CG001', message = reason;
end
$$;
