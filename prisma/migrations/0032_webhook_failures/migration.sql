-- Deliveries to the address that failed one after the other, since the last one that arrived: an address that
-- fails is tried with one delivery at a time.
alter table webhooks add column failures integer not null default 0;
