-- Imports: files on their way into a collection. A row says all that a gateway has to know to go on with one.
create table imports (
  id uuid not null,
  domain text not null,
  collection text not null,
  -- received, inspecting, ready, trying, tried, waiting, running, undoing, undone, done, failed or cancelled
  state text not null,
  -- How the caller calls the file.
  name text not null,
  file_id uuid not null,
  -- The file was taken for this import alone, and goes with it.
  owns_file boolean not null,
  -- What the caller knows of the file: its format, encoding, delimiter, sheet and header.
  source jsonb not null,
  -- What was found in it.
  inspection jsonb,
  mapping jsonb,
  -- How it is written: mode, by, missing, triggers.
  options jsonb not null default '{}',
  -- The number of the row up to which everything of the step under way is done.
  position bigint not null default 0,
  -- How many rows that step has done, and by what became of them.
  counts jsonb not null default '{}',
  -- How many rows the file has, once that is known.
  row_count bigint,
  -- What the dry run found, with the mapping and options it was made with.
  trial jsonb,
  -- How many change ids the run has: `<id>.1` and so on.
  changes integer not null default 0,
  -- The scripts that ran before and after the writes.
  triggers jsonb,
  -- Why it failed.
  fault jsonb,
  -- Whom it writes as: the credential, whose rights are read anew for every batch.
  principal jsonb not null,
  created_by text not null,
  is_stopped boolean not null default false,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null default current_timestamp,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  constraint imports_pkey primary key (id)
);

create index imports_domain_id_idx on imports (domain, id);
create index imports_state_updated_at_idx on imports (state, updated_at);

-- The rows that were refused, with what stood in the file.
create table import_errors (
  import_id uuid not null,
  -- try or run
  step text not null,
  row_number bigint not null,
  errors jsonb not null,
  source jsonb not null,
  constraint import_errors_pkey primary key (import_id, step, row_number),
  constraint import_errors_import_id_fkey foreign key (import_id) references imports (id) on delete cascade on update cascade
);

-- The records that the file has, where those it has not are to be removed.
create table import_seen (
  import_id uuid not null,
  record_id text not null,
  constraint import_seen_pkey primary key (import_id, record_id),
  constraint import_seen_import_id_fkey foreign key (import_id) references imports (id) on delete cascade on update cascade
);

-- Mappings that were given a name, to be used again.
create table import_mappings (
  domain text not null,
  name text not null,
  collection text not null,
  mapping jsonb not null,
  saved_by text not null,
  saved_at timestamptz(3) not null default current_timestamp,
  constraint import_mappings_pkey primary key (domain, name)
);

-- A document with some members at any depth set or taken away: an object goes deeper, [value] is what stands there from now
-- on, [] is a member that goes. What is no object on the way becomes one.
create function with_members(was jsonb, members jsonb) returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  became jsonb := case when jsonb_typeof(was) = 'object' then was else '{}' end;
  name text;
  member jsonb;
begin
  for name, member in select * from jsonb_each(members) loop
    if jsonb_typeof(member) = 'object' then
      became := jsonb_set(became, array[name], with_members(became->name, member));
    elsif member = '[]' then
      became := became - name;
    else
      became := jsonb_set(became, array[name], member->0);
    end if;
  end loop;
  return became;
end
$$;
