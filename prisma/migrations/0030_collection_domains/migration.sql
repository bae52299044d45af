-- The top domain that registered a collection at run time; null: it comes from a file, or a version registered it that
-- did not write this yet, and every domain has it.
alter table collections add column domain_id text;

-- Until now an instance had one top domain, whose admins registered them.
update collections
set domain_id = (select id from domains where parent_id is null order by created_at, id limit 1)
where not is_declared;
