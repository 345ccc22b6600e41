-- How many training jobs a tenant has: their list tells the exact total each time, and counting grows with the jobs.
alter table tenant_usage add column training_jobs bigint not null default 0;
alter table tenant_usage alter column audio_bytes set default 0;

-- Nobody writes between the count and the triggers.
lock table training_jobs in share row exclusive mode;
insert into tenant_usage (tenant_id, training_jobs)
select tenant_id, count(*) from training_jobs group by tenant_id
on conflict (tenant_id) do update set training_jobs = excluded.training_jobs;

-- The argument is 1 where rows come and -1 where they go. A row that is on its way out with its tenant is not made again.
create function count_training_jobs() returns trigger language plpgsql security definer as $$
declare
  moved record;
begin
  for moved in select tenant_id, tg_argv[0]::int * count(*) as jobs from changed group by tenant_id order by tenant_id loop
    update tenant_usage set training_jobs = training_jobs + moved.jobs where tenant_id = moved.tenant_id;
    if not found and moved.jobs > 0 then
      insert into tenant_usage (tenant_id, training_jobs) values (moved.tenant_id, moved.jobs)
      on conflict (tenant_id) do update set training_jobs = tenant_usage.training_jobs + moved.jobs;
    end if;
  end loop;
  return null;
end $$;
do $$
begin
  execute format('alter function count_training_jobs set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
revoke execute on function count_training_jobs from public;
create trigger training_jobs_added after insert on training_jobs
  referencing new table as changed for each statement execute function count_training_jobs(1);
create trigger training_jobs_gone after delete on training_jobs
  referencing old table as changed for each statement execute function count_training_jobs('-1');
