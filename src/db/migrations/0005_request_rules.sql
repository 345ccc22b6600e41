-- What requests may ask of every route: to see whether something has changed, and to be sent again without harm.

-- Goes up with every change of the set, its annotations and its reviewed marks: the set's ETag. The update is also the
-- lock under which all of them are written, so that writers of one set take turns.
alter table annotation_sets add column revision bigint not null default 1;

-- What a POST with an Idempotency-Key made, written in the same transaction. `scope` is the digest of method, path and
-- key, `fingerprint` that of the input. Kept for 24 hours.
create table idempotency_keys (
  tenant_id uuid not null references tenants (id) on delete cascade,
  scope bytea not null check (length(scope) = 32),
  fingerprint bytea not null check (length(fingerprint) = 32),
  created_ids uuid[] not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, scope)
);
create index idempotency_keys_age on idempotency_keys (created_at);
select isolate_tenant('idempotency_keys', 'select, insert, update', 'select, delete');

-- How much of its rates each tenant has used, by the generic cell rate algorithm: for each policy the time, in seconds
-- since 1970, at which all that was used will be free again. Unlogged: after a crash everybody begins with a full burst,
-- and an update waits for no disk. Policies by number: 1 default, 2 writes, 3 uploads, 4 keys, 5 trainings.
create unlogged table rate_limits (
  tenant_id uuid primary key references tenants (id) on delete cascade,
  free_at double precision[] not null check (array_length(free_at, 1) = 5)
) with (fillfactor = 50);
select isolate_tenant('rate_limits', '', '');

-- Before a request is known to be anyone's, the API may ask for the owner of a key by its digest, and for nothing else.
-- The same statement says whether the request is within the owner's rates, so that rates are exact however many
-- replicas there are, and cost no round trip. Runs as the owner, because the tenant is not known yet. Counts the request
-- against the default policy and against `policy` (1 is none besides); a refused one counts for nothing. `gap` is the time
-- for one request at the steady rate and `span` that of the burst, in seconds; span 'infinity' is no limit.
-- `used` and `policy_used` say how long it takes until the full burst is free again.
create function admit_caller(
  digest bytea,
  gap double precision, span double precision,
  policy int, policy_gap double precision, policy_span double precision
) returns table (
  id uuid, tenant_id uuid, expired boolean, suspended boolean, unnoticed boolean,
  admitted boolean, used double precision, policy_used double precision
) language plpgsql security definer as $$
#variable_conflict use_column
declare
  caller record;
  known boolean;
  free double precision[];
  moment double precision := extract(epoch from clock_timestamp());
begin
  -- In plpgsql: a function in SQL is planned again at every call, which is half of all the time.
  select k.id, k.tenant_id, coalesce(k.expires_at <= now(), false) as expired,
    t.suspended_at is not null as suspended,
    coalesce(k.last_used_at < now() - interval '60 seconds', true) as unnoticed
  into caller
  from api_keys k join tenants t on t.id = k.tenant_id
  where k.key_hash = digest and k.revoked_at is null;
  if not found then return; end if;
  if span = 'infinity' and policy_span = 'infinity' then
    known := true;
  elsif not caller.expired and not caller.suspended then
    for attempt in 1..3 loop
      update rate_limits r
      set free_at[1] = greatest(r.free_at[1], moment) + gap,
        free_at[policy] = greatest(r.free_at[policy], moment) + policy_gap
      where r.tenant_id = caller.tenant_id
        and greatest(r.free_at[1], moment) + gap <= moment + span
        and greatest(r.free_at[policy], moment) + policy_gap <= moment + policy_span
      returning r.free_at into free;
      known := found;
      exit when known;
      select r.free_at into free from rate_limits r where r.tenant_id = caller.tenant_id;
      -- Refused only if the row says so: it may have come between the two statements, and is then updated like any.
      exit when greatest(free[1], moment) + gap > moment + span
        or greatest(free[policy], moment) + policy_gap > moment + policy_span;
      continue when found;
      insert into rate_limits (tenant_id, free_at) values (caller.tenant_id, array[0, 0, 0, 0, 0])
      on conflict do nothing;
    end loop;
  end if;
  return query select caller.id, caller.tenant_id, caller.expired, caller.suspended, caller.unnoticed,
    known, greatest(free[1] - moment, 0), greatest(free[policy] - moment, 0);
