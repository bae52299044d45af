-- An upload whose length its sender has not said yet: upload_length is the most that it may have.
alter table files add column is_length_deferred boolean not null default false;
