-- The deliveries that are due are taken a few for each webhook: what one is told must not wait for another whose
-- address does not answer.
drop index webhook_deliveries_waiting_idx;
create index webhook_deliveries_waiting_idx on webhook_deliveries (webhook_id, next_attempt_at)
  where state = 'waiting';
