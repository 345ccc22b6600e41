-- Copies into annotation sets and deletions (of sets, datasets, and since 0026 webhooks) that are too large for a request are
-- done in pieces, each in a transaction of its own (src/db/background-work.ts).

-- The remaining work of a set that is being filled: its source, the number of labels, and the last label that was copied.
alter table annotation_sets add column copying jsonb check (copying is null or status = 'draft');
-- How many sets are being filled from this draft. Its labels do not change until they are complete.
alter table annotation_sets add column copies_from int not null default 0 check (copies_from >= 0);
-- A deleted row disappears at once: its policies hide it until its labels, its files and the row itself are gone.
-- datasets.deleting (0013) is only for the previous release, which deletes a dataset in one transaction.
alter table annotation_sets add column deleted_at timestamptz;
alter table datasets add column deleted_at timestamptz;

-- Only the code that deletes sees deleted rows; it sets app.sees_deleted for its transaction.
do $$
declare
  name text;
begin
  foreach name in array array['datasets', 'annotation_sets'] loop
    execute format('alter policy of_tenant on %I using (
      tenant_id = (select nullif(current_setting(''app.tenant_id'', true), '''')::uuid)
      and (deleted_at is null or (select current_setting(''app.sees_deleted'', true)) = ''on''))', name);
    execute format('alter policy of_operator on %I using (deleted_at is null)', name);
  end loop;
end $$;

create function refuse_undeletion() returns trigger language plpgsql as $$
begin
  raise exception 'row % of % is deleted and stays so', old.id, tg_table_name using errcode = '23514';
end $$;
create trigger datasets_deleted before update of deleted_at on datasets
  for each row when (old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at)
  execute function refuse_undeletion();
create trigger annotation_sets_deleted before update of deleted_at on annotation_sets
  for each row when (old.deleted_at is not null and new.deleted_at is distinct from old.deleted_at)
  execute function refuse_undeletion();

-- Counts the copies from a draft. From a published set they are not counted: its labels do not change anyway.
create function count_copies() returns trigger language plpgsql security definer as $$
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
create trigger annotation_sets_copied after insert or delete or update of copying on annotation_sets
  for each row execute function count_copies();

-- As in 0008, and also for sets that are being copied: processes of the previous release know of no copies. The code that
-- copies and deletes has set app.sees_deleted.
create or replace function refuse_frozen_annotations() returns trigger language plpgsql security definer as $$
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

-- The number of copies from a published set may still become smaller.
create or replace function refuse_frozen_set() returns trigger language plpgsql as $$
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

-- Returns a set or dataset with work left. Each tenant with work is as likely as any other, however much it has. A dataset
-- has to wait for its sets. For the API, which sees the rows of one tenant only.
create function next_background_work() returns table (kind text, tenant_id uuid, id uuid)
language sql security definer as $$
  select * from (
    select distinct on (w.tenant_id) w.* from (
      select 'annotation_set', s.tenant_id, s.id from annotation_sets s where s.deleted_at is not null or s.copying is not null
      union all
      select 'dataset', d.tenant_id, d.id from datasets d
      where d.deleted_at is not null and not exists (
        select from annotation_sets s where s.tenant_id = d.tenant_id and s.dataset_id = d.id)
    ) w (kind, tenant_id, id) order by w.tenant_id, random()
  ) one_of_each order by random() limit 1
$$;

do $$
declare
  name text;
begin
  foreach name in array array['refuse_frozen_set', 'refuse_frozen_annotations', 'count_copies',
    'next_background_work'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
  end loop;
end $$;
revoke execute on function count_copies, next_background_work from public;
grant execute on function next_background_work to plosive_api;
