-- online
-- Where next_background_work() looks.
drop index concurrently if exists inference_jobs_work;
create index concurrently inference_jobs_work on inference_jobs (tenant_id, id) where deleted_at is not null;
