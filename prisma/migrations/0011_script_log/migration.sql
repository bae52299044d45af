-- What scripts log to be looked at later: `platform.log`.
create table script_log (
  id bigserial not null,
  at timestamptz(3) not null default current_timestamp,
  domain_id text not null,
  script text not null,
  run_id uuid not null,
  level text not null,
  message text not null,
  data jsonb,
  principal text not null,
  constraint script_log_pkey primary key (id)
);

create index script_log_domain_id_id_idx on script_log (domain_id, id desc);
create index script_log_domain_id_script_id_idx on script_log (domain_id, script, id desc);
create index script_log_run_id_idx on script_log (run_id);
create index script_log_at_idx on script_log (at);
