-- A user who is deactivated or removed is logged out for good: made active again, old tokens must not come back to life. In the
-- database, so that no way of writing a record goes around it.
create function end_sessions_of_user() returns trigger
language plpgsql
as $$
begin
  update sessions
  set revoked_at = now()
  where domain_id = new.domain
    and user_id = new.id
    and revoked_at is null;
  return null;
end;
$$;

create trigger end_sessions_of_inactive_user
after update on records
for each row
when (
  new.collection = 'pltf_user'
  and old.deleted_at is null
  and old.data -> 'active' = 'true'
  and (new.deleted_at is not null or new.data -> 'active' is distinct from 'true')
)
execute function end_sessions_of_user();
