-- What the owner of an API key may say of it and sees of its use.

alter table api_keys
  -- Networks (CIDR) and addresses it may be used from; none: from everywhere.
  add column allowed_addresses text[] not null default '{}',
  add column last_used_address text,
  -- The key that this one was made in place of.
  add column replaces uuid,
  -- How many of its requests were noted in key_requests: the next one's place follows from it.
  add column request_count bigint not null default 0;

-- Requests by key and hour. `latency` counts them by how long they took; the bounds are in src/auth/key-meter.ts.
-- A partition a day, made by the gateway that first needs it and dropped after 30 days.
create table key_usage (
  key_id uuid not null,
  hour timestamptz(3) not null,
  requests integer not null,
  errors integer not null,
  refused integer not null,
  latency integer[] not null,
  constraint key_usage_pkey primary key (key_id, hour)
) partition by range (hour);

-- The last 1,000 requests of a key: the next one takes the place of the oldest.
create table key_requests (
  key_id uuid not null,
  place smallint not null,
  at timestamptz(3) not null,
  request_id text not null,
  operation text not null,
  status smallint not null,
  duration_ms real not null,
  cost integer,
  constraint key_requests_pkey primary key (key_id, place),
  constraint key_requests_key_id_fkey foreign key (key_id) references api_keys (id) on delete cascade on update cascade
) with (fillfactor = 70);
