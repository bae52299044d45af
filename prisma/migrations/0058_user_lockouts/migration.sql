-- An administrator sees until when a user is locked out, and may end it. Failures with an unknown name have no user.
alter table login_failures add column domain_id text, add column user_id text;
create index login_failures_domain_id_user_id_idx on login_failures (domain_id, user_id);
