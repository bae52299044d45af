-- Contains search and indexes that mix a scalar column with a document. Both are trusted extensions: the owner of a
-- database may create them without being superuser.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create table domains (
  id text not null,
  name text not null,
  parent_id text,
  created_at timestamptz(3) not null default current_timestamp,
  constraint domains_pkey primary key (id),
  constraint domains_parent_id_fkey foreign key (parent_id) references domains (id) on delete restrict on update cascade
);

create table properties (
  domain_id text not null,
  name text not null,
  value jsonb not null,
  is_secret boolean not null default false,
  updated_at timestamptz(3) not null,
  constraint properties_pkey primary key (domain_id, name)
);

create table settings (
  name text not null,
  value jsonb not null,
  updated_at timestamptz(3) not null,
  constraint settings_pkey primary key (name)
);

create table collections (
  name text not null,
  definition jsonb not null,
  is_declared boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  dropped_at timestamptz(3),
  constraint collections_pkey primary key (name)
);

-- Every record of every collection. A registered collection has a partition of its own (records_<collection>, made at
-- run time), and with it its own indexes, statistics and vacuum; the rest is in records_default.
create table records (
  domain text not null,
  collection text not null,
  id text not null,
  data jsonb not null,
  keys jsonb,
  version integer not null default 1,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null default current_timestamp,
  deleted_at timestamptz(3),
  constraint records_pkey primary key (domain, collection, id),
  constraint records_data_is_object check (jsonb_typeof(data) = 'object')
) partition by list (collection);

create table records_default partition of records default;

create index records_default_data_idx on records_default using gin (data jsonb_path_ops) where deleted_at is null;

create table credentials (
  domain_id text not null,
  user_id text not null,
  password_hash text not null,
  password_changed_at timestamptz(3) not null default current_timestamp,
  token_epoch integer not null default 1,
  constraint credentials_pkey primary key (domain_id, user_id)
);

create table sessions (
  id uuid not null,
  domain_id text not null,
  user_id text not null,
  created_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  constraint sessions_pkey primary key (id)
);

create index sessions_domain_id_user_id_idx on sessions (domain_id, user_id);

create table refresh_tokens (
  token_hash bytea not null,
  session_id uuid not null,
  created_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  constraint refresh_tokens_pkey primary key (token_hash),
  constraint refresh_tokens_session_id_fkey foreign key (session_id) references sessions (id) on delete cascade on update cascade
);

create index refresh_tokens_session_id_idx on refresh_tokens (session_id);

create table api_keys (
  id uuid not null,
  domain_id text not null,
  user_id text not null,
  name text not null,
  prefix text not null,
  key_hash bytea not null,
  scopes jsonb not null,
  created_by text not null,
  created_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint api_keys_pkey primary key (id)
);

create unique index api_keys_key_hash_key on api_keys (key_hash);
create index api_keys_domain_id_user_id_idx on api_keys (domain_id, user_id);

create table idempotency_keys (
  domain_id text not null,
  credential text not null,
  key text not null,
  request_hash bytea not null,
  answer jsonb,
  created_at timestamptz(3) not null default current_timestamp,
  constraint idempotency_keys_pkey primary key (domain_id, credential, key)
);

create index idempotency_keys_created_at_idx on idempotency_keys (created_at);

create table audit_entries (
  id bigserial not null,
  at timestamptz(3) not null default current_timestamp,
  domain text not null,
  collection text not null,
  record_id text not null,
  operation text not null,
  from_version integer,
  to_version integer not null,
  principal text not null,
  credential text not null,
  request_id text not null,
  constraint audit_entries_pkey primary key (id)
);

create index audit_entries_domain_collection_record_id_id_idx on audit_entries (domain, collection, record_id, id);
create index audit_entries_domain_id_idx on audit_entries (domain, id);

-- Unlogged: written about once a second by every gateway, and losing it in a crash costs one window of counting.
create unlogged table rate_counters (
  key text not null,
  window_start timestamptz(3) not null,
  count integer not null,
  constraint rate_counters_pkey primary key (key, window_start)
);

-- The number a document holds, exactly; null where it holds anything else: one "N/A" must not fail a report.
create function to_number(value jsonb) returns numeric
language sql immutable parallel safe
return case jsonb_typeof(value) when 'number' then value::numeric end;
