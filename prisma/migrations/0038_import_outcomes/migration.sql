-- What the dry run of an import found to become of each row: a line for each batch, by the number of its first
-- row. Its runs are rows that follow each other and share an outcome: first, last, outcome, and the fields that
-- would be another.
create table import_outcomes (
  import_id uuid not null,
  first_row bigint not null,
  runs jsonb not null,
  constraint import_outcomes_pkey primary key (import_id, first_row),
  constraint import_outcomes_import_id_fkey foreign key (import_id) references imports (id) on delete cascade on update cascade
);
