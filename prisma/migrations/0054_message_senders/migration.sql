-- The principal that queued a message: it is sent only while this principal may send it. Null for messages that were
-- queued by an earlier version.
alter table messages add column sender jsonb;
