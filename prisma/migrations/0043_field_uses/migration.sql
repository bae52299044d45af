-- Which operations asked for which fields of collections, by credential: a row for each, with the day of the
-- last time, for 30 days. It is asked before a declaration drops a field.
create table field_uses (
  domain text not null,
  collection text not null,
  field text not null,
  -- The id of an API key; 'users' for everybody who signed in.
  credential text not null,
  -- The name of the GraphQL operation; empty for those without one.
  operation text not null,
  last_used_on date not null,
  constraint field_uses_pkey primary key (domain, collection, field, credential, operation)
);

create index field_uses_last_used_on_idx on field_uses (last_used_on);
