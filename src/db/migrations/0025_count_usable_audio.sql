-- online
call count_usable_audio();
-- Uploads that have expired and that no sweep has marked yet: the lists of datasets leave them out.
drop index concurrently if exists audio_files_pending;
create index concurrently audio_files_pending on audio_files (tenant_id, dataset_id, upload_expires_at)
  where status = 'pending_upload';
