-- Row-level security: the second lock behind the tenant predicate of each statement (docs/adr/0006-row-level-security.md).
-- The API works as plosive_api and sees the rows of the tenant that its transaction names in app.tenant_id, none without
-- it. The operator works as plosive_operator for all tenants, plosive-admin as plosive_admin. Roles belong to the whole
-- server, so another database may have made them already, even at this moment.

do $$
declare
  wanted text;
begin
  foreach wanted in array array['plosive_api', 'plosive_operator', 'plosive_admin'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I nologin', wanted);
      exception
        when duplicate_object or unique_violation then null;
        when insufficient_privilege then
          raise exception 'the role % is missing and % may not create it', wanted, current_user
            using errcode = '42501', hint = format('Let an administrator run: create role %I nologin;', wanted);
      end;
    end if;
    if exists (select from pg_roles where rolname = wanted and (rolsuper or rolbypassrls)) then
      raise exception 'the role % is above row-level security', wanted
        using errcode = '42501', hint = format('alter role %I nosuperuser nobypassrls', wanted);
    end if;
    execute format('grant usage on schema %I to %I', current_schema(), wanted);
  end loop;
end $$;

-- Every migration that makes a table with rows of tenants calls it. The rights are what each role may do at all, within
-- its policy; '' is none. The owner is bound too (force) and has a policy by name: migrations change rows, and functions
-- that run as the owner look for what no tenant is known for yet.
create function isolate_tenant(
  t regclass,
  api_rights text default 'select, insert, update, delete',
  operator_rights text default 'select, insert, update, delete',
  tenant_column name default 'tenant_id'
) returns void language plpgsql as $$
declare
  -- The sub-select makes it one value for the whole statement, which an index can be searched for.
  is_mine text := format(
    '%I = (select nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', tenant_column);
begin
  execute format('alter table %s enable row level security', t);
  execute format('alter table %s force row level security', t);
  execute format('create policy of_tenant on %s to plosive_api using (%s) with check (%s)', t, is_mine, is_mine);
  execute format('create policy of_operator on %s to plosive_operator using (true) with check (true)', t);
  execute format('create policy of_owner on %s to current_user using (true) with check (true)', t);
  if api_rights <> '' then execute format('grant %s on %s to plosive_api', api_rights, t); end if;
  if operator_rights <> '' then execute format('grant %s on %s to plosive_operator', operator_rights, t); end if;
end $$;
revoke execute on function isolate_tenant from public;

-- Two tables had only their job's id. With the tenant they have the policy of all others, and cannot point elsewhere.
alter table training_job_files add column tenant_id uuid;
update training_job_files f set tenant_id = j.tenant_id from training_jobs j where j.id = f.training_job_id;
alter table training_job_files alter column tenant_id set not null;
alter table training_job_files drop constraint training_job_files_training_job_id_fkey;
alter table training_job_files
  add foreign key (tenant_id, training_job_id) references training_jobs (tenant_id, id) on delete cascade;

alter table training_metrics add column tenant_id uuid;
update training_metrics m set tenant_id = j.tenant_id from training_jobs j where j.id = m.training_job_id;
alter table training_metrics alter column tenant_id set not null;
alter table training_metrics drop constraint training_metrics_training_job_id_fkey;
alter table training_metrics
  add foreign key (tenant_id, training_job_id) references training_jobs (tenant_id, id) on delete cascade;

select isolate_tenant('tenants', 'select', 'select', 'id');
select isolate_tenant('api_keys', 'select, insert', '');
grant update (name, expires_at, last_used_at, revoked_at) on api_keys to plosive_api;
select isolate_tenant('datasets');
select isolate_tenant('embedding_jobs');
select isolate_tenant('audio_files');
select isolate_tenant('annotation_sets');
select isolate_tenant('annotations');
select isolate_tenant('training_jobs');
select isolate_tenant('training_job_files', 'select, insert');
select isolate_tenant('training_metrics', 'select');
select isolate_tenant('models', 'select, update');
select isolate_tenant('inference_jobs');
select isolate_tenant('inference_files');
select isolate_tenant('detections', 'select');
select isolate_tenant('job_events', 'select, insert');

-- What runs report belongs to no tenant in particular: the operator alone writes and reads it.
grant select, insert, update, delete on result_ingests, shard_progress to plosive_operator;
-- Whether the database is ready for this release.
grant select on schema_migrations to plosive_api, plosive_operator, plosive_admin;

-- plosive-admin: tenants and their keys, nothing of what they own.
create policy of_admin on tenants to plosive_admin using (true) with check (true);
create policy of_admin on api_keys to plosive_admin using (true) with check (true);
grant select, insert, update on tenants, api_keys to plosive_admin;
