-- online
-- Imports find confirmed audio files by their names. The dataset comes last: with many tenants the planner expects a row of any
-- dataset, and would as soon read all files of one by audio_files_page.
drop index concurrently if exists audio_files_name;
create index concurrently audio_files_name on audio_files (tenant_id, filename, dataset_id) where uploaded_at is not null;
