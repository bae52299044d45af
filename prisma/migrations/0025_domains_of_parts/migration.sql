-- Parts of files, and what an import has seen, say their domain themselves and have it in their key: a
-- database that is spread over several servers keeps all of a domain on one of them, and finds it by that
-- column alone.

-- The version before this one does not write the domain: it is filled in until no gateway of that version is
-- left.
create function fill_domain_of_part() returns trigger
language plpgsql
as $$
begin
  if tg_table_name = 'file_chunks' then
    select f.domain into new.domain from files f where f.id = new.file_id;
  else
    select i.domain into new.domain from imports i where i.id = new.import_id;
  end if;
  return new;
end
$$;

alter table files
  drop constraint files_pkey cascade,
  add constraint files_pkey primary key (id, domain);

alter table file_chunks add column domain text;
update file_chunks c set domain = f.domain from files f where f.id = c.file_id;
alter table file_chunks
  alter column domain set not null,
  drop constraint file_chunks_pkey,
  add constraint file_chunks_pkey primary key (file_id, position, domain),
  add constraint file_chunks_file_id_domain_fkey foreign key (file_id, domain) references files (id, domain)
    on delete cascade on update cascade;

create trigger fill_domain before insert on file_chunks
for each row when (new.domain is null) execute function fill_domain_of_part();

alter table import_seen add column domain text;
update import_seen s set domain = i.domain from imports i where i.id = s.import_id;
alter table import_seen
  alter column domain set not null,
  drop constraint import_seen_pkey,
  add constraint import_seen_pkey primary key (import_id, record_id, domain);

create trigger fill_domain before insert on import_seen
for each row when (new.domain is null) execute function fill_domain_of_part();

-- The key of a run gets the domain beside the key it has: the version before this one relies on the latter.
create unique index script_runs_id_domain_id_key on script_runs (id, domain_id);
