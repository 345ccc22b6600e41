-- What each shard of a run last reported. Every replica of the operator writes here what its pods say; the leader adds
-- it up for the custom resource and the job's row, so it matters neither which replica a pod talks to nor whether one
-- restarts. Lines are dropped when the run ends.
create table shard_progress (
  run_id text not null,
  shard int not null,
  pod_uid text not null,
  seq bigint not null,
  items_done int not null,
  items_total int not null,
  items_failed int not null,
  fraction double precision not null check (fraction between 0 and 1),
  message text,
  updated_at timestamptz not null default now(),
  primary key (run_id, shard)
) with (fillfactor = 50);

-- Jobs that the operator has to look at: cancels to pass on, and submitted jobs whose custom resource may be gone.
create index training_jobs_open on training_jobs (created_at)
  where status in ('pending', 'queued', 'running', 'cancelling');
create index inference_jobs_open on inference_jobs (created_at)
  where status in ('pending', 'queued', 'running', 'cancelling');
create index embedding_jobs_open on embedding_jobs (created_at)
  where status in ('pending', 'queued', 'running', 'cancelling');
