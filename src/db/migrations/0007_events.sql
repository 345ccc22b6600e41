-- Events: what happened to a tenant's things, told by triggers, so that no code path can forget one, in the transaction
-- of the change, whoever makes it. Webhooks and their deliveries.
--
-- A number taken inside a transaction becomes visible only when that commits, so numbers appear out of order and a reader
-- that asks for "id > last" would miss some. Triggers therefore write to event_inbox, and one stamper at a time moves what
-- is committed to events and numbers it there: whoever sees a number sees all smaller ones.

create table event_inbox (
  id bigint generated always as identity primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table events (
  seq bigint generated always as identity primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null
);
create index events_of_tenant on events (tenant_id, seq);

create table webhooks (
  id uuid primary key,
  tenant_id uuid not null references tenants (id) on delete cascade,
  url text not null,
  -- Of the url: deliveries to one host are limited together.
  host text not null,
  description text not null default '',
  -- Empty: all.
  types text[] not null default '{}',
  -- Sealed by the API where it has a key for that (src/webhooks/secret.ts).
  secret bytea not null,
  old_secret bytea,
  old_secret_expires_at timestamptz,
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  failing_since timestamptz,
  throttled_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, id)
);
create index webhooks_page on webhooks (tenant_id, created_at desc, id desc);

create table webhook_deliveries (
  id uuid primary key,
  tenant_id uuid not null,
  webhook_id uuid not null,
  -- The header webhook-id: the same for every attempt, so that receivers can tell a repetition.
  message_id text not null,
  type text not null,
  -- What is signed and sent, to the byte.
  body text not null check (length(body) < 20000),
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts int not null default 0,
  -- Of a claimed delivery: when others may take it for abandoned.
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  last_status int,
  last_error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  foreign key (tenant_id, webhook_id) references webhooks (tenant_id, id) on delete cascade,
  check ((status = 'pending') = (next_attempt_at is not null))
) with (fillfactor = 80);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_page on webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_finished on webhook_deliveries (finished_at) where finished_at is not null;

-- Nobody writes events but the triggers, nobody moves them but the stamper, and both run as the owner.
select isolate_tenant('event_inbox', '', '');
select isolate_tenant('events', 'select', '');
select isolate_tenant('webhooks', 'select, insert, update, delete', '');
select isolate_tenant('webhook_deliveries', 'select, insert, update', '');

create function emit_event(tenant uuid, type text, data jsonb) returns void language plpgsql security definer as $$
begin
  insert into event_inbox (tenant_id, type, data) values (tenant, type, data);
  perform pg_notify('plosive_inbox', '');
end $$;
revoke execute on function emit_event from public;

create function tell_training_job() returns trigger language plpgsql security definer as $$
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

-- Progress is told at most every 5 seconds for each job.
alter table training_jobs add column progress_event_at timestamptz;
create function throttle_progress() returns trigger language plpgsql as $$
begin
  if old.progress_event_at is null or old.progress_event_at <= clock_timestamp() - interval '5 seconds' then
    new.progress_event_at := clock_timestamp();
  end if;
  return new;
end $$;
create trigger training_job_progress before update of progress_percent on training_jobs for each row
  when (new.progress_percent > old.progress_percent and new.status = old.status) execute function throttle_progress();
create trigger training_job_created after insert on training_jobs for each row execute function tell_training_job();
create trigger training_job_changed after update on training_jobs for each row
  when (new.status <> old.status or new.progress_event_at is distinct from old.progress_event_at)
  execute function tell_training_job();

create function tell_inference_job() returns trigger language plpgsql security definer as $$
begin
  perform emit_event(new.tenant_id, 'inference_job.' || new.status, jsonb_build_object(
    'inference_job_id', new.id, 'model_id', new.model_id, 'status', new.status,
    'progress_percent', new.progress_percent));
  return null;
end $$;
create trigger inference_job_created after insert on inference_jobs for each row execute function tell_inference_job();
create trigger inference_job_changed after update of status on inference_jobs for each row
  when (new.status <> old.status) execute function tell_inference_job();

create function tell_inference_file() returns trigger language plpgsql security definer as $$
begin
  perform emit_event(new.tenant_id, 'inference_file.' || new.status, jsonb_build_object(
    'inference_file_id', new.id, 'inference_job_id', new.inference_job_id, 'status', new.status));
  return null;
