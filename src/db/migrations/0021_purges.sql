-- online
-- The operator deletes leases whose holders crashed.
grant select, delete on leases to plosive_operator;
-- Inference jobs that nobody has started; the operator cancels them after seven days.
drop index concurrently if exists inference_jobs_unstarted;
create index concurrently inference_jobs_unstarted on inference_jobs (created_at)
  where status = 'pending' and start_requested_at is null;
