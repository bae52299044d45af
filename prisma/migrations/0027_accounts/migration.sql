-- What people need to come in, beside a password: sessions they can tell apart, links that let somebody set a
-- password, second factors, and how often a login failed.

-- Where and by what a session was opened, for its owner to recognize it by. `last_seen_at` is its last refresh.
-- A confined session may do nothing but switch a second factor on.
alter table sessions
  add column address text,
  add column user_agent text,
  add column last_seen_at timestamptz(3),
  add column is_confined boolean not null default false;

-- Failed logins of a user name from an address, by a hash of both. Unlogged: losing it costs nothing.
create unlogged table login_failures (
  key text not null,
  failures integer not null,
  last_at timestamptz(3) not null,
  locked_until timestamptz(3),
  constraint login_failures_pkey primary key (key)
);

create index login_failures_last_at_idx on login_failures (last_at);

-- A link by which its bearer sets the password of a user, once: an invitation or a reset.
create table account_links (
  token_hash bytea not null,
  domain_id text not null,
  user_id text not null,
  purpose text not null,
  created_by text not null,
  created_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  constraint account_links_pkey primary key (token_hash),
  constraint account_links_purpose_check check (purpose in ('invite', 'reset'))
);

create index account_links_domain_id_user_id_idx on account_links (domain_id, user_id);

-- The secret of a user's time-based codes (RFC 6238), encrypted. It counts once it is confirmed. `last_step` is
-- the time step of the last code that was taken: none is taken twice.
create table second_factors (
  domain_id text not null,
  user_id text not null,
  secret text not null,
  created_at timestamptz(3) not null default current_timestamp,
  confirmed_at timestamptz(3),
  last_step bigint,
  constraint second_factors_pkey primary key (domain_id, user_id)
);

-- What lets a user in who has lost the device: each once, by its hash.
create table recovery_codes (
  domain_id text not null,
  user_id text not null,
  code_hash bytea not null,
  used_at timestamptz(3),
  constraint recovery_codes_pkey primary key (domain_id, user_id, code_hash)
);
