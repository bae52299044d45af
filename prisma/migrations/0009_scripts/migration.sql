-- The scripts of each domain as they are now.
create table scripts (
  domain_id text not null,
  name text not null,
  version integer not null,
  code text not null,
  settings jsonb not null,
  owner text not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null default current_timestamp,
  updated_by text not null,
  constraint scripts_pkey primary key (domain_id, name)
);

-- As they were, each time they were saved. They stay when a script is removed: a later one of the same name goes on counting.
create table script_versions (
  domain_id text not null,
  name text not null,
  version integer not null,
  code text not null,
  settings jsonb not null,
  saved_at timestamptz(3) not null,
  saved_by text not null,
  constraint script_versions_pkey primary key (domain_id, name, version)
);

-- What runs came to. `ended_at` is null while a run is under way.
create table script_runs (
  id uuid not null,
  domain_id text not null,
  script text not null,
  version integer,
  cause text not null,
  principal text not null,
  status text not null,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  cpu_ms double precision,
  memory_bytes bigint,
  host_calls integer,
  value jsonb,
  error jsonb,
  output jsonb,
  request_id text not null,
  constraint script_runs_pkey primary key (id)
);

create index script_runs_domain_id_started_at_id_idx on script_runs (domain_id, started_at desc, id desc);
create index script_runs_domain_id_script_started_at_id_idx on script_runs (domain_id, script, started_at desc, id desc);
create index script_runs_started_at_idx on script_runs (started_at);
