-- How many files a tenant's inference jobs have, for a quota: a job over a dataset adds one row per file. It starts with the
-- files of started jobs, which their rows know; counting all files would take long. The jobs are read before the lock.
do $$
declare
  files jsonb;
begin
  select jsonb_object_agg(tenant_id, sum) into files
  from (select tenant_id, sum(total_files) from inference_jobs group by tenant_id) j;
  alter table tenant_usage add column inference_files bigint not null default 0;
  update tenant_usage set inference_files = (files ->> tenant_id::text)::bigint where files ? tenant_id::text;
end $$;

-- Files of a retried job have the object of the file that was uploaded, and their bytes count no second time. A tenant with
-- files in jobs has a row: it has, or had, audio.
create or replace function count_inference_audio() returns trigger language plpgsql security definer as $$
declare
  sign int := tg_argv[0];
begin
  perform add_usage(tenant_id, null, 0, sign * sum(size_bytes)::bigint)
  from changed where object_key = 'inference/' || tenant_id || '/' || id group by tenant_id order by tenant_id;
  update tenant_usage u set inference_files = greatest(0, u.inference_files + sign * c.files)
  from (select tenant_id, count(*) as files from changed group by tenant_id order by tenant_id) c
  where u.tenant_id = c.tenant_id;
  return null;
end $$;
do $$
begin
  execute format('alter function count_inference_audio set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
