-- The operator sends deliveries and does background work (controllers/background.ts). Through these functions anybody who could
-- run SQL as the API saw deliveries and secrets of all tenants. API processes of the previous release log their refusal until
-- they are replaced; nothing is lost, because the rows are the queue.
revoke execute on function claim_deliveries, next_background_work from plosive_api;
grant execute on function claim_deliveries, next_background_work to plosive_operator;

-- The outcome of a delivery. The operator gets URLs, bodies and secrets only by claiming what is due.
grant select (id, tenant_id, enabled, disabled_reason, failing_since, deleted_at),
  update (enabled, disabled_reason, failing_since, throttled_until) on webhooks to plosive_operator;
grant select (ctid, id, tenant_id, webhook_id, status, attempts),
  update (status, next_attempt_at, last_status, last_error, finished_at) on webhook_deliveries to plosive_operator;
-- Copies and deletions.
grant select (deleted_at) on datasets to plosive_operator;
grant update (copying) on annotation_sets to plosive_operator;
grant insert on annotations to plosive_operator;
grant delete on datasets, annotation_sets, annotations, reviewed_files, webhooks, webhook_deliveries to plosive_operator;

-- No more than that: it adds labels only to sets that are being copied, and deletes only what is deleted for its tenant.
create policy only_copies on annotations as restrictive for insert to plosive_operator with check (exists (
  select from annotation_sets s
  where s.tenant_id = annotations.tenant_id and s.id = annotations.annotation_set_id and s.copying is not null));
do $$
declare
  name text;
  part record;
begin
  foreach name in array array['datasets', 'annotation_sets', 'webhooks'] loop
    execute format('create policy only_deleted on %I as restrictive for delete to plosive_operator
      using (deleted_at is not null)', name);
  end loop;
  for part in select * from (values ('annotations', 'annotation_sets', 'annotation_set_id'),
    ('reviewed_files', 'annotation_sets', 'annotation_set_id'),
    ('webhook_deliveries', 'webhooks', 'webhook_id')) parts (child, parent, key) loop
    execute format('create policy only_of_deleted on %1$I as restrictive for delete to plosive_operator using (exists (
      select from %2$I p where p.tenant_id = %1$I.tenant_id and p.id = %1$I.%3$I and p.deleted_at is not null))',
      part.child, part.parent, part.key);
  end loop;
  -- Triggers need no right to execute their functions. With it, a session could attach them to a temporary table, and write
  -- for any tenant with the rights of the owner.
  for part in select oid::regprocedure as function from pg_proc
    where pronamespace = current_schema()::regnamespace and prosecdef and prorettype = 'trigger'::regtype loop
    execute format('revoke execute on function %s from public', part.function);
  end loop;
  -- As for the API: deleted rows are visible to the code that deletes.
  foreach name in array array['datasets', 'annotation_sets', 'webhooks'] loop
    execute format('alter policy of_operator on %I
      using (deleted_at is null or (select current_setting(''app.sees_deleted'', true)) = ''on'')', name);
  end loop;
end $$;
