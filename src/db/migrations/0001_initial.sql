-- The record that REST clients read. Every table of a tenant's data has tenant_id and is referred to by composite
-- keys (tenant_id, id), so that a reference across tenants cannot be written. Times are UTC, lengths milliseconds.

create table tenants (
  id uuid primary key,
  name text not null check (length(name) between 1 and 255),
  created_at timestamptz not null default now(),
  suspended_at timestamptz
);

create table api_keys (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  key_prefix text not null check (length(key_prefix) = 8),
  key_hash bytea not null unique check (length(key_hash) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  unique (tenant_id, key_prefix)
) with (fillfactor = 80);

create table datasets (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  name text not null,
  description text,
  artifact_types jsonb not null default '[]',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, id)
);
create index datasets_page on datasets (tenant_id, created_at desc, id desc);

-- Jobs. A row is its own outbox: submitted_at is set once the custom resource exists; until then the sweep submits it
-- again. status moves forward only (pending < queued < running < cancelling < completed, failed, cancelled).
create table embedding_jobs (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  status text not null default 'pending'
    check (status in ('pending', 'queued', 'running', 'cancelling', 'completed', 'failed', 'cancelled')),
  status_message text,
  error_message text,
  progress_percent int not null default 0 check (progress_percent between 0 and 100),
  platform_job_name text,
  shard_count int not null check (shard_count >= 1),
  submitted_at timestamptz,
  submit_error text,
  created_at timestamptz not null default now(),
  queued_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  unique (tenant_id, id)
);
create index embedding_jobs_unsubmitted on embedding_jobs (created_at) where submitted_at is null;

create table audio_files (
  id uuid primary key,
  tenant_id uuid not null,
  dataset_id uuid not null,
  filename text not null,
  content_type text not null,
  size_bytes bigint not null,
  checksum_sha256 text,
  metadata jsonb not null default '{}',
  status text not null default 'pending_upload'
    check (status in ('pending_upload', 'processing', 'ready', 'failed', 'expired')),
  duration_ms bigint,
  sample_rate_hz int,
  channels int,
  codec text,
  embedding_status text not null default 'pending'
    check (embedding_status in ('pending', 'processing', 'completed', 'failed')),
  embedding_model text,
  embedding_spec_hash text,
  embedding_key text,
  embedding_sha256 text,
  embedding_size_bytes bigint,
  peaks_key text,
  embedded_at timestamptz,
  embedding_job_id uuid,
  embedding_shard int,
  error_message text,
  upload_expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  uploaded_at timestamptz,
  updated_at timestamptz not null default now(),
  unique (tenant_id, id),
  unique (tenant_id, dataset_id, id),
  foreign key (tenant_id, dataset_id) references datasets (tenant_id, id) on delete cascade,
  foreign key (tenant_id, embedding_job_id) references embedding_jobs (tenant_id, id)
);
create index audio_files_page on audio_files (tenant_id, dataset_id, created_at desc, id desc);
-- Confirmed files that no embedding job has yet: what the gatherer looks for.
create index audio_files_to_embed on audio_files (tenant_id, uploaded_at)
  where status = 'processing' and embedding_job_id is null;
create index audio_files_embedding_job on audio_files (embedding_job_id, embedding_shard);

create table annotation_sets (
  id uuid primary key,
  tenant_id uuid not null,
  dataset_id uuid not null,
  version int not null,
  status text not null default 'draft' check (status in ('draft', 'published')),
  total_annotations int not null default 0,
  total_positive_duration_ms bigint not null default 0,
  annotations_by_type jsonb not null default '{}',
  created_at timestamptz not null default now(),
  published_at timestamptz,
  unique (tenant_id, id),
  unique (tenant_id, dataset_id, id),
  unique (dataset_id, version),
  foreign key (tenant_id, dataset_id) references datasets (tenant_id, id) on delete cascade
);

create table annotations (
  id uuid primary key,
  tenant_id uuid not null,
  dataset_id uuid not null,
  annotation_set_id uuid not null,
  audio_file_id uuid not null,
  artifact_type text not null,
  start_ms bigint not null check (start_ms >= 0),
  end_ms bigint not null check (end_ms >= start_ms),
  confidence double precision not null default 1 check (confidence between 0 and 1),
  extra_data jsonb not null default '{}',
  created_at timestamptz not null default now(),
  foreign key (tenant_id, dataset_id, annotation_set_id) references annotation_sets (tenant_id, dataset_id, id) on delete cascade,
  foreign key (tenant_id, dataset_id, audio_file_id) references audio_files (tenant_id, dataset_id, id) on delete cascade
);
create index annotations_order on annotations (annotation_set_id, audio_file_id, start_ms, id);
create index annotations_audio_file on annotations (tenant_id, dataset_id, audio_file_id);

-- A published set never changes, whatever the code above the database does.
create function refuse_frozen_annotation() returns trigger language plpgsql as $$
declare
  set_id uuid := case when tg_op = 'DELETE' then old.annotation_set_id else new.annotation_set_id end;
begin
  if exists (select from annotation_sets where id = set_id and status = 'published') then
    raise exception 'annotation set % is published and cannot be changed', set_id using errcode = 'PL001';
  end if;
  if tg_op = 'UPDATE' and old.annotation_set_id <> new.annotation_set_id then
    raise exception 'an annotation stays in its set' using errcode = 'PL001';
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;
create trigger annotations_frozen before insert or update or delete on annotations
  for each row execute function refuse_frozen_annotation();

