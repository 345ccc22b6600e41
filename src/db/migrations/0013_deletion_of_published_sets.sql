-- The labels of a published set go in parts when its dataset is deleted: by the cascade a million of them went in one
-- statement, which took nearly as long as a statement may. For that the set becomes a draft again, in the transaction
-- that deletes the dataset and in no other: the mark below opens the way, and nobody can commit it.
alter table datasets add column deleting boolean not null default false;

create function refuse_half_deletion() returns trigger language plpgsql security definer as $$
begin
  if exists (select from datasets where id = new.id) then
    raise exception 'dataset % was to be deleted and is still there', new.id using errcode = '23514';
  end if;
  return null;
end $$;
-- Asked when the transaction ends.
create constraint trigger datasets_deleting after insert or update of deleting on datasets
  deferrable initially deferred for each row when (new.deleting) execute function refuse_half_deletion();

create or replace function refuse_frozen_set() returns trigger language plpgsql as $$
begin
  if exists (select from datasets d where d.tenant_id = old.tenant_id and d.id = old.dataset_id and d.deleting) then
    return new;
  end if;
  raise exception 'annotation set % is published and cannot be changed', old.id using errcode = 'PL001';
end $$;

do $$
declare
  name text;
begin
  foreach name in array array['refuse_half_deletion', 'refuse_frozen_set'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end $$;
revoke execute on function refuse_half_deletion from public;