end $$;
create trigger inference_file_changed after update of status on inference_files for each row
  when (new.status <> old.status and new.status in ('completed', 'failed')) execute function tell_inference_file();

create function tell_audio_file() returns trigger language plpgsql security definer as $$
begin
  perform emit_event(new.tenant_id, 'audio_file.' || new.status, jsonb_build_object(
    'audio_file_id', new.id, 'dataset_id', new.dataset_id, 'status', new.status));
  return null;
end $$;
create trigger audio_file_changed after update of status on audio_files for each row
  when (new.status <> old.status and new.status in ('ready', 'failed')) execute function tell_audio_file();

create function tell_annotation_set() returns trigger language plpgsql security definer as $$
begin
  perform emit_event(new.tenant_id, 'annotation_set.published', jsonb_build_object(
    'annotation_set_id', new.id, 'dataset_id', new.dataset_id, 'version', new.version, 'status', new.status));
  return null;
end $$;
create trigger annotation_set_changed after update of status on annotation_sets for each row
  when (new.status <> old.status and new.status = 'published') execute function tell_annotation_set();

create function tell_model() returns trigger language plpgsql security definer as $$
begin
  perform emit_event(new.tenant_id, case when tg_op = 'INSERT' then 'model.created' else 'model.archived' end,
    jsonb_build_object('model_id', new.id, 'training_job_id', new.training_job_id));
  return null;
end $$;
create trigger model_created after insert on models for each row execute function tell_model();
create trigger model_changed after update of archived_at on models for each row
  when (old.archived_at is null and new.archived_at is not null) execute function tell_model();

create function tell_api_key() returns trigger language plpgsql security definer as $$
begin
  perform emit_event(new.tenant_id, case when tg_op = 'INSERT' then 'api_key.created' else 'api_key.revoked' end,
    jsonb_build_object('api_key_id', new.id));
  return null;
end $$;
create trigger api_key_created after insert on api_keys for each row execute function tell_api_key();
create trigger api_key_changed after update of revoked_at on api_keys for each row
  when (old.revoked_at is null and new.revoked_at is not null) execute function tell_api_key();

create function tell_webhook() returns trigger language plpgsql security definer as $$
begin
  perform emit_event(new.tenant_id, 'webhook.disabled', jsonb_build_object(
    'webhook_id', new.id, 'reason', new.disabled_reason));
  return null;
end $$;
create trigger webhook_changed after update of enabled on webhooks for each row
  when (old.enabled and not new.enabled and new.disabled_reason is not null) execute function tell_webhook();

-- Wakes who waits for any change of a job, and the streams of a key that no longer opens anything.
create function notify_change() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_argv[0], old.id::text);
  return null;
end $$;
create trigger training_job_moved after update on training_jobs for each row
  when (old.* is distinct from new.*) execute function notify_change('plosive_jobs');
create trigger training_job_deleted after delete on training_jobs for each row
  execute function notify_change('plosive_jobs');
create trigger inference_job_moved after update on inference_jobs for each row
  when (old.* is distinct from new.*) execute function notify_change('plosive_jobs');
create trigger inference_job_deleted after delete on inference_jobs for each row
  execute function notify_change('plosive_jobs');
create trigger api_key_closed after update of revoked_at, expires_at on api_keys for each row
  when (new.revoked_at is distinct from old.revoked_at or new.expires_at is distinct from old.expires_at)
  execute function notify_change('plosive_keys');
create trigger api_key_deleted after delete on api_keys for each row execute function notify_change('plosive_keys');
create trigger tenant_suspended after update of suspended_at on tenants for each row
  when (new.suspended_at is distinct from old.suspended_at) execute function notify_change('plosive_keys');

-- Moves what is committed to events, in the order in which it was written, and makes the deliveries of it. Returns how
-- many it moved; null when another session is at it, which then finds what was committed before it began: its caller
-- is told of the rest by the same notification. Each statement has its own snapshot, the first one after the lock; the
-- lock ends after the commit is visible. Both together make the numbers appear in order.
create function stamp_events(max_events int) returns int language plpgsql security definer as $$
declare
  first_seq bigint;
  last_seq bigint;
  told uuid;
