-- Files that the service fetches from a URL (docs/adr/0021-uploads-from-urls.md). A row exists until its file is fetched, has
-- finally failed or is deleted; the URL goes with it, because a URL can hold a signature.
create table url_uploads (
  tenant_id uuid not null,
  audio_file_id uuid primary key,
  -- Sealed for the id of the file (src/webhooks/secret.ts).
  url bytea not null,
  host text not null,
  attempts int not null default 0,
  -- Not before this time.
  try_at timestamptz not null default now(),
  -- A process is fetching the file. It renews the lease, so that another one goes on soon after a crash.
  leased_until timestamptz,
  foreign key (tenant_id, audio_file_id) references audio_files (tenant_id, id) on delete cascade
);
create index url_uploads_by_time on url_uploads (try_at);
create index url_uploads_of_tenant on url_uploads (tenant_id, try_at);
select isolate_tenant('url_uploads', 'select, insert');

-- Takes files that are due, `most` at a time in all processes together, of each tenant and host only so many. Tenants take
-- turns, however many files each has waiting. As the owner, so that it need not be granted
-- more of the tenants.
create function claim_url_uploads(lease interval, most int, per_tenant int, per_host int)
returns table (tenant_id uuid, audio_file_id uuid, url bytea, attempt int) language plpgsql security definer as $$
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

-- The size of a fetched file is known when it has been fetched; until then it counts as 0 bytes.
create function count_resized_audio() returns trigger language plpgsql security definer as $$
begin
  perform add_usage(new.tenant_id, new.dataset_id, 0, new.size_bytes - old.size_bytes);
  return null;
end $$;
create trigger audio_files_resized after update of size_bytes on audio_files
  for each row when (old.size_bytes <> new.size_bytes and new.status <> 'expired')
  execute function count_resized_audio();

-- What a fetch stored before it failed for good.
create trigger audio_files_not_fetched after update of status on audio_files
  for each row when (old.status = 'pending_upload' and new.status = 'failed') execute function leave_upload();

-- As in 0018. A file that could not be fetched has no audio.
create or replace function is_embedded_before(f audio_files, moment timestamptz) returns boolean language sql stable as $$
  select f.status in ('processing', 'ready', 'failed') and f.uploaded_at is not null
    and (f.status = 'failed' or f.embedding_status <> 'pending')
    and coalesce(
      (select j.created_at from embedding_jobs j where j.id = f.embedding_job_id),
      case when f.status = 'failed' then f.updated_at else f.embedded_at end, '-infinity') < moment
$$;

-- The operator fetches.
grant insert, update on leases to plosive_operator;

do $$ begin
  execute format('alter function claim_url_uploads set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function count_resized_audio set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
revoke execute on function claim_url_uploads, count_resized_audio from public;
grant execute on function claim_url_uploads to plosive_operator;
