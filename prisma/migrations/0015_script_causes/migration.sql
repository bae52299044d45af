-- By which credential a run was asked for: an API key, or a token with a part of its user's rights, sees its own runs alone. Runs
-- from before this are seen by whoever has all of their user's rights.
alter table script_runs add column credential text;
alter table script_log add column credential text;

-- How many scripts, one started by the other, led to a message: the note that it was sent may start a script again.
alter table messages add column script_depth integer not null default 0;
