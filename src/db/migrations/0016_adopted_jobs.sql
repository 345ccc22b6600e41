-- Jobs that began as a custom resource in Kubernetes and not as a request to the API: the operator adds their rows. The
-- id of such a row is the resource's uid, so that adding it twice is impossible; the resource has a name of its own.
alter table training_jobs add column resource_name text check (length(resource_name) between 1 and 253);
alter table inference_jobs add column resource_name text check (length(resource_name) between 1 and 253);
alter table embedding_jobs add column resource_name text check (length(resource_name) between 1 and 253);
create index training_jobs_resource on training_jobs (resource_name) where resource_name is not null;
create index inference_jobs_resource on inference_jobs (resource_name) where resource_name is not null;
create index embedding_jobs_resource on embedding_jobs (resource_name) where resource_name is not null;

-- As in 0006; the target of an adopted job's resource ends in '/' and its name.
create or replace function leave_job() returns trigger language plpgsql security definer as $$
begin
  delete from job_events e using gone where e.tenant_id = gone.tenant_id and e.job_id = gone.id;
  insert into leftovers (tenant_id, kind, target, at_once)
  select tenant_id, 'run', tg_argv[0] || '-' || id, false from gone
  union all
  select tenant_id, 'resource', tg_argv[0] || '-' || id || coalesce('/' || resource_name, ''), true from gone
  union all
  select tenant_id, 'model', id::text, false from gone where tg_argv[0] = 'tj';
  return null;
end $$;
do $$ begin
  execute format('alter function leave_job set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;

-- What the operator must read to check the same preconditions as the API, and the rows that it adds. It changes none of
-- the rows that it locks, but a lock needs the right to change some column.
grant select (id, suspended_at) on tenants to plosive_operator;
grant select (id, tenant_id, name, artifact_types), update (updated_at) on datasets to plosive_operator;
grant update (revision) on annotation_sets to plosive_operator;
grant update (description) on models to plosive_operator;
grant insert on training_jobs, training_job_files, inference_jobs to plosive_operator;
