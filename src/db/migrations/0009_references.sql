-- Where a row keeps the id of something that may be deleted before it, no foreign key can say that the id is of the same
-- tenant. A trigger says it when the row is made, and the id does not change afterwards.

create function require_own_set() returns trigger language plpgsql as $$
begin
  perform from annotation_sets
  where tenant_id = new.tenant_id and dataset_id = new.dataset_id and id = new.annotation_set_id;
  if not found then
    raise exception 'there is no annotation set % of this tenant', new.annotation_set_id using errcode = '23503';
  end if;
  return new;
end $$;
create trigger training_jobs_set before insert on training_jobs for each row execute function require_own_set();

create function require_own_audio() returns trigger language plpgsql as $$
begin
  if exists (
    select from added n where n.audio_file_id is not null and not exists (
      select from audio_files a where a.tenant_id = n.tenant_id and a.id = n.audio_file_id)
  ) then
    raise exception 'there is no such audio file of this tenant' using errcode = '23503';
  end if;
  return null;
end $$;
create trigger inference_files_audio after insert on inference_files
  referencing new table as added for each statement execute function require_own_audio();
create trigger training_job_files_audio after insert on training_job_files
  referencing new table as added for each statement execute function require_own_audio();

create function refuse_other_origin() returns trigger language plpgsql as $$
begin
  raise exception 'a row of % keeps what it was made from', tg_table_name using errcode = '23503';
end $$;
create trigger training_jobs_origin before update of tenant_id, dataset_id, annotation_set_id on training_jobs
  for each row when ((new.tenant_id, new.dataset_id, new.annotation_set_id)
    is distinct from (old.tenant_id, old.dataset_id, old.annotation_set_id))
  execute function refuse_other_origin();
create trigger inference_files_origin before update of tenant_id, audio_file_id on inference_files
  for each row when ((new.tenant_id, new.audio_file_id) is distinct from (old.tenant_id, old.audio_file_id))
  execute function refuse_other_origin();
create trigger training_job_files_origin before update of tenant_id, audio_file_id on training_job_files
  for each row when ((new.tenant_id, new.audio_file_id) is distinct from (old.tenant_id, old.audio_file_id))
  execute function refuse_other_origin();

-- A detection names its file and its job; the file must be of that job.
alter table inference_files add unique (tenant_id, inference_job_id, id);
alter table detections drop constraint detections_tenant_id_inference_file_id_fkey;
alter table detections add foreign key (tenant_id, inference_job_id, inference_file_id)
  references inference_files (tenant_id, inference_job_id, id) on delete cascade;

-- plosive-admin notes what it does with tenants too.
alter table audit_log drop constraint audit_log_action_check;
alter table audit_log add check (action in ('api_key.created', 'api_key.revoked', 'api_key.rotated', 'api_key.refused',
  'tenant.created', 'tenant.suspended', 'tenant.resumed'));

-- What the roles do not need they may not do: labels and datasets are the tenants' own, jobs are made by the API and
-- worked on by the operator.
revoke all on tenants, datasets, annotation_sets, annotations, training_jobs, training_job_files, training_metrics, models,
  inference_jobs, embedding_jobs, detections, job_events from plosive_operator;
grant select on annotation_sets, annotations, training_job_files to plosive_operator;
grant select, update on training_jobs, inference_jobs to plosive_operator;
grant select, insert, update on embedding_jobs, training_metrics to plosive_operator;
grant select, insert on models, job_events to plosive_operator;
grant select, insert, delete on detections to plosive_operator;
revoke insert, update, delete on embedding_jobs from plosive_api;
