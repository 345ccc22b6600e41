// Every error code of the REST API, with its meaning. The list is closed, and the OpenAPI description documents it.
// src/errors.ts makes errors with these codes only; add a new code here first.

export const errorMeanings = {
  annotation_not_found: "There is no such annotation",
  annotation_set_copying: "Annotations are being copied into the annotation set or from it",
  annotation_set_not_found: "There is no such annotation set",
  annotation_set_not_published: "Training needs a published annotation set",
  annotation_set_published: "A published annotation set never changes",
  api_key_expired: "The API key has expired",
  api_key_not_found: "There is no such API key",
  artifact_type_in_use: "Annotations use the artifact type that the change would remove",
  artifact_types_missing: "The dataset does not have all artifact types of the detections",
  audio_file_not_found: "There is no such audio file",
  audio_in_use:
    "A published annotation set labels the audio file, a job that has not ended uses it, or drafts have more than 100,000 labels of it",
  audio_not_ready: "The audio file has not been decoded yet, or decoding failed",
  body_too_large: "The body is larger than the operation accepts",
  dataset_in_use: "A job that has not ended uses the dataset",
  dataset_not_found: "There is no such dataset",
  delivery_not_found: "There is no such delivery",
  embeddings_not_ready: "Audio files of the dataset have no embeddings yet, or they failed",
  inference_file_not_found: "There is no such inference file",
  inference_job_not_found: "There is no such inference job",
  insufficient_scope: "The scopes of the API key do not allow the request",
  internal_error: "The service has an internal error",
  invalid_api_key: "The API key is missing, malformed, unknown or revoked",
  invalid_request: "The request is malformed",
  job_finished: "The job has already ended",
  job_not_finished: "The job has not ended yet",
  job_started: "The job has started and accepts no more files",
  key_already_created: "The same request has already created a key; a key is shown only once",
  method_not_allowed: "The path does not support this method; the header Allow lists the supported ones",
  model_archived: "The model is archived",
  model_in_use: "A job that has not ended uses the model",
  model_inactive: "The model is not active",
  model_not_archived: "Only an archived model can be deleted",
  model_not_found: "There is no such model",
  no_annotations: "The annotation set has no annotation of an artifact type to train",
  no_files: "The job has no files that are ready",
  not_enough_audio: "Training needs at least five minutes of audio",
  precondition_failed: "The resource has changed: If-Match contains none of its current ETags",
  quota_exceeded: "A quota of the account is used up; waiting alone does not free it",
  rate_limited: "Too many requests; wait for the seconds in Retry-After",
  request_in_progress:
    "Another request with the same Idempotency-Key or for the same upload is still in progress",
  route_not_found: "There is no such path",
  share_exceeded: "Other requests of the account use its share of a resource of the service",
  tenant_suspended: "The account is suspended",
  too_many_streams: "Too many event streams are open at once",
  too_slow:
    "The request takes the database too long; narrow it, or try again after the seconds in Retry-After",
  training_job_not_found: "There is no such training job",
  unavailable: "The service is temporarily unavailable; try again after the seconds in Retry-After",
  unsupported_audio: "The bytes are not audio of an accepted format",
  unsupported_media_type: "The body does not have the content type that the operation accepts",
  upload_expired: "The upload was not confirmed in time",
  upload_mismatch: "Size, content type or digest of the upload differ from those in the upload request",
  upload_not_found: "The object store has no object for this upload",
  validation_failed: "Fields of the request are invalid",
  webhook_disabled: "The webhook is disabled",
  webhook_not_found: "There is no such webhook",
} as const;

export type ErrorCode = keyof typeof errorMeanings;

export const errorCodes = Object.keys(errorMeanings) as [ErrorCode, ...ErrorCode[]];

/** Codes of responses under /dashboard only, which the OpenAPI description does not have (docs/dashboard.md). */
export type DashboardErrorCode =
  | "account_unavailable"
  | "account_changed"
  | "cross_site_request"
  | "insecure_connection"
  | "insufficient_role"
  | "no_role"
  | "provider_unavailable"
  | "session_ended"
  | "sign_in_failed"
  | "sign_in_link_used"
  | "sign_in_refused";
