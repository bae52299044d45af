-- The job that is sending a message. One that finds a message being sent goes on with it only where it is the same job, taken up again after
-- its gateway died: two jobs never send one message side by side.
alter table messages add column job_id bigint;
