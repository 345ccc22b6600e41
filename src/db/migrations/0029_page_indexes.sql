-- online
-- The lists of a dataset's sets and of a set's reviewed files sorted all of them for each page.
drop index concurrently if exists annotation_sets_page;
create index concurrently annotation_sets_page on annotation_sets (tenant_id, dataset_id, created_at desc, id desc);
drop index concurrently if exists reviewed_files_page;
create index concurrently reviewed_files_page on reviewed_files
  (tenant_id, annotation_set_id, created_at desc, audio_file_id desc);
