-- The list of datasets shows how many files of each can be trained on, and how long they are. Counting them at each read
-- took as long as a dataset has files. Triggers keep the numbers, as they keep the number of files (0005).
-- Null: not counted yet; count_usable_audio() below does that for the datasets of earlier releases.
alter table dataset_usage add column usable_files bigint, add column usable_ms bigint;
alter table dataset_usage alter column usable_files set default 0, alter column usable_ms set default 0;

create function is_usable(status text, embedding_status text) returns boolean language sql immutable as $$
  select status = 'ready' and embedding_status = 'completed'
$$;

-- The row of the dataset exists already: the file was counted when it was added. A dataset that is being deleted has none.
create function add_usable(dataset uuid, files bigint, ms bigint) returns void language plpgsql security definer as $$
begin
  if files = 0 and ms = 0 then return; end if;
  update dataset_usage set usable_files = usable_files + files, usable_ms = usable_ms + ms where dataset_id = dataset;
end $$;

-- The argument is 1 where rows come and -1 where they go.
create or replace function count_audio() returns trigger language plpgsql security definer as $$
begin
  perform add_usage(tenant_id, dataset_id, tg_argv[0]::int * count(*), tg_argv[0]::int * sum(size_bytes)::bigint)
  from changed where status <> 'expired' group by tenant_id, dataset_id order by dataset_id;
  perform add_usable(dataset_id, tg_argv[0]::int * count(*), tg_argv[0]::int * coalesce(sum(duration_ms), 0)::bigint)
  from changed where is_usable(status, embedding_status) group by dataset_id order by dataset_id;
  return null;
end $$;

-- Locks the tenant's row before those of its datasets, as add_usage does: a transaction may change the usage of both.
create function recount_audio() returns trigger language plpgsql security definer as $$
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
create trigger audio_files_changed after update on audio_files
  referencing old table as gone new table as changed for each statement execute function recount_audio();

-- Called by the next migration, outside a transaction: it commits after each dataset. Whoever changes a file of the
-- dataset meanwhile waits for this one dataset, and adds to the result.
create procedure count_usable_audio() language plpgsql as $$
declare
  place record;
begin
  for place in select tenant_id, dataset_id from dataset_usage where usable_files is null loop
    perform from dataset_usage where dataset_id = place.dataset_id for update;
    -- With the tenant, because every index of audio_files begins with it.
    update dataset_usage set (usable_files, usable_ms) = (
      select count(*), coalesce(sum(duration_ms), 0) from audio_files
      where tenant_id = place.tenant_id and dataset_id = place.dataset_id and is_usable(status, embedding_status))
    where dataset_id = place.dataset_id;
    commit;
  end loop;
end $$;

do $$
declare
  name text;
begin
  foreach name in array array['add_usable', 'count_audio', 'recount_audio'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %I from public', name);
  end loop;
end $$;
