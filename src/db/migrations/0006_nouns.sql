-- Reviewed files, deletion of models and jobs, and what deleted rows leave behind in the object store and in Kubernetes.

-- Files that somebody listened to as a whole: where they carry no label, training may take them as free of artifacts.
-- A file with a label counts as reviewed without a mark.
create table reviewed_files (
  tenant_id uuid not null,
  dataset_id uuid not null,
  annotation_set_id uuid not null,
  audio_file_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (annotation_set_id, audio_file_id),
  foreign key (tenant_id, dataset_id, annotation_set_id) references annotation_sets (tenant_id, dataset_id, id) on delete cascade,
  foreign key (tenant_id, dataset_id, audio_file_id) references audio_files (tenant_id, dataset_id, id) on delete cascade
);
create index reviewed_files_audio_file on reviewed_files (tenant_id, dataset_id, audio_file_id);
select isolate_tenant('reviewed_files', 'select, insert, delete', 'select');

create trigger reviewed_files_frozen before insert or update or delete on reviewed_files
  for each row execute function refuse_frozen_annotation();

-- The published set itself does not change either: no way back to a draft, no other statistics.
create function refuse_frozen_set() returns trigger language plpgsql as $$
begin
  raise exception 'annotation set % is published and cannot be changed', old.id using errcode = 'PL001';
end $$;
create trigger annotation_sets_frozen before update on annotation_sets
  for each row when (old.status = 'published' and new is distinct from old) execute function refuse_frozen_set();

-- A model outlives its training job, and a finished inference job its model: both keep the id as provenance. What no
-- foreign key can say any more, a trigger does: a new row refers to one of the same tenant.
alter table models drop constraint models_tenant_id_training_job_id_fkey;
alter table inference_jobs drop constraint inference_jobs_tenant_id_model_id_fkey;
create index inference_jobs_model on inference_jobs (tenant_id, model_id);

create function require_training_job() returns trigger language plpgsql as $$
begin
  perform from training_jobs where tenant_id = new.tenant_id and id = new.training_job_id for key share;
  if not found then
    raise exception 'there is no training job % of this tenant', new.training_job_id using errcode = '23503';
  end if;
  return new;
end $$;
create trigger models_training_job before insert or update of tenant_id, training_job_id on models
  for each row execute function require_training_job();

create function require_model() returns trigger language plpgsql as $$
begin
  perform from models where tenant_id = new.tenant_id and id = new.model_id for key share;
  if not found then
    raise exception 'there is no model % of this tenant', new.model_id using errcode = '23503';
  end if;
  return new;
end $$;
create trigger inference_jobs_model before insert or update of tenant_id, model_id on inference_jobs
  for each row execute function require_model();
grant delete on models to plosive_api;

-- What deleted rows leave behind elsewhere: objects in the store, custom resources. Written by the triggers below in the
-- transaction that deletes, so that no code path can forget it; worked off by the operator (controllers/leftovers.ts).
-- No reference to tenants: it outlives them too.
create table leftovers (
  id bigint generated always as identity primary key,
  tenant_id uuid not null,
  kind text not null check (kind in ('upload', 'audio', 'inference_audio', 'model', 'run', 'resource')),
  -- An id, or for runs and resources the name of the custom resource.
  target text not null,
  -- Not after the grace period but at once.
  at_once boolean not null default false,
  created_at timestamptz not null default now(),
  attempts int not null default 0,
  try_at timestamptz not null default now(),
  last_error text
);
create index leftovers_at_once on leftovers (try_at) where at_once;
create index leftovers_after_grace on leftovers (created_at) where not at_once;
create index leftovers_failing on leftovers (attempts) where attempts > 0;
select isolate_tenant('leftovers', '', 'select, update, delete');

-- A form that was signed for an upload may still be open, and a confirm of it under way: what they leave must not come
-- after the purge. A form lives for an hour at most (src/api/upload.ts), and a retried request signs a new one.
create function after_upload(announced_at timestamptz, pending boolean) returns timestamptz language sql stable
  return greatest(announced_at, case when pending then now() end) + interval '1 hour';

