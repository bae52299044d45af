-- What a change replaced, beside the fact of it, so that every version of a record can be had again.
--
-- `before` is a reverse delta, an object of the members that the change made others of, each with what was there before:
--   [value]   the value it had
--   []        it was not there
--   {…}       an object on both sides: its members in the same way
-- Null: nothing was there before (a create), the values are no longer kept, or the entry is from before this migration.
alter table audit_entries add column before jsonb;

-- Finds what a request changed, to undo it.
create index audit_entries_request_id_idx on audit_entries (request_id);

-- The reverse delta of a change of some members. Written so that Postgres runs no statement for a member that is no object.
create function reverse_delta(was jsonb, became jsonb, names text[]) returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  delta jsonb := '{}';
  name text;
  old_value jsonb;
  new_value jsonb;
begin
  foreach name in array names loop
    old_value := was->name;
    new_value := became->name;
    if old_value is null then
      continue when new_value is null;
      delta := jsonb_set(delta, array[name], '[]');
    elsif old_value = new_value then
      continue;
    elsif jsonb_typeof(old_value) = 'object' and jsonb_typeof(new_value) = 'object' then
      delta := jsonb_set(delta, array[name], reverse_delta(old_value, new_value));
    else
      delta := jsonb_set(delta, array[name], jsonb_build_array(old_value));
    end if;
  end loop;
  return delta;
end
$$;

-- The same of all members.
create function reverse_delta(was jsonb, became jsonb) returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return reverse_delta(was, became, array(select jsonb_object_keys(was || became)));
end
$$;

-- The document before a change, from the one after it and the reverse delta.
create function revert_delta(became jsonb, delta jsonb) returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  was jsonb := became;
  name text;
  member jsonb;
begin
  for name, member in select * from jsonb_each(delta) loop
    if jsonb_typeof(member) = 'object' then
      was := jsonb_set(was, array[name], revert_delta(became->name, member));
    elsif member = '[]' then
      was := was - name;
    else
      was := jsonb_set(was, array[name], member->0);
    end if;
  end loop;
  return was;
end
$$;

-- A JSON null stands for a document that is not known, and so are all before it.
create function step_back(state jsonb, latest jsonb, delta jsonb) returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  state := coalesce(state, latest);
  return case when delta is null or state = 'null' then 'null' else revert_delta(state, delta) end;
end
$$;

-- What a document was before some of its changes, the latest first: `data_before(r.data, e.before order by e.to_version desc)`.
create aggregate data_before(latest jsonb, delta jsonb) (sfunc = step_back, stype = jsonb);
