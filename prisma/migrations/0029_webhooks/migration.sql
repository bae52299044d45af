-- Addresses outside that are told of changes of records, and what was sent to them.

create table webhooks (
  id uuid not null,
  domain_id text not null,
  -- Whose rights say what is sent.
  user_id text not null,
  name text not null,
  url text not null,
  -- [{"collection": …, "operations": […], "oquery": …}, …]
  events jsonb not null,
  -- What signs, encrypted.
  secret text not null,
  is_paused boolean not null default false,
  created_by text not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null default current_timestamp,
  constraint webhooks_pkey primary key (id)
);

create index webhooks_domain_id_user_id_idx on webhooks (domain_id, user_id);

-- Up to where the audit trail has been followed: a snapshot. One row.
create table webhook_position (
  id integer not null,
  snapshot text not null,
  constraint webhook_position_pkey primary key (id)
);

create table webhook_deliveries (
  id bigserial not null,
  webhook_id uuid not null,
  -- waiting, delivered, failed or skipped
  state text not null default 'waiting',
  -- What happened: {"type", "at", "collection", "recordId", "version", "by"}
  event jsonb not null,
  -- What was sent; null: nothing yet.
  body text,
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) not null default current_timestamp,
  -- Of the last answer, and its beginning.
  status integer,
  answer text,
  -- Why it failed, or was not sent.
  problem text,
  duration_ms real,
  created_at timestamptz(3) not null default current_timestamp,
  attempted_at timestamptz(3),
  constraint webhook_deliveries_pkey primary key (id),
  constraint webhook_deliveries_webhook_id_fkey foreign key (webhook_id) references webhooks (id)
    on delete cascade on update cascade,
  constraint webhook_deliveries_state_check check (state in ('waiting', 'delivered', 'failed', 'skipped'))
);

create index webhook_deliveries_webhook_id_id_idx on webhook_deliveries (webhook_id, id desc);
create index webhook_deliveries_waiting_idx on webhook_deliveries (next_attempt_at) where state = 'waiting';
create index webhook_deliveries_created_at_idx on webhook_deliveries (created_at);
