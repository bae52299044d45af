-- Where the database is spread over several servers, a write notes in the outbox what is to follow it too: the jobs of
-- scripts that it starts, and what the gateways are told of a change of rights. So all of the write is done by the
-- server of its domain; the rest begins on the server that has the jobs, when the entry is moved there.

alter table change_outbox add column started json, add column announced text;

-- An entry is told first and taken out of the outbox after, by another server: what is found there once more has been
-- told already.
create unique index told_changes_entry_id_domain_key on told_changes (entry_id, domain);
