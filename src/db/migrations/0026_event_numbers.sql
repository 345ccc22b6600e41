-- Each tenant's events have numbers of their own: the numbers of all events together told every tenant how much happens on
-- the platform. They continue from the last common number, so that clients can go on from an id that they know.

-- 0025 has called it.
drop procedure count_usable_audio;

-- No numbering between reading the last number and the new function.
select pg_advisory_xact_lock(7056784);

create table event_positions (
  tenant_id uuid primary key references tenants (id) on delete cascade,
  seq bigint not null
) with (fillfactor = 80);
select isolate_tenant('event_positions', '', '');
insert into event_positions (tenant_id, seq) select id, last_event_seq() from tenants;

alter table events alter column seq drop identity, drop constraint events_pkey;

-- One statement, because it has one snapshot, taken after the lock; the lock ends after the commit is visible. Both together
-- make the numbers appear in order. Returns null when another session is numbering. That session numbers what was committed
-- before it began; for the rest its caller gets a notification and calls again.
create or replace function stamp_events(max_events int) returns int language plpgsql security definer as $$
declare
  told uuid[];
  numbered int;
  to_deliver boolean;
begin
  if not pg_try_advisory_xact_lock(7056784) then return null; end if;
  with taken as (
    delete from event_inbox where id in (select id from event_inbox order by id limit max_events)
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

create or replace function forget_events(batch int) returns int language plpgsql security definer as $$
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

-- The last number of the session's tenant, also when its event is forgotten: no reader can have seen a greater one.
create or replace function last_event_seq() returns bigint language sql stable security definer as $$
  select coalesce((
    select seq from event_positions
    where tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid), 0)
$$;

-- A deleted webhook disappears at once; its deliveries of seven days are deleted in pieces (0022).
alter table webhooks add column deleted_at timestamptz;
alter policy of_tenant on webhooks using (
  tenant_id = (select nullif(current_setting('app.tenant_id', true), '')::uuid)
  and (deleted_at is null or (select current_setting('app.sees_deleted', true)) = 'on'));
create trigger webhooks_deleted before update of deleted_at on webhooks
  for each row when (old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at)
  execute function refuse_undeletion();
create index webhooks_work on webhooks (tenant_id, id) where deleted_at is not null;
grant delete on webhook_deliveries to plosive_api;

create or replace function next_background_work() returns table (kind text, tenant_id uuid, id uuid)
language sql security definer as $$
  select * from (
    select distinct on (w.tenant_id) w.* from (
      select 'annotation_set', s.tenant_id, s.id from annotation_sets s
      where s.deleted_at is not null or s.copying is not null
      union all
      select 'dataset', d.tenant_id, d.id from datasets d
      where d.deleted_at is not null and not exists (
        select from annotation_sets s where s.tenant_id = d.tenant_id and s.dataset_id = d.id)
      union all
      select 'webhook', h.tenant_id, h.id from webhooks h where h.deleted_at is not null
    ) w (kind, tenant_id, id) order by w.tenant_id, random()
  ) one_of_each order by random() limit 1
$$;

do $$
declare
  name text;
begin
  foreach name in array array['stamp_events', 'forget_events', 'last_event_seq', 'next_background_work'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end $$;
