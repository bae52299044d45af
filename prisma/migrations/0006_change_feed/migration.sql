-- Live data. Every committed write has an entry in audit_entries, which thereby is the outbox of the change feed too. Ids are
-- given before the commit and may become visible in another order; the number of the transaction, held against a
-- snapshot, says exactly which entries a reader has not seen yet. Entries from before have none: they are nobody's news.
alter table audit_entries add column transaction_id xid8;
alter table audit_entries alter column transaction_id set default pg_current_xact_id();

create index audit_entries_transaction_id_idx on audit_entries (transaction_id);

-- What is published to topics, for as long as a gateway may be away and still owe it to its subscribers.
create table topic_messages (
  id bigserial not null,
  at timestamptz(3) not null default current_timestamp,
  domain text not null,
  topic text not null,
  message jsonb not null,
  principal text not null,
  transaction_id xid8 default pg_current_xact_id(),
  constraint topic_messages_pkey primary key (id)
);

create index topic_messages_transaction_id_idx on topic_messages (transaction_id);
create index topic_messages_at_idx on topic_messages (at);
