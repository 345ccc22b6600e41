-- A deleted inference job with many detections disappears at once; they and its files are deleted in pieces (0022).
alter table inference_jobs add column deleted_at timestamptz;
alter policy of_tenant on inference_jobs using (
  tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)
  and (deleted_at is null or (select current_setting('app.sees_deleted', true)) = 'on'));
alter policy of_operator on inference_jobs
  using (deleted_at is null or (select current_setting('app.sees_deleted', true)) = 'on');
create trigger inference_jobs_deleted before update of deleted_at on inference_jobs
  for each row when (old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at)
  execute function refuse_undeletion();

-- The operator deletes what a tenant has deleted, and marks nothing as deleted itself.
grant delete on inference_jobs to plosive_operator;
create policy only_deleted on inference_jobs as restrictive for delete to plosive_operator
  using (deleted_at is not null);
create policy not_deleting on inference_jobs as restrictive for update to plosive_operator
  using (true) with check (deleted_at is null);

-- At once, as if the row were gone: the operator finds no row, and must not adopt the resource. leave_job() adds the rest.
create function leave_resource() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, kind, target, at_once)
  values (new.tenant_id, 'resource', 'ij-' || new.id || coalesce('/' || new.resource_name, ''), true);
  return null;
end $$;
create trigger inference_jobs_hidden after update of deleted_at on inference_jobs
  for each row when (old.deleted_at is null and new.deleted_at is not null) execute function leave_resource();

-- Reviewed files are copied in pieces too.
grant insert on reviewed_files to plosive_operator;
create policy only_copies on reviewed_files as restrictive for insert to plosive_operator with check (exists (
  select from annotation_sets s
  where s.tenant_id = reviewed_files.tenant_id and s.id = reviewed_files.annotation_set_id and s.copying is not null));

-- As in 0026, with inference jobs. The previous release would leave out the reviewed files of a copy, so it must not know
-- the kind of such a copy.
create or replace function next_background_work() returns table (kind text, tenant_id uuid, id uuid)
language sql security definer as $$
  select * from (
    select distinct on (w.tenant_id) w.* from (
      select case when s.copying ? 'reviewed_after' then 'copy' else 'annotation_set' end, s.tenant_id, s.id
      from annotation_sets s where s.deleted_at is not null or s.copying is not null
      union all
      select 'dataset', d.tenant_id, d.id from datasets d
      where d.deleted_at is not null and not exists (
        select from annotation_sets s where s.tenant_id = d.tenant_id and s.dataset_id = d.id)
      union all
      select 'inference_job', j.tenant_id, j.id from inference_jobs j where j.deleted_at is not null
      union all
      select 'webhook', h.tenant_id, h.id from webhooks h where h.deleted_at is not null
    ) w (kind, tenant_id, id) order by w.tenant_id, random()
  ) one_of_each order by random() limit 1
$$;

do $$
declare
  name text;
begin
  foreach name in array array['leave_resource', 'next_background_work'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end $$;
revoke execute on function leave_resource from public;
