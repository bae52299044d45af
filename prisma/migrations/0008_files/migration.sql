-- Files of a domain. Their bytes are in `file_chunks`, or in a bucket that speaks S3.
create table files (
  id uuid not null,
  domain text not null,
  name text not null,
  content_type text not null,
  -- uploading or ready: what is not ready is nobody's, and goes when its upload has ended
  state text not null,
  -- database or s3
  storage text not null,
  size bigint not null default 0,
  sha256 bytea,
  collection text,
  record_id text,
  roles text[] not null default '{}',
  created_by text not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null default current_timestamp,
  constraint files_pkey primary key (id),
  constraint files_state_is_known check (state in ('uploading', 'ready')),
  constraint files_storage_is_known check (storage in ('database', 's3')),
  constraint files_link_is_whole check ((collection is null) = (record_id is null))
);

create index files_domain_id_idx on files (domain, id);
create index files_domain_collection_record_id_idx on files (domain, collection, record_id);
create index files_state_updated_at_idx on files (state, updated_at);

-- All chunks of a file but the last are of one size: where a byte is follows from its number.
create table file_chunks (
  file_id uuid not null,
  position integer not null,
  bytes bytea not null,
  constraint file_chunks_pkey primary key (file_id, position),
  constraint file_chunks_file_id_fkey foreign key (file_id) references files (id) on delete cascade on update cascade
);

-- Pictures and archives do not compress, and a part of a compressed chunk costs the whole.
alter table file_chunks alter column bytes set storage external;
