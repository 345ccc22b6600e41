-- online
-- Imports find confirmed audio files by their names. The dataset comes last: with many tenants the planner expects a row of any
-- dataset, and would as soon read all files of one by audio_files_page.
drop index concurrently if exists audio_files_name;
create index concurrently audio_files_name on audio_files (tenant_id, filename, dataset_id) where uploaded_at is not null;
-- The planner multiplies the chances of a tenant and of a dataset, set or job, although each of these has one tenant. So it expects
-- one row of any of them, and may read and sort all rows of the largest one for each page.
create statistics if not exists audio_files_parents (dependencies) on tenant_id, dataset_id from audio_files;
create statistics if not exists annotations_parents (dependencies) on tenant_id, annotation_set_id from annotations;
create statistics if not exists reviewed_files_parents (dependencies) on tenant_id, annotation_set_id from reviewed_files;
create statistics if not exists inference_files_parents (dependencies) on tenant_id, inference_job_id from inference_files;
create statistics if not exists detections_parents (dependencies) on tenant_id, inference_job_id from detections;
