-- Every role of a database may LISTEN and NOTIFY, so the names of our channels have a secret part, which only the owner of
-- `settings` can read. The function runs with the rights of its caller.
insert into settings (name, value, updated_at)
values ('channels', to_jsonb(replace(gen_random_uuid()::text, '-', '')), now());

create or replace function campus_channel(name text) returns text
language sql stable
as $$ select $1 || '_' || (select s.value #>> '{}' from settings s where s.name = 'channels') $$;
