-- Live data where the database is spread over several servers: the numbers of their transactions do not
-- compare, so nobody can say by a snapshot which entries of the audit trail are news. There the statement that
-- writes an entry notes it in the outbox too, on the server of its domain; one gateway at a time moves what it
-- finds there to told_changes, which one server has, and which everybody follows by snapshots.

create table change_outbox (
  id bigint not null,
  at timestamptz(3) not null,
  domain text not null,
  collection text not null,
  record_id text not null,
  operation text not null,
  to_version integer not null,
  principal text not null,
  constraint change_outbox_pkey primary key (id, domain)
);

create table told_changes (
  id bigserial not null,
  -- The id of the entry of the audit trail.
  entry_id bigint not null,
  at timestamptz(3) not null,
  domain text not null,
  collection text not null,
  record_id text not null,
  operation text not null,
  to_version integer not null,
  principal text not null,
  told_at timestamptz(3) not null default current_timestamp,
  transaction_id xid8 default pg_current_xact_id(),
  constraint told_changes_pkey primary key (id)
);

create index told_changes_transaction_id_idx on told_changes (transaction_id);
create index told_changes_told_at_idx on told_changes (told_at);