-- All as the owner: who deletes a row needs no right to this table.
create function leave_audio() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, kind, target, at_once, try_at)
  select tenant_id, 'audio', id, uploaded_at is null, after_upload(created_at, uploaded_at is null) from gone;
  return null;
end $$;
create trigger audio_files_left after delete on audio_files
  referencing old table as gone for each statement execute function leave_audio();

create function leave_upload() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, kind, target, at_once) values (new.tenant_id, 'upload', new.id, true);
  return null;
end $$;
create trigger audio_files_expired after update of status on audio_files
  for each row when (new.status = 'expired' and old.status <> 'expired') execute function leave_upload();

-- Files of a retried job have the key of the file that was uploaded; the last one to go takes the object along.
create function leave_inference_audio() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, kind, target, at_once, try_at)
  select tenant_id, 'inference_audio', split_part(object_key, '/', 3), status = 'pending_upload',
    after_upload(created_at, status = 'pending_upload')
  from gone where audio_file_id is null;
  return null;
end $$;
create trigger inference_files_left after delete on inference_files
  referencing old table as gone for each statement execute function leave_inference_audio();
create index inference_files_object on inference_files (object_key) where audio_file_id is null;

create function leave_model() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, kind, target, at_once)
  select tenant_id, 'model', training_job_id::text, false from gone
  union all
  select tenant_id, 'resource', 'm-' || id, true from gone;
  return null;
end $$;
create trigger models_left after delete on models
  referencing old table as gone for each statement execute function leave_model();

-- Results and checkpoints are of use while the job is open only. The argument is the prefix of the job's name.
create function leave_run() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, kind, target) values (new.tenant_id, 'run', tg_argv[0] || '-' || new.id);
  return null;
end $$;
create trigger training_jobs_ended after update of status on training_jobs for each row
  when (old.status <> new.status and new.status in ('completed', 'failed', 'cancelled'))
  execute function leave_run('tj');
create trigger inference_jobs_ended after update of status on inference_jobs for each row
  when (old.status <> new.status and new.status in ('completed', 'failed', 'cancelled'))
  execute function leave_run('ij');
create trigger embedding_jobs_ended after update of status on embedding_jobs for each row
  when (old.status <> new.status and new.status in ('completed', 'failed', 'cancelled'))
  execute function leave_run('ej');

-- A deleted job takes its events along; a training that made no model may have left parts of one.
create function leave_job() returns trigger language plpgsql security definer as $$
begin
  delete from job_events e using gone where e.tenant_id = gone.tenant_id and e.job_id = gone.id;
  insert into leftovers (tenant_id, kind, target, at_once)
  select tenant_id, 'run', tg_argv[0] || '-' || id, false from gone
  union all
  select tenant_id, 'resource', tg_argv[0] || '-' || id, true from gone
  union all
  select tenant_id, 'model', id::text, false from gone where tg_argv[0] = 'tj';
  return null;
end $$;
create trigger training_jobs_left after delete on training_jobs
  referencing old table as gone for each statement execute function leave_job('tj');
create trigger inference_jobs_left after delete on inference_jobs
  referencing old table as gone for each statement execute function leave_job('ij');
create trigger embedding_jobs_left after delete on embedding_jobs
  referencing old table as gone for each statement execute function leave_job('ej');

-- Uploads that were not confirmed in time.
create index audio_files_unconfirmed on audio_files (upload_expires_at) where status in ('pending_upload', 'expired');
create index inference_files_unconfirmed on inference_files (upload_expires_at) where status = 'pending_upload';

-- What runs as the owner finds its tables here and nowhere else, whatever the caller's search_path is.
do $$
declare
  name text;
begin
  foreach name in array array['leave_audio', 'leave_upload', 'leave_inference_audio', 'leave_model', 'leave_run',
    'leave_job'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end $$;
