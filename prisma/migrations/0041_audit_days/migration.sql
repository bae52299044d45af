-- The entries of some days are found without reading all of the trail. Entries are written in the order of
-- time, so that a few bytes a block of them are enough, and a write pays next to nothing for it.
create index audit_entries_at_idx on audit_entries using brin (at);
