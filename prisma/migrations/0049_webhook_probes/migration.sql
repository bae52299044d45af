-- When the address of a webhook last failed. While it counts as failing it is tried once a minute, however far off
-- the next attempts of its deliveries are.
alter table webhooks add column tried_at timestamptz(3);
