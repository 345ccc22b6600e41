-- The numbering of events takes turns among tenants.

-- One statement, because it has one snapshot, taken after the lock; the lock ends after the commit is visible. Both together
-- make the numbers appear in order. Returns null when another session is numbering. That session numbers what was committed
-- before it began; for the rest its caller gets a notification and calls again.
-- Tenants take turns: the events of one, such as those of 100,000 failed files, do not delay another's. Each tenant's own are
-- taken in their order.
create or replace function stamp_events(max_events int) returns int language plpgsql security definer as $$
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

do $$ begin
  execute format('alter function stamp_events set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
-- The inbox is empty most of the time, also when its statistics are made. With them, reading all of it would seem as cheap as
-- finding the events of one tenant.
alter function stamp_events set enable_seqscan = off;
alter function stamp_events set enable_bitmapscan = off;
