-- online
-- Where next_background_work() looks.
drop index concurrently if exists annotation_sets_work;
create index concurrently annotation_sets_work on annotation_sets (tenant_id, id)
  where deleted_at is not null or copying is not null;
drop index concurrently if exists datasets_work;
create index concurrently datasets_work on datasets (tenant_id, id) where deleted_at is not null;
