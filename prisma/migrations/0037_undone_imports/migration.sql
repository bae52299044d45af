-- The numbers of the changes of an import that were taken back: an import of some hundred parts is undone a
-- part a transaction, and goes on where it stood.
alter table imports add column undone integer[] not null default '{}';
