-- The erasures of persons: what is under way, so that it is gone on with after a fault, and what was done, so
-- that it is done again after a backup from before it was restored.
--
--   person     SHA-256 of the collection and the _id, which is not kept
--   pseudonym  what stands for the person where something had to stay
--   steps_done so many steps are done; the next one begins where they ended
--   plan       what the steps need to know of the person; null once all are done
--   report     what the steps removed, replaced and kept, by place
create table erasures (
  id uuid not null,
  domain text not null,
  collection text not null,
  person text not null,
  pseudonym text not null,
  steps_done integer not null default 0,
  plan jsonb,
  report jsonb not null default '[]',
  requested_by text not null,
  request_id text not null,
  begun_at timestamptz(3) not null default current_timestamp,
  ended_at timestamptz(3),
  constraint erasures_pkey primary key (id)
);

-- One erasure of a person is under way at a time.
create unique index erasures_person_under_way_idx on erasures (domain, collection, person)
where ended_at is null;

create index erasures_domain_pseudonym_idx on erasures (domain, pseudonym);
