-- The API and the operator of the release before 0004 may still run for a moment when the tables are new already. They
-- know no tenant of a training job's files and metrics, so such rows take the one of their job.

create function take_tenant_of_training_job() returns trigger language plpgsql as $$
begin
  select tenant_id into new.tenant_id from training_jobs where id = new.training_job_id;
  return new;
end $$;
create trigger training_job_files_tenant before insert on training_job_files
  for each row when (new.tenant_id is null) execute function take_tenant_of_training_job();
create trigger training_metrics_tenant before insert on training_metrics
  for each row when (new.tenant_id is null) execute function take_tenant_of_training_job();
