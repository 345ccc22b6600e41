-- A published set never changes, as before (0001), but asked once for each statement and not for each row: of the time
-- that an insert of 1,000 annotations takes, the rows' trigger was a fifth (docs/benchmarks.md).
--
-- It also looks at the set's row under a lock now: a writer that takes no lock of its own could otherwise be caught
-- between a publisher's last look and its commit. After the statement, for only then the changed rows are known; what is
-- refused is undone. Deleting a draft or a dataset takes the annotations along: by then the set itself is gone.
-- Runs as the owner, who sees every set whatever the caller's tenant is.
create function refuse_frozen_annotations() returns trigger language plpgsql security definer as $$
declare
  set_id uuid;
begin
  select s.id into set_id from (
    select id, status from annotation_sets
    where id in (select distinct annotation_set_id from changed)
    order by id for share
  ) s where s.status = 'published' limit 1;
  if found then
    raise exception 'annotation set % is published and cannot be changed', set_id using errcode = 'PL001';
  end if;
  return null;
end $$;

create function refuse_other_set() returns trigger language plpgsql as $$
begin
  raise exception 'an annotation stays in its set' using errcode = 'PL001';
end $$;

do $$ begin
  execute format('alter function refuse_frozen_annotations() set search_path = %I, pg_temp', current_schema());
end $$;

drop trigger annotations_frozen on annotations;
create trigger annotations_frozen_insert after insert on annotations
  referencing new table as changed for each statement execute function refuse_frozen_annotations();
create trigger annotations_frozen_update after update on annotations
  referencing new table as changed for each statement execute function refuse_frozen_annotations();
create trigger annotations_frozen_delete after delete on annotations
  referencing old table as changed for each statement execute function refuse_frozen_annotations();
create trigger annotations_stay before update of annotation_set_id on annotations
  for each row when (new.annotation_set_id is distinct from old.annotation_set_id) execute function refuse_other_set();
