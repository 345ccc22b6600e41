-- Embeddings made again, for plosive-admin: a release may compute other features, an installation may get another encoder,
-- and what was embedded before can no longer be trained together with what is embedded now. Labels stay.

-- The embedding that was replaced goes after the grace period; its target is the audio file and the run that made it.
alter table leftovers drop constraint leftovers_kind_check;
alter table leftovers add constraint leftovers_kind_check
  check (kind in ('upload', 'audio', 'embedding', 'inference_audio', 'model', 'run', 'resource'));

create function leave_embedding() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, kind, target)
  values (new.tenant_id, 'embedding', new.id || '/' || split_part(split_part(old.embedding_key, '/', 4), '.', 1));
  return null;
end $$;
create trigger audio_files_embedded_again after update of embedding_key on audio_files
  for each row when (old.embedding_key <> new.embedding_key) execute function leave_embedding();

-- What the gatherer looks for besides new uploads: files that keep their state and their old embedding until the new one is
-- there.
create index audio_files_to_embed_again on audio_files (tenant_id, uploaded_at)
  where status = 'ready' and embedding_status = 'pending';

-- Whether what a file has, or what a job is making of it, was begun before a moment. A file that waits has nothing.
create function is_embedded_before(f audio_files, moment timestamptz) returns boolean language sql stable as $$
  select f.status in ('processing', 'ready', 'failed') and (f.status = 'failed' or f.embedding_status <> 'pending')
    and coalesce(
      (select j.created_at from embedding_jobs j where j.id = f.embedding_job_id),
      case when f.status = 'failed' then f.updated_at else f.embedded_at end, '-infinity') < moment
$$;

-- For plosive-admin, which sees no files: the datasets of one tenant, or of all, that have such files.
create function datasets_embedded_before(wanted uuid, moment timestamptz) returns table (tenant uuid, dataset uuid)
language sql stable security definer as $$
  select distinct tenant_id, dataset_id from audio_files f
  where (wanted is null or tenant_id = wanted) and is_embedded_before(f, moment) order by 1, 2
$$;

-- Gives such files of a dataset back to the gatherer; those that failed before they were ever decoded begin anew. What a job
-- makes of them meanwhile is not taken in any more, and goes after the grace period. Not where a training job has not ended:
-- it reads their embeddings. Who makes a training job holds the dataset for key share, so one of the two waits for the other
-- and sees what it has done.
create function embed_again(wanted uuid, moment timestamptz) returns table (files bigint, left_alone bigint)
language plpgsql security definer as $$
begin
  files := 0;
  left_alone := 0;
  perform from datasets where id = wanted for update;
  if exists (
    select from training_jobs j
    where j.dataset_id = wanted and j.status not in ('completed', 'failed', 'cancelled')
  ) then
    select count(*) into left_alone from audio_files f where f.dataset_id = wanted and is_embedded_before(f, moment);
  else
    insert into leftovers (tenant_id, kind, target)
    select f.tenant_id, 'embedding', f.id || '/' || j.platform_job_name
    from audio_files f join embedding_jobs j on j.id = f.embedding_job_id
    where f.dataset_id = wanted and f.embedding_status in ('processing', 'failed') and j.platform_job_name is not null
      and is_embedded_before(f, moment);
    update audio_files f set
      status = case when f.status = 'failed' then 'processing' else f.status end, embedding_status = 'pending',
      embedding_job_id = null, embedding_shard = null, error_message = null, updated_at = now()
    where f.dataset_id = wanted and is_embedded_before(f, moment);
    get diagnostics files = row_count;
  end if;
  return next;
end $$;

alter table audit_log drop constraint audit_log_action_check;
alter table audit_log add constraint audit_log_action_check check (action in (
  'api_key.created', 'api_key.revoked', 'api_key.rotated', 'api_key.refused',
  'tenant.created', 'tenant.suspended', 'tenant.resumed', 'tenant.embedded_again'));

do $$ begin
  execute format('alter function leave_embedding set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function datasets_embedded_before set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function embed_again set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
revoke execute on function leave_embedding, is_embedded_before, datasets_embedded_before, embed_again from public;
grant execute on function datasets_embedded_before, embed_again to plosive_admin;
