-- What a key may do. Empty: everything.
alter table api_keys add column scopes text[] not null default '{}'
  check (scopes <@ '{read,write,admin}'::text[]);

-- For the API, which learns the key's tenant from admit_caller() and sees no key before.
create function scopes_of_key(key uuid) returns text[] language plpgsql stable security definer as $$
begin
  return (select scopes from api_keys where id = key);
end $$;
do $$ begin
  execute format('alter function scopes_of_key set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
revoke execute on function scopes_of_key from public;
grant execute on function scopes_of_key to plosive_api;
