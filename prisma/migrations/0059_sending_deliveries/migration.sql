-- A delivery that is being sent has a state of its own; it is due again at its next attempt, if its gateway died. The
-- version before takes it for one that is not due, and leaves it to a gateway of this version.
alter table webhook_deliveries drop constraint webhook_deliveries_state_check;
alter table webhook_deliveries add constraint webhook_deliveries_state_check
  check (state in ('waiting', 'sending', 'delivered', 'failed', 'skipped'));

drop index webhook_deliveries_waiting_idx;
create index webhook_deliveries_waiting_idx on webhook_deliveries (webhook_id, next_attempt_at)
  where state in ('waiting', 'sending');
