-- What the queries and pipelines of scripts need of documents beyond PostgreSQL's own: the values at a path through lists, an order of
-- all values, and parts of documents. Null (of SQL) is a value that is missing; 'null' (of JSON) is one that is there and null.

-- The values a query looks at: through objects, through the objects in a list, by a number to an element of a list. A null for
-- each place where the last step is missing. @see src/filter/mongo.ts
create function doc_values(input jsonb, path text[]) returns setof jsonb
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

-- The value an expression `$a.b` has: of a list the list of its objects' values, the missing ones left out.
create function doc_value(input jsonb, path text[]) returns jsonb
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

-- The value, null unless it is a text.
create function doc_text(value jsonb) returns text
language sql immutable parallel safe
return case jsonb_typeof(value) when 'string' then value #>> '{}' end;

-- The value, an empty list unless it is a list.
create function doc_list(value jsonb) returns jsonb
language sql immutable parallel safe
return case jsonb_typeof(value) when 'array' then value else '[]'::jsonb end;

-- Everything but false, null, 0 and what is missing.
create function doc_is_true(value jsonb) returns boolean
language sql immutable parallel safe
return coalesce(value not in ('false'::jsonb, 'null'::jsonb, '0'::jsonb), false);

-- The order of types: what is missing, null, numbers, texts, objects, lists, booleans.
create function doc_rank(value jsonb) returns int
language sql immutable parallel safe
return case jsonb_typeof(value)
  when 'number' then 3
  when 'string' then 4
  when 'object' then 5
  when 'array' then 6
  when 'boolean' then 7
  when 'null' then 2
  else 1
end;

-- -1, 0 or 1: by type, then by value; texts by their code points under any collation.
create function doc_compare(one jsonb, other jsonb) returns int
language sql immutable parallel safe
return case
  when doc_rank(one) <> doc_rank(other) then sign(doc_rank(one) - doc_rank(other))::int
  when one is null or one = other then 0
  when jsonb_typeof(one) = 'string' then case when (one #>> '{}') collate "C" < (other #>> '{}') then -1 else 1 end
  when one < other then -1
  else 1
end;

create function doc_lesser(one jsonb, other jsonb) returns jsonb
language sql immutable strict parallel safe
return case when doc_compare(one, other) <= 0 then one else other end;

create function doc_greater(one jsonb, other jsonb) returns jsonb
language sql immutable strict parallel safe
return case when doc_compare(one, other) >= 0 then one else other end;

create function doc_former(one jsonb, other jsonb) returns jsonb
language sql immutable strict parallel safe
return one;

create function doc_latter(one jsonb, other jsonb) returns jsonb
language sql immutable strict parallel safe
return other;

create aggregate doc_min(jsonb) (sfunc = doc_lesser, stype = jsonb, parallel = safe);
create aggregate doc_max(jsonb) (sfunc = doc_greater, stype = jsonb, parallel = safe);
create aggregate doc_first(jsonb) (sfunc = doc_former, stype = jsonb);
create aggregate doc_last(jsonb) (sfunc = doc_latter, stype = jsonb);

-- The members named in a tree such as {"a": true, "b": {"c": true}}; of a list, those of each of its objects.
create function doc_pick(input jsonb, tree jsonb) returns jsonb
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

-- The value without the members named in a tree.
create function doc_omit(input jsonb, tree jsonb) returns jsonb
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

-- The document with another value at a path, in each object of the lists on the way; without it where the value is missing.
create function doc_put(input jsonb, path text[], member jsonb) returns jsonb
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