end $$;
do $$ begin
  -- The names in it are looked up here, whatever the caller's search_path is.
  execute format('alter function admit_caller set search_path = %I, pg_temp', current_schema());
end $$;
revoke execute on function admit_caller from public;
grant execute on function admit_caller to plosive_api;

-- Who made and revoked which key, and which keys were refused (of many refusals only some). `api_key_id` is the key that
-- it is about, `actor_key_id` the one that was used for it; the tenant is null when nobody knows the key.
create table audit_log (
  id bigint generated always as identity primary key,
  tenant_id uuid references tenants (id) on delete cascade,
  created_at timestamptz not null default now(),
  action text not null
    check (action in ('api_key.created', 'api_key.revoked', 'api_key.rotated', 'api_key.refused')),
  reason text,
  api_key_id uuid,
  key_prefix text check (length(key_prefix) <= 8),
  actor_key_id uuid,
  ip inet,
  request_id text
);
create index audit_log_page on audit_log (tenant_id, id);
create index audit_log_age on audit_log (created_at);
select isolate_tenant('audit_log', 'select, insert', 'select, delete');
create policy of_admin on audit_log for insert to plosive_admin with check (true);
grant insert on audit_log to plosive_admin;

-- A refusal is noted before the request is known to be anyone's.
create function note_refused_key(tenant uuid, reason text, prefix text, address inet, request text) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
  begin atomic
    insert into audit_log (tenant_id, action, reason, key_prefix, ip, request_id)
    values (tenant, 'api_key.refused', reason, prefix, address, request);
  end;
revoke execute on function note_refused_key from public;
grant execute on function note_refused_key to plosive_api;

-- W3C trace context of the request that made the job; it goes on to the custom resource.
alter table training_jobs add column traceparent text;
alter table inference_jobs add column traceparent text;

-- How much there is of what quotas limit and what would take long to count. Kept by triggers, so that no code path can
-- forget it; as the owner, because nobody else may write it.
-- What is there is counted once, and nobody writes between the count and the triggers.
alter table annotation_sets add column annotation_count bigint not null default 0;
lock table annotations, audio_files, inference_files in share row exclusive mode;
update annotation_sets s set annotation_count = a.count
from (select annotation_set_id, count(*) as count from annotations group by annotation_set_id) a
where a.annotation_set_id = s.id;

create table dataset_usage (
  tenant_id uuid not null,
  dataset_id uuid primary key,
  audio_files bigint not null,
  foreign key (tenant_id, dataset_id) references datasets (tenant_id, id) on delete cascade
) with (fillfactor = 80);
create index dataset_usage_tenant on dataset_usage (tenant_id);
insert into dataset_usage (tenant_id, dataset_id, audio_files)
select tenant_id, dataset_id, count(*) from audio_files where status <> 'expired' group by tenant_id, dataset_id;
select isolate_tenant('dataset_usage', 'select', 'select');

-- Bytes of audio, announced ones included: of datasets, and of inference jobs' own uploads.
create table tenant_usage (
  tenant_id uuid primary key references tenants (id) on delete cascade,
  audio_bytes bigint not null
) with (fillfactor = 80);
insert into tenant_usage (tenant_id, audio_bytes)
select tenant_id, sum(size_bytes) from (
  select tenant_id, size_bytes from audio_files where status <> 'expired'
  union all
  select tenant_id, size_bytes from inference_files where object_key = 'inference/' || tenant_id || '/' || id
) f group by tenant_id;
select isolate_tenant('tenant_usage', 'select', 'select');

