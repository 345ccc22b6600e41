-- online
-- The deletion of an audio file looks for the jobs that use it. A failed attempt leaves an invalid index behind.
drop index concurrently if exists inference_files_audio;
create index concurrently inference_files_audio on inference_files (audio_file_id) where audio_file_id is not null;
drop index concurrently if exists training_job_files_audio;
create index concurrently training_job_files_audio on training_job_files (audio_file_id);
