-- The hours of a month are few rows: one table takes the place of a partition for each day.
alter table key_usage rename to key_usage_days;
alter table key_usage_days rename constraint key_usage_pkey to key_usage_days_pkey;

create table key_usage (
  key_id uuid not null,
  hour timestamptz(3) not null,
  requests integer not null,
  errors integer not null,
  refused integer not null,
  latency integer[] not null,
  constraint key_usage_pkey primary key (key_id, hour)
);

insert into key_usage (key_id, hour, requests, errors, refused, latency)
select key_id, hour, requests, errors, refused, latency
from key_usage_days;

drop table key_usage_days;
