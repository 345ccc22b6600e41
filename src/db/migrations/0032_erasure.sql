-- Erasure of a tenant for plosive-admin, which sees nothing of what tenants own: two functions do it in pieces
-- (src/db/tenant.ts). Everything that they do can be repeated after a crash.

-- Suspends the tenant, cancels its jobs, and returns how many jobs have not ended. Their pods may still write objects.
create function begin_erasure(wanted uuid) returns bigint language plpgsql security definer as $$
declare
  open_jobs bigint;
begin
  update tenants set suspended_at = now() where id = wanted and suspended_at is null;
  update training_jobs set status = 'cancelling', cancel_requested_at = now(),
    status_message = 'Cancellation was requested'
  where tenant_id = wanted and status in ('pending', 'queued', 'running');
  update inference_jobs set status = case when start_requested_at is null then 'cancelled' else 'cancelling' end,
    completed_at = case when start_requested_at is null then now() end, cancel_requested_at = now(),
    status_message = 'Cancellation was requested'
  where tenant_id = wanted and status in ('pending', 'queued', 'running');
  select (select count(*) from training_jobs where tenant_id = wanted and status = 'cancelling')
    + (select count(*) from inference_jobs where tenant_id = wanted and status = 'cancelling')
    + (select count(*) from embedding_jobs where tenant_id = wanted and status not in ('completed', 'failed', 'cancelled'))
    into open_jobs;
  return open_jobs;
end $$;

-- Deletes at most `most` rows of one table of the tenant and returns the table; null when no row was left. Then the tenant
-- itself is gone, and the purge queue deletes its objects without the grace period.
create function erase_piece(wanted uuid, most int, out part text, out deleted bigint) language plpgsql security definer as $$
begin
  perform set_config('app.sees_deleted', 'on', true);
  -- Published sets of a deleted dataset may be deleted.
  update datasets set deleted_at = now() where tenant_id = wanted and deleted_at is null;
  update annotation_sets set status = 'draft', deleted_at = coalesce(deleted_at, now()), copying = null
  where tenant_id = wanted and (status = 'published' or deleted_at is null);
  foreach part in array array[
    'detections', 'inference_files', 'inference_jobs', 'models', 'training_metrics', 'training_job_files', 'training_jobs',
    'annotations', 'reviewed_files', 'annotation_sets', 'audio_files', 'datasets', 'embedding_jobs',
    'webhook_deliveries', 'webhooks', 'job_events', 'event_inbox', 'events', 'event_positions', 'idempotency_keys',
    'leases', 'api_keys', 'rate_limits', 'dataset_usage', 'tenant_usage', 'audit_log']
  loop
    execute format('delete from %1$I where ctid = any(array(select ctid from %1$I where tenant_id = $1 limit $2))', part)
      using wanted, most;
    get diagnostics deleted = row_count;
    if deleted > 0 then
      return;
    end if;
  end loop;
  part := null;
  delete from tenants where id = wanted;
  if found then
    insert into audit_log (action, reason, request_id) values ('tenant.erased', wanted::text, 'plosive-admin');
  end if;
  update leftovers set at_once = true where tenant_id = wanted and not at_once;
  select count(*) into deleted from leftovers where tenant_id = wanted;
end $$;

alter table audit_log drop constraint audit_log_action_check;
alter table audit_log add constraint audit_log_action_check check (action in (
  'api_key.created', 'api_key.revoked', 'api_key.rotated', 'api_key.refused',
  'tenant.created', 'tenant.suspended', 'tenant.resumed', 'tenant.embedded_again', 'tenant.erased')) not valid;

do $$ begin
  execute format('alter function begin_erasure set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function erase_piece set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
revoke execute on function begin_erasure, erase_piece from public;
grant execute on function begin_erasure, erase_piece to plosive_admin;
