-- online
-- The order of a set's annotations, now with the tenant, which every query names: a plan for any set combined the old index
-- with another one, and sorted all annotations of the set for each page. The old index stays for operators of the previous
-- release, which do not name the tenant; a migration of the next release drops it.
drop index concurrently if exists annotations_page;
create index concurrently annotations_page on annotations
  (tenant_id, annotation_set_id, audio_file_id, start_ms, id);
-- The total of a dataset's files is the number that triggers keep, and those that it leaves out.
drop index concurrently if exists audio_files_expired;
create index concurrently audio_files_expired on audio_files (tenant_id, dataset_id) where status = 'expired';