create table training_jobs (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  dataset_id uuid not null,
  annotation_set_id uuid not null,
  -- Names are copied: the job outlives its dataset.
  dataset_name text not null,
  annotation_set_version int not null,
  config jsonb not null,
  status text not null default 'pending'
    check (status in ('pending', 'queued', 'running', 'cancelling', 'completed', 'failed', 'cancelled')),
  status_message text,
  error_message text,
  progress_percent int not null default 0 check (progress_percent between 0 and 100),
  metrics jsonb,
  platform_job_name text,
  checkpoint_key text,
  checkpoint_size_bytes bigint,
  cancel_requested_at timestamptz,
  cancel_submitted_at timestamptz,
  submitted_at timestamptz,
  submit_error text,
  created_at timestamptz not null default now(),
  queued_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  unique (tenant_id, id)
);
create index training_jobs_page on training_jobs (tenant_id, created_at desc, id desc);
create index training_jobs_unsubmitted on training_jobs (created_at) where submitted_at is null;

-- What the job trains on, fixed when it is created: later uploads do not change it.
create table training_job_files (
  training_job_id uuid not null references training_jobs (id) on delete cascade,
  audio_file_id uuid not null,
  duration_ms bigint not null,
  embedding_key text not null,
  embedding_sha256 text not null,
  embedding_size_bytes bigint not null,
  embedding_model text not null,
  embedding_spec_hash text not null,
  primary key (training_job_id, audio_file_id)
);

create table training_metrics (
  training_job_id uuid not null references training_jobs (id) on delete cascade,
  name text not null,
  step int not null,
  value double precision not null,
  primary key (training_job_id, name, step)
);

create table models (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  training_job_id uuid not null unique,
  name text not null,
  description text not null default '',
  artifact_types text[] not null,
  object_store_key text not null,
  model_size_bytes bigint not null,
  checksum_sha256 text not null,
  card_key text not null,
  card_sha256 text not null,
  card_size_bytes bigint not null,
  architecture jsonb not null,
  eval_metrics jsonb not null,
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  archived_at timestamptz,
  unique (tenant_id, id),
  foreign key (tenant_id, training_job_id) references training_jobs (tenant_id, id)
);
create index models_page on models (tenant_id, created_at desc, id desc);

create table inference_jobs (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  model_id uuid not null,
  config jsonb not null,
  status text not null default 'pending'
    check (status in ('pending', 'queued', 'running', 'cancelling', 'completed', 'failed', 'cancelled')),
  status_message text,
  error_message text,
  progress_percent int not null default 0 check (progress_percent between 0 and 100),
  total_files int not null default 0,
  processed_files int not null default 0,
  failed_files int not null default 0,
  total_detections bigint not null default 0,
  platform_job_name text,
  shard_count int,
  -- Files may be added until the client starts the job; only then is it submitted.
  start_requested_at timestamptz,
  cancel_requested_at timestamptz,
  cancel_submitted_at timestamptz,
  submitted_at timestamptz,
  submit_error text,
  created_at timestamptz not null default now(),
  queued_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  unique (tenant_id, id),
  foreign key (tenant_id, model_id) references models (tenant_id, id)
);
create index inference_jobs_page on inference_jobs (tenant_id, created_at desc, id desc);
create index inference_jobs_unsubmitted on inference_jobs (start_requested_at)
  where submitted_at is null and start_requested_at is not null;

create table inference_files (
  id uuid primary key,
  tenant_id uuid not null,
  inference_job_id uuid not null,
  audio_file_id uuid,
  filename text not null,
  content_type text not null,
  size_bytes bigint not null,
  checksum_sha256 text,
  object_key text not null,
  status text not null default 'pending_upload'
    check (status in ('pending_upload', 'queued', 'processing', 'completed', 'failed', 'cancelled')),
  shard int,
  duration_ms bigint,
  detection_count int not null default 0,
  error_message text,
  upload_expires_at timestamptz,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  unique (tenant_id, id),
  foreign key (tenant_id, inference_job_id) references inference_jobs (tenant_id, id) on delete cascade
);
create index inference_files_page on inference_files (tenant_id, inference_job_id, created_at desc, id desc);
create index inference_files_shard on inference_files (inference_job_id, shard);

create table detections (
  id uuid primary key,
  tenant_id uuid not null,
  inference_job_id uuid not null,
  inference_file_id uuid not null,
  ordinal int not null,
  artifact_type text not null,
  start_ms bigint not null check (start_ms >= 0),
  end_ms bigint not null check (end_ms >= start_ms),
  confidence double precision not null check (confidence between 0 and 1),
  unique (inference_file_id, ordinal),
  foreign key (tenant_id, inference_file_id) references inference_files (tenant_id, id) on delete cascade
);
create index detections_page on detections (inference_job_id, inference_file_id, ordinal);

-- One line for each shard whose result was taken in: the same result twice does nothing.
create table result_ingests (
  run_id text not null,
  shard int not null,
  digest text not null,
  created_at timestamptz not null default now(),
  primary key (run_id, shard)
);

create table job_events (
  id bigint generated always as identity primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  job_kind text not null check (job_kind in ('training', 'inference', 'embedding')),
  job_id uuid not null,
  level text not null check (level in ('info', 'warning', 'error')),
  type text not null check (type in ('status', 'message', 'metrics')),
  message text not null,
  data jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index job_events_page on job_events (job_id, id);