begin
  if not pg_try_advisory_xact_lock(7056784) then return null; end if;
  with taken as (
    delete from event_inbox where id in (select id from event_inbox order by id limit max_events)
    returning id, tenant_id, type, data, created_at
  ), stamped as (
    insert into events (tenant_id, type, data, created_at)
    select tenant_id, type, data, created_at from taken order by id
    returning seq
  )
  select min(seq), max(seq) into first_seq, last_seq from stamped;
  if first_seq is null then return 0; end if;

  with hooks as materialized (
    select w.id, w.tenant_id, w.types from webhooks w
    where w.enabled and w.tenant_id in (select e.tenant_id from events e where e.seq between first_seq and last_seq)
      -- A receiver that has been away for long, or that is too slow for what happens, must not fill the disk.
      and (select count(*) from (
        select from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending' limit 10000) p) < 10000
    -- One that is deleted at this moment would break the reference of its delivery, and with it the whole step.
    for key share of w
  )
  insert into webhook_deliveries (id, tenant_id, webhook_id, message_id, type, body, next_attempt_at)
  select gen_random_uuid(), w.tenant_id, w.id, 'evt_' || e.seq, e.type,
    json_build_object('type', e.type, 'timestamp',
      to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', e.data)::text,
    clock_timestamp()
  from events e join hooks w on w.tenant_id = e.tenant_id
  where e.seq between first_seq and last_seq and (w.types = '{}' or e.type = any (w.types))
  order by e.seq;
  if found then perform pg_notify('plosive_deliveries', ''); end if;

  for told in select distinct tenant_id from events where seq between first_seq and last_seq loop
    perform pg_notify('plosive_events', told::text);
  end loop;
  return last_seq - first_seq + 1;
end $$;

-- Takes deliveries that are due: `places` of them, of each webhook, tenant and host only so many that with those that
-- are under way already (the arrays, one element for each) there are no more than the limits. So a receiver that does
-- not answer takes its own places and nobody else's. A claimed delivery is due again after the lease.
create function claim_deliveries(
  at timestamptz, lease interval, places int,
  busy_webhooks uuid[], busy_tenants uuid[], busy_hosts text[],
  per_webhook int, per_tenant int, per_host int
) returns table (
  id uuid, tenant_id uuid, webhook_id uuid, message_id text, type text, body text, attempt int, url text, host text,
  secret bytea, old_secret bytea, failing_since timestamptz
) language sql security definer as $$
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

-- Forgets events after 24 hours and finished deliveries after 7 days, at most `batch` of each. Returns how many.
create function forget_events(batch int) returns int language plpgsql security definer as $$
declare
  gone int;
  forgotten int;
begin
  if not pg_try_advisory_xact_lock(7056785) then return 0; end if;
  delete from events where seq in (select seq from events order by seq limit batch)
    and created_at < now() - interval '24 hours';
  get diagnostics gone = row_count;
  delete from webhook_deliveries where id in (
    select id from webhook_deliveries where finished_at < now() - interval '7 days' order by finished_at limit batch);
  get diagnostics forgotten = row_count;
  return gone + forgotten;
end $$;

-- For the metrics: age in seconds of the oldest event without number and of the oldest delivery that is due.
create function event_lags(out inbox double precision, out deliveries double precision)
  language sql stable security definer as $$
  select
    coalesce(extract(epoch from clock_timestamp() - (select min(created_at) from event_inbox)), 0)::double precision,
    coalesce(extract(epoch from clock_timestamp() - (
      select min(p.next_attempt_at) from webhooks w cross join lateral (
        select next_attempt_at from webhook_deliveries d
        where d.webhook_id = w.id and d.status = 'pending' order by next_attempt_at limit 1) p
      where w.enabled and (w.throttled_until is null or w.throttled_until <= clock_timestamp())
        and p.next_attempt_at <= clock_timestamp())), 0)::double precision
$$;

-- The last number that was given, also when its event is forgotten: no reader can have seen a greater one.
create function last_event_seq() returns bigint language sql stable security definer as $$
  select coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'seq')), 0)
$$;

-- What runs as the owner finds its tables here and nowhere else, whatever the caller's search_path is.
do $$
declare
  name text;
begin
  foreach name in array array['emit_event', 'tell_training_job', 'tell_inference_job', 'tell_inference_file',
    'tell_audio_file', 'tell_annotation_set', 'tell_model', 'tell_api_key', 'tell_webhook', 'stamp_events',
    'claim_deliveries', 'forget_events', 'event_lags', 'last_event_seq'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %I from public', name);
  end loop;
end $$;
grant execute on function stamp_events, claim_deliveries, forget_events, event_lags, last_event_seq to plosive_api;
