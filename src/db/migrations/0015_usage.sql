-- The pods of open jobs that have ended: how often a shard may lose its pod is counted here, whatever Kubernetes still
-- remembers, and what each has used is added up once. Dropped with the end of the job.
create table run_pods (
  job_id uuid not null,
  pod_uid text not null,
  run_id text not null,
  shard int not null,
  -- Null: it never ran.
  started_at timestamptz,
  ended_at timestamptz not null,
  -- Requested processors and GPUs.
  cpu double precision not null,
  gpu double precision not null,
  -- As in the status of a custom resource; null: it did its work.
  failure jsonb,
  primary key (job_id, pod_uid)
);
grant select, insert, delete on run_pods to plosive_operator;

-- What the ended pods of a job have used, and the audio that it worked through.
do $$
declare
  name text;
begin
  foreach name in array array['training_jobs', 'inference_jobs', 'embedding_jobs', 'tenant_usage'] loop
    execute format('alter table %I
      add column pod_seconds double precision not null default 0,
      add column cpu_seconds double precision not null default 0,
      add column gpu_seconds double precision not null default 0,
      add column audio_seconds double precision not null default 0', name);
    execute format('grant update (pod_seconds, cpu_seconds, gpu_seconds, audio_seconds) on %I to plosive_operator', name);
  end loop;
end $$;
grant insert (tenant_id, pod_seconds, cpu_seconds, gpu_seconds, audio_seconds) on tenant_usage to plosive_operator;

-- How far a training has come that goes on from its last checkpoint.
alter table shard_progress add column checkpoint_step int, add column checkpoint_at timestamptz;
