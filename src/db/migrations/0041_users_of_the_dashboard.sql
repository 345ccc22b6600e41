-- Sessions of users that an OpenID provider has identified (docs/dashboard.md). Such a session has no API key: it is bound to
-- the user and a role. Processes of the previous release refuse it.
alter table dashboard_sessions
  alter column api_key_id drop not null,
  add column issuer text,
  add column subject text,
  add column user_name text,
  -- The other accounts of the user, in which a role was given too.
  add column accounts uuid[] not null default '{}',
  add column role text check (role in ('viewer', 'labeller', 'owner')),
  add check (num_nonnulls(issuer, subject, user_name, role) = case when api_key_id is null then 4 else 0 end),
  -- Sessions with a key end with it, and it with its tenant.
  add foreign key (tenant_id) references tenants (id) on delete cascade;

-- For plosive-admin, which lists sessions and ends them. Never the digest.
create policy of_admin_too on dashboard_sessions to plosive_admin using (true);
grant select (tenant_id, api_key_id, issuer, subject, user_name, role, created_at, last_used_at, expires_at), delete
  on dashboard_sessions to plosive_admin;

-- The user of the session, if it was one: issuer, subject and name.
alter table audit_log add column dashboard_user jsonb;

-- For a session of a user, the digest of its token stands for that of a key: admit_caller() finds the session by it.
create or replace function key_of_session(wanted bytea, touches boolean)
returns table (key_hash bytea, key_prefix text) language plpgsql security definer as $$
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

-- Null: the digest is that of no open session of a user.
create function role_of_session(wanted bytea) returns text language plpgsql stable security definer as $$
begin
  return (select role from dashboard_sessions s
    where s.digest = wanted and is_session_open(s.last_used_at, s.expires_at));
end $$;

-- Before a request is known to be anyone's, the API may ask for the owner of a key by its digest, and for nothing else.
-- The same statement says whether the request is within the owner's rates, so that rates are exact however many
-- replicas there are, and cost no round trip. Runs as the owner, because the tenant is not known yet. Counts the request
-- against the default policy and against `policy` (1 is none besides); a refused one counts for nothing. `gap` is the time
-- for one request at the steady rate and `span` that of the burst, in seconds; span 'infinity' is no limit.
-- `used` and `policy_used` say how long it takes until the full burst is free again. `id` is null for a session of a user.
create or replace function admit_caller(digest bytea, gap double precision, span double precision, policy integer,
  policy_gap double precision, policy_span double precision)
returns table (id uuid, tenant_id uuid, expired boolean, suspended boolean, unnoticed boolean, admitted boolean,
  used double precision, policy_used double precision)
language plpgsql security definer as $$
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

-- Also wakes the event streams of the key, or of the user's tenant: those of the session end.
create or replace function end_session(wanted bytea, address inet, request text) returns boolean
language plpgsql security definer as $$
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

do $$ begin
  execute format('alter function key_of_session set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function role_of_session set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function admit_caller set search_path = pg_catalog, %I, pg_temp', current_schema());
  execute format('alter function end_session set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
revoke execute on function role_of_session from public;
grant execute on function role_of_session to plosive_api;
