-- Id of the upload in parts in the object store (src/api/upload-parts.ts). It is recorded before a client can use it.
alter table audio_files add column multipart_id text;
alter table inference_files add column multipart_id text;
