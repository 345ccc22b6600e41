-- The statistics of a draft are kept as its labels change, as the number of labels is (0005): counted at each look, a
-- million labels cost more than half a second. By the same update of the set's row, so that a bulk insert pays for no
-- other row; exact, because every writer of labels takes the set's lock first, and the update takes it otherwise.

-- Nobody writes between the count and the triggers.
lock table annotation_sets, annotations in share row exclusive mode;
update annotation_sets s set total_annotations = c.labels, total_positive_duration_ms = c.duration_ms,
  annotations_by_type = c.by_type
from (
  select annotation_set_id, sum(labels) as labels, sum(duration_ms) as duration_ms,
    jsonb_object_agg(artifact_type, labels) as by_type
  from (
    select annotation_set_id, artifact_type, count(*) as labels, sum(end_ms - start_ms) as duration_ms
    from annotations group by annotation_set_id, artifact_type
  ) t group by annotation_set_id
) c
where s.id = c.annotation_set_id and s.status = 'draft';

-- In plpgsql: a function in SQL is planned again at every call. A type without labels is not named.
create function add_by_type(present jsonb, added jsonb) returns jsonb language plpgsql immutable as $$
begin
  return (
    select coalesce(jsonb_object_agg(artifact_type, labels), '{}') from (
      select artifact_type, sum(labels::bigint) as labels from (
        select * from jsonb_each_text(present) union all select * from jsonb_each_text(added)
      ) both_sides (artifact_type, labels) group by artifact_type
    ) summed where labels <> 0);
end $$;

create or replace function count_annotations() returns trigger language plpgsql security definer as $$
declare
  sign int := case tg_op when 'INSERT' then 1 else -1 end;
begin
  update annotation_sets s set annotation_count = s.annotation_count + c.labels,
    total_annotations = s.total_annotations + c.labels,
    total_positive_duration_ms = s.total_positive_duration_ms + c.duration_ms,
    annotations_by_type = add_by_type(s.annotations_by_type, c.by_type)
  from (
    select annotation_set_id, sum(labels) as labels, sum(duration_ms) as duration_ms,
      jsonb_object_agg(artifact_type, labels) as by_type
    from (
      select annotation_set_id, artifact_type, sign * count(*) as labels, sign * sum(end_ms - start_ms) as duration_ms
      from changed group by annotation_set_id, artifact_type
    ) t group by annotation_set_id
  ) c
  where s.id = c.annotation_set_id;
  return null;
end $$;

create function recount_annotations() returns trigger language plpgsql security definer as $$
begin
  update annotation_sets s set total_positive_duration_ms = s.total_positive_duration_ms + c.duration_ms,
    annotations_by_type = add_by_type(s.annotations_by_type, c.by_type)
  from (
    select annotation_set_id, sum(duration_ms) as duration_ms, jsonb_object_agg(artifact_type, labels) as by_type,
      bool_or(labels <> 0) as of_other_type
    from (
      select annotation_set_id, artifact_type, sum(sign) as labels, sum(sign * (end_ms - start_ms)) as duration_ms
      from (
        select 1 as sign, annotation_set_id, artifact_type, start_ms, end_ms from changed
        union all select -1, annotation_set_id, artifact_type, start_ms, end_ms from gone
      ) both_sides group by annotation_set_id, artifact_type
    ) t group by annotation_set_id
  ) c
  where s.id = c.annotation_set_id and (c.duration_ms <> 0 or c.of_other_type);
  return null;
end $$;
create trigger annotations_changed after update on annotations
  referencing old table as gone new table as changed for each statement execute function recount_annotations();

do $$
declare
  name text;
begin
  foreach name in array array['add_by_type', 'count_annotations', 'recount_annotations'] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %I from public', name);
  end loop;
end $$;
