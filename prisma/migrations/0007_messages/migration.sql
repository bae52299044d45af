-- Email and text messages on their way: what is to be sent, to whom, and how far it got.
create table messages (
  id uuid not null,
  domain text not null,
  kind text not null,
  state text not null,
  key text,
  request_hash bytea,
  recipients text[] not null,
  remaining text[],
  subject text,
  content jsonb not null,
  size integer not null,
  attempts integer not null default 0,
  last_error text,
  provider_id text,
  record_id text,
  created_by text not null,
  request_id text not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null default current_timestamp,
  next_attempt_at timestamptz(3),
  sent_at timestamptz(3),
  constraint messages_pkey primary key (id),
  constraint messages_kind_is_known check (kind in ('email', 'sms')),
  constraint messages_state_is_known check (state in ('queued', 'sending', 'sent', 'failed', 'kept'))
);

create unique index messages_domain_kind_key_key on messages (domain, kind, key);
create index messages_domain_id_idx on messages (domain, id);
create index messages_domain_kind_created_at_idx on messages (domain, kind, created_at);
create index messages_state_updated_at_idx on messages (state, updated_at);
create index messages_provider_id_idx on messages (provider_id);

-- Apart from their message: lists of messages must not drag files along. Either the bytes themselves or a file of the domain.
create table message_attachments (
  message_id uuid not null,
  position integer not null,
  name text not null,
  content_type text not null,
  content bytea,
  file_id uuid,
  constraint message_attachments_pkey primary key (message_id, position),
  constraint message_attachments_message_id_fkey foreign key (message_id) references messages (id) on delete cascade on update cascade,
  constraint message_attachments_have_content check ((content is null) <> (file_id is null))
);
