-- Sign-in to the dashboard (docs/dashboard.md). A session grants nothing of its own: each request finds the session's API key
-- and then passes the same check as a request with that key. `digest` is the SHA-256 of a token that only the browser has.
alter table api_keys add unique (tenant_id, id);
create table dashboard_sessions (
  digest bytea primary key check (length(digest) = 32),
  tenant_id uuid not null,
  api_key_id uuid not null,
  created_at timestamptz not null default now(),
  -- Null: a sign-in link that nobody has opened yet.
  last_used_at timestamptz,
  expires_at timestamptz not null,
  foreign key (tenant_id, api_key_id) references api_keys (tenant_id, id) on delete cascade
);
create index dashboard_sessions_of_key on dashboard_sessions (tenant_id, api_key_id);
select isolate_tenant('dashboard_sessions', 'select, insert', '');
grant select (last_used_at, expires_at), delete on dashboard_sessions to plosive_operator;
create policy of_admin on dashboard_sessions for insert to plosive_admin with check (true);
grant insert on dashboard_sessions to plosive_admin;

create function is_session_open(last_used timestamptz, expires timestamptz) returns boolean language sql stable as $$
  select coalesce(expires > now() and last_used > now() - interval '30 minutes', false)
$$;

-- For the API, which knows no tenant yet. `touches`: the request prolongs the session. One write per minute is enough.
create function key_of_session(wanted bytea, touches boolean)
returns table (key_hash bytea, key_prefix text) language plpgsql security definer as $$
begin
  if touches then
    update dashboard_sessions s set last_used_at = now()
    where s.digest = wanted and s.last_used_at < now() - interval '1 minute'
      and is_session_open(s.last_used_at, s.expires_at);
  end if;
  return query select k.key_hash, k.key_prefix
    from dashboard_sessions s join api_keys k on k.id = s.api_key_id
    where s.digest = wanted and is_session_open(s.last_used_at, s.expires_at);
end $$;

-- A link works once: of two requests with its token, one deletes it.
create function use_sign_in_link(wanted bytea)
returns table (key_hash bytea, key_prefix text) language plpgsql security definer as $$
begin
  return query
  delete from dashboard_sessions s using api_keys k
  where s.digest = wanted and s.last_used_at is null and s.expires_at > now() and k.id = s.api_key_id
  returning k.key_hash, k.key_prefix;
end $$;

-- Also wakes the event streams of the key: those of the session end.
create function end_session(wanted bytea, address inet, request text) returns boolean
language plpgsql security definer as $$
declare
  ended record;
begin
  delete from dashboard_sessions s using api_keys k
  where s.digest = wanted and s.last_used_at is not null and k.id = s.api_key_id
  returning s.tenant_id, k.id, k.key_prefix into ended;
  if not found then return false; end if;
  insert into audit_log (tenant_id, action, api_key_id, key_prefix, actor_key_id, ip, request_id)
  values (ended.tenant_id, 'session.ended', ended.id, ended.key_prefix, ended.id, address, request);
  perform pg_notify('plosive_keys', ended.id::text);
  return true;
end $$;

alter table audit_log drop constraint audit_log_action_check;
alter table audit_log add constraint audit_log_action_check check (action in (
  'api_key.created', 'api_key.revoked', 'api_key.rotated', 'api_key.refused',
  'session.started', 'session.ended', 'sign_in_link.created',
  'tenant.created', 'tenant.suspended', 'tenant.resumed', 'tenant.embedded_again', 'tenant.erased')) not valid;

do $$ begin
  execute format('alter function key_of_session set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function use_sign_in_link set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function end_session set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
revoke execute on function key_of_session, use_sign_in_link, end_session from public;
grant execute on function key_of_session, use_sign_in_link, end_session to plosive_api;
