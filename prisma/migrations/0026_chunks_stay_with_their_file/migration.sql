-- No file changes its domain or id. A foreign key that would carry such a change along cannot be kept by a
-- database that is spread over several servers by domain.
alter table file_chunks
  drop constraint file_chunks_file_id_domain_fkey,
  add constraint file_chunks_file_id_domain_fkey foreign key (file_id, domain) references files (id, domain)
    on delete cascade;
