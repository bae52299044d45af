-- A table that is spread over several servers by domain has the domain in its key: a server can only keep unique what it
-- holds alone. First those that nothing points to; looking up by the id alone goes by the same index.
-- The other keys take two versions each: what points to the row must have the domain first.
alter table audit_entries
  drop constraint audit_entries_pkey,
  add constraint audit_entries_pkey primary key (id, domain);

alter table topic_messages
  drop constraint topic_messages_pkey,
  add constraint topic_messages_pkey primary key (id, domain);

alter table script_log
  drop constraint script_log_pkey,
  add constraint script_log_pkey primary key (id, domain_id);
