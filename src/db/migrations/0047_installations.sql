-- Several installations may share one database (docs/adr/0031-installations-that-share-a-database.md): each row that has a custom
-- resource names the installation whose cluster has it. Rows from before, and those that processes of the previous release still add, belong to the installation whose
-- set-up job runs this migration, which is the only one that there is. A constant default rewrites no table.
do $$
declare
  name text := coalesce(nullif(current_setting('app.installation', true), ''), 'default');
  changed text;
begin
  foreach changed in array array['training_jobs', 'inference_jobs', 'embedding_jobs', 'models'] loop
    execute format('alter table %I add column installation text not null default %L', changed, name);
  end loop;
  -- The same for the purge queue. New entries name an installation if they concern its cluster; any operator does the others.
  execute format('alter table leftovers add column installation text default %L', name);
  alter table leftovers alter column installation drop default;
end $$;

-- The operators that work on the database. `identity` tells two of the same name apart: the uid of the Lease that the leader
-- holds; null after it has shut down.
create table installations (
  name text primary key,
  identity text,
  seen_at timestamptz not null default now()
);
grant select, insert, update on installations to plosive_operator;

-- As in 0016, with the installation. The target of an adopted job's resource ends in '/' and its name.
create or replace function leave_job() returns trigger language plpgsql security definer as $$
begin
  delete from job_events e using gone where e.tenant_id = gone.tenant_id and e.job_id = gone.id;
  insert into leftovers (tenant_id, installation, kind, target, at_once)
  select tenant_id, installation, 'run', tg_argv[0] || '-' || id, false from gone
  union all
  select tenant_id, installation, 'resource', tg_argv[0] || '-' || id || coalesce('/' || resource_name, ''), true from gone
  union all
  select tenant_id, null, 'model', id::text, false from gone where tg_argv[0] = 'tj';
  return null;
end $$;

-- As in 0006, with the installation, which has the custom resource. Every installation uses the model's objects.
create or replace function leave_model() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, installation, kind, target, at_once)
  select tenant_id, null, 'model', training_job_id::text, false from gone
  union all
  select tenant_id, installation, 'resource', 'm-' || id, true from gone;
  return null;
end $$;

-- As in 0037, with the installation. At once, as if the row were gone: the operator finds no row, and must not adopt the
-- resource. leave_job() adds the rest.
create or replace function leave_resource() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, installation, kind, target, at_once)
  values (new.tenant_id, new.installation, 'resource', 'ij-' || new.id || coalesce('/' || new.resource_name, ''), true);
  return null;
end $$;

-- As in 0006, with the installation, because the custom resource goes with the objects. Results and checkpoints are of use
-- while the job is open only. The argument is the prefix of the job's name.
create or replace function leave_run() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, installation, kind, target)
  values (new.tenant_id, new.installation, 'run', tg_argv[0] || '-' || new.id);
  return null;
end $$;

-- Every installation that has led or has open jobs. `silent_seconds` is null if none of its operators has ever led.
create function installation_states()
returns table (name text, seen_at timestamptz, silent_seconds double precision, is_running boolean, open_jobs bigint)
language sql stable security definer as $$
  select coalesce(i.name, j.installation), i.seen_at,
    extract(epoch from clock_timestamp() - i.seen_at)::double precision,
    coalesce(i.identity is not null and i.seen_at > clock_timestamp() - interval '30 seconds', false),
    coalesce(j.jobs, 0)
  from installations i full join (
    select installation, count(*) as jobs from (
      select installation from training_jobs where status in ('pending', 'queued', 'running', 'cancelling')
      union all
      select installation from inference_jobs where status in ('pending', 'queued', 'running', 'cancelling')
      union all
      select installation from embedding_jobs where status in ('pending', 'queued', 'running', 'cancelling')
    ) as open group by installation
  ) j on j.installation = i.name
  order by 1
$$;

-- Hands the open jobs of an installation that is gone for good, its models and its entries of the purge queue to another one, and
-- returns the number of jobs. Null, without an effect: an operator of the former still runs. The latter submits the jobs again; it
-- cancels adopted ones, because only their resource had all of their settings.
create function move_jobs(giver text, taker text) returns bigint language plpgsql security definer as $$
declare
  changed text;
  moved bigint := 0;
  part bigint;
begin
  delete from installations
  where name = giver and (identity is null or seen_at <= clock_timestamp() - interval '30 seconds');
  if exists (select from installations where name = giver) then
    return null;
  end if;
  foreach changed in array array['training_jobs', 'inference_jobs', 'embedding_jobs'] loop
    execute format($update$
      update %I set installation = $2, submitted_at = case when resource_name is not null then submitted_at end
      where installation = $1 and status in ('pending', 'queued', 'running', 'cancelling')$update$, changed)
      using giver, taker;
    get diagnostics part = row_count;
    moved := moved + part;
  end loop;
  update models set installation = taker where installation = giver;
  update leftovers set installation = taker where installation = giver;
  insert into audit_log (action, reason, request_id)
  values ('installation.moved', giver || ' to ' || taker, 'plosive-admin');
  return moved;
end $$;

alter table audit_log drop constraint audit_log_action_check;
alter table audit_log add constraint audit_log_action_check check (action in (
  'api_key.created', 'api_key.revoked', 'api_key.rotated', 'api_key.refused',
  'session.started', 'session.ended', 'sign_in_link.created',
  'tenant.created', 'tenant.suspended', 'tenant.resumed', 'tenant.embedded_again', 'tenant.erased',
  'installation.moved')) not valid;

do $$
declare
  name text;
begin
  foreach name in array array['leave_job', 'leave_model', 'leave_resource', 'leave_run', 'installation_states', 'move_jobs'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end $$;
revoke execute on function installation_states, move_jobs from public;
grant execute on function installation_states to plosive_operator, plosive_admin;
grant execute on function move_jobs to plosive_admin;