create function count_annotations() returns trigger language plpgsql security definer as $$
begin
  if tg_op = 'INSERT' then
    update annotation_sets s set annotation_count = s.annotation_count + c.count
    from (select annotation_set_id, count(*) as count from changed group by annotation_set_id) c
    where s.id = c.annotation_set_id;
  else
    update annotation_sets s set annotation_count = s.annotation_count - c.count
    from (select annotation_set_id, count(*) as count from changed group by annotation_set_id) c
    where s.id = c.annotation_set_id;
  end if;
  return null;
end $$;
create trigger annotations_added after insert on annotations
  referencing new table as changed for each statement execute function count_annotations();
create trigger annotations_gone after delete on annotations
  referencing old table as changed for each statement execute function count_annotations();

-- Always the tenant before its datasets, so that transactions of one tenant take turns, also those that change files of
-- several datasets. A row that is on its way out together with its dataset or tenant is not made again.
create function add_usage(tenant uuid, dataset uuid, files bigint, bytes bigint) returns void
  language plpgsql security definer as $$
begin
  update tenant_usage set audio_bytes = audio_bytes + bytes where tenant_id = tenant;
  if not found and bytes > 0 then
    insert into tenant_usage (tenant_id, audio_bytes) values (tenant, bytes)
    on conflict (tenant_id) do update set audio_bytes = tenant_usage.audio_bytes + bytes;
  end if;
  if dataset is null then return; end if;
  update dataset_usage set audio_files = audio_files + files where dataset_id = dataset;
  if not found and files > 0 then
    insert into dataset_usage (tenant_id, dataset_id, audio_files) values (tenant, dataset, files)
    on conflict (dataset_id) do update set audio_files = dataset_usage.audio_files + files;
  end if;
end $$;
revoke execute on function add_usage from public;

-- The argument is 1 where rows come and -1 where they go.
create function count_audio() returns trigger language plpgsql security definer as $$
begin
  perform add_usage(tenant_id, dataset_id, tg_argv[0]::int * count(*), tg_argv[0]::int * sum(size_bytes)::bigint)
  from changed where status <> 'expired' group by tenant_id, dataset_id order by dataset_id;
  return null;
end $$;
create trigger audio_files_added after insert on audio_files
  referencing new table as changed for each statement execute function count_audio(1);
create trigger audio_files_gone after delete on audio_files
  referencing old table as changed for each statement execute function count_audio('-1');

create function count_expired_audio() returns trigger language plpgsql security definer as $$
begin
  perform add_usage(new.tenant_id, new.dataset_id, -1, -new.size_bytes);
  return null;
end $$;
create trigger audio_files_expire after update of status on audio_files
  for each row when (new.status = 'expired' and old.status <> 'expired') execute function count_expired_audio();

-- Files of a retried job have the object of the file that was uploaded, and count no second time.
create function count_inference_audio() returns trigger language plpgsql security definer as $$
begin
  perform add_usage(tenant_id, null, 0, tg_argv[0]::int * sum(size_bytes)::bigint)
  from changed where object_key = 'inference/' || tenant_id || '/' || id group by tenant_id;
  return null;
end $$;
create trigger inference_files_added after insert on inference_files
  referencing new table as changed for each statement execute function count_inference_audio(1);
create trigger inference_files_gone after delete on inference_files
  referencing old table as changed for each statement execute function count_inference_audio('-1');

do $$
declare
  name text;
begin
  foreach name in array array['count_annotations', 'add_usage', 'count_audio', 'count_expired_audio',
    'count_inference_audio'] loop
    execute format('alter function %I set search_path = %I, pg_temp', name, current_schema());
  end loop;
end $$;

-- Quotas count the open jobs of a tenant.
create index training_jobs_open_of_tenant on training_jobs (tenant_id, status)
  where status in ('pending', 'queued', 'running', 'cancelling');
create index inference_jobs_open_of_tenant on inference_jobs (tenant_id, status)
  where status in ('pending', 'queued', 'running', 'cancelling');
