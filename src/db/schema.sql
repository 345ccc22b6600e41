-- The present schema, as the migrations leave it. Written by `make schema`; nothing reads it. Change the schema by a new
-- migration.

-- migrations/0014_statistics_of_drafts.sql
-- In plpgsql: a function in SQL is planned again at every call. A type without labels is not named.
CREATE FUNCTION public.add_by_type(present jsonb, added jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  return (
    select coalesce(jsonb_object_agg(artifact_type, labels), '{}') from (
      select artifact_type, sum(labels::bigint) as labels from (
        select * from jsonb_each_text(present) union all select * from jsonb_each_text(added)
      ) both_sides (artifact_type, labels) group by artifact_type
    ) summed where labels <> 0);
end $$;

-- migrations/0024_usage_of_datasets.sql
-- The row of the dataset exists already: the file was counted when it was added. A dataset that is being deleted has none.
CREATE FUNCTION public.add_usable(dataset uuid, files bigint, ms bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if files = 0 and ms = 0 then return; end if;
  update dataset_usage set usable_files = usable_files + files, usable_ms = usable_ms + ms where dataset_id = dataset;
end $$;

-- migrations/0005_request_rules.sql
-- Always the tenant before its datasets, so that transactions of one tenant take turns, also those that change files of
-- several datasets. A row that is on its way out together with its dataset or tenant is not made again.
CREATE FUNCTION public.add_usage(tenant uuid, dataset uuid, files bigint, bytes bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

-- migrations/0041_users_of_the_dashboard.sql
-- Before a request is known to be anyone's, the API may ask for the owner of a key by its digest, and for nothing else.
-- The same statement says whether the request is within the owner's rates, so that rates are exact however many
-- replicas there are, and cost no round trip. Runs as the owner, because the tenant is not known yet. Counts the request
-- against the default policy and against `policy` (1 is none besides); a refused one counts for nothing. `gap` is the time
-- for one request at the steady rate and `span` that of the burst, in seconds; span 'infinity' is no limit.
-- `used` and `policy_used` say how long it takes until the full burst is free again. `id` is null for a session of a user.
CREATE FUNCTION public.admit_caller(digest bytea, gap double precision, span double precision, policy integer, policy_gap double precision, policy_span double precision) RETURNS TABLE(id uuid, tenant_id uuid, expired boolean, suspended boolean, unnoticed boolean, admitted boolean, used double precision, policy_used double precision)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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
  where k.key_hash = admit_caller.digest and k.revoked_at is null;
  if not found then
    -- No key has the form of a token, and no token that of a key, so neither can stand for the other.
    select null::uuid as id, s.tenant_id, false as expired, t.suspended_at is not null as suspended, false as unnoticed
    into caller
    from dashboard_sessions s join tenants t on t.id = s.tenant_id
    where s.digest = admit_caller.digest and s.subject is not null and is_session_open(s.last_used_at, s.expires_at);
    if not found then return; end if;
  end if;
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

-- migrations/0006_nouns.sql
-- A form that was signed for an upload may still be open, and a confirm of it under way: what they leave must not come
-- after the purge. A form lives for an hour at most (src/api/upload.ts), and a retried request signs a new one.
CREATE FUNCTION public.after_upload(announced_at timestamp with time zone, pending boolean) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    RETURN (GREATEST(announced_at, CASE WHEN pending THEN now() ELSE NULL::timestamp with time zone END) + '01:00:00'::interval);

-- migrations/0032_erasure.sql
-- Suspends the tenant, cancels its jobs, and returns how many jobs have not ended. Their pods may still write objects.
CREATE FUNCTION public.begin_erasure(wanted uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  open_jobs bigint;
begin
  update tenants set suspended_at = now() where id = wanted and suspended_at is null;
  update training_jobs set status = 'cancelling', cancel_requested_at = now(),
    status_message = 'Cancellation was requested'
  where tenant_id = wanted and status in ('pending', 'queued', 'running');
  update inference_jobs set status = case when start_requested_at is null then 'cancelled' else 'cancelling' end,
    completed_at = case when start_requested_at is null then now() end, cancel_requested_at = now(),
    status_message = 'Cancellation was requested'
  where tenant_id = wanted and status in ('pending', 'queued', 'running');
  select (select count(*) from training_jobs where tenant_id = wanted and status = 'cancelling')
    + (select count(*) from inference_jobs where tenant_id = wanted and status = 'cancelling')
    + (select count(*) from embedding_jobs where tenant_id = wanted and status not in ('completed', 'failed', 'cancelled'))
    into open_jobs;
  return open_jobs;
end $$;

-- migrations/0007_events.sql
-- Takes deliveries that are due: `places` of them, of each webhook, tenant and host only so many that with those that
-- are under way already (the arrays, one element for each) there are no more than the limits. So a receiver that does
-- not answer takes its own places and nobody else's. A claimed delivery is due again after the lease.
CREATE FUNCTION public.claim_deliveries(at timestamp with time zone, lease interval, places integer, busy_webhooks uuid[], busy_tenants uuid[], busy_hosts text[], per_webhook integer, per_tenant integer, per_host integer) RETURNS TABLE(id uuid, tenant_id uuid, webhook_id uuid, message_id text, type text, body text, attempt integer, url text, host text, secret bytea, old_secret bytea, failing_since timestamp with time zone)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
  -- Whichever clock is ahead: with one that is behind, what was just made would not be due yet.
  with clock as (
    select greatest(at, clock_timestamp()) as now
  ), free as (
    select w.id, w.tenant_id, w.host, per_webhook - mine as webhook_free, per_tenant - tenants as tenant_free,
      per_host - hosts as host_free
    from webhooks w,
      lateral (select count(*)::int as mine from unnest(busy_webhooks) as b where b = w.id) m,
      lateral (select count(*)::int as tenants from unnest(busy_tenants) as b where b = w.tenant_id) t,
      lateral (select count(*)::int as hosts from unnest(busy_hosts) as b where b = w.host) h
    where w.enabled and (w.throttled_until is null or w.throttled_until <= (select now from clock))
      -- What cannot be sent now must not stand in the line of its tenant and host.
      and mine < per_webhook and tenants < per_tenant and hosts < per_host
  ), due as (
    select d.id, d.next_attempt_at, f.tenant_id, f.host, f.tenant_free, f.host_free, d.of_webhook
    from free f cross join lateral (
      select p.id, p.next_attempt_at, row_number() over (order by p.next_attempt_at, p.id) as of_webhook
      from webhook_deliveries p
      where p.webhook_id = f.id and p.status = 'pending' and p.next_attempt_at <= (select now from clock)
      order by p.next_attempt_at, p.id limit f.webhook_free
    ) d
  ), of_tenants as (
    -- In turns: the first of each webhook, then the second of each; for a host likewise by tenant.
    select due.*, row_number() over (partition by due.tenant_id order by due.of_webhook, due.next_attempt_at, due.id)
      as of_tenant
    from due
  ), of_hosts as (
    select o.*, row_number() over (partition by o.host order by o.of_tenant, o.next_attempt_at, o.id) as of_host
    from of_tenants o where o.of_tenant <= o.tenant_free
  ), chosen as (
    select o.id from of_hosts o where o.of_host <= o.host_free order by o.of_tenant, o.next_attempt_at limit places
  ), locked as (
    select p.id from webhook_deliveries p
    where p.id in (select chosen.id from chosen) and p.status = 'pending' and p.next_attempt_at <= (select now from clock)
    for update skip locked
  ), claimed as (
    update webhook_deliveries p set attempts = p.attempts + 1, next_attempt_at = clock.now + lease, last_attempt_at = clock.now
    from locked, clock where p.id = locked.id
    returning p.*
  )
  select c.id, c.tenant_id, c.webhook_id, c.message_id, c.type, c.body, c.attempts, w.url, w.host, w.secret,
    case when w.old_secret_expires_at > (select now from clock) then w.old_secret end, w.failing_since
  from claimed c join webhooks w on w.id = c.webhook_id
$$;

-- migrations/0035_uploads_from_urls.sql
-- Takes files that are due, `most` at a time in all processes together, of each tenant and host only so many. Tenants take
-- turns, however many files each has waiting. As the owner, so that it need not be granted
-- more of the tenants.
CREATE FUNCTION public.claim_url_uploads(lease interval, most integer, per_tenant integer, per_host integer) RETURNS TABLE(tenant_id uuid, audio_file_id uuid, url bytea, attempt integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
  if not exists (select from url_uploads u where u.try_at <= now()) then return; end if;
  -- Processes take turns, so that each one sees what the others have taken.
  perform pg_advisory_xact_lock(7056790);
  return query
  with running as materialized (
    select u.tenant_id, u.host from url_uploads u where u.leased_until > now()
  ), of_tenants as (
    select u.audio_file_id, u.host, u.try_at,
      (select count(*) from running r where r.tenant_id = t.id) + row_number() over (
        partition by t.id order by u.try_at, u.audio_file_id) as of_tenant
    from tenants t cross join lateral (
      select w.audio_file_id, w.host, w.try_at from url_uploads w
      where w.tenant_id = t.id and w.try_at <= now() and (w.leased_until is null or w.leased_until <= now())
      order by w.try_at limit per_tenant
    ) u
    where t.suspended_at is null
  ), of_hosts as (
    select w.audio_file_id, w.of_tenant, w.try_at,
      (select count(*) from running r where r.host = w.host)
        + row_number() over (partition by w.host order by w.of_tenant, w.try_at, w.audio_file_id) as of_host
    from of_tenants w where w.of_tenant <= per_tenant
  ), taken as (
    select h.audio_file_id from of_hosts h where h.of_host <= per_host
    order by h.of_tenant, h.try_at limit greatest(0, most - (select count(*) from running))
  )
  update url_uploads u set attempts = u.attempts + 1, leased_until = now() + lease
  from taken where u.audio_file_id = taken.audio_file_id
  returning u.tenant_id, u.audio_file_id, u.url, u.attempts;
end $$;

-- migrations/0014_statistics_of_drafts.sql
CREATE FUNCTION public.count_annotations() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  sign int := case tg_op when 'INSERT' then 1 else -1 end;
begin
  update annotation_sets s set annotation_count = s.annotation_count + c.labels,
    total_annotations = s.total_annotations + c.labels,
    total_positive_duration_ms = s.total_positive_duration_ms + c.duration_ms,
    annotations_by_type = add_by_type(s.annotations_by_type, c.by_type)
  from (
    select annotation_set_id, sum(labels) as labels, sum(duration_ms) as duration_ms,
      jsonb_object_agg(artifact_type, labels) as by_type
    from (
      select annotation_set_id, artifact_type, sign * count(*) as labels, sign * sum(end_ms - start_ms) as duration_ms
      from changed group by annotation_set_id, artifact_type
    ) t group by annotation_set_id
  ) c
  where s.id = c.annotation_set_id;
  return null;
end $$;

-- migrations/0024_usage_of_datasets.sql
-- The argument is 1 where rows come and -1 where they go.
CREATE FUNCTION public.count_audio() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform add_usage(tenant_id, dataset_id, tg_argv[0]::int * count(*), tg_argv[0]::int * sum(size_bytes)::bigint)
  from changed where status <> 'expired' group by tenant_id, dataset_id order by dataset_id;
  perform add_usable(dataset_id, tg_argv[0]::int * count(*), tg_argv[0]::int * coalesce(sum(duration_ms), 0)::bigint)
  from changed where is_usable(status, embedding_status) group by dataset_id order by dataset_id;
  return null;
end $$;

-- migrations/0022_background_work.sql
-- Counts the copies from a draft. From a published set they are not counted: its labels do not change anyway.
CREATE FUNCTION public.count_copies() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if tg_op <> 'DELETE' and new.copying is not null and (tg_op = 'INSERT' or old.copying is null) then
    update annotation_sets set copies_from = copies_from + 1
    where id = (new.copying ->> 'annotation_set_id')::uuid and status = 'draft';
  elsif tg_op <> 'INSERT' and old.copying is not null and (tg_op = 'DELETE' or new.copying is null) then
    update annotation_sets set copies_from = copies_from - 1
    where id = (old.copying ->> 'annotation_set_id')::uuid and copies_from > 0;
  end if;
  return null;
end $$;

-- migrations/0005_request_rules.sql
CREATE FUNCTION public.count_expired_audio() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  perform add_usage(new.tenant_id, new.dataset_id, -1, -new.size_bytes);
  return null;
end $$;

-- migrations/0044_files_of_inference_jobs.sql
-- Files of a retried job have the object of the file that was uploaded, and their bytes count no second time. A tenant with
-- files in jobs has a row: it has, or had, audio.
CREATE FUNCTION public.count_inference_audio() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  sign int := tg_argv[0];
begin
  perform add_usage(tenant_id, null, 0, sign * sum(size_bytes)::bigint)
  from changed where object_key = 'inference/' || tenant_id || '/' || id group by tenant_id order by tenant_id;
  update tenant_usage u set inference_files = greatest(0, u.inference_files + sign * c.files)
  from (select tenant_id, count(*) as files from changed group by tenant_id order by tenant_id) c
  where u.tenant_id = c.tenant_id;
  return null;
end $$;

-- migrations/0035_uploads_from_urls.sql
-- The size of a fetched file is known when it has been fetched; until then it counts as 0 bytes.
CREATE FUNCTION public.count_resized_audio() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform add_usage(new.tenant_id, new.dataset_id, 0, new.size_bytes - old.size_bytes);
  return null;
end $$;

-- migrations/0012_number_of_training_jobs.sql
-- The argument is 1 where rows come and -1 where they go. A row that is on its way out with its tenant is not made again.
CREATE FUNCTION public.count_training_jobs() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  moved record;
begin
  for moved in select tenant_id, tg_argv[0]::int * count(*) as jobs from changed group by tenant_id order by tenant_id loop
    update tenant_usage set training_jobs = training_jobs + moved.jobs where tenant_id = moved.tenant_id;
    if not found and moved.jobs > 0 then
      insert into tenant_usage (tenant_id, training_jobs) values (moved.tenant_id, moved.jobs)
      on conflict (tenant_id) do update set training_jobs = tenant_usage.training_jobs + moved.jobs;
    end if;
  end loop;
  return null;
end $$;

-- migrations/0018_embeddings_again.sql
-- For plosive-admin, which sees no files: the datasets of one tenant, or of all, that have such files.
CREATE FUNCTION public.datasets_embedded_before(wanted uuid, moment timestamp with time zone) RETURNS TABLE(tenant uuid, dataset uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
  select distinct tenant_id, dataset_id from audio_files f
  where (wanted is null or tenant_id = wanted) and is_embedded_before(f, moment) order by 1, 2
$$;

-- migrations/0018_embeddings_again.sql
-- Gives such files of a dataset back to the gatherer; those that failed before they were ever decoded begin anew. What a job
-- makes of them meanwhile is not taken in any more, and goes after the grace period. Not where a training job has not ended:
-- it reads their embeddings. Who makes a training job holds the dataset for key share, so one of the two waits for the other
-- and sees what it has done.
CREATE FUNCTION public.embed_again(wanted uuid, moment timestamp with time zone) RETURNS TABLE(files bigint, left_alone bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

-- migrations/0007_events.sql
CREATE FUNCTION public.emit_event(tenant uuid, type text, data jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into event_inbox (tenant_id, type, data) values (tenant, type, data);
  perform pg_notify('plosive_inbox', '');
end $$;

-- migrations/0041_users_of_the_dashboard.sql
-- Also wakes the event streams of the key, or of the user's tenant: those of the session end.
CREATE FUNCTION public.end_session(wanted bytea, address inet, request text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  ended record;
begin
  delete from dashboard_sessions s
  where s.digest = wanted and s.last_used_at is not null
  returning s.tenant_id, s.api_key_id as id, (select k.key_prefix from api_keys k where k.id = s.api_key_id) as key_prefix,
    case when s.subject is not null
      then jsonb_build_object('issuer', s.issuer, 'subject', s.subject, 'name', s.user_name) end as dashboard_user
  into ended;
  if not found then return false; end if;
  insert into audit_log (tenant_id, action, api_key_id, key_prefix, actor_key_id, dashboard_user, ip, request_id)
  values (ended.tenant_id, 'session.ended', ended.id, ended.key_prefix, ended.id, ended.dashboard_user, address, request);
  perform pg_notify('plosive_keys', coalesce(ended.id, ended.tenant_id)::text);
  return true;
end $$;

-- migrations/0032_erasure.sql
-- Deletes at most `most` rows of one table of the tenant and returns the table; null when no row was left. Then the tenant
-- itself is gone, and the purge queue deletes its objects without the grace period.
CREATE FUNCTION public.erase_piece(wanted uuid, most integer, OUT part text, OUT deleted bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
begin
  perform set_config('app.sees_deleted', 'on', true);
  -- Published sets of a deleted dataset may be deleted.
  update datasets set deleted_at = now() where tenant_id = wanted and deleted_at is null;
  update annotation_sets set status = 'draft', deleted_at = coalesce(deleted_at, now()), copying = null
  where tenant_id = wanted and (status = 'published' or deleted_at is null);
  foreach part in array array[
    'detections', 'inference_files', 'inference_jobs', 'models', 'training_metrics', 'training_job_files', 'training_jobs',
    'annotations', 'reviewed_files', 'annotation_sets', 'audio_files', 'datasets', 'embedding_jobs',
    'webhook_deliveries', 'webhooks', 'job_events', 'event_inbox', 'events', 'event_positions', 'idempotency_keys',
    'leases', 'api_keys', 'rate_limits', 'dataset_usage', 'tenant_usage', 'audit_log']
  loop
    execute format('delete from %1$I where ctid = any(array(select ctid from %1$I where tenant_id = $1 limit $2))', part)
      using wanted, most;
    get diagnostics deleted = row_count;
    if deleted > 0 then
      return;
    end if;
  end loop;
  part := null;
  delete from tenants where id = wanted;
  if found then
    insert into audit_log (action, reason, request_id) values ('tenant.erased', wanted::text, 'plosive-admin');
  end if;
  update leftovers set at_once = true where tenant_id = wanted and not at_once;
  select count(*) into deleted from leftovers where tenant_id = wanted;
end $_$;

-- migrations/0007_events.sql
-- For the metrics: age in seconds of the oldest event without number and of the oldest delivery that is due.
CREATE FUNCTION public.event_lags(OUT inbox double precision, OUT deliveries double precision) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
  select
    coalesce(extract(epoch from clock_timestamp() - (select min(created_at) from event_inbox)), 0)::double precision,
    coalesce(extract(epoch from clock_timestamp() - (
      select min(p.next_attempt_at) from webhooks w cross join lateral (
        select next_attempt_at from webhook_deliveries d
        where d.webhook_id = w.id and d.status = 'pending' order by next_attempt_at limit 1) p
      where w.enabled and (w.throttled_until is null or w.throttled_until <= clock_timestamp())
        and p.next_attempt_at <= clock_timestamp())), 0)::double precision
$$;

-- migrations/0026_event_numbers.sql
CREATE FUNCTION public.forget_events(batch integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  gone int;
  forgotten int;
begin
  if not pg_try_advisory_xact_lock(7056785) then return 0; end if;
  delete from events where (tenant_id, seq) in (
    select tenant_id, seq from events where created_at < now() - interval '24 hours' order by created_at limit batch);
  get diagnostics gone = row_count;
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where finished_at < now() - interval '7 days' order by finished_at limit batch);
  get diagnostics forgotten = row_count;
  return gone + forgotten;
end $$;

-- migrations/0047_installations.sql
-- Every installation that has led or has open jobs. `silent_seconds` is null if none of its operators has ever led.
CREATE FUNCTION public.installation_states() RETURNS TABLE(name text, seen_at timestamp with time zone, silent_seconds double precision, is_running boolean, open_jobs bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

CREATE TABLE public.audio_files (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    filename text NOT NULL,
    content_type text NOT NULL,
    size_bytes bigint NOT NULL,
    checksum_sha256 text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text DEFAULT 'pending_upload'::text NOT NULL,
    duration_ms bigint,
    sample_rate_hz integer,
    channels integer,
    codec text,
    embedding_status text DEFAULT 'pending'::text NOT NULL,
    embedding_model text,
    embedding_spec_hash text,
    embedding_key text,
    embedding_sha256 text,
    embedding_size_bytes bigint,
    peaks_key text,
    embedded_at timestamp with time zone,
    embedding_job_id uuid,
    embedding_shard integer,
    error_message text,
    upload_expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    uploaded_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    multipart_id text,
    CONSTRAINT audio_files_embedding_status_check CHECK ((embedding_status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text]))),
    CONSTRAINT audio_files_status_check CHECK ((status = ANY (ARRAY['pending_upload'::text, 'processing'::text, 'ready'::text, 'failed'::text, 'expired'::text])))
);

ALTER TABLE ONLY public.audio_files FORCE ROW LEVEL SECURITY;

-- migrations/0035_uploads_from_urls.sql
-- As in 0018. A file that could not be fetched has no audio.
CREATE FUNCTION public.is_embedded_before(f public.audio_files, moment timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select f.status in ('processing', 'ready', 'failed') and f.uploaded_at is not null
    and (f.status = 'failed' or f.embedding_status <> 'pending')
    and coalesce(
      (select j.created_at from embedding_jobs j where j.id = f.embedding_job_id),
      case when f.status = 'failed' then f.updated_at else f.embedded_at end, '-infinity') < moment
$$;

-- migrations/0036_dashboard_sessions.sql
CREATE FUNCTION public.is_session_open(last_used timestamp with time zone, expires timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select coalesce(expires > now() and last_used > now() - interval '30 minutes', false)
$$;

-- migrations/0024_usage_of_datasets.sql
CREATE FUNCTION public.is_usable(status text, embedding_status text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select status = 'ready' and embedding_status = 'completed'
$$;

-- migrations/0004_row_level_security.sql
-- Every migration that makes a table with rows of tenants calls it. The rights are what each role may do at all, within
-- its policy; '' is none. The owner is bound too (force) and has a policy by name: migrations change rows, and functions
-- that run as the owner look for what no tenant is known for yet.
CREATE FUNCTION public.isolate_tenant(t regclass, api_rights text DEFAULT 'select, insert, update, delete'::text, operator_rights text DEFAULT 'select, insert, update, delete'::text, tenant_column name DEFAULT 'tenant_id'::name) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

-- migrations/0041_users_of_the_dashboard.sql
-- For a session of a user, the digest of its token stands for that of a key: admit_caller() finds the session by it.
CREATE FUNCTION public.key_of_session(wanted bytea, touches boolean) RETURNS TABLE(key_hash bytea, key_prefix text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if touches then
    update dashboard_sessions s set last_used_at = now()
    where s.digest = wanted and s.last_used_at < now() - interval '1 minute'
      and is_session_open(s.last_used_at, s.expires_at);
  end if;
  return query select coalesce(k.key_hash, s.digest), coalesce(k.key_prefix, '')
    from dashboard_sessions s left join api_keys k on k.id = s.api_key_id
    where s.digest = wanted and is_session_open(s.last_used_at, s.expires_at);
end $$;

-- migrations/0026_event_numbers.sql
-- The last number of the session's tenant, also when its event is forgotten: no reader can have seen a greater one.
CREATE FUNCTION public.last_event_seq() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
  select coalesce((
    select seq from event_positions
    where tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid), 0)
$$;

-- migrations/0006_nouns.sql
-- All as the owner: who deletes a row needs no right to this table.
CREATE FUNCTION public.leave_audio() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into leftovers (tenant_id, kind, target, at_once, try_at)
  select tenant_id, 'audio', id, uploaded_at is null, after_upload(created_at, uploaded_at is null) from gone;
  return null;
end $$;

-- migrations/0010_confirmed_uploads.sql
CREATE FUNCTION public.leave_confirmed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into leftovers (tenant_id, kind, target, at_once, try_at)
  values (new.tenant_id, 'upload', new.id, true, after_upload(new.created_at, true));
  return null;
end $$;

-- migrations/0018_embeddings_again.sql
CREATE FUNCTION public.leave_embedding() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into leftovers (tenant_id, kind, target)
  values (new.tenant_id, 'embedding', new.id || '/' || split_part(split_part(old.embedding_key, '/', 4), '.', 1));
  return null;
end $$;

-- migrations/0006_nouns.sql
-- Files of a retried job have the key of the file that was uploaded; the last one to go takes the object along.
CREATE FUNCTION public.leave_inference_audio() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into leftovers (tenant_id, kind, target, at_once, try_at)
  select tenant_id, 'inference_audio', split_part(object_key, '/', 3), status = 'pending_upload',
    after_upload(created_at, status = 'pending_upload')
  from gone where audio_file_id is null;
  return null;
end $$;

-- migrations/0047_installations.sql
-- As in 0016, with the installation. The target of an adopted job's resource ends in '/' and its name.
CREATE FUNCTION public.leave_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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

-- migrations/0047_installations.sql
-- As in 0006, with the installation, which has the custom resource. Every installation uses the model's objects.
CREATE FUNCTION public.leave_model() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into leftovers (tenant_id, installation, kind, target, at_once)
  select tenant_id, null, 'model', training_job_id::text, false from gone
  union all
  select tenant_id, installation, 'resource', 'm-' || id, true from gone;
  return null;
end $$;

-- migrations/0047_installations.sql
-- As in 0037, with the installation. At once, as if the row were gone: the operator finds no row, and must not adopt the
-- resource. leave_job() adds the rest.
CREATE FUNCTION public.leave_resource() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into leftovers (tenant_id, installation, kind, target, at_once)
  values (new.tenant_id, new.installation, 'resource', 'ij-' || new.id || coalesce('/' || new.resource_name, ''), true);
  return null;
end $$;

-- migrations/0047_installations.sql
-- As in 0006, with the installation, because the custom resource goes with the objects. Results and checkpoints are of use
-- while the job is open only. The argument is the prefix of the job's name.
CREATE FUNCTION public.leave_run() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into leftovers (tenant_id, installation, kind, target)
  values (new.tenant_id, new.installation, 'run', tg_argv[0] || '-' || new.id);
  return null;
end $$;

-- migrations/0006_nouns.sql
CREATE FUNCTION public.leave_upload() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  insert into leftovers (tenant_id, kind, target, at_once) values (new.tenant_id, 'upload', new.id, true);
  return null;
end $$;

-- migrations/0047_installations.sql
-- Hands the open jobs of an installation that is gone for good, its models and its entries of the purge queue to another one, and
-- returns the number of jobs. Null, without an effect: an operator of the former still runs. The latter submits the jobs again; it
-- cancels adopted ones, because only their resource had all of their settings.
CREATE FUNCTION public.move_jobs(giver text, taker text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $_$
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
end $_$;

-- migrations/0037_deletion_of_inference_jobs.sql
-- As in 0026, with inference jobs. The previous release would leave out the reviewed files of a copy, so it must not know
-- the kind of such a copy.
CREATE FUNCTION public.next_background_work() RETURNS TABLE(kind text, tenant_id uuid, id uuid)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
  select * from (
    select distinct on (w.tenant_id) w.* from (
      select case when s.copying ? 'reviewed_after' then 'copy' else 'annotation_set' end, s.tenant_id, s.id
      from annotation_sets s where s.deleted_at is not null or s.copying is not null
      union all
      select 'dataset', d.tenant_id, d.id from datasets d
      where d.deleted_at is not null and not exists (
        select from annotation_sets s where s.tenant_id = d.tenant_id and s.dataset_id = d.id)
      union all
      select 'inference_job', j.tenant_id, j.id from inference_jobs j where j.deleted_at is not null
      union all
      select 'webhook', h.tenant_id, h.id from webhooks h where h.deleted_at is not null
    ) w (kind, tenant_id, id) order by w.tenant_id, random()
  ) one_of_each order by random() limit 1
$$;

CREATE TABLE public.audit_log (
    id bigint NOT NULL,
    tenant_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    action text NOT NULL,
    reason text,
    api_key_id uuid,
    key_prefix text,
    actor_key_id uuid,
    ip inet,
    request_id text,
    dashboard_user jsonb,
    CONSTRAINT audit_log_key_prefix_check CHECK ((length(key_prefix) <= 8))
);

ALTER TABLE ONLY public.audit_log FORCE ROW LEVEL SECURITY;

-- migrations/0005_request_rules.sql
-- A refusal is noted before the request is known to be anyone's.
CREATE FUNCTION public.note_refused_key(tenant uuid, reason text, prefix text, address inet, request text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO public.audit_log (tenant_id, action, reason, key_prefix, ip, request_id)
   VALUES (note_refused_key.tenant, 'api_key.refused'::text, note_refused_key.reason, note_refused_key.prefix, note_refused_key.address, note_refused_key.request);
END;

-- migrations/0007_events.sql
-- Wakes who waits for any change of a job, and the streams of a key that no longer opens anything.
CREATE FUNCTION public.notify_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform pg_notify(tg_argv[0], old.id::text);
  return null;
end $$;

-- migrations/0014_statistics_of_drafts.sql
CREATE FUNCTION public.recount_annotations() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  update annotation_sets s set total_positive_duration_ms = s.total_positive_duration_ms + c.duration_ms,
    annotations_by_type = add_by_type(s.annotations_by_type, c.by_type)
  from (
    select annotation_set_id, sum(duration_ms) as duration_ms, jsonb_object_agg(artifact_type, labels) as by_type,
      bool_or(labels <> 0) as of_other_type
    from (
      select annotation_set_id, artifact_type, sum(sign) as labels, sum(sign * (end_ms - start_ms)) as duration_ms
      from (
        select 1 as sign, annotation_set_id, artifact_type, start_ms, end_ms from changed
        union all select -1, annotation_set_id, artifact_type, start_ms, end_ms from gone
      ) both_sides group by annotation_set_id, artifact_type
    ) t group by annotation_set_id
  ) c
  where s.id = c.annotation_set_id and (c.duration_ms <> 0 or c.of_other_type);
  return null;
end $$;

-- migrations/0024_usage_of_datasets.sql
-- Locks the tenant's row before those of its datasets, as add_usage does: a transaction may change the usage of both.
CREATE FUNCTION public.recount_audio() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform from tenant_usage where tenant_id in (
    select tenant_id from changed where is_usable(status, embedding_status)
    union select tenant_id from gone where is_usable(status, embedding_status)
  ) order by tenant_id for no key update;
  perform add_usable(dataset_id, sum(files)::bigint, sum(ms)::bigint)
  from (
    select dataset_id, count(*) as files, coalesce(sum(duration_ms), 0) as ms
    from changed where is_usable(status, embedding_status) group by dataset_id
    union all
    select dataset_id, -count(*), -coalesce(sum(duration_ms), 0)
    from gone where is_usable(status, embedding_status) group by dataset_id
  ) both_sides group by dataset_id order by dataset_id;
  return null;
end $$;

-- migrations/0001_initial.sql
-- A published set never changes, whatever the code above the database does.
CREATE FUNCTION public.refuse_frozen_annotation() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

-- migrations/0022_background_work.sql
-- As in 0008, and also for sets that are being copied: processes of the previous release know of no copies. The code that
-- copies and deletes has set app.sees_deleted.
CREATE FUNCTION public.refuse_frozen_annotations() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  set_id uuid;
begin
  select s.id into set_id from (
    select id, status, copying, copies_from from annotation_sets
    where id in (select distinct annotation_set_id from changed)
    order by id for share
  ) s
  where s.status = 'published'
    or (s.copying is not null or s.copies_from > 0)
      and current_setting('app.sees_deleted', true) is distinct from 'on'
  limit 1;
  if found then
    raise exception 'annotation set % is published or being copied and cannot be changed', set_id using errcode = 'PL001';
  end if;
  return null;
end $$;

-- migrations/0022_background_work.sql
-- The number of copies from a published set may still become smaller.
CREATE FUNCTION public.refuse_frozen_set() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if exists (
    select from datasets d
    where d.tenant_id = old.tenant_id and d.id = old.dataset_id and (d.deleting or d.deleted_at is not null)
  ) then
    return new;
  end if;
  -- The end of a copy that began while the set was a draft.
  if new.copies_from < old.copies_from
    and to_jsonb(new) - 'copies_from' = to_jsonb(old) - 'copies_from' then
    return new;
  end if;
  raise exception 'annotation set % is published and cannot be changed', old.id using errcode = 'PL001';
end $$;

-- migrations/0013_deletion_of_published_sets.sql
CREATE FUNCTION public.refuse_half_deletion() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if exists (select from datasets where id = new.id) then
    raise exception 'dataset % was to be deleted and is still there', new.id using errcode = '23514';
  end if;
  return null;
end $$;

-- migrations/0009_references.sql
CREATE FUNCTION public.refuse_other_origin() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'a row of % keeps what it was made from', tg_table_name using errcode = '23503';
end $$;

-- migrations/0008_speed.sql
CREATE FUNCTION public.refuse_other_set() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'an annotation stays in its set' using errcode = 'PL001';
end $$;

-- migrations/0022_background_work.sql
CREATE FUNCTION public.refuse_undeletion() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'row % of % is deleted and stays so', old.id, tg_table_name using errcode = '23514';
end $$;

-- migrations/0006_nouns.sql
CREATE FUNCTION public.require_model() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform from models where tenant_id = new.tenant_id and id = new.model_id for key share;
  if not found then
    raise exception 'there is no model % of this tenant', new.model_id using errcode = '23503';
  end if;
  return new;
end $$;

-- migrations/0040_references_of_many_files.sql
-- Looks each file up by its id alone, with the rights of the owner: with the tenant as a condition, which a policy adds as well,
-- and statistics from before a dataset was filled, the planner compared each of a job's files with each file of the tenant.
CREATE FUNCTION public.require_own_audio() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  if exists (
    select from added n where n.audio_file_id is not null and n.tenant_id is distinct from (
      select a.tenant_id from audio_files a where a.id = n.audio_file_id)
  ) then
    raise exception 'there is no such audio file of this tenant' using errcode = '23503';
  end if;
  return null;
end $$;

-- migrations/0009_references.sql
CREATE FUNCTION public.require_own_set() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform from annotation_sets
  where tenant_id = new.tenant_id and dataset_id = new.dataset_id and id = new.annotation_set_id;
  if not found then
    raise exception 'there is no annotation set % of this tenant', new.annotation_set_id using errcode = '23503';
  end if;
  return new;
end $$;

-- migrations/0006_nouns.sql
CREATE FUNCTION public.require_training_job() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform from training_jobs where tenant_id = new.tenant_id and id = new.training_job_id for key share;
  if not found then
    raise exception 'there is no training job % of this tenant', new.training_job_id using errcode = '23503';
  end if;
  return new;
end $$;

-- migrations/0041_users_of_the_dashboard.sql
-- Null: the digest is that of no open session of a user.
CREATE FUNCTION public.role_of_session(wanted bytea) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  return (select role from dashboard_sessions s
    where s.digest = wanted and is_session_open(s.last_used_at, s.expires_at));
end $$;

-- migrations/0028_scopes_of_keys.sql
-- For the API, which learns the key's tenant from admit_caller() and sees no key before.
CREATE FUNCTION public.scopes_of_key(key uuid) RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  return (select scopes from api_keys where id = key);
end $$;

-- migrations/0050_turns_of_events.sql
-- One statement, because it has one snapshot, taken after the lock; the lock ends after the commit is visible. Both together
-- make the numbers appear in order. Returns null when another session is numbering. That session numbers what was committed
-- before it began; for the rest its caller gets a notification and calls again.
-- Tenants take turns: the events of one, such as those of 100,000 failed files, do not delay another's. Each tenant's own are
-- taken in their order.
CREATE FUNCTION public.stamp_events(max_events integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
declare
  told uuid[];
  numbered int;
  to_deliver boolean;
begin
  if not pg_try_advisory_xact_lock(7056784) then return null; end if;
  with recursive waiting as (
    (select tenant_id from event_inbox order by tenant_id limit 1)
    union all
    select (select i.tenant_id from event_inbox i where i.tenant_id > w.tenant_id order by i.tenant_id limit 1)
    from waiting w where w.tenant_id is not null
  ), turns as (
    select i.id, row_number() over (partition by w.tenant_id order by i.id) as turn
    from waiting w cross join lateral (
      select id from event_inbox e where e.tenant_id = w.tenant_id order by tenant_id, id limit max_events) i
  ), taken as (
    delete from event_inbox where id = any (array(select id from turns order by turn, id limit max_events))
    returning id, tenant_id, type, data, created_at
  ), positions as (
    insert into event_positions as p (tenant_id, seq)
    select tenant_id, count(*) from taken group by tenant_id
    on conflict (tenant_id) do update set seq = p.seq + excluded.seq
    returning tenant_id, seq
  ), stamped as (
    insert into events (tenant_id, seq, type, data, created_at)
    select tenant_id, p.seq - count(*) over of_tenant + row_number() over (partition by tenant_id order by t.id),
      t.type, t.data, t.created_at
    from taken t join positions p using (tenant_id)
    window of_tenant as (partition by tenant_id)
    returning tenant_id, seq, type, data, created_at
  ), hooks as materialized (
    select w.id, w.tenant_id, w.types from webhooks w
    where w.enabled and w.tenant_id in (select tenant_id from positions)
      -- A receiver that has been away for long, or that is too slow for what happens, must not fill the disk.
      and (select count(*) from (
        select from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending' limit 10000) p) < 10000
    -- One that is deleted at this moment would break the reference of its delivery, and with it the whole step.
    for key share of w
  ), delivered as (
    -- The message's id is unique among all tenants, because two of them may have the same receiver.
    insert into webhook_deliveries (id, tenant_id, webhook_id, message_id, type, body, next_attempt_at)
    select gen_random_uuid(), w.tenant_id, w.id, 'evt_' || e.tenant_id || '_' || e.seq, e.type,
      json_build_object('type', e.type, 'timestamp',
        to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', e.data)::text,
      clock_timestamp()
    from stamped e join hooks w on w.tenant_id = e.tenant_id
    where w.types = '{}' or e.type = any (w.types)
    order by e.created_at, e.seq
    returning 1
  )
  select count(*), array_agg(distinct tenant_id), exists (select from delivered)
  into numbered, told, to_deliver from stamped;
  if to_deliver then perform pg_notify('plosive_deliveries', ''); end if;
  perform pg_notify('plosive_events', tenant::text) from unnest(told) tenant;
  return numbered;
end $$;

-- migrations/0011_previous_release.sql
CREATE FUNCTION public.take_tenant_of_training_job() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  select tenant_id into new.tenant_id from training_jobs where id = new.training_job_id;
  return new;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.tell_annotation_set() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform emit_event(new.tenant_id, 'annotation_set.published', jsonb_build_object(
    'annotation_set_id', new.id, 'dataset_id', new.dataset_id, 'version', new.version, 'status', new.status));
  return null;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.tell_api_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform emit_event(new.tenant_id, case when tg_op = 'INSERT' then 'api_key.created' else 'api_key.revoked' end,
    jsonb_build_object('api_key_id', new.id));
  return null;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.tell_audio_file() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform emit_event(new.tenant_id, 'audio_file.' || new.status, jsonb_build_object(
    'audio_file_id', new.id, 'dataset_id', new.dataset_id, 'status', new.status));
  return null;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.tell_inference_file() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform emit_event(new.tenant_id, 'inference_file.' || new.status, jsonb_build_object(
    'inference_file_id', new.id, 'inference_job_id', new.inference_job_id, 'status', new.status));
  return null;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.tell_inference_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform emit_event(new.tenant_id, 'inference_job.' || new.status, jsonb_build_object(
    'inference_job_id', new.id, 'model_id', new.model_id, 'status', new.status,
    'progress_percent', new.progress_percent));
  return null;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.tell_model() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform emit_event(new.tenant_id, case when tg_op = 'INSERT' then 'model.created' else 'model.archived' end,
    jsonb_build_object('model_id', new.id, 'training_job_id', new.training_job_id));
  return null;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.tell_training_job() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
  data jsonb := jsonb_build_object('training_job_id', new.id, 'dataset_id', new.dataset_id, 'status', new.status,
    'progress_percent', new.progress_percent);
begin
  if tg_op = 'INSERT' or new.status <> old.status then
    perform emit_event(new.tenant_id, 'training_job.' || new.status, data);
  elsif new.progress_event_at is distinct from old.progress_event_at then
    perform emit_event(new.tenant_id, 'training_job.progress', data);
  end if;
  return null;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.tell_webhook() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  perform emit_event(new.tenant_id, 'webhook.disabled', jsonb_build_object(
    'webhook_id', new.id, 'reason', new.disabled_reason));
  return null;
end $$;

-- migrations/0007_events.sql
CREATE FUNCTION public.throttle_progress() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if old.progress_event_at is null or old.progress_event_at <= clock_timestamp() - interval '5 seconds' then
    new.progress_event_at := clock_timestamp();
  end if;
  return new;
end $$;

-- migrations/0036_dashboard_sessions.sql
-- A link works once: of two requests with its token, one deletes it.
CREATE FUNCTION public.use_sign_in_link(wanted bytea) RETURNS TABLE(key_hash bytea, key_prefix text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
  return query
  delete from dashboard_sessions s using api_keys k
  where s.digest = wanted and s.last_used_at is null and s.expires_at > now() and k.id = s.api_key_id
  returning k.key_hash, k.key_prefix;
end $$;

CREATE TABLE public.annotation_sets (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    version integer NOT NULL,
    status text DEFAULT 'draft'::text NOT NULL,
    total_annotations integer DEFAULT 0 NOT NULL,
    total_positive_duration_ms bigint DEFAULT 0 NOT NULL,
    annotations_by_type jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    revision bigint DEFAULT 1 NOT NULL,
    annotation_count bigint DEFAULT 0 NOT NULL,
    copying jsonb,
    copies_from integer DEFAULT 0 NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT annotation_sets_check CHECK (((copying IS NULL) OR (status = 'draft'::text))),
    CONSTRAINT annotation_sets_copies_from_check CHECK ((copies_from >= 0)),
    CONSTRAINT annotation_sets_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'published'::text])))
);

ALTER TABLE ONLY public.annotation_sets FORCE ROW LEVEL SECURITY;

CREATE TABLE public.annotations (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    annotation_set_id uuid NOT NULL,
    audio_file_id uuid NOT NULL,
    artifact_type text NOT NULL,
    start_ms bigint NOT NULL,
    end_ms bigint NOT NULL,
    confidence double precision DEFAULT 1 NOT NULL,
    extra_data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    annotator text,
    updated_at timestamp with time zone,
    CONSTRAINT annotations_annotator CHECK (((char_length(annotator) >= 1) AND (char_length(annotator) <= 255))),
    CONSTRAINT annotations_check CHECK ((end_ms >= start_ms)),
    CONSTRAINT annotations_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT annotations_start_ms_check CHECK ((start_ms >= 0))
);

ALTER TABLE ONLY public.annotations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    key_prefix text NOT NULL,
    key_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT api_keys_key_hash_check CHECK ((length(key_hash) = 32)),
    CONSTRAINT api_keys_key_prefix_check CHECK ((length(key_prefix) = 8)),
    CONSTRAINT api_keys_scopes_check CHECK ((scopes <@ '{read,write,admin}'::text[]))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.api_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.dashboard_sessions (
    digest bytea NOT NULL,
    tenant_id uuid NOT NULL,
    api_key_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    issuer text,
    subject text,
    user_name text,
    accounts uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    role text,
    CONSTRAINT dashboard_sessions_check CHECK ((num_nonnulls(issuer, subject, user_name, role) =
CASE
    WHEN (api_key_id IS NULL) THEN 4
    ELSE 0
END)),
    CONSTRAINT dashboard_sessions_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT dashboard_sessions_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'labeller'::text, 'owner'::text])))
);

ALTER TABLE ONLY public.dashboard_sessions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.dataset_usage (
    tenant_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    audio_files bigint NOT NULL,
    usable_files bigint DEFAULT 0,
    usable_ms bigint DEFAULT 0
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.dataset_usage FORCE ROW LEVEL SECURITY;

CREATE TABLE public.datasets (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    artifact_types jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    last_annotation_set_version integer DEFAULT 0 NOT NULL,
    deleting boolean DEFAULT false NOT NULL,
    deleted_at timestamp with time zone
);

ALTER TABLE ONLY public.datasets FORCE ROW LEVEL SECURITY;

CREATE TABLE public.detections (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    inference_job_id uuid NOT NULL,
    inference_file_id uuid NOT NULL,
    ordinal integer NOT NULL,
    artifact_type text NOT NULL,
    start_ms bigint NOT NULL,
    end_ms bigint NOT NULL,
    confidence double precision NOT NULL,
    CONSTRAINT detections_check CHECK ((end_ms >= start_ms)),
    CONSTRAINT detections_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT detections_start_ms_check CHECK ((start_ms >= 0))
);

ALTER TABLE ONLY public.detections FORCE ROW LEVEL SECURITY;

CREATE TABLE public.embedding_jobs (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    status_message text,
    error_message text,
    progress_percent integer DEFAULT 0 NOT NULL,
    platform_job_name text,
    shard_count integer NOT NULL,
    submitted_at timestamp with time zone,
    submit_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    queued_at timestamp with time zone,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    pod_seconds double precision DEFAULT 0 NOT NULL,
    cpu_seconds double precision DEFAULT 0 NOT NULL,
    gpu_seconds double precision DEFAULT 0 NOT NULL,
    audio_seconds double precision DEFAULT 0 NOT NULL,
    resource_name text,
    installation text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT embedding_jobs_progress_percent_check CHECK (((progress_percent >= 0) AND (progress_percent <= 100))),
    CONSTRAINT embedding_jobs_resource_name_check CHECK (((length(resource_name) >= 1) AND (length(resource_name) <= 253))),
    CONSTRAINT embedding_jobs_shard_count_check CHECK ((shard_count >= 1)),
    CONSTRAINT embedding_jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'queued'::text, 'running'::text, 'cancelling'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY public.embedding_jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_inbox (
    id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    type text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

ALTER TABLE ONLY public.event_inbox FORCE ROW LEVEL SECURITY;

ALTER TABLE public.event_inbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.event_inbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.event_positions (
    tenant_id uuid NOT NULL,
    seq bigint NOT NULL
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.event_positions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.events (
    seq bigint NOT NULL,
    tenant_id uuid NOT NULL,
    type text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;

CREATE TABLE public.idempotency_keys (
    tenant_id uuid NOT NULL,
    scope bytea NOT NULL,
    fingerprint bytea NOT NULL,
    created_ids uuid[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    report jsonb,
    CONSTRAINT idempotency_keys_fingerprint_check CHECK ((length(fingerprint) = 32)),
    CONSTRAINT idempotency_keys_scope_check CHECK ((length(scope) = 32))
);

ALTER TABLE ONLY public.idempotency_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.inference_files (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    inference_job_id uuid NOT NULL,
    audio_file_id uuid,
    filename text NOT NULL,
    content_type text NOT NULL,
    size_bytes bigint NOT NULL,
    checksum_sha256 text,
    object_key text NOT NULL,
    status text DEFAULT 'pending_upload'::text NOT NULL,
    shard integer,
    duration_ms bigint,
    detection_count integer DEFAULT 0 NOT NULL,
    error_message text,
    upload_expires_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    multipart_id text,
    CONSTRAINT inference_files_status_check CHECK ((status = ANY (ARRAY['pending_upload'::text, 'queued'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY public.inference_files FORCE ROW LEVEL SECURITY;

CREATE TABLE public.inference_jobs (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    model_id uuid NOT NULL,
    config jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    status_message text,
    error_message text,
    progress_percent integer DEFAULT 0 NOT NULL,
    total_files integer DEFAULT 0 NOT NULL,
    processed_files integer DEFAULT 0 NOT NULL,
    failed_files integer DEFAULT 0 NOT NULL,
    total_detections bigint DEFAULT 0 NOT NULL,
    platform_job_name text,
    shard_count integer,
    start_requested_at timestamp with time zone,
    cancel_requested_at timestamp with time zone,
    cancel_submitted_at timestamp with time zone,
    submitted_at timestamp with time zone,
    submit_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    queued_at timestamp with time zone,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    traceparent text,
    pod_seconds double precision DEFAULT 0 NOT NULL,
    cpu_seconds double precision DEFAULT 0 NOT NULL,
    gpu_seconds double precision DEFAULT 0 NOT NULL,
    audio_seconds double precision DEFAULT 0 NOT NULL,
    resource_name text,
    deleted_at timestamp with time zone,
    settings jsonb,
    installation text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT inference_jobs_progress_percent_check CHECK (((progress_percent >= 0) AND (progress_percent <= 100))),
    CONSTRAINT inference_jobs_resource_name_check CHECK (((length(resource_name) >= 1) AND (length(resource_name) <= 253))),
    CONSTRAINT inference_jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'queued'::text, 'running'::text, 'cancelling'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY public.inference_jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.installations (
    name text NOT NULL,
    identity text,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    runs_seen_at timestamp with time zone
);

CREATE TABLE public.job_events (
    id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    job_kind text NOT NULL,
    job_id uuid NOT NULL,
    level text NOT NULL,
    type text NOT NULL,
    message text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT job_events_job_kind_check CHECK ((job_kind = ANY (ARRAY['training'::text, 'inference'::text, 'embedding'::text]))),
    CONSTRAINT job_events_level_check CHECK ((level = ANY (ARRAY['info'::text, 'warning'::text, 'error'::text]))),
    CONSTRAINT job_events_type_check CHECK ((type = ANY (ARRAY['status'::text, 'message'::text, 'metrics'::text])))
);

ALTER TABLE ONLY public.job_events FORCE ROW LEVEL SECURITY;

ALTER TABLE public.job_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.job_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.leases (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    holder uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.leases FORCE ROW LEVEL SECURITY;

CREATE TABLE public.leftovers (
    id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    at_once boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    try_at timestamp with time zone DEFAULT now() NOT NULL,
    last_error text,
    installation text,
    CONSTRAINT leftovers_kind_check CHECK ((kind = ANY (ARRAY['upload'::text, 'audio'::text, 'embedding'::text, 'inference_audio'::text, 'model'::text, 'run'::text, 'resource'::text])))
);

ALTER TABLE ONLY public.leftovers FORCE ROW LEVEL SECURITY;

ALTER TABLE public.leftovers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.leftovers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.models (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    training_job_id uuid NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    artifact_types text[] NOT NULL,
    object_store_key text NOT NULL,
    model_size_bytes bigint NOT NULL,
    checksum_sha256 text NOT NULL,
    card_key text NOT NULL,
    card_sha256 text NOT NULL,
    card_size_bytes bigint NOT NULL,
    architecture jsonb NOT NULL,
    eval_metrics jsonb NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    archived_at timestamp with time zone,
    installation text DEFAULT 'default'::text NOT NULL
);

ALTER TABLE ONLY public.models FORCE ROW LEVEL SECURITY;

CREATE UNLOGGED TABLE public.rate_limits (
    tenant_id uuid NOT NULL,
    free_at double precision[] NOT NULL,
    CONSTRAINT rate_limits_free_at_check CHECK ((array_length(free_at, 1) = 5))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.rate_limits FORCE ROW LEVEL SECURITY;

CREATE TABLE public.result_ingests (
    run_id text NOT NULL,
    shard integer NOT NULL,
    digest text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.reviewed_files (
    tenant_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    annotation_set_id uuid NOT NULL,
    audio_file_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.reviewed_files FORCE ROW LEVEL SECURITY;

CREATE TABLE public.run_pods (
    job_id uuid NOT NULL,
    pod_uid text NOT NULL,
    run_id text NOT NULL,
    shard integer NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    cpu double precision NOT NULL,
    gpu double precision NOT NULL,
    failure jsonb
);

CREATE TABLE public.schema_migrations (
    name text NOT NULL,
    run_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.shard_progress (
    run_id text NOT NULL,
    shard integer NOT NULL,
    pod_uid text NOT NULL,
    seq bigint NOT NULL,
    items_done integer NOT NULL,
    items_total integer NOT NULL,
    items_failed integer NOT NULL,
    fraction double precision NOT NULL,
    message text,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    checkpoint_step integer,
    checkpoint_at timestamp with time zone,
    CONSTRAINT shard_progress_fraction_check CHECK (((fraction >= (0)::double precision) AND (fraction <= (1)::double precision)))
)
WITH (fillfactor='50');

CREATE TABLE public.tenant_usage (
    tenant_id uuid NOT NULL,
    audio_bytes bigint DEFAULT 0 NOT NULL,
    training_jobs bigint DEFAULT 0 NOT NULL,
    pod_seconds double precision DEFAULT 0 NOT NULL,
    cpu_seconds double precision DEFAULT 0 NOT NULL,
    gpu_seconds double precision DEFAULT 0 NOT NULL,
    audio_seconds double precision DEFAULT 0 NOT NULL,
    inference_files bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.tenant_usage FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants (
    id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    suspended_at timestamp with time zone,
    CONSTRAINT tenants_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
);

ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;

CREATE TABLE public.training_job_files (
    training_job_id uuid NOT NULL,
    audio_file_id uuid NOT NULL,
    duration_ms bigint NOT NULL,
    embedding_key text NOT NULL,
    embedding_sha256 text NOT NULL,
    embedding_size_bytes bigint NOT NULL,
    embedding_model text NOT NULL,
    embedding_spec_hash text NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.training_job_files FORCE ROW LEVEL SECURITY;

CREATE TABLE public.training_jobs (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    dataset_id uuid NOT NULL,
    annotation_set_id uuid NOT NULL,
    dataset_name text NOT NULL,
    annotation_set_version integer NOT NULL,
    config jsonb NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    status_message text,
    error_message text,
    progress_percent integer DEFAULT 0 NOT NULL,
    metrics jsonb,
    platform_job_name text,
    checkpoint_key text,
    checkpoint_size_bytes bigint,
    cancel_requested_at timestamp with time zone,
    cancel_submitted_at timestamp with time zone,
    submitted_at timestamp with time zone,
    submit_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    queued_at timestamp with time zone,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    traceparent text,
    progress_event_at timestamp with time zone,
    pod_seconds double precision DEFAULT 0 NOT NULL,
    cpu_seconds double precision DEFAULT 0 NOT NULL,
    gpu_seconds double precision DEFAULT 0 NOT NULL,
    audio_seconds double precision DEFAULT 0 NOT NULL,
    resource_name text,
    settings jsonb,
    installation text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT training_jobs_progress_percent_check CHECK (((progress_percent >= 0) AND (progress_percent <= 100))),
    CONSTRAINT training_jobs_resource_name_check CHECK (((length(resource_name) >= 1) AND (length(resource_name) <= 253))),
    CONSTRAINT training_jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'queued'::text, 'running'::text, 'cancelling'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY public.training_jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.training_metrics (
    training_job_id uuid NOT NULL,
    name text NOT NULL,
    step integer NOT NULL,
    value double precision NOT NULL,
    tenant_id uuid NOT NULL
);

ALTER TABLE ONLY public.training_metrics FORCE ROW LEVEL SECURITY;

CREATE TABLE public.url_uploads (
    tenant_id uuid NOT NULL,
    audio_file_id uuid NOT NULL,
    url bytea NOT NULL,
    host text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    try_at timestamp with time zone DEFAULT now() NOT NULL,
    leased_until timestamp with time zone
);

ALTER TABLE ONLY public.url_uploads FORCE ROW LEVEL SECURITY;

CREATE TABLE public.webhook_deliveries (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    message_id text NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    last_attempt_at timestamp with time zone,
    last_status integer,
    last_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT webhook_deliveries_body_check CHECK ((length(body) < 20000)),
    CONSTRAINT webhook_deliveries_check CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.webhook_deliveries FORCE ROW LEVEL SECURITY;

CREATE TABLE public.webhooks (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    url text NOT NULL,
    host text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    types text[] DEFAULT '{}'::text[] NOT NULL,
    secret bytea NOT NULL,
    old_secret bytea,
    old_secret_expires_at timestamp with time zone,
    enabled boolean DEFAULT true NOT NULL,
    disabled_reason text,
    failing_since timestamp with time zone,
    throttled_until timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT webhooks_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['gone'::text, 'failing'::text])))
);

ALTER TABLE ONLY public.webhooks FORCE ROW LEVEL SECURITY;

ALTER TABLE ONLY public.annotation_sets
    ADD CONSTRAINT annotation_sets_dataset_id_version_key UNIQUE (dataset_id, version);

ALTER TABLE ONLY public.annotation_sets
    ADD CONSTRAINT annotation_sets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.annotation_sets
    ADD CONSTRAINT annotation_sets_tenant_id_dataset_id_id_key UNIQUE (tenant_id, dataset_id, id);

ALTER TABLE ONLY public.annotation_sets
    ADD CONSTRAINT annotation_sets_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.annotations
    ADD CONSTRAINT annotations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_key_prefix_key UNIQUE (tenant_id, key_prefix);

ALTER TABLE ONLY public.audio_files
    ADD CONSTRAINT audio_files_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audio_files
    ADD CONSTRAINT audio_files_tenant_id_dataset_id_id_key UNIQUE (tenant_id, dataset_id, id);

ALTER TABLE ONLY public.audio_files
    ADD CONSTRAINT audio_files_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE public.audit_log
    ADD CONSTRAINT audit_log_action_check CHECK ((action = ANY (ARRAY['api_key.created'::text, 'api_key.revoked'::text, 'api_key.rotated'::text, 'api_key.refused'::text, 'session.started'::text, 'session.ended'::text, 'sign_in_link.created'::text, 'tenant.created'::text, 'tenant.suspended'::text, 'tenant.resumed'::text, 'tenant.embedded_again'::text, 'tenant.erased'::text, 'installation.moved'::text]))) NOT VALID;

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.dashboard_sessions
    ADD CONSTRAINT dashboard_sessions_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY public.dataset_usage
    ADD CONSTRAINT dataset_usage_pkey PRIMARY KEY (dataset_id);

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT datasets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT datasets_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.detections
    ADD CONSTRAINT detections_inference_file_id_ordinal_key UNIQUE (inference_file_id, ordinal);

ALTER TABLE ONLY public.detections
    ADD CONSTRAINT detections_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.embedding_jobs
    ADD CONSTRAINT embedding_jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.embedding_jobs
    ADD CONSTRAINT embedding_jobs_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.event_inbox
    ADD CONSTRAINT event_inbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.event_positions
    ADD CONSTRAINT event_positions_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, scope);

ALTER TABLE ONLY public.inference_files
    ADD CONSTRAINT inference_files_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.inference_files
    ADD CONSTRAINT inference_files_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.inference_files
    ADD CONSTRAINT inference_files_tenant_id_inference_job_id_id_key UNIQUE (tenant_id, inference_job_id, id);

ALTER TABLE ONLY public.inference_jobs
    ADD CONSTRAINT inference_jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.inference_jobs
    ADD CONSTRAINT inference_jobs_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.installations
    ADD CONSTRAINT installations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.job_events
    ADD CONSTRAINT job_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.leftovers
    ADD CONSTRAINT leftovers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_training_job_id_key UNIQUE (training_job_id);

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.result_ingests
    ADD CONSTRAINT result_ingests_pkey PRIMARY KEY (run_id, shard);

ALTER TABLE ONLY public.reviewed_files
    ADD CONSTRAINT reviewed_files_pkey PRIMARY KEY (annotation_set_id, audio_file_id);

ALTER TABLE ONLY public.run_pods
    ADD CONSTRAINT run_pods_pkey PRIMARY KEY (job_id, pod_uid);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.shard_progress
    ADD CONSTRAINT shard_progress_pkey PRIMARY KEY (run_id, shard);

ALTER TABLE ONLY public.tenant_usage
    ADD CONSTRAINT tenant_usage_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.training_job_files
    ADD CONSTRAINT training_job_files_pkey PRIMARY KEY (training_job_id, audio_file_id);

ALTER TABLE ONLY public.training_jobs
    ADD CONSTRAINT training_jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.training_jobs
    ADD CONSTRAINT training_jobs_tenant_id_id_key UNIQUE (tenant_id, id);

ALTER TABLE ONLY public.training_metrics
    ADD CONSTRAINT training_metrics_pkey PRIMARY KEY (training_job_id, name, step);

ALTER TABLE ONLY public.url_uploads
    ADD CONSTRAINT url_uploads_pkey PRIMARY KEY (audio_file_id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_tenant_id_id_key UNIQUE (tenant_id, id);

CREATE INDEX annotation_sets_page ON public.annotation_sets USING btree (tenant_id, dataset_id, created_at DESC, id DESC);

CREATE INDEX annotation_sets_work ON public.annotation_sets USING btree (tenant_id, id) WHERE ((deleted_at IS NOT NULL) OR (copying IS NOT NULL));

CREATE INDEX annotations_audio_file ON public.annotations USING btree (tenant_id, dataset_id, audio_file_id);

CREATE INDEX annotations_order ON public.annotations USING btree (annotation_set_id, audio_file_id, start_ms, id);

CREATE INDEX annotations_page ON public.annotations USING btree (tenant_id, annotation_set_id, audio_file_id, start_ms, id);

CREATE INDEX api_keys_open ON public.api_keys USING btree (tenant_id, created_at DESC, id DESC) WHERE (revoked_at IS NULL);

CREATE INDEX audio_files_embedding_job ON public.audio_files USING btree (embedding_job_id, embedding_shard);

CREATE INDEX audio_files_expired ON public.audio_files USING btree (tenant_id, dataset_id) WHERE (status = 'expired'::text);

CREATE INDEX audio_files_name ON public.audio_files USING btree (tenant_id, filename, dataset_id) WHERE (uploaded_at IS NOT NULL);

CREATE INDEX audio_files_page ON public.audio_files USING btree (tenant_id, dataset_id, created_at DESC, id DESC);

CREATE INDEX audio_files_pending ON public.audio_files USING btree (tenant_id, dataset_id, upload_expires_at) WHERE (status = 'pending_upload'::text);

CREATE INDEX audio_files_to_embed ON public.audio_files USING btree (tenant_id, uploaded_at) WHERE ((status = 'processing'::text) AND (embedding_job_id IS NULL));

CREATE INDEX audio_files_to_embed_again ON public.audio_files USING btree (tenant_id, uploaded_at) WHERE ((status = 'ready'::text) AND (embedding_status = 'pending'::text));

CREATE INDEX audio_files_unconfirmed ON public.audio_files USING btree (upload_expires_at) WHERE (status = ANY (ARRAY['pending_upload'::text, 'expired'::text]));

CREATE INDEX audit_log_age ON public.audit_log USING btree (created_at);

CREATE INDEX audit_log_page ON public.audit_log USING btree (tenant_id, id);

CREATE INDEX dashboard_sessions_of_key ON public.dashboard_sessions USING btree (tenant_id, api_key_id);

CREATE INDEX dataset_usage_tenant ON public.dataset_usage USING btree (tenant_id);

CREATE INDEX datasets_page ON public.datasets USING btree (tenant_id, created_at DESC, id DESC);

CREATE INDEX datasets_work ON public.datasets USING btree (tenant_id, id) WHERE (deleted_at IS NOT NULL);

CREATE INDEX detections_page ON public.detections USING btree (inference_job_id, inference_file_id, ordinal);

CREATE INDEX embedding_jobs_open ON public.embedding_jobs USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'queued'::text, 'running'::text, 'cancelling'::text]));

CREATE INDEX embedding_jobs_resource ON public.embedding_jobs USING btree (resource_name) WHERE (resource_name IS NOT NULL);

CREATE INDEX embedding_jobs_unsubmitted ON public.embedding_jobs USING btree (created_at) WHERE (submitted_at IS NULL);

CREATE INDEX event_inbox_turns ON public.event_inbox USING btree (tenant_id, id);

CREATE INDEX events_age ON public.events USING btree (created_at);

CREATE UNIQUE INDEX events_numbers ON public.events USING btree (tenant_id, seq);

CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

CREATE INDEX inference_files_audio ON public.inference_files USING btree (audio_file_id) WHERE (audio_file_id IS NOT NULL);

CREATE INDEX inference_files_object ON public.inference_files USING btree (object_key) WHERE (audio_file_id IS NULL);

CREATE INDEX inference_files_page ON public.inference_files USING btree (tenant_id, inference_job_id, created_at DESC, id DESC);

CREATE INDEX inference_files_shard ON public.inference_files USING btree (inference_job_id, shard);

CREATE INDEX inference_files_unconfirmed ON public.inference_files USING btree (upload_expires_at) WHERE (status = 'pending_upload'::text);

CREATE INDEX inference_jobs_list ON public.inference_jobs USING btree (tenant_id, created_at DESC, id DESC) INCLUDE (deleted_at);

CREATE INDEX inference_jobs_model ON public.inference_jobs USING btree (tenant_id, model_id);

CREATE INDEX inference_jobs_open ON public.inference_jobs USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'queued'::text, 'running'::text, 'cancelling'::text]));

CREATE INDEX inference_jobs_open_of_tenant ON public.inference_jobs USING btree (tenant_id, status) WHERE (status = ANY (ARRAY['pending'::text, 'queued'::text, 'running'::text, 'cancelling'::text]));

CREATE INDEX inference_jobs_resource ON public.inference_jobs USING btree (resource_name) WHERE (resource_name IS NOT NULL);

CREATE INDEX inference_jobs_unstarted ON public.inference_jobs USING btree (created_at) WHERE ((status = 'pending'::text) AND (start_requested_at IS NULL));

CREATE INDEX inference_jobs_unsubmitted ON public.inference_jobs USING btree (start_requested_at) WHERE ((submitted_at IS NULL) AND (start_requested_at IS NOT NULL));

CREATE INDEX inference_jobs_work ON public.inference_jobs USING btree (tenant_id, id) WHERE (deleted_at IS NOT NULL);

CREATE INDEX job_events_page ON public.job_events USING btree (job_id, id);

CREATE INDEX leftovers_after_grace_of_tenant ON public.leftovers USING btree (tenant_id, created_at) WHERE (NOT at_once);

CREATE INDEX leftovers_at_once_of_tenant ON public.leftovers USING btree (tenant_id, try_at) WHERE at_once;

CREATE INDEX leftovers_failing ON public.leftovers USING btree (attempts) WHERE (attempts > 0);

CREATE INDEX leftovers_resources ON public.leftovers USING btree (target) WHERE ((kind = 'resource'::text) AND at_once);

CREATE INDEX models_page ON public.models USING btree (tenant_id, created_at DESC, id DESC);

CREATE INDEX reviewed_files_audio_file ON public.reviewed_files USING btree (tenant_id, dataset_id, audio_file_id);

CREATE INDEX reviewed_files_page ON public.reviewed_files USING btree (tenant_id, annotation_set_id, created_at DESC, audio_file_id DESC);

CREATE INDEX training_job_files_audio ON public.training_job_files USING btree (audio_file_id);

CREATE INDEX training_jobs_open ON public.training_jobs USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'queued'::text, 'running'::text, 'cancelling'::text]));

CREATE INDEX training_jobs_open_of_tenant ON public.training_jobs USING btree (tenant_id, status) WHERE (status = ANY (ARRAY['pending'::text, 'queued'::text, 'running'::text, 'cancelling'::text]));

CREATE INDEX training_jobs_page ON public.training_jobs USING btree (tenant_id, created_at DESC, id DESC);

CREATE INDEX training_jobs_resource ON public.training_jobs USING btree (resource_name) WHERE (resource_name IS NOT NULL);

CREATE INDEX training_jobs_unsubmitted ON public.training_jobs USING btree (created_at) WHERE (submitted_at IS NULL);

CREATE INDEX url_uploads_by_time ON public.url_uploads USING btree (try_at);

CREATE INDEX url_uploads_of_tenant ON public.url_uploads USING btree (tenant_id, try_at);

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook_id, next_attempt_at) WHERE (status = 'pending'::text);

CREATE INDEX webhook_deliveries_finished ON public.webhook_deliveries USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX webhook_deliveries_page ON public.webhook_deliveries USING btree (webhook_id, created_at DESC, id DESC);

CREATE INDEX webhooks_page ON public.webhooks USING btree (tenant_id, created_at DESC, id DESC);

CREATE INDEX webhooks_work ON public.webhooks USING btree (tenant_id, id) WHERE (deleted_at IS NOT NULL);

CREATE STATISTICS public.annotations_parents (dependencies) ON tenant_id, annotation_set_id FROM public.annotations;

CREATE STATISTICS public.audio_files_parents (dependencies) ON tenant_id, dataset_id FROM public.audio_files;

CREATE STATISTICS public.detections_parents (dependencies) ON tenant_id, inference_job_id FROM public.detections;

CREATE STATISTICS public.inference_files_parents (dependencies) ON tenant_id, inference_job_id FROM public.inference_files;

CREATE STATISTICS public.reviewed_files_parents (dependencies) ON tenant_id, annotation_set_id FROM public.reviewed_files;

CREATE TRIGGER annotation_set_changed AFTER UPDATE OF status ON public.annotation_sets FOR EACH ROW WHEN (((new.status <> old.status) AND (new.status = 'published'::text))) EXECUTE FUNCTION public.tell_annotation_set();

CREATE TRIGGER annotation_sets_copied AFTER INSERT OR DELETE OR UPDATE OF copying ON public.annotation_sets FOR EACH ROW EXECUTE FUNCTION public.count_copies();

CREATE TRIGGER annotation_sets_deleted BEFORE UPDATE OF deleted_at ON public.annotation_sets FOR EACH ROW WHEN (((old.deleted_at IS NOT NULL) AND (new.deleted_at IS DISTINCT FROM old.deleted_at))) EXECUTE FUNCTION public.refuse_undeletion();

CREATE TRIGGER annotation_sets_frozen BEFORE UPDATE ON public.annotation_sets FOR EACH ROW WHEN (((old.status = 'published'::text) AND (new.* IS DISTINCT FROM old.*))) EXECUTE FUNCTION public.refuse_frozen_set();

CREATE TRIGGER annotations_added AFTER INSERT ON public.annotations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_annotations();

CREATE TRIGGER annotations_changed AFTER UPDATE ON public.annotations REFERENCING OLD TABLE AS gone NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.recount_annotations();

CREATE TRIGGER annotations_frozen_delete AFTER DELETE ON public.annotations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_frozen_annotations();

CREATE TRIGGER annotations_frozen_insert AFTER INSERT ON public.annotations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_frozen_annotations();

CREATE TRIGGER annotations_frozen_update AFTER UPDATE ON public.annotations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_frozen_annotations();

CREATE TRIGGER annotations_gone AFTER DELETE ON public.annotations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_annotations();

CREATE TRIGGER annotations_stay BEFORE UPDATE OF annotation_set_id ON public.annotations FOR EACH ROW WHEN ((new.annotation_set_id IS DISTINCT FROM old.annotation_set_id)) EXECUTE FUNCTION public.refuse_other_set();

CREATE TRIGGER api_key_changed AFTER UPDATE OF revoked_at ON public.api_keys FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION public.tell_api_key();

CREATE TRIGGER api_key_closed AFTER UPDATE OF revoked_at, expires_at ON public.api_keys FOR EACH ROW WHEN (((new.revoked_at IS DISTINCT FROM old.revoked_at) OR (new.expires_at IS DISTINCT FROM old.expires_at))) EXECUTE FUNCTION public.notify_change('plosive_keys');

CREATE TRIGGER api_key_created AFTER INSERT ON public.api_keys FOR EACH ROW EXECUTE FUNCTION public.tell_api_key();

CREATE TRIGGER api_key_deleted AFTER DELETE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION public.notify_change('plosive_keys');

CREATE TRIGGER audio_file_changed AFTER UPDATE OF status ON public.audio_files FOR EACH ROW WHEN (((new.status <> old.status) AND (new.status = ANY (ARRAY['ready'::text, 'failed'::text])))) EXECUTE FUNCTION public.tell_audio_file();

CREATE TRIGGER audio_files_added AFTER INSERT ON public.audio_files REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_audio('1');

CREATE TRIGGER audio_files_changed AFTER UPDATE ON public.audio_files REFERENCING OLD TABLE AS gone NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.recount_audio();

CREATE TRIGGER audio_files_confirmed AFTER UPDATE OF status ON public.audio_files FOR EACH ROW WHEN (((old.status = 'pending_upload'::text) AND (new.status = 'processing'::text))) EXECUTE FUNCTION public.leave_confirmed();

CREATE TRIGGER audio_files_embedded_again AFTER UPDATE OF embedding_key ON public.audio_files FOR EACH ROW WHEN ((old.embedding_key <> new.embedding_key)) EXECUTE FUNCTION public.leave_embedding();

CREATE TRIGGER audio_files_expire AFTER UPDATE OF status ON public.audio_files FOR EACH ROW WHEN (((new.status = 'expired'::text) AND (old.status <> 'expired'::text))) EXECUTE FUNCTION public.count_expired_audio();

CREATE TRIGGER audio_files_expired AFTER UPDATE OF status ON public.audio_files FOR EACH ROW WHEN (((new.status = 'expired'::text) AND (old.status <> 'expired'::text))) EXECUTE FUNCTION public.leave_upload();

CREATE TRIGGER audio_files_gone AFTER DELETE ON public.audio_files REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_audio('-1');

CREATE TRIGGER audio_files_left AFTER DELETE ON public.audio_files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.leave_audio();

CREATE TRIGGER audio_files_not_fetched AFTER UPDATE OF status ON public.audio_files FOR EACH ROW WHEN (((old.status = 'pending_upload'::text) AND (new.status = 'failed'::text))) EXECUTE FUNCTION public.leave_upload();

CREATE TRIGGER audio_files_resized AFTER UPDATE OF size_bytes ON public.audio_files FOR EACH ROW WHEN (((old.size_bytes <> new.size_bytes) AND (new.status <> 'expired'::text))) EXECUTE FUNCTION public.count_resized_audio();

CREATE TRIGGER datasets_deleted BEFORE UPDATE OF deleted_at ON public.datasets FOR EACH ROW WHEN (((old.deleted_at IS NOT NULL) AND (new.deleted_at IS DISTINCT FROM old.deleted_at))) EXECUTE FUNCTION public.refuse_undeletion();

CREATE CONSTRAINT TRIGGER datasets_deleting AFTER INSERT OR UPDATE OF deleting ON public.datasets DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.deleting) EXECUTE FUNCTION public.refuse_half_deletion();

CREATE TRIGGER embedding_jobs_ended AFTER UPDATE OF status ON public.embedding_jobs FOR EACH ROW WHEN (((old.status <> new.status) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))) EXECUTE FUNCTION public.leave_run('ej');

CREATE TRIGGER embedding_jobs_left AFTER DELETE ON public.embedding_jobs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.leave_job('ej');

CREATE TRIGGER inference_file_changed AFTER UPDATE OF status ON public.inference_files FOR EACH ROW WHEN (((new.status <> old.status) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text])))) EXECUTE FUNCTION public.tell_inference_file();

CREATE TRIGGER inference_files_added AFTER INSERT ON public.inference_files REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_inference_audio('1');

CREATE TRIGGER inference_files_audio AFTER INSERT ON public.inference_files REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.require_own_audio();

CREATE TRIGGER inference_files_confirmed AFTER UPDATE OF status ON public.inference_files FOR EACH ROW WHEN (((old.status = 'pending_upload'::text) AND (new.status = 'queued'::text))) EXECUTE FUNCTION public.leave_confirmed();

CREATE TRIGGER inference_files_gone AFTER DELETE ON public.inference_files REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_inference_audio('-1');

CREATE TRIGGER inference_files_left AFTER DELETE ON public.inference_files REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.leave_inference_audio();

CREATE TRIGGER inference_files_origin BEFORE UPDATE OF tenant_id, audio_file_id ON public.inference_files FOR EACH ROW WHEN (((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.audio_file_id IS DISTINCT FROM old.audio_file_id))) EXECUTE FUNCTION public.refuse_other_origin();

CREATE TRIGGER inference_job_changed AFTER UPDATE OF status ON public.inference_jobs FOR EACH ROW WHEN ((new.status <> old.status)) EXECUTE FUNCTION public.tell_inference_job();

CREATE TRIGGER inference_job_created AFTER INSERT ON public.inference_jobs FOR EACH ROW EXECUTE FUNCTION public.tell_inference_job();

CREATE TRIGGER inference_job_deleted AFTER DELETE ON public.inference_jobs FOR EACH ROW EXECUTE FUNCTION public.notify_change('plosive_jobs');

CREATE TRIGGER inference_job_moved AFTER UPDATE ON public.inference_jobs FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.notify_change('plosive_jobs');

CREATE TRIGGER inference_jobs_deleted BEFORE UPDATE OF deleted_at ON public.inference_jobs FOR EACH ROW WHEN (((old.deleted_at IS NOT NULL) AND (new.deleted_at IS DISTINCT FROM old.deleted_at))) EXECUTE FUNCTION public.refuse_undeletion();

CREATE TRIGGER inference_jobs_ended AFTER UPDATE OF status ON public.inference_jobs FOR EACH ROW WHEN (((old.status <> new.status) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))) EXECUTE FUNCTION public.leave_run('ij');

CREATE TRIGGER inference_jobs_hidden AFTER UPDATE OF deleted_at ON public.inference_jobs FOR EACH ROW WHEN (((old.deleted_at IS NULL) AND (new.deleted_at IS NOT NULL))) EXECUTE FUNCTION public.leave_resource();

CREATE TRIGGER inference_jobs_left AFTER DELETE ON public.inference_jobs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.leave_job('ij');

CREATE TRIGGER inference_jobs_model BEFORE INSERT OR UPDATE OF tenant_id, model_id ON public.inference_jobs FOR EACH ROW EXECUTE FUNCTION public.require_model();

CREATE TRIGGER model_changed AFTER UPDATE OF archived_at ON public.models FOR EACH ROW WHEN (((old.archived_at IS NULL) AND (new.archived_at IS NOT NULL))) EXECUTE FUNCTION public.tell_model();

CREATE TRIGGER model_created AFTER INSERT ON public.models FOR EACH ROW EXECUTE FUNCTION public.tell_model();

CREATE TRIGGER models_left AFTER DELETE ON public.models REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.leave_model();

CREATE TRIGGER models_training_job BEFORE INSERT OR UPDATE OF tenant_id, training_job_id ON public.models FOR EACH ROW EXECUTE FUNCTION public.require_training_job();

CREATE TRIGGER reviewed_files_frozen BEFORE INSERT OR DELETE OR UPDATE ON public.reviewed_files FOR EACH ROW EXECUTE FUNCTION public.refuse_frozen_annotation();

CREATE TRIGGER tenant_suspended AFTER UPDATE OF suspended_at ON public.tenants FOR EACH ROW WHEN ((new.suspended_at IS DISTINCT FROM old.suspended_at)) EXECUTE FUNCTION public.notify_change('plosive_keys');

CREATE TRIGGER training_job_changed AFTER UPDATE ON public.training_jobs FOR EACH ROW WHEN (((new.status <> old.status) OR (new.progress_event_at IS DISTINCT FROM old.progress_event_at))) EXECUTE FUNCTION public.tell_training_job();

CREATE TRIGGER training_job_created AFTER INSERT ON public.training_jobs FOR EACH ROW EXECUTE FUNCTION public.tell_training_job();

CREATE TRIGGER training_job_deleted AFTER DELETE ON public.training_jobs FOR EACH ROW EXECUTE FUNCTION public.notify_change('plosive_jobs');

CREATE TRIGGER training_job_files_audio AFTER INSERT ON public.training_job_files REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.require_own_audio();

CREATE TRIGGER training_job_files_origin BEFORE UPDATE OF tenant_id, audio_file_id ON public.training_job_files FOR EACH ROW WHEN (((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.audio_file_id IS DISTINCT FROM old.audio_file_id))) EXECUTE FUNCTION public.refuse_other_origin();

CREATE TRIGGER training_job_files_tenant BEFORE INSERT ON public.training_job_files FOR EACH ROW WHEN ((new.tenant_id IS NULL)) EXECUTE FUNCTION public.take_tenant_of_training_job();

CREATE TRIGGER training_job_moved AFTER UPDATE ON public.training_jobs FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.notify_change('plosive_jobs');

CREATE TRIGGER training_job_progress BEFORE UPDATE OF progress_percent ON public.training_jobs FOR EACH ROW WHEN (((new.progress_percent > old.progress_percent) AND (new.status = old.status))) EXECUTE FUNCTION public.throttle_progress();

CREATE TRIGGER training_jobs_added AFTER INSERT ON public.training_jobs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_training_jobs('1');

CREATE TRIGGER training_jobs_ended AFTER UPDATE OF status ON public.training_jobs FOR EACH ROW WHEN (((old.status <> new.status) AND (new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])))) EXECUTE FUNCTION public.leave_run('tj');

CREATE TRIGGER training_jobs_gone AFTER DELETE ON public.training_jobs REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.count_training_jobs('-1');

CREATE TRIGGER training_jobs_left AFTER DELETE ON public.training_jobs REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.leave_job('tj');

CREATE TRIGGER training_jobs_origin BEFORE UPDATE OF tenant_id, dataset_id, annotation_set_id ON public.training_jobs FOR EACH ROW WHEN ((((new.tenant_id IS DISTINCT FROM old.tenant_id) OR (new.dataset_id IS DISTINCT FROM old.dataset_id)) OR (new.annotation_set_id IS DISTINCT FROM old.annotation_set_id))) EXECUTE FUNCTION public.refuse_other_origin();

CREATE TRIGGER training_jobs_set BEFORE INSERT ON public.training_jobs FOR EACH ROW EXECUTE FUNCTION public.require_own_set();

CREATE TRIGGER training_metrics_tenant BEFORE INSERT ON public.training_metrics FOR EACH ROW WHEN ((new.tenant_id IS NULL)) EXECUTE FUNCTION public.take_tenant_of_training_job();

CREATE TRIGGER webhook_changed AFTER UPDATE OF enabled ON public.webhooks FOR EACH ROW WHEN ((old.enabled AND (NOT new.enabled) AND (new.disabled_reason IS NOT NULL))) EXECUTE FUNCTION public.tell_webhook();

CREATE TRIGGER webhooks_deleted BEFORE UPDATE OF deleted_at ON public.webhooks FOR EACH ROW WHEN (((old.deleted_at IS NOT NULL) AND (new.deleted_at IS DISTINCT FROM old.deleted_at))) EXECUTE FUNCTION public.refuse_undeletion();

ALTER TABLE ONLY public.annotation_sets
    ADD CONSTRAINT annotation_sets_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES public.datasets(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.annotations
    ADD CONSTRAINT annotations_tenant_id_dataset_id_annotation_set_id_fkey FOREIGN KEY (tenant_id, dataset_id, annotation_set_id) REFERENCES public.annotation_sets(tenant_id, dataset_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.annotations
    ADD CONSTRAINT annotations_tenant_id_dataset_id_audio_file_id_fkey FOREIGN KEY (tenant_id, dataset_id, audio_file_id) REFERENCES public.audio_files(tenant_id, dataset_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.audio_files
    ADD CONSTRAINT audio_files_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES public.datasets(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.audio_files
    ADD CONSTRAINT audio_files_tenant_id_embedding_job_id_fkey FOREIGN KEY (tenant_id, embedding_job_id) REFERENCES public.embedding_jobs(tenant_id, id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dashboard_sessions
    ADD CONSTRAINT dashboard_sessions_tenant_id_api_key_id_fkey FOREIGN KEY (tenant_id, api_key_id) REFERENCES public.api_keys(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dashboard_sessions
    ADD CONSTRAINT dashboard_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dataset_usage
    ADD CONSTRAINT dataset_usage_tenant_id_dataset_id_fkey FOREIGN KEY (tenant_id, dataset_id) REFERENCES public.datasets(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT datasets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.detections
    ADD CONSTRAINT detections_tenant_id_inference_job_id_inference_file_id_fkey FOREIGN KEY (tenant_id, inference_job_id, inference_file_id) REFERENCES public.inference_files(tenant_id, inference_job_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.embedding_jobs
    ADD CONSTRAINT embedding_jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.event_inbox
    ADD CONSTRAINT event_inbox_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.event_positions
    ADD CONSTRAINT event_positions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.inference_files
    ADD CONSTRAINT inference_files_tenant_id_inference_job_id_fkey FOREIGN KEY (tenant_id, inference_job_id) REFERENCES public.inference_jobs(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.inference_jobs
    ADD CONSTRAINT inference_jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.job_events
    ADD CONSTRAINT job_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.reviewed_files
    ADD CONSTRAINT reviewed_files_tenant_id_dataset_id_annotation_set_id_fkey FOREIGN KEY (tenant_id, dataset_id, annotation_set_id) REFERENCES public.annotation_sets(tenant_id, dataset_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.reviewed_files
    ADD CONSTRAINT reviewed_files_tenant_id_dataset_id_audio_file_id_fkey FOREIGN KEY (tenant_id, dataset_id, audio_file_id) REFERENCES public.audio_files(tenant_id, dataset_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.tenant_usage
    ADD CONSTRAINT tenant_usage_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.training_job_files
    ADD CONSTRAINT training_job_files_tenant_id_training_job_id_fkey FOREIGN KEY (tenant_id, training_job_id) REFERENCES public.training_jobs(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.training_jobs
    ADD CONSTRAINT training_jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.training_metrics
    ADD CONSTRAINT training_metrics_tenant_id_training_job_id_fkey FOREIGN KEY (tenant_id, training_job_id) REFERENCES public.training_jobs(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.url_uploads
    ADD CONSTRAINT url_uploads_tenant_id_audio_file_id_fkey FOREIGN KEY (tenant_id, audio_file_id) REFERENCES public.audio_files(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES public.webhooks(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;

ALTER TABLE public.annotation_sets ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.annotations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audio_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.dashboard_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.dataset_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.datasets ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.detections ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.embedding_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_inbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_positions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inference_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inference_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.job_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.leases ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.leftovers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.models ENABLE ROW LEVEL SECURITY;

CREATE POLICY not_deleting ON public.inference_jobs AS RESTRICTIVE FOR UPDATE TO plosive_operator USING (true) WITH CHECK ((deleted_at IS NULL));

CREATE POLICY of_admin ON public.api_keys TO plosive_admin USING (true) WITH CHECK (true);

CREATE POLICY of_admin ON public.audit_log FOR INSERT TO plosive_admin WITH CHECK (true);

CREATE POLICY of_admin ON public.dashboard_sessions FOR INSERT TO plosive_admin WITH CHECK (true);

CREATE POLICY of_admin ON public.tenants TO plosive_admin USING (true) WITH CHECK (true);

CREATE POLICY of_admin_too ON public.dashboard_sessions TO plosive_admin USING (true);

CREATE POLICY of_operator ON public.annotation_sets TO plosive_operator USING (((deleted_at IS NULL) OR (( SELECT current_setting('app.sees_deleted'::text, true) AS current_setting) = 'on'::text))) WITH CHECK (true);

CREATE POLICY of_operator ON public.annotations TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.api_keys TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.audio_files TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.audit_log TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.dashboard_sessions TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.dataset_usage TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.datasets TO plosive_operator USING (((deleted_at IS NULL) OR (( SELECT current_setting('app.sees_deleted'::text, true) AS current_setting) = 'on'::text))) WITH CHECK (true);

CREATE POLICY of_operator ON public.detections TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.embedding_jobs TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.event_inbox TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.event_positions TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.events TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.idempotency_keys TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.inference_files TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.inference_jobs TO plosive_operator USING (((deleted_at IS NULL) OR (( SELECT current_setting('app.sees_deleted'::text, true) AS current_setting) = 'on'::text))) WITH CHECK (true);

CREATE POLICY of_operator ON public.job_events TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.leases TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.leftovers TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.models TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.rate_limits TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.reviewed_files TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.tenant_usage TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.tenants TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.training_job_files TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.training_jobs TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.training_metrics TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.url_uploads TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.webhook_deliveries TO plosive_operator USING (true) WITH CHECK (true);

CREATE POLICY of_operator ON public.webhooks TO plosive_operator USING (((deleted_at IS NULL) OR (( SELECT current_setting('app.sees_deleted'::text, true) AS current_setting) = 'on'::text))) WITH CHECK (true);

CREATE POLICY of_owner ON public.annotation_sets TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.annotations TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.api_keys TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.audio_files TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.audit_log TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.dashboard_sessions TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.dataset_usage TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.datasets TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.detections TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.embedding_jobs TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.event_inbox TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.event_positions TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.events TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.idempotency_keys TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.inference_files TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.inference_jobs TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.job_events TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.leases TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.leftovers TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.models TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.rate_limits TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.reviewed_files TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.tenant_usage TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.tenants TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.training_job_files TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.training_jobs TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.training_metrics TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.url_uploads TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.webhook_deliveries TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_owner ON public.webhooks TO postgres USING (true) WITH CHECK (true);

CREATE POLICY of_tenant ON public.annotation_sets TO plosive_api USING (((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")) AND ((deleted_at IS NULL) OR (( SELECT current_setting('app.sees_deleted'::text, true) AS current_setting) = 'on'::text)))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.annotations TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.api_keys TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.audio_files TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.audit_log TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.dashboard_sessions TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.dataset_usage TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.datasets TO plosive_api USING (((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")) AND ((deleted_at IS NULL) OR (( SELECT current_setting('app.sees_deleted'::text, true) AS current_setting) = 'on'::text)))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.detections TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.embedding_jobs TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.event_inbox TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.event_positions TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.events TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.idempotency_keys TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.inference_files TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.inference_jobs TO plosive_api USING (((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")) AND ((deleted_at IS NULL) OR (( SELECT current_setting('app.sees_deleted'::text, true) AS current_setting) = 'on'::text)))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.job_events TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.leases TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.leftovers TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.models TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.rate_limits TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.reviewed_files TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.tenant_usage TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.tenants TO plosive_api USING ((id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.training_job_files TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.training_jobs TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.training_metrics TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.url_uploads TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.webhook_deliveries TO plosive_api USING ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif"))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY of_tenant ON public.webhooks TO plosive_api USING (((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")) AND ((deleted_at IS NULL) OR (( SELECT current_setting('app.sees_deleted'::text, true) AS current_setting) = 'on'::text)))) WITH CHECK ((tenant_id = ( SELECT (NULLIF(current_setting('app.tenant_id'::text, true), ''::text))::uuid AS "nullif")));

CREATE POLICY only_copies ON public.annotations AS RESTRICTIVE FOR INSERT TO plosive_operator WITH CHECK ((EXISTS ( SELECT
   FROM public.annotation_sets s
  WHERE ((s.tenant_id = annotations.tenant_id) AND (s.id = annotations.annotation_set_id) AND (s.copying IS NOT NULL)))));

CREATE POLICY only_copies ON public.reviewed_files AS RESTRICTIVE FOR INSERT TO plosive_operator WITH CHECK ((EXISTS ( SELECT
   FROM public.annotation_sets s
  WHERE ((s.tenant_id = reviewed_files.tenant_id) AND (s.id = reviewed_files.annotation_set_id) AND (s.copying IS NOT NULL)))));

CREATE POLICY only_deleted ON public.annotation_sets AS RESTRICTIVE FOR DELETE TO plosive_operator USING ((deleted_at IS NOT NULL));

CREATE POLICY only_deleted ON public.datasets AS RESTRICTIVE FOR DELETE TO plosive_operator USING ((deleted_at IS NOT NULL));

CREATE POLICY only_deleted ON public.inference_jobs AS RESTRICTIVE FOR DELETE TO plosive_operator USING ((deleted_at IS NOT NULL));

CREATE POLICY only_deleted ON public.webhooks AS RESTRICTIVE FOR DELETE TO plosive_operator USING ((deleted_at IS NOT NULL));

CREATE POLICY only_of_deleted ON public.annotations AS RESTRICTIVE FOR DELETE TO plosive_operator USING ((EXISTS ( SELECT
   FROM public.annotation_sets p
  WHERE ((p.tenant_id = annotations.tenant_id) AND (p.id = annotations.annotation_set_id) AND (p.deleted_at IS NOT NULL)))));

CREATE POLICY only_of_deleted ON public.reviewed_files AS RESTRICTIVE FOR DELETE TO plosive_operator USING ((EXISTS ( SELECT
   FROM public.annotation_sets p
  WHERE ((p.tenant_id = reviewed_files.tenant_id) AND (p.id = reviewed_files.annotation_set_id) AND (p.deleted_at IS NOT NULL)))));

CREATE POLICY only_of_deleted ON public.webhook_deliveries AS RESTRICTIVE FOR DELETE TO plosive_operator USING ((EXISTS ( SELECT
   FROM public.webhooks p
  WHERE ((p.tenant_id = webhook_deliveries.tenant_id) AND (p.id = webhook_deliveries.webhook_id) AND (p.deleted_at IS NOT NULL)))));

ALTER TABLE public.rate_limits ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reviewed_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenant_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.training_job_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.training_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.training_metrics ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.url_uploads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhooks ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA public TO plosive_api;
GRANT USAGE ON SCHEMA public TO plosive_operator;
GRANT USAGE ON SCHEMA public TO plosive_admin;

REVOKE ALL ON FUNCTION public.add_by_type(present jsonb, added jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.add_usable(dataset uuid, files bigint, ms bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.add_usage(tenant uuid, dataset uuid, files bigint, bytes bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.admit_caller(digest bytea, gap double precision, span double precision, policy integer, policy_gap double precision, policy_span double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION public.admit_caller(digest bytea, gap double precision, span double precision, policy integer, policy_gap double precision, policy_span double precision) TO plosive_api;

REVOKE ALL ON FUNCTION public.begin_erasure(wanted uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.begin_erasure(wanted uuid) TO plosive_admin;

REVOKE ALL ON FUNCTION public.claim_deliveries(at timestamp with time zone, lease interval, places integer, busy_webhooks uuid[], busy_tenants uuid[], busy_hosts text[], per_webhook integer, per_tenant integer, per_host integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_deliveries(at timestamp with time zone, lease interval, places integer, busy_webhooks uuid[], busy_tenants uuid[], busy_hosts text[], per_webhook integer, per_tenant integer, per_host integer) TO plosive_operator;

REVOKE ALL ON FUNCTION public.claim_url_uploads(lease interval, most integer, per_tenant integer, per_host integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claim_url_uploads(lease interval, most integer, per_tenant integer, per_host integer) TO plosive_operator;

REVOKE ALL ON FUNCTION public.count_annotations() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_audio() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_copies() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_expired_audio() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_inference_audio() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_resized_audio() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_training_jobs() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.datasets_embedded_before(wanted uuid, moment timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.datasets_embedded_before(wanted uuid, moment timestamp with time zone) TO plosive_admin;

REVOKE ALL ON FUNCTION public.embed_again(wanted uuid, moment timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.embed_again(wanted uuid, moment timestamp with time zone) TO plosive_admin;

REVOKE ALL ON FUNCTION public.emit_event(tenant uuid, type text, data jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.end_session(wanted bytea, address inet, request text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_session(wanted bytea, address inet, request text) TO plosive_api;

REVOKE ALL ON FUNCTION public.erase_piece(wanted uuid, most integer, OUT part text, OUT deleted bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.erase_piece(wanted uuid, most integer, OUT part text, OUT deleted bigint) TO plosive_admin;

REVOKE ALL ON FUNCTION public.event_lags(OUT inbox double precision, OUT deliveries double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION public.event_lags(OUT inbox double precision, OUT deliveries double precision) TO plosive_api;

REVOKE ALL ON FUNCTION public.forget_events(batch integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_events(batch integer) TO plosive_api;

REVOKE ALL ON FUNCTION public.installation_states() FROM PUBLIC;
GRANT ALL ON FUNCTION public.installation_states() TO plosive_operator;
GRANT ALL ON FUNCTION public.installation_states() TO plosive_admin;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.audio_files TO plosive_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.audio_files TO plosive_operator;

REVOKE ALL ON FUNCTION public.is_embedded_before(f public.audio_files, moment timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.isolate_tenant(t regclass, api_rights text, operator_rights text, tenant_column name) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.key_of_session(wanted bytea, touches boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.key_of_session(wanted bytea, touches boolean) TO plosive_api;

REVOKE ALL ON FUNCTION public.last_event_seq() FROM PUBLIC;
GRANT ALL ON FUNCTION public.last_event_seq() TO plosive_api;

REVOKE ALL ON FUNCTION public.leave_audio() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.leave_confirmed() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.leave_embedding() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.leave_inference_audio() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.leave_job() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.leave_model() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.leave_resource() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.leave_run() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.leave_upload() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.move_jobs(giver text, taker text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.move_jobs(giver text, taker text) TO plosive_admin;

REVOKE ALL ON FUNCTION public.next_background_work() FROM PUBLIC;
GRANT ALL ON FUNCTION public.next_background_work() TO plosive_operator;

GRANT SELECT,INSERT ON TABLE public.audit_log TO plosive_api;
GRANT SELECT,DELETE ON TABLE public.audit_log TO plosive_operator;
GRANT INSERT ON TABLE public.audit_log TO plosive_admin;

REVOKE ALL ON FUNCTION public.note_refused_key(tenant uuid, reason text, prefix text, address inet, request text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_refused_key(tenant uuid, reason text, prefix text, address inet, request text) TO plosive_api;

REVOKE ALL ON FUNCTION public.recount_annotations() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.recount_audio() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.refuse_frozen_annotations() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.refuse_half_deletion() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.require_own_audio() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.role_of_session(wanted bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.role_of_session(wanted bytea) TO plosive_api;

REVOKE ALL ON FUNCTION public.scopes_of_key(key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.scopes_of_key(key uuid) TO plosive_api;

REVOKE ALL ON FUNCTION public.stamp_events(max_events integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.stamp_events(max_events integer) TO plosive_api;

REVOKE ALL ON FUNCTION public.tell_annotation_set() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_api_key() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_audio_file() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_inference_file() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_inference_job() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_model() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_training_job() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_webhook() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.use_sign_in_link(wanted bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.use_sign_in_link(wanted bytea) TO plosive_api;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.annotation_sets TO plosive_api;
GRANT SELECT,DELETE ON TABLE public.annotation_sets TO plosive_operator;

GRANT UPDATE(revision) ON TABLE public.annotation_sets TO plosive_operator;

GRANT UPDATE(copying) ON TABLE public.annotation_sets TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.annotations TO plosive_api;
GRANT SELECT,INSERT,DELETE ON TABLE public.annotations TO plosive_operator;

GRANT SELECT,INSERT ON TABLE public.api_keys TO plosive_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.api_keys TO plosive_admin;

GRANT UPDATE(name) ON TABLE public.api_keys TO plosive_api;

GRANT UPDATE(expires_at) ON TABLE public.api_keys TO plosive_api;

GRANT UPDATE(last_used_at) ON TABLE public.api_keys TO plosive_api;

GRANT UPDATE(revoked_at) ON TABLE public.api_keys TO plosive_api;

GRANT SELECT,INSERT ON TABLE public.dashboard_sessions TO plosive_api;
GRANT DELETE ON TABLE public.dashboard_sessions TO plosive_operator;
GRANT INSERT,DELETE ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(tenant_id) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(api_key_id) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(created_at) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(last_used_at) ON TABLE public.dashboard_sessions TO plosive_operator;
GRANT SELECT(last_used_at) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(expires_at) ON TABLE public.dashboard_sessions TO plosive_operator;
GRANT SELECT(expires_at) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(issuer) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(subject) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(user_name) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT(role) ON TABLE public.dashboard_sessions TO plosive_admin;

GRANT SELECT ON TABLE public.dataset_usage TO plosive_api;
GRANT SELECT ON TABLE public.dataset_usage TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.datasets TO plosive_api;
GRANT DELETE ON TABLE public.datasets TO plosive_operator;

GRANT SELECT(id) ON TABLE public.datasets TO plosive_operator;

GRANT SELECT(tenant_id) ON TABLE public.datasets TO plosive_operator;

GRANT SELECT(name) ON TABLE public.datasets TO plosive_operator;

GRANT SELECT(artifact_types) ON TABLE public.datasets TO plosive_operator;

GRANT UPDATE(updated_at) ON TABLE public.datasets TO plosive_operator;

GRANT SELECT(deleted_at) ON TABLE public.datasets TO plosive_operator;

GRANT SELECT ON TABLE public.detections TO plosive_api;
GRANT SELECT,INSERT,DELETE ON TABLE public.detections TO plosive_operator;

GRANT SELECT ON TABLE public.embedding_jobs TO plosive_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.embedding_jobs TO plosive_operator;

GRANT UPDATE(pod_seconds) ON TABLE public.embedding_jobs TO plosive_operator;

GRANT UPDATE(cpu_seconds) ON TABLE public.embedding_jobs TO plosive_operator;

GRANT UPDATE(gpu_seconds) ON TABLE public.embedding_jobs TO plosive_operator;

GRANT UPDATE(audio_seconds) ON TABLE public.embedding_jobs TO plosive_operator;

GRANT SELECT ON TABLE public.events TO plosive_api;

GRANT SELECT,INSERT,UPDATE ON TABLE public.idempotency_keys TO plosive_api;
GRANT SELECT,DELETE ON TABLE public.idempotency_keys TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inference_files TO plosive_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inference_files TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inference_jobs TO plosive_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inference_jobs TO plosive_operator;

GRANT UPDATE(pod_seconds) ON TABLE public.inference_jobs TO plosive_operator;

GRANT UPDATE(cpu_seconds) ON TABLE public.inference_jobs TO plosive_operator;

GRANT UPDATE(gpu_seconds) ON TABLE public.inference_jobs TO plosive_operator;

GRANT UPDATE(audio_seconds) ON TABLE public.inference_jobs TO plosive_operator;

GRANT SELECT,INSERT,UPDATE ON TABLE public.installations TO plosive_operator;

GRANT SELECT,INSERT ON TABLE public.job_events TO plosive_api;
GRANT SELECT,INSERT ON TABLE public.job_events TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.leases TO plosive_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.leases TO plosive_operator;

GRANT SELECT,DELETE,UPDATE ON TABLE public.leftovers TO plosive_operator;

GRANT SELECT,DELETE,UPDATE ON TABLE public.models TO plosive_api;
GRANT SELECT,INSERT ON TABLE public.models TO plosive_operator;

GRANT UPDATE(description) ON TABLE public.models TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.result_ingests TO plosive_operator;

GRANT SELECT,INSERT,DELETE ON TABLE public.reviewed_files TO plosive_api;
GRANT SELECT,INSERT,DELETE ON TABLE public.reviewed_files TO plosive_operator;

GRANT SELECT,INSERT,DELETE ON TABLE public.run_pods TO plosive_operator;

GRANT SELECT ON TABLE public.schema_migrations TO plosive_api;
GRANT SELECT ON TABLE public.schema_migrations TO plosive_operator;
GRANT SELECT ON TABLE public.schema_migrations TO plosive_admin;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.shard_progress TO plosive_operator;

GRANT SELECT ON TABLE public.tenant_usage TO plosive_api;
GRANT SELECT ON TABLE public.tenant_usage TO plosive_operator;

GRANT INSERT(tenant_id) ON TABLE public.tenant_usage TO plosive_operator;

GRANT INSERT(pod_seconds),UPDATE(pod_seconds) ON TABLE public.tenant_usage TO plosive_operator;

GRANT INSERT(cpu_seconds),UPDATE(cpu_seconds) ON TABLE public.tenant_usage TO plosive_operator;

GRANT INSERT(gpu_seconds),UPDATE(gpu_seconds) ON TABLE public.tenant_usage TO plosive_operator;

GRANT INSERT(audio_seconds),UPDATE(audio_seconds) ON TABLE public.tenant_usage TO plosive_operator;

GRANT SELECT ON TABLE public.tenants TO plosive_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.tenants TO plosive_admin;

GRANT SELECT(id) ON TABLE public.tenants TO plosive_operator;

GRANT SELECT(suspended_at) ON TABLE public.tenants TO plosive_operator;

GRANT SELECT,INSERT ON TABLE public.training_job_files TO plosive_api;
GRANT SELECT,INSERT ON TABLE public.training_job_files TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.training_jobs TO plosive_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.training_jobs TO plosive_operator;

GRANT UPDATE(pod_seconds) ON TABLE public.training_jobs TO plosive_operator;

GRANT UPDATE(cpu_seconds) ON TABLE public.training_jobs TO plosive_operator;

GRANT UPDATE(gpu_seconds) ON TABLE public.training_jobs TO plosive_operator;

GRANT UPDATE(audio_seconds) ON TABLE public.training_jobs TO plosive_operator;

GRANT SELECT ON TABLE public.training_metrics TO plosive_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.training_metrics TO plosive_operator;

GRANT SELECT,INSERT ON TABLE public.url_uploads TO plosive_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.url_uploads TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_deliveries TO plosive_api;
GRANT DELETE ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT SELECT(ctid) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT SELECT(id) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT SELECT(tenant_id) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT SELECT(webhook_id) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT SELECT(status),UPDATE(status) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT SELECT(attempts) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT UPDATE(next_attempt_at) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT UPDATE(last_status) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT UPDATE(last_error) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT UPDATE(finished_at) ON TABLE public.webhook_deliveries TO plosive_operator;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhooks TO plosive_api;
GRANT DELETE ON TABLE public.webhooks TO plosive_operator;

GRANT SELECT(id) ON TABLE public.webhooks TO plosive_operator;

GRANT SELECT(tenant_id) ON TABLE public.webhooks TO plosive_operator;

GRANT SELECT(enabled),UPDATE(enabled) ON TABLE public.webhooks TO plosive_operator;

GRANT SELECT(disabled_reason),UPDATE(disabled_reason) ON TABLE public.webhooks TO plosive_operator;

GRANT SELECT(failing_since),UPDATE(failing_since) ON TABLE public.webhooks TO plosive_operator;

GRANT UPDATE(throttled_until) ON TABLE public.webhooks TO plosive_operator;

GRANT SELECT(deleted_at) ON TABLE public.webhooks TO plosive_operator;
