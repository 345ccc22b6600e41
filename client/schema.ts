// Written by `make gen` from openapi.json: the types of every request and answer. Do not edit.

export interface paths {
    "/api/v1/auth/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List all keys of the account, newest first, without the keys themselves. */
        get: operations["listApiKeys"];
        put?: never;
        /** @description Create a key; only this response shows it. Accepts an Idempotency-Key. */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** @description Revoke a key; it becomes invalid at once and permanently. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/api-keys/{key_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description The new key has the name of the old key and, if the old key expires, the same lifetime, counted from now. The old key is revoked at once, or after overlap_seconds. Accepts an Idempotency-Key. */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the datasets. */
        get: operations["listDatasets"];
        put?: never;
        /** @description Create a dataset. Accepts an Idempotency-Key. */
        post: operations["createDataset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read a dataset. Accepts If-None-Match, for cheap polling. */
        get: operations["getDataset"];
        put?: never;
        post?: never;
        /** @description Refused while a job that has not ended uses the dataset. The bytes of its audio files are deleted after a grace period, 7 days by default. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteDataset"];
        options?: never;
        head?: never;
        /** @description Change the name, description or artifact types. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        patch: operations["updateDataset"];
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio/upload-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Step 2: POST `upload.fields` and then the bytes as `file` to `upload.url`, as multipart/form-data; upload a large file in parts instead, which can be resumed. Step 3: confirm the upload. Accepts an Idempotency-Key. */
        post: operations["createAudioUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio/upload-urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Step 1 of 3: request upload tickets for up to 100 files. Accepts an Idempotency-Key. */
        post: operations["createAudioUploads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio/from-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description The service fetches the file in the background and checks it as at a confirm. Its status is `pending_upload` until then, and `failed` if it cannot be fetched; `error_message` says why. No response shows the URL. Accepts an Idempotency-Key. */
        post: operations["createAudioFromUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Instead of the form of the upload ticket: PUT the bytes of each part to its URL, ask again until no part is missing, then confirm. The object store keeps the parts until the upload expires, so after an interruption only the missing ones are uploaded. */
        post: operations["requestAudioUploadParts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Step 3 of 3: confirm the upload; the service checks the file. */
        post: operations["confirmAudioUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the audio files of a dataset. */
        get: operations["listAudioFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read an audio file's record. Accepts If-None-Match, for cheap polling. */
        get: operations["getAudioFile"];
        put?: never;
        post?: never;
        /** @description Refused while a published annotation set labels the file or a job that has not ended uses it. Its bytes are deleted after a grace period, 7 days by default. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteAudioFile"];
        options?: never;
        head?: never;
        /** @description Change the file name or the metadata. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        patch: operations["updateAudioFile"];
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Returns JSON and not a redirect, because a client that follows redirects would send its API key to the object store. */
        get: operations["downloadAudioFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/waveform": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read the waveform of an audio file. Accepts If-None-Match, for cheap polling. */
        get: operations["getWaveform"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the annotation sets of a dataset. */
        get: operations["listAnnotationSets"];
        put?: never;
        /** @description More than 10,000 annotations and reviewed files are copied after the response; the member `copying` shows the progress. Until the copy is complete, neither the new draft nor a source that is a draft can be changed. Deleting the new draft ends the copy. Accepts an Idempotency-Key. */
        post: operations["createAnnotationSet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read an annotation set with all its annotations. Accepts If-None-Match, for cheap polling. */
        get: operations["getAnnotationSet"];
        put?: never;
        post?: never;
        /** @description Delete a draft. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteAnnotationSet"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description A label that extends beyond the decoded end of its file is published unchanged, and truncated for training. Accepts an Idempotency-Key. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        post: operations["publishAnnotationSet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/reviewed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Files with annotations count as reviewed too, but the list contains only marked files. */
        get: operations["listReviewedFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/reviewed/{audio_file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** @description Mark a file as reviewed: its unlabelled parts are free of artifacts. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        put: operations["markReviewedFile"];
        post?: never;
        /** @description Remove the mark of a reviewed file. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["unmarkReviewedFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Returns a bare array. The header X-Total-Count has the number of matching annotations. Without page and page_size, the response has all of them. Accepts If-None-Match, for cheap polling. */
        get: operations["listAnnotations"];
        put?: never;
        /** @description Add an annotation to a draft. Accepts an Idempotency-Key. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        post: operations["createAnnotation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Add up to 1000 annotations to a draft, all or none. The body may be up to 8 MiB. Accepts an Idempotency-Key. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        post: operations["createAnnotations"];
        delete?: never;
        options?: never;
        head?: never;
        /** @description Change up to 1000 annotations of a draft, all or none. The body may be up to 8 MiB. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        patch: operations["updateAnnotations"];
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations/bulk/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Delete up to 1000 annotations of a draft. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        post: operations["deleteAnnotations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations/{annotation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read an annotation. Accepts If-None-Match, for cheap polling. */
        get: operations["getAnnotation"];
        put?: never;
        post?: never;
        /** @description Delete an annotation of a draft. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteAnnotation"];
        options?: never;
        head?: never;
        /** @description Change an annotation of a draft. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        patch: operations["updateAnnotation"];
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/annotation-tool": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description One task for each audio file that has annotations; times are in seconds. `score` and `meta.extra_data` contain the confidence and the extra data of an annotation. */
        get: operations["exportAnnotationTool"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description RFC 4180 in UTF-8, with a header line. A cell that a spreadsheet would treat as a formula begins with an apostrophe, which import/csv removes again. */
        get: operations["exportCsv"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/audacity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Each line has start and end in seconds and the label, separated by tabs. In Audacity: File > Import > Labels. */
        get: operations["exportAudacity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/dcase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Tab-separated columns filename, onset, offset, event_label; times are in seconds. File names are exported unchanged, without protection against formulas: use csv for spreadsheets. */
        get: operations["exportDcase"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/export/webvtt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description One cue for each annotation. A cue cannot be empty, so an annotation of a point becomes one millisecond long. */
        get: operations["exportWebvtt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/import/annotation-tool": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description At most 50000 labels. All valid labels are added in one transaction; invalid ones are skipped and reported. Labels that the set already has (same file, type and times) are not added again. A task belongs to the audio file with the id data.audio_file_id, or else to the one whose name is data.filename or the end of data.audio; it is an error if two files have that name. Addresses are never fetched. The body may be up to 8 MiB. Accepts an Idempotency-Key. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        post: operations["importAnnotationTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/import/csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description At most 50000 labels. All valid labels are added in one transaction; invalid ones are skipped and reported. Labels that the set already has (same file, type and times) are not added again. The first line names the columns, in any order. Required: artifact_type, start_ms, end_ms, and audio_file_id or filename. Optional: confidence, extra_data and annotator. Other columns are ignored, including id. The delimiter is a comma, a semicolon or a tab. The body may be up to 8 MiB. Accepts an Idempotency-Key. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        post: operations["importCsv"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/import/audacity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description At most 50000 labels. All valid labels are added in one transaction; invalid ones are skipped and reported. Labels that the set already has (same file, type and times) are not added again. Lines with frequencies are ignored. The body may be up to 8 MiB. Accepts an Idempotency-Key. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        post: operations["importAudacity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The formats are the same as for exports of annotation sets. For the labelling tool, detections are predictions, which it shows as suggestions. */
        get: operations["exportDetections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/to-annotation-set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Copies the detections in audio files of the dataset, with their confidence. Skips files that were uploaded to the job. More than 10,000 detections are copied after the response; the member `copying` of the draft shows the progress. extra_data.inference_job_id of an annotation is the id of the job. Accepts an Idempotency-Key. */
        post: operations["createAnnotationSetFromDetections"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/training-jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the training jobs. */
        get: operations["listTrainingJobs"];
        put?: never;
        /** @description Train a model from a published annotation set. Accepts an Idempotency-Key. */
        post: operations["createTrainingJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/training-jobs/{training_job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read a training job. Accepts If-None-Match, for cheap polling. */
        get: operations["getTrainingJob"];
        put?: never;
        post?: never;
        /** @description Delete an ended training job; its model is kept. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteTrainingJob"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/training-jobs/{training_job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description The pods of the job receive the request within a few seconds. Until they have ended, the status is `cancelling`. */
        post: operations["cancelTrainingJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/training-jobs/{training_job_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description The new job has the same configuration and annotation set, and uses the present files. All preconditions are checked again. Accepts an Idempotency-Key. */
        post: operations["retryTrainingJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/training-jobs/{training_job_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the events of a training job, newest first. */
        get: operations["listTrainingJobEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/training-jobs/{training_job_id}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read the training curves. Accepts If-None-Match, for cheap polling. */
        get: operations["getTrainingJobMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the models. */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read a model. Accepts If-None-Match, for cheap polling. */
        get: operations["getModel"];
        put?: never;
        post?: never;
        /** @description Delete an archived model; its detections are kept. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteModel"];
        options?: never;
        head?: never;
        /** @description Change the name, the description or whether the model is active. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        patch: operations["updateModel"];
        trace?: never;
    };
    "/api/v1/models/{model_id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Archive a model; it becomes inactive and is no longer listed by default. */
        post: operations["archiveModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{model_id}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Unarchive a model; it stays inactive until a PATCH activates it. */
        post: operations["unarchiveModel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{model_id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Get a presigned URL of the model artifact (ONNX). */
        get: operations["downloadModel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the inference jobs. */
        get: operations["listInferenceJobs"];
        put?: never;
        /** @description With audio files or a dataset the job starts at once. Without them it waits for uploads and for its start; after seven days without a start it is cancelled. Accepts an Idempotency-Key. */
        post: operations["createInferenceJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read an inference job. Accepts If-None-Match, for cheap polling. */
        get: operations["getInferenceJob"];
        put?: never;
        post?: never;
        /** @description Delete an ended inference job with its files and detections. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteInferenceJob"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Start a job with its uploaded files. */
        post: operations["startInferenceJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Cancel an inference job; its detections so far are kept. */
        post: operations["cancelInferenceJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Create a new job for the files that failed. Accepts an Idempotency-Key. */
        post: operations["retryInferenceJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/detections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the detections of a job, ordered by file and start, also while it runs. */
        get: operations["listInferenceJobDetections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the events of an inference job, newest first. */
        get: operations["listInferenceJobEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/files/upload-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Step 2: POST `upload.fields` and then the bytes as `file` to `upload.url`, as multipart/form-data; upload a large file in parts instead, which can be resumed. Step 3: confirm the upload. Accepts an Idempotency-Key. */
        post: operations["createInferenceUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/files/upload-urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Step 1 of 3: request upload tickets for up to 100 files. Accepts an Idempotency-Key. */
        post: operations["createInferenceUploads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Instead of the form of the upload ticket: PUT the bytes of each part to its URL, ask again until no part is missing, then confirm. The object store keeps the parts until the upload expires, so after an interruption only the missing ones are uploaded. */
        post: operations["requestInferenceUploadParts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Step 3 of 3: confirm the upload; the service checks the file. */
        post: operations["confirmInferenceUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the files of an inference job. */
        get: operations["listInferenceFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read a file of an inference job. Accepts If-None-Match, for cheap polling. */
        get: operations["getInferenceFile"];
        put?: never;
        post?: never;
        /** @description Remove a file from a job that has not started. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteInferenceFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Get a presigned URL of the original bytes. */
        get: operations["downloadInferenceFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/detections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the detections in one file, ordered by start. */
        get: operations["listInferenceFileDetections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the events of the last 24 hours, newest first. */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Each event has an id. A client that reconnects with its last id in the header Last-Event-ID receives the events that it missed in the last 24 hours. The stream has a comment every 15 seconds. It ends when the key is revoked or the service is updated. */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the webhooks. */
        get: operations["listWebhooks"];
        put?: never;
        /** @description Create a webhook; the response shows its signing secret. Accepts an Idempotency-Key. */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read a webhook. Accepts If-None-Match, for cheap polling. */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /** @description Delete a webhook with its deliveries; pending ones are not sent. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /** @description Change the URL, types or description of a webhook, or disable or enable it. Accepts If-Match, to avoid overwriting changes that you have not seen. */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Create a new signing secret; for 24 hours, deliveries have signatures with both secrets. Accepts an Idempotency-Key. */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Send an event of the type webhook.test. Accepts an Idempotency-Key. */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description List the deliveries of a webhook, newest first; finished deliveries are kept for 7 days. */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read a delivery. Accepts If-None-Match, for cheap polling. */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** @description Send a delivery again, with the same webhook-id. Accepts an Idempotency-Key. */
        post: operations["redeliverWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Read the usage and the limits of the account. */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Liveness: the process is running. Needs no API key. */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Readiness: the database can be reached and is migrated, and the process is not shutting down. Needs no API key. */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/startupz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Startup: the process has reached a migrated database at least once. Needs no API key. */
        get: operations["getStartup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description This description. Needs no API key. */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description This description. Needs no API key. */
        get: operations["getOpenApiV1"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Annotation: {
            /**
             * Format: uuid
             * @description Id of the annotation
             */
            id: string;
            /**
             * Format: uuid
             * @description Annotation set that contains the annotation
             */
            annotation_set_id: string;
            /**
             * Format: uuid
             * @description Audio file that the annotation labels
             */
            audio_file_id: string;
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type: string;
            /**
             * Format: int64
             * @description Start of the artifact, in milliseconds
             */
            start_ms: number;
            /**
             * Format: int64
             * @description End of the artifact; equal to the start for a point, in milliseconds
             */
            end_ms: number;
            /** @description Confidence of the annotator, 0 to 1 */
            confidence: number;
            /** @description Data that the client stored with the annotation */
            extra_data: {
                [key: string]: unknown;
            };
            /** @description Who made the annotation: a name or an id of your own; null: not stated */
            annotator: string | null;
            /**
             * Format: date-time
             * @description When the annotation was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the annotation was last changed: RFC 3339, UTC, milliseconds
             */
            updated_at: string;
        };
        AnnotationSet: {
            /**
             * Format: uuid
             * @description Id of the set
             */
            id: string;
            /**
             * Format: uuid
             * @description Dataset whose audio the set labels
             */
            dataset_id: string;
            /**
             * Format: int64
             * @description Number of the set within its dataset; a number is never reused
             */
            version: number;
            /**
             * @description A published set never changes
             * @enum {string}
             */
            status: "draft" | "published";
            /**
             * Format: int64
             * @description Number of annotations in the set
             */
            total_annotations: number;
            /**
             * Format: int64
             * @description Total length of the annotations, in milliseconds; overlaps count twice
             */
            total_positive_duration_ms: number;
            /** @description Number of annotations per artifact type */
            annotations_by_type: {
                [key: string]: number;
            };
            /** @description Progress of the copy that fills the draft; null when it is complete */
            copying: {
                /**
                 * Format: int64
                 * @description Annotations that the set has already
                 */
                copied: number;
                /**
                 * Format: int64
                 * @description Annotations that it will have
                 */
                total: number;
            } | null;
            /**
             * Format: date-time
             * @description When the set was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            published_at: string | null;
        };
        AnnotationSetDetail: {
            /**
             * Format: uuid
             * @description Id of the set
             */
            id: string;
            /**
             * Format: uuid
             * @description Dataset whose audio the set labels
             */
            dataset_id: string;
            /**
             * Format: int64
             * @description Number of the set within its dataset; a number is never reused
             */
            version: number;
            /**
             * @description A published set never changes
             * @enum {string}
             */
            status: "draft" | "published";
            /**
             * Format: int64
             * @description Number of annotations in the set
             */
            total_annotations: number;
            /**
             * Format: int64
             * @description Total length of the annotations, in milliseconds; overlaps count twice
             */
            total_positive_duration_ms: number;
            /** @description Number of annotations per artifact type */
            annotations_by_type: {
                [key: string]: number;
            };
            /** @description Progress of the copy that fills the draft; null when it is complete */
            copying: {
                /**
                 * Format: int64
                 * @description Annotations that the set has already
                 */
                copied: number;
                /**
                 * Format: int64
                 * @description Annotations that it will have
                 */
                total: number;
            } | null;
            /**
             * Format: date-time
             * @description When the set was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            published_at: string | null;
            /** @description All annotations, ordered by audio file, start and id */
            annotations: components["schemas"]["Annotation"][];
        };
        ApiKey: {
            /**
             * Format: uuid
             * @description Id of the key
             */
            id: string;
            /** @description Purpose of the key */
            name: string;
            /** @description First 8 characters of the key */
            key_prefix: string;
            /** @description What the key may do: `read` data, `write` (create, change, delete and run) data, `admin`: read and change API keys and webhooks. Empty: everything */
            scopes: ("read" | "write" | "admin")[];
            /**
             * Format: date-time
             * @description When the key was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
        };
        AudioFile: {
            /**
             * Format: uuid
             * @description Id of the audio file
             */
            id: string;
            /**
             * Format: uuid
             * @description Dataset that contains the audio file
             */
            dataset_id: string;
            /** @description Name of the file for people; the service never uses it as a path */
            filename: string;
            /** @description Content type of the audio */
            content_type: string;
            /**
             * Format: int64
             * @description Size in bytes
             */
            size_bytes: number;
            /** @description SHA-256 digest, hexadecimal; null until it is known */
            checksum_sha256: string | null;
            /**
             * @description State of the file
             * @enum {string}
             */
            status: "pending_upload" | "processing" | "ready" | "failed" | "expired";
            duration_ms: number | null;
            sample_rate_hz: number | null;
            channels: number | null;
            codec: string | null;
            /**
             * @description State of the file's embedding
             * @enum {string}
             */
            embedding_status: "pending" | "processing" | "completed" | "failed";
            embedding_model: string | null;
            embedded_at: string | null;
            /** @description Why the file failed, or why the service refused to confirm its last upload */
            error_message: string | null;
            /** @description Your own key-value pairs */
            metadata: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When the upload ticket was requested: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            uploaded_at: string | null;
            /**
             * Format: date-time
             * @description When the audio file was last changed: RFC 3339, UTC, milliseconds
             */
            updated_at: string;
        };
        AudioUpload: {
            /**
             * Format: uuid
             * @description Id of the audio file
             */
            audio_file_id: string;
            /** @description A multipart form: send `fields`, then the bytes as the last field, `file` */
            upload: {
                /**
                 * @description Method of the request that sends the form
                 * @constant
                 */
                method: "POST";
                /** @description URL to POST the form to */
                url: string;
                /** @description Form fields; send them unchanged, before `file` */
                fields: {
                    [key: string]: string;
                };
                /**
                 * Format: date-time
                 * @description When the form expires: RFC 3339, UTC, milliseconds
                 */
                expires_at: string;
            };
            /**
             * Format: int64
             * @description Largest accepted upload, in bytes
             */
            max_size_bytes: number;
            audio_file: components["schemas"]["AudioFile"];
        };
        AudioUploads: {
            /** @description The upload tickets */
            items: components["schemas"]["AudioUpload"][];
            /**
             * Format: int64
             * @description Number of upload tickets
             */
            total: number;
        };
        ConfirmUpload: {
            /** @description SHA-256 digest of the uploaded bytes */
            checksum_sha256?: string;
        };
        CreateAnnotation: {
            /**
             * Format: uuid
             * @description Audio file of the same dataset
             */
            audio_file_id: string;
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type: string;
            /**
             * Format: int32
             * @description Start of the artifact, in milliseconds
             */
            start_ms: number;
            /**
             * Format: int32
             * @description End of the artifact; equal to the start for a point, in milliseconds
             */
            end_ms: number;
            /**
             * @description Confidence of the annotator, 0 to 1
             * @default 1
             */
            confidence?: number;
            /**
             * @description Your own data, a JSON object of up to 4 KiB, with at most 256 members and items at all depths together
             * @default {}
             */
            extra_data?: {
                [key: string]: unknown;
            };
            /**
             * @description Who made the annotation: a name or an id of your own; null: not stated
             * @default null
             */
            annotator?: string | null;
        };
        CreateAnnotationSet: {
            from_annotation_set_id?: string | null;
        };
        CreateAnnotations: {
            /** @description Annotations to add; all of them are added, or none */
            annotations: components["schemas"]["CreateAnnotation"][];
        };
        CreateApiKey: {
            /** @description Purpose of the key */
            name: string;
            /**
             * @description What the key may do: `read` data, `write` (create, change, delete and run) data, `admin`: read and change API keys and webhooks. Empty: everything
             * @default []
             */
            scopes?: ("read" | "write" | "admin")[];
            /** @description When the key expires: a time in the future, with offset; absent: never */
            expires_at?: string | null;
        };
        CreateAudioFromUrl: {
            /** @description Public https URL of the file, with a host name, on port 443 or 8443. It may contain a signature: it is stored encrypted, deleted after the fetch and never shown */
            url: string;
            /** @description Name of the file for people; by default the name in the URL */
            filename?: string;
            /**
             * @description Content type of the audio; by default that of the name's extension, or else of the response
             * @enum {string}
             */
            content_type?: "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/flac" | "audio/x-flac" | "audio/mpeg" | "audio/ogg" | "audio/opus";
            /** @description SHA-256 digest that the fetched bytes must have */
            checksum_sha256?: string;
            /** @description Up to 16 key-value pairs of your own */
            metadata?: {
                [key: string]: string;
            };
        };
        CreateDataset: {
            /** @description Name for people; it does not have to be unique */
            name: string;
            /** @description Description of the dataset */
            description?: string | null;
            /**
             * @description Artifact types of the dataset, with up to 64 KiB of JSON; names are unique regardless of case
             * @default []
             */
            artifact_types?: {
                /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
                name: string;
                /** @description What the artifact sounds like */
                description?: string | null;
            }[];
        };
        CreateInferenceJob: {
            /**
             * Format: uuid
             * @description Model to run
             */
            model_id: string;
            /**
             * @description Options of inference; the model decides every option that is absent or null
             * @default {}
             */
            config?: {
                /** @description One threshold for all types */
                threshold?: number | null;
                /** @description Thresholds by type; they take precedence over `threshold` */
                thresholds?: {
                    [key: string]: number;
                };
                /** @description Artifact types to report */
                artifact_types?: string[] | null;
                /** @description Detections shorter than this, after merging, are dropped; in milliseconds */
                min_duration_ms?: number | null;
                /** @description Detections of one type at most this far apart are merged, with the highest confidence of them; in milliseconds */
                merge_gap_ms?: number | null;
                /** @description Length of a window, in milliseconds */
                chunk_size_ms?: number | null;
                /** @description Distance between the starts of windows, in milliseconds */
                stride_ms?: number | null;
                max_false_alarms_per_hour?: number | null;
            };
            /** @description Audio files to process */
            audio_file_ids?: string[] | null;
            dataset_id?: string | null;
        };
        CreateTrainingJob: {
            /**
             * Format: uuid
             * @description Dataset to train on
             */
            dataset_id: string;
            /**
             * Format: uuid
             * @description Published annotation set of that dataset
             */
            annotation_set_id: string;
            /** @description Options of training, and a time limit */
            config: {
                /** @description Artifact types to train; the dataset must have each of them, and the annotation set must have annotations of each */
                artifact_types: string[];
                /**
                 * Format: int32
                 * @description Number of passes over the training data
                 * @default 20
                 */
                epochs?: number;
                /**
                 * @description Share of the files that is held out of training, to choose thresholds and to measure the model. With few labels, the model is trained again on all files after it was measured
                 * @default 0.2
                 */
                validation_split?: number;
                /**
                 * @description Peak learning rate of the optimizer. The outputs of the network learn at 3 times this rate, its pretrained layers at 0.6 times
                 * @default 0.001
                 */
                learning_rate?: number;
                /**
                 * Format: int32
                 * @description Chunks in one optimizer step
                 * @default 32
                 */
                batch_size?: number;
                /**
                 * Format: int64
                 * @description Length of a training sample and of an inference window, in milliseconds
                 * @default 500
                 */
                chunk_size_ms?: number;
                /**
                 * Format: int64
                 * @description Distance between the starts of consecutive chunks, in milliseconds
                 * @default 250
                 */
                stride_ms?: number;
                /** @description Thresholds of the model are raised until this many false alarms are expected. The number is for all types together and an hour of audio; a type keeps its own threshold if that is higher */
                max_false_alarms_per_hour?: number;
                /**
                 * Format: int32
                 * @description Random seed of the run; by default derived from the job's id
                 */
                seed?: number;
                /**
                 * Format: int32
                 * @description Seconds after which a running job fails; one day by default
                 */
                max_runtime_seconds?: number;
            };
        };
        CreateUpload: {
            /** @description Name of the file for people; the service never uses it as a path */
            filename: string;
            /**
             * @description Content type of the audio
             * @enum {string}
             */
            content_type: "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/flac" | "audio/x-flac" | "audio/mpeg" | "audio/ogg" | "audio/opus";
            /**
             * Format: int64
             * @description Exact size of the file in bytes
             */
            size_bytes: number;
            /** @description SHA-256 digest; with it, the object store verifies the upload */
            checksum_sha256?: string;
            /** @description Up to 16 key-value pairs of your own */
            metadata?: {
                [key: string]: string;
            };
        };
        CreateUploads: {
            /** @description The files, at most 100 */
            files: {
                /** @description Name of the file for people; the service never uses it as a path */
                filename: string;
                /**
                 * @description Content type of the audio
                 * @enum {string}
                 */
                content_type: "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/flac" | "audio/x-flac" | "audio/mpeg" | "audio/ogg" | "audio/opus";
                /**
                 * Format: int64
                 * @description Exact size of the file in bytes
                 */
                size_bytes: number;
                /** @description SHA-256 digest; with it, the object store verifies the upload */
                checksum_sha256?: string;
                /** @description Up to 16 key-value pairs of your own */
                metadata?: {
                    [key: string]: string;
                };
            }[];
        };
        CreateWebhook: {
            /** @description Public https URL of the receiver, with a host name, on port 443 or 8443 */
            url: string;
            /**
             * @description Purpose of the webhook
             * @default
             */
            description?: string;
            /**
             * @description Types of the events to send; empty: all types
             * @default []
             */
            types?: ("audio_file.ready" | "audio_file.failed" | "annotation_set.published" | "training_job.pending" | "training_job.queued" | "training_job.running" | "training_job.cancelling" | "training_job.completed" | "training_job.failed" | "training_job.cancelled" | "training_job.progress" | "model.created" | "model.archived" | "inference_job.pending" | "inference_job.queued" | "inference_job.running" | "inference_job.cancelling" | "inference_job.completed" | "inference_job.failed" | "inference_job.cancelled" | "inference_file.completed" | "inference_file.failed" | "api_key.created" | "api_key.revoked" | "webhook.disabled")[];
        };
        CreatedAnnotations: {
            /** @description The annotations, in the order of the request */
            items: components["schemas"]["Annotation"][];
            /**
             * Format: int64
             * @description Number of added annotations
             */
            total: number;
        };
        CreatedApiKey: {
            /**
             * Format: uuid
             * @description Id of the key
             */
            id: string;
            /** @description Purpose of the key */
            name: string;
            /** @description First 8 characters of the key */
            key_prefix: string;
            /** @description What the key may do: `read` data, `write` (create, change, delete and run) data, `admin`: read and change API keys and webhooks. Empty: everything */
            scopes: ("read" | "write" | "admin")[];
            /**
             * Format: date-time
             * @description When the key was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            /** @description The key itself; no later response shows it */
            key: string;
        };
        Dataset: {
            /**
             * Format: uuid
             * @description Id of the dataset
             */
            id: string;
            /**
             * Format: uuid
             * @description Tenant that owns the dataset
             */
            tenant_id: string;
            /** @description Name for people; it does not have to be unique */
            name: string;
            /** @description Description of the dataset */
            description: string | null;
            /** @description Artifact types that may be labelled in the dataset */
            artifact_types: {
                /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
                name: string;
                description: string | null;
            }[];
            /**
             * Format: int64
             * @description Number of audio files, including pending uploads
             */
            audio_file_count: number;
            /**
             * Format: int64
             * @description Total length of the files that training can use, in milliseconds
             */
            total_duration_ms: number;
            /**
             * Format: int64
             * @description Number of files that training can use
             */
            embedded_audio_file_count: number;
            /**
             * Format: date-time
             * @description When the dataset was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the dataset was last changed: RFC 3339, UTC, milliseconds
             */
            updated_at: string;
        };
        DeleteAnnotations: {
            /** @description Annotations to delete */
            ids: string[];
        };
        DeletedAnnotations: {
            /**
             * Format: int64
             * @description Number of deleted annotations; ids that the set does not have are ignored
             */
            deleted: number;
        };
        Detection: {
            /**
             * Format: uuid
             * @description Id of the detection
             */
            id: string;
            /**
             * Format: uuid
             * @description Inference file of the detection
             */
            inference_file_id: string;
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type: string;
            /**
             * Format: int64
             * @description Start of the artifact, in milliseconds
             */
            start_ms: number;
            /**
             * Format: int64
             * @description End of the artifact, in milliseconds
             */
            end_ms: number;
            /** @description Calibrated confidence of the model, 0 to 1 */
            confidence: number;
        };
        DetectionsToAnnotationSet: {
            /**
             * Format: uuid
             * @description Dataset of the new draft; only detections in its audio files are used
             */
            dataset_id: string;
            /**
             * @description Only detections with at least this confidence
             * @default 0
             */
            min_confidence?: number;
            /**
             * @description True: artifact types that the dataset does not have are added to it
             * @default false
             */
            create_types?: boolean;
        };
        Download: {
            /** @description Presigned URL of the bytes */
            url: string;
            /**
             * @description Method of the request that fetches the bytes
             * @constant
             */
            method: "GET";
            /**
             * Format: date-time
             * @description When the URL expires: RFC 3339, UTC, milliseconds
             */
            expires_at: string;
            /**
             * Format: int64
             * @description Size in bytes
             */
            size_bytes: number;
            /** @description SHA-256 digest, hexadecimal */
            checksum_sha256: string | null;
        };
        Error: {
            /** @description Error message as a sentence, for people */
            detail: string;
            code?: components["schemas"]["ErrorCode"];
            /** @description All failed preconditions; only for errors that can have several */
            errors?: {
                code: components["schemas"]["ErrorCode"];
                /** @description Error message as a sentence */
                message: string;
            }[];
        };
        /**
         * @description Error code: one stable word for programs:
         *     - `annotation_not_found`: There is no such annotation
         *     - `annotation_set_copying`: Annotations are being copied into the annotation set or from it
         *     - `annotation_set_not_found`: There is no such annotation set
         *     - `annotation_set_not_published`: Training needs a published annotation set
         *     - `annotation_set_published`: A published annotation set never changes
         *     - `api_key_expired`: The API key has expired
         *     - `api_key_not_found`: There is no such API key
         *     - `artifact_type_in_use`: Annotations use the artifact type that the change would remove
         *     - `artifact_types_missing`: The dataset does not have all artifact types of the detections
         *     - `audio_file_not_found`: There is no such audio file
         *     - `audio_in_use`: A published annotation set labels the audio file, a job that has not ended uses it, or drafts have more than 100,000 labels of it
         *     - `audio_not_ready`: The audio file has not been decoded yet, or decoding failed
         *     - `body_too_large`: The body is larger than the operation accepts
         *     - `dataset_in_use`: A job that has not ended uses the dataset
         *     - `dataset_not_found`: There is no such dataset
         *     - `delivery_not_found`: There is no such delivery
         *     - `embeddings_not_ready`: Audio files of the dataset have no embeddings yet, or they failed
         *     - `inference_file_not_found`: There is no such inference file
         *     - `inference_job_not_found`: There is no such inference job
         *     - `insufficient_scope`: The scopes of the API key do not allow the request
         *     - `internal_error`: The service has an internal error
         *     - `invalid_api_key`: The API key is missing, malformed, unknown or revoked
         *     - `invalid_request`: The request is malformed
         *     - `job_finished`: The job has already ended
         *     - `job_not_finished`: The job has not ended yet
         *     - `job_started`: The job has started and accepts no more files
         *     - `key_already_created`: The same request has already created a key; a key is shown only once
         *     - `method_not_allowed`: The path does not support this method; the header Allow lists the supported ones
         *     - `model_archived`: The model is archived
         *     - `model_in_use`: A job that has not ended uses the model
         *     - `model_inactive`: The model is not active
         *     - `model_not_archived`: Only an archived model can be deleted
         *     - `model_not_found`: There is no such model
         *     - `no_annotations`: The annotation set has no annotation of an artifact type to train
         *     - `no_files`: The job has no files that are ready
         *     - `not_enough_audio`: Training needs at least five minutes of audio
         *     - `precondition_failed`: The resource has changed: If-Match contains none of its current ETags
         *     - `quota_exceeded`: A quota of the account is used up; waiting alone does not free it
         *     - `rate_limited`: Too many requests; wait for the seconds in Retry-After
         *     - `request_in_progress`: Another request with the same Idempotency-Key or for the same upload is still in progress
         *     - `route_not_found`: There is no such path
         *     - `share_exceeded`: Other requests of the account use its share of a resource of the service
         *     - `tenant_suspended`: The account is suspended
         *     - `too_many_streams`: Too many event streams are open at once
         *     - `too_slow`: The request takes the database too long; narrow it, or try again after the seconds in Retry-After
         *     - `training_job_not_found`: There is no such training job
         *     - `unavailable`: The service is temporarily unavailable; try again after the seconds in Retry-After
         *     - `unsupported_audio`: The bytes are not audio of an accepted format
         *     - `unsupported_media_type`: The body does not have the content type that the operation accepts
         *     - `upload_expired`: The upload was not confirmed in time
         *     - `upload_mismatch`: Size, content type or digest of the upload differ from those in the upload request
         *     - `upload_not_found`: The object store has no object for this upload
         *     - `validation_failed`: Fields of the request are invalid
         *     - `webhook_disabled`: The webhook is disabled
         *     - `webhook_not_found`: There is no such webhook
         * @enum {string}
         */
        ErrorCode: "annotation_not_found" | "annotation_set_copying" | "annotation_set_not_found" | "annotation_set_not_published" | "annotation_set_published" | "api_key_expired" | "api_key_not_found" | "artifact_type_in_use" | "artifact_types_missing" | "audio_file_not_found" | "audio_in_use" | "audio_not_ready" | "body_too_large" | "dataset_in_use" | "dataset_not_found" | "delivery_not_found" | "embeddings_not_ready" | "inference_file_not_found" | "inference_job_not_found" | "insufficient_scope" | "internal_error" | "invalid_api_key" | "invalid_request" | "job_finished" | "job_not_finished" | "job_started" | "key_already_created" | "method_not_allowed" | "model_archived" | "model_in_use" | "model_inactive" | "model_not_archived" | "model_not_found" | "no_annotations" | "no_files" | "not_enough_audio" | "precondition_failed" | "quota_exceeded" | "rate_limited" | "request_in_progress" | "route_not_found" | "share_exceeded" | "tenant_suspended" | "too_many_streams" | "too_slow" | "training_job_not_found" | "unavailable" | "unsupported_audio" | "unsupported_media_type" | "upload_expired" | "upload_mismatch" | "upload_not_found" | "validation_failed" | "webhook_disabled" | "webhook_not_found";
        Event: {
            /**
             * Format: int64
             * @description Number that grows with every event of this service; the `id` in the stream
             */
            id: number;
            /** @description Type of the event */
            type: string;
            /**
             * Format: date-time
             * @description When the event happened: RFC 3339, UTC, milliseconds
             */
            timestamp: string;
            /** @description Ids and status of the resource; read the resource itself for everything else */
            data: {
                [key: string]: unknown;
            };
        };
        ExportedDetection: {
            /**
             * Format: uuid
             * @description Id of the detection
             */
            id: string;
            /**
             * Format: uuid
             * @description Inference file of the detection
             */
            inference_file_id: string;
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type: string;
            /**
             * Format: int64
             * @description Start of the artifact, in milliseconds
             */
            start_ms: number;
            /**
             * Format: int64
             * @description End of the artifact, in milliseconds
             */
            end_ms: number;
            /** @description Calibrated confidence of the model, 0 to 1 */
            confidence: number;
            audio_file_id: string | null;
            /** @description Name of the file */
            filename: string;
        };
        ImportReport: {
            /**
             * Format: int64
             * @description Number of annotations that were added, or would be added without dry_run
             */
            imported: number;
            /**
             * Format: int64
             * @description Number of skipped labels: those with errors, and those that the set already has
             */
            skipped: number;
            /** @description Artifact types that were added to the dataset */
            created_types: string[];
            /** @description The first 1000 errors; the first 100 if a request is repeated with its Idempotency-Key */
            errors: {
                /**
                 * Format: int64
                 * @description Index of the task, from 0
                 */
                task: number;
                /** @description Index of the result among the imported annotations of the task, from 0; null: the whole task */
                result: number | null;
                /** @description Why the label, or its whole task, was skipped */
                message: string;
            }[];
        };
        InferenceFile: {
            /**
             * Format: uuid
             * @description Id of the file
             */
            id: string;
            /**
             * Format: uuid
             * @description Inference job that the file belongs to
             */
            inference_job_id: string;
            audio_file_id: string | null;
            dataset_id: string | null;
            /** @description Name of the file */
            filename: string;
            /** @description Content type of the audio */
            content_type: string;
            /**
             * Format: int64
             * @description Size in bytes
             */
            size_bytes: number;
            /** @description SHA-256 digest, hexadecimal; null until it is known */
            checksum_sha256: string | null;
            /**
             * @description State of the file
             * @enum {string}
             */
            status: "pending_upload" | "queued" | "processing" | "completed" | "failed" | "cancelled";
            duration_ms: number | null;
            /**
             * Format: int64
             * @description Number of detections in the file
             */
            detection_count: number;
            /** @description Why the file failed, or why the service refused to confirm its last upload */
            error_message: string | null;
            /**
             * Format: date-time
             * @description When the file was added to the job: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            started_at: string | null;
            completed_at: string | null;
        };
        InferenceJob: {
            /**
             * Format: uuid
             * @description Id of the job
             */
            id: string;
            /**
             * Format: uuid
             * @description Tenant that owns the job
             */
            tenant_id: string;
            /**
             * Format: uuid
             * @description Model that the job runs
             */
            model_id: string;
            /** @description Effective configuration; null: the value of the model */
            config: {
                [key: string]: unknown;
            };
            /**
             * @description State of the job
             * @enum {string}
             */
            status: "pending" | "queued" | "running" | "cancelling" | "completed" | "failed" | "cancelled";
            status_message: string | null;
            /**
             * Format: int32
             * @description Progress in percent; it never decreases, and is 100 only when the job is completed
             */
            progress_percent: number;
            /**
             * Format: int64
             * @description Number of files of the job
             */
            total_files: number;
            /**
             * Format: int64
             * @description Number of processed files, including failed ones
             */
            processed_files: number;
            /**
             * Format: int64
             * @description Number of failed files
             */
            failed_files: number;
            /**
             * Format: int64
             * @description Number of detections so far
             */
            total_detections: number;
            /** @description Why the job failed */
            error_message: string | null;
            platform_job_name: string | null;
            /**
             * Format: date-time
             * @description When the job was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            start_requested_at: string | null;
            started_at: string | null;
            completed_at: string | null;
        };
        InferenceUpload: {
            /**
             * Format: uuid
             * @description Id of the file
             */
            inference_file_id: string;
            /** @description A multipart form: send `fields`, then the bytes as the last field, `file` */
            upload: {
                /**
                 * @description Method of the request that sends the form
                 * @constant
                 */
                method: "POST";
                /** @description URL to POST the form to */
                url: string;
                /** @description Form fields; send them unchanged, before `file` */
                fields: {
                    [key: string]: string;
                };
                /**
                 * Format: date-time
                 * @description When the form expires: RFC 3339, UTC, milliseconds
                 */
                expires_at: string;
            };
            /**
             * Format: int64
             * @description Largest accepted upload, in bytes
             */
            max_size_bytes: number;
            inference_file: components["schemas"]["InferenceFile"];
        };
        InferenceUploads: {
            /** @description The upload tickets */
            items: components["schemas"]["InferenceUpload"][];
            /**
             * Format: int64
             * @description Number of upload tickets
             */
            total: number;
        };
        JobEvent: {
            /**
             * Format: int64
             * @description Number that grows with every job event
             */
            id: number;
            /**
             * Format: date-time
             * @description When the event happened: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * @description Severity of the event
             * @enum {string}
             */
            level: "info" | "warning" | "error";
            /**
             * @description Kind of the event
             * @enum {string}
             */
            type: "status" | "message" | "metrics";
            /** @description Description of the event as a sentence */
            message: string;
            /** @description Details of the event for programs */
            data: {
                [key: string]: unknown;
            };
        };
        LabelToolExport: {
            /** @description One task for each audio file that has labels */
            tasks: {
                /**
                 * Format: int64
                 * @description Number of the task in the document, from 1
                 */
                id: number;
                /** @description Members audio (see the query parameter), filename, and audio_file_id or inference_file_id */
                data: {
                    [key: string]: unknown;
                };
                /** @description One annotation with all labels of the file */
                annotations: {
                    /**
                     * Format: int64
                     * @description Number of the task in the document, from 1
                     */
                    id: number;
                    /** @description The labels of the file */
                    result: {
                        /** @description Id of the annotation or detection */
                        id: string;
                        /** @description Members start and end (in seconds), labels and channel */
                        value: {
                            [key: string]: unknown;
                        };
                        /** @description Name of the labels in the tool's labelling interface: label */
                        from_name: string;
                        /** @description Name of the audio in the tool's labelling interface: audio */
                        to_name: string;
                        /** @description Kind of the result: labels */
                        type: string;
                        /** @description Confidence, 0 to 1 */
                        score: number;
                        /** @description extra_data and annotator of the annotation; absent if it has neither */
                        meta?: {
                            [key: string]: unknown;
                        };
                    }[];
                    /**
                     * Format: int64
                     * @description The tool's first user; absent with `flavor=import`
                     */
                    completed_by?: number;
                    /** @description Always false: the labels count */
                    was_cancelled: boolean;
                    /** @description Always false */
                    ground_truth: boolean;
                }[];
            }[];
        };
        /** @description The exported document, or a bare list of tasks */
        LabelToolImport: {
            /** @description Tasks of the tool, one for each audio file */
            tasks: {
                /** @description audio_file_id, or else filename, or else an address in audio that ends with the file name; addresses are never fetched */
                data?: {
                    /** @description Address of the audio */
                    audio?: unknown;
                    /** @description Id of the audio file */
                    audio_file_id?: unknown;
                    /** @description Name of the audio file */
                    filename?: unknown;
                } | null;
                /** @description Name that the tool gave to an uploaded file; the file's own name is its end */
                file_upload?: unknown;
                /** @description Annotations of the task; their results are imported together */
                annotations?: {
                    /** @description Results; only those of type `labels` are imported */
                    result?: unknown[] | null;
                    /** @description True: the annotation is skipped */
                    was_cancelled?: boolean | null;
                    /** @description True: only the task's annotations with ground_truth are imported */
                    ground_truth?: boolean | null;
                }[] | null;
            }[];
        } | {
            /** @description audio_file_id, or else filename, or else an address in audio that ends with the file name; addresses are never fetched */
            data?: {
                /** @description Address of the audio */
                audio?: unknown;
                /** @description Id of the audio file */
                audio_file_id?: unknown;
                /** @description Name of the audio file */
                filename?: unknown;
            } | null;
            /** @description Name that the tool gave to an uploaded file; the file's own name is its end */
            file_upload?: unknown;
            /** @description Annotations of the task; their results are imported together */
            annotations?: {
                /** @description Results; only those of type `labels` are imported */
                result?: unknown[] | null;
                /** @description True: the annotation is skipped */
                was_cancelled?: boolean | null;
                /** @description True: only the task's annotations with ground_truth are imported */
                ground_truth?: boolean | null;
            }[] | null;
        }[];
        LabelToolPredictions: {
            /** @description One task for each file that has detections */
            tasks: {
                /**
                 * Format: int64
                 * @description Number of the task in the document, from 1
                 */
                id: number;
                /** @description Members audio (see the query parameter), filename, and audio_file_id or inference_file_id */
                data: {
                    [key: string]: unknown;
                };
                /** @description Always empty: nobody has labelled the file yet */
                annotations: unknown[];
                /** @description One prediction with all detections of the file */
                predictions: {
                    /** @description Name of the model */
                    model_version: string;
                    /** @description The detections of the file */
                    result: {
                        /** @description Id of the annotation or detection */
                        id: string;
                        /** @description Members start and end (in seconds), labels and channel */
                        value: {
                            [key: string]: unknown;
                        };
                        /** @description Name of the labels in the tool's labelling interface: label */
                        from_name: string;
                        /** @description Name of the audio in the tool's labelling interface: audio */
                        to_name: string;
                        /** @description Kind of the result: labels */
                        type: string;
                        /** @description Confidence, 0 to 1 */
                        score: number;
                        /** @description extra_data and annotator of the annotation; absent if it has neither */
                        meta?: {
                            [key: string]: unknown;
                        };
                    }[];
                }[];
            }[];
        };
        Model: {
            /**
             * Format: uuid
             * @description Id of the model
             */
            id: string;
            /**
             * Format: uuid
             * @description Tenant that owns the model
             */
            tenant_id: string;
            /**
             * Format: uuid
             * @description Training job that trained the model
             */
            training_job_id: string;
            /** @description Name for people */
            name: string;
            /** @description Purpose of the model */
            description: string;
            /** @description Artifact types that the model detects */
            artifact_types: string[];
            /** @description Storage key of the model artifact */
            object_store_key: string;
            /**
             * Format: int64
             * @description Size of the artifact in bytes
             */
            model_size_bytes: number;
            /** @description SHA-256 digest of the artifact, hexadecimal */
            checksum_sha256: string;
            /** @description Architecture of the network */
            architecture: components["schemas"]["ModelArchitecture"];
            /** @description Metrics of its training job, measured on files held out of training */
            eval_metrics: components["schemas"]["ModelMetrics"];
            /** @description Whether new inference jobs may use the model */
            is_active: boolean;
            /**
             * Format: date-time
             * @description When training finished: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            archived_at: string | null;
        };
        ModelArchitecture: {
            /** @description Network family; `tcn` is a temporal convolutional network */
            family?: string;
            /** @description Input features: id and number of columns */
            encoder?: unknown;
            /** @description Layers of the network */
            head?: unknown;
            /**
             * Format: int64
             * @description Sample rate to which audio is resampled for the features, in Hz
             */
            sample_rate_hz?: number;
            /**
             * Format: int64
             * @description Distance between two frames, in milliseconds
             */
            frame_hop_ms?: number;
            /**
             * Format: int64
             * @description Number of learned parameters
             */
            parameters?: number;
        } & {
            [key: string]: unknown;
        };
        ModelMetrics: {
            /** @description Figures over all types */
            overall?: {
                /** @description Share of the detections that match an event; null without detections */
                precision?: number | null;
                /** @description Share of the events that are found; null without events */
                recall?: number | null;
                /** @description F1 score over segments of one second */
                segment_f1?: number | null;
                /** @description Expected calibration error of the confidences from 0.1 upwards */
                calibration_error?: number | null;
                /** @description True: a type has fewer than 5 validation events, so the figures are only a rough estimate */
                few_events?: boolean;
                /** @description Mean event-F1 of the types that occur in the validation files */
                f1?: number | null;
                /** @description Event-F1 over all events together; precision and recall are over all events too */
                micro_f1?: number | null;
                /** @description Polyphonic sound detection score */
                psds?: number | null;
            } & {
                [key: string]: unknown;
            };
            /** @description Figures by artifact type */
            per_type?: {
                [key: string]: {
                    /** @description Share of the detections that match an event; null without detections */
                    precision?: number | null;
                    /** @description Share of the events that are found; null without events */
                    recall?: number | null;
                    /** @description F1 score over segments of one second */
                    segment_f1?: number | null;
                    /** @description Expected calibration error of the confidences from 0.1 upwards */
                    calibration_error?: number | null;
                    /** @description True: a type has fewer than 5 validation events, so the figures are only a rough estimate */
                    few_events?: boolean;
                    /** @description Event-F1 at the threshold */
                    f1?: number | null;
                    /** @description Average precision over all thresholds */
                    ap?: number | null;
                    /** @description Lowest confidence at which the model reports this type */
                    threshold?: number | null;
                    /**
                     * Format: int64
                     * @description Number of events in the validation files
                     */
                    support?: number;
                    /**
                     * Format: int64
                     * @description Number of events in the training files
                     */
                    train_support?: number;
                    /**
                     * Format: int64
                     * @description Largest distance between the onsets of a detection and of its event that counts as a match
                     */
                    collar_ms?: number;
                } & {
                    [key: string]: unknown;
                };
            };
            /** @description For the events of each type: how many overlap a detection of each type, or no detection (`none`) */
            confusion?: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /** @description Training curves, by epoch */
            history?: ({
                /**
                 * Format: int64
                 * @description Number of the epoch, from 1
                 */
                epoch?: number;
                /** @description Mean training loss of the epoch */
                train_loss?: number;
                /** @description Loss on the validation files */
                val_loss?: number;
                /** @description Mean event-F1 at neutral thresholds; overall.f1 uses the chosen thresholds */
                val_f1?: number | null;
                /** @description Learning rate at the end of the epoch */
                learning_rate?: number;
            } & {
                [key: string]: unknown;
            })[];
            /** @description How the data was split into training and validation */
            split?: {
                /** @description `files`: whole files are used for validation. `time_blocks`: there were too few files, so blocks of time of the same files are used */
                mode?: string;
                /** @description True: training and validation data are not fully separate, so the figures are too optimistic */
                optimistic?: boolean;
                /** @description Data that the figures are measured on: `validation`, or `training` if no data could be held out */
                validated_on?: string;
                /**
                 * Format: int64
                 * @description Seconds of audio used for training
                 */
                train_seconds?: number;
                /**
                 * Format: int64
                 * @description Seconds of audio held out for validation
                 */
                validation_seconds?: number;
                /** @description Ids of the first 200 audio files held out for validation */
                validation_files?: string[];
                /** @description Types that have no event in the training data or none in the validation data */
                types_without_validation?: string[];
                /**
                 * Format: int64
                 * @description Random seed of the split and of the training
                 */
                seed?: number;
                /** @description True: the final model was trained again on all files, including the validation files; the figures are those of the first training */
                learned_again_from_all_files?: boolean;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        ReviewedFile: {
            /**
             * Format: uuid
             * @description Audio file that somebody listened to from start to end
             */
            audio_file_id: string;
            /**
             * Format: date-time
             * @description When the file was marked as reviewed: RFC 3339, UTC, milliseconds
             */
            created_at: string;
        };
        RotateApiKey: {
            /**
             * Format: int32
             * @description Seconds for which the old key keeps working; 0: it is revoked at once
             * @default 0
             */
            overlap_seconds?: number;
        };
        StreamedEvent: {
            /** @description Id of the event, for the header Last-Event-ID */
            id: string;
            /** @description The Event as JSON, on one line */
            data: string;
        };
        TextImportReport: {
            /**
             * Format: int64
             * @description Number of annotations that were added, or would be added without dry_run
             */
            imported: number;
            /**
             * Format: int64
             * @description Number of skipped labels: those with errors, and those that the set already has
             */
            skipped: number;
            /** @description Artifact types that were added to the dataset */
            created_types: string[];
            /** @description The first 1000 errors; the first 100 if a request is repeated with its Idempotency-Key */
            errors: {
                /**
                 * Format: int64
                 * @description Number of the line, from 1
                 */
                line: number;
                /** @description Why the label, or its whole task, was skipped */
                message: string;
            }[];
        };
        TrainingJob: {
            /**
             * Format: uuid
             * @description Id of the job
             */
            id: string;
            /**
             * Format: uuid
             * @description Tenant that owns the job
             */
            tenant_id: string;
            /**
             * Format: uuid
             * @description Dataset that the job trains on
             */
            dataset_id: string;
            /**
             * Format: uuid
             * @description Published annotation set with the labels
             */
            annotation_set_id: string;
            /** @description Effective configuration */
            config: {
                [key: string]: unknown;
            };
            /**
             * @description State of the job
             * @enum {string}
             */
            status: "pending" | "queued" | "running" | "cancelling" | "completed" | "failed" | "cancelled";
            status_message: string | null;
            /**
             * Format: int32
             * @description Progress in percent; it never decreases, and is 100 only when the job is completed
             */
            progress_percent: number;
            /** @description Metrics of the trained model; null before training ends */
            metrics: components["schemas"]["ModelMetrics"] | null;
            /** @description Why the job failed */
            error_message: string | null;
            platform_job_name: string | null;
            /**
             * Format: date-time
             * @description When the job was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            queued_at: string | null;
            started_at: string | null;
            completed_at: string | null;
        };
        TrainingMetrics: {
            /** @description Curves, ordered by name */
            series: {
                /** @description Name of the curve */
                name: string;
                /** @description Pairs of step and value, ordered by step */
                points: number[][];
            }[];
        };
        UpdateAnnotation: {
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type?: string;
            /**
             * Format: int32
             * @description Start of the artifact, in milliseconds
             */
            start_ms?: number;
            /**
             * Format: int32
             * @description End of the artifact, in milliseconds
             */
            end_ms?: number;
            /** @description Confidence of the annotator, 0 to 1 */
            confidence?: number;
            /** @description Your own data, a JSON object of up to 4 KiB, with at most 256 members and items at all depths together */
            extra_data?: {
                [key: string]: unknown;
            };
            /** @description Who made the annotation: a name or an id of your own; null: not stated */
            annotator?: string | null;
        };
        UpdateAnnotations: {
            /** @description Changes, each with the id of its annotation; all of them are made, or none */
            annotations: {
                /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
                artifact_type?: string;
                /**
                 * Format: int32
                 * @description Start of the artifact, in milliseconds
                 */
                start_ms?: number;
                /**
                 * Format: int32
                 * @description End of the artifact, in milliseconds
                 */
                end_ms?: number;
                /** @description Confidence of the annotator, 0 to 1 */
                confidence?: number;
                /** @description Your own data, a JSON object of up to 4 KiB, with at most 256 members and items at all depths together */
                extra_data?: {
                    [key: string]: unknown;
                };
                /** @description Who made the annotation: a name or an id of your own; null: not stated */
                annotator?: string | null;
                /**
                 * Format: uuid
                 * @description Id of the annotation
                 */
                id: string;
            }[];
        };
        UpdateAudioFile: {
            /** @description Name of the file for people; the service never uses it as a path */
            filename?: string;
            /** @description Up to 16 key-value pairs of your own */
            metadata?: {
                [key: string]: string;
            };
        };
        UpdateDataset: {
            /** @description Name for people; it does not have to be unique */
            name?: string;
            /** @description Description of the dataset */
            description?: string | null;
            /** @description Artifact types of the dataset, with up to 64 KiB of JSON; names are unique regardless of case */
            artifact_types?: {
                /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
                name: string;
                /** @description What the artifact sounds like */
                description?: string | null;
            }[];
        };
        UpdateModel: {
            /** @description Name for people */
            name?: string;
            /** @description Purpose of the model */
            description?: string;
            /** @description Whether new inference jobs may use the model */
            is_active?: boolean;
        };
        UpdateWebhook: {
            /** @description Public https URL of the receiver, with a host name, on port 443 or 8443 */
            url?: string;
            /** @description Purpose of the webhook */
            description?: string;
            /** @description Types of the events to send; empty: all types */
            types?: ("audio_file.ready" | "audio_file.failed" | "annotation_set.published" | "training_job.pending" | "training_job.queued" | "training_job.running" | "training_job.cancelling" | "training_job.completed" | "training_job.failed" | "training_job.cancelled" | "training_job.progress" | "model.created" | "model.archived" | "inference_job.pending" | "inference_job.queued" | "inference_job.running" | "inference_job.cancelling" | "inference_job.completed" | "inference_job.failed" | "inference_job.cancelled" | "inference_file.completed" | "inference_file.failed" | "api_key.created" | "api_key.revoked" | "webhook.disabled")[];
            /** @description False disables the webhook; true enables it again */
            enabled?: boolean;
        };
        UploadParts: {
            /**
             * Format: int64
             * @description Size of every part but the last, which is smaller
             */
            part_size_bytes: number;
            /**
             * Format: int64
             * @description Number of parts of the file
             */
            part_count: number;
            /**
             * Format: int64
             * @description Number of parts that the object store does not have yet; confirm when it is 0
             */
            missing_part_count: number;
            /** @description The next missing parts; ask again when they are uploaded or their URLs have expired */
            parts: {
                /**
                 * Format: int64
                 * @description Number of the part, from 1
                 */
                part_number: number;
                /**
                 * Format: int64
                 * @description Position of its first byte in the file
                 */
                offset_bytes: number;
                /**
                 * Format: int64
                 * @description Its exact size in bytes
                 */
                size_bytes: number;
                /**
                 * @description Method of the request that sends the part
                 * @constant
                 */
                method: "PUT";
                /** @description URL to PUT these bytes to */
                url: string;
            }[];
            /**
             * Format: date-time
             * @description When the URLs expire: RFC 3339, UTC, milliseconds
             */
            expires_at: string;
        };
        Usage: {
            /** @description What the account uses of each quota, and the quota */
            quotas: {
                /** @description Datasets */
                datasets: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Bytes of audio, including pending uploads and files uploaded to inference jobs */
                audio_bytes: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Audio files per dataset; `used` is for the largest dataset */
                audio_files_per_dataset: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Annotations per annotation set; `used` is for the largest set */
                annotations_per_set: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Annotation sets */
                annotation_sets: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Annotations in all annotation sets */
                annotations: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Training jobs that run at once; further jobs wait */
                running_training_jobs: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Training jobs that wait; further jobs are refused */
                waiting_training_jobs: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Inference jobs that run at once; further jobs wait */
                running_inference_jobs: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Inference jobs that wait; further jobs are refused */
                waiting_inference_jobs: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Files in all inference jobs */
                inference_files: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description API keys */
                api_keys: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
                /** @description Webhooks */
                webhooks: {
                    /**
                     * Format: int64
                     * @description Amount in use
                     */
                    used: number;
                    /** @description Upper limit; null: no limit */
                    limit: number | null;
                };
            };
            /** @description Total usage of all jobs, in seconds. It never decreases, not even when jobs are deleted */
            compute: {
                /**
                 * Format: int64
                 * @description Run time of all pods
                 */
                pod_seconds: number;
                /**
                 * Format: int64
                 * @description Requested CPU cores times run time
                 */
                cpu_seconds: number;
                /**
                 * Format: int64
                 * @description Requested GPUs times run time
                 */
                gpu_seconds: number;
                /**
                 * Format: int64
                 * @description Processed audio
                 */
                audio_seconds: number;
            };
            /** @description Rate limits. Every request counts against `default`, some requests count against one more */
            rates: {
                /**
                 * @description Name of the rate limit, as in the header RateLimit
                 * @enum {string}
                 */
                name: "default" | "writes" | "uploads" | "keys" | "trainings";
                /** @description Requests per minute; null: no limit */
                requests_per_minute: number | null;
            }[];
        };
        ValidationError: {
            /** @description All faults of the request */
            detail: {
                /** @description Location of the fault: body, path, query or header, then the members down to it */
                loc: (string | number)[];
                /** @description Description of the fault */
                msg: string;
                /** @description Kind of the fault as one stable word */
                type: string;
            }[];
        };
        /** @description Peaks in the JSON layout of waveform-data.js */
        Waveform: {
            /**
             * Format: int64
             * @description Version of the layout: 2
             */
            version: number;
            /**
             * Format: int64
             * @description Number of channels
             */
            channels: number;
            /**
             * Format: int64
             * @description Sample rate of the file in Hz
             */
            sample_rate: number;
            /**
             * Format: int64
             * @description Samples that one minimum-maximum pair stands for
             */
            samples_per_pixel: number;
            /**
             * @description Resolution of `data`
             * @constant
             */
            bits: 8;
            /**
             * Format: int64
             * @description Number of minimum-maximum pairs per channel
             */
            length: number;
            /** @description Minimum and maximum in turn, interleaved by channel */
            data: number[];
        };
        Webhook: {
            /**
             * Format: uuid
             * @description Id of the webhook
             */
            id: string;
            /** @description URL that events are sent to */
            url: string;
            /** @description Purpose of the webhook */
            description: string;
            /** @description Types of the events to send; empty: all types */
            types: string[];
            /** @description Whether events are sent to the webhook */
            enabled: boolean;
            /** @description Why the service disabled the webhook: `gone` if the receiver answered 410, `failing` if deliveries failed for days; null: the service did not disable it */
            disabled_reason: ("gone" | "failing") | null;
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When the webhook was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When a client last changed the webhook: RFC 3339, UTC, milliseconds
             */
            updated_at: string;
        };
        WebhookDelivery: {
            /**
             * Format: uuid
             * @description Id of the delivery
             */
            id: string;
            /**
             * Format: uuid
             * @description Webhook that the delivery goes to
             */
            webhook_id: string;
            /** @description Value of the header webhook-id; the same for every attempt */
            message_id: string;
            /** @description Type of the event */
            type: string;
            /**
             * @description State of the delivery
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /**
             * Format: int64
             * @description Number of attempts so far
             */
            attempts: number;
            next_attempt_at: string | null;
            last_attempt_at: string | null;
            /** @description HTTP status of the last response; null: there was no response */
            last_status: number | null;
            /** @description Why the last attempt failed; `secret`: the secret cannot be decrypted, and no delivery can be signed until it is rotated */
            last_error: ("status" | "redirect" | "timeout" | "address" | "connection" | "tls" | "protocol" | "secret" | "webhook_disabled") | null;
            /**
             * Format: date-time
             * @description When the delivery was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            finished_at: string | null;
        };
        WebhookWithSecret: {
            /**
             * Format: uuid
             * @description Id of the webhook
             */
            id: string;
            /** @description URL that events are sent to */
            url: string;
            /** @description Purpose of the webhook */
            description: string;
            /** @description Types of the events to send; empty: all types */
            types: string[];
            /** @description Whether events are sent to the webhook */
            enabled: boolean;
            /** @description Why the service disabled the webhook: `gone` if the receiver answered 410, `failing` if deliveries failed for days; null: the service did not disable it */
            disabled_reason: ("gone" | "failing") | null;
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When the webhook was created: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When a client last changed the webhook: RFC 3339, UTC, milliseconds
             */
            updated_at: string;
            /** @description Secret that signs the deliveries: `whsec_` and 32 bytes in base64. No later response shows it */
            secret: string;
        };
    };
    responses: {
        /** @description The request is malformed: its framing, its headers or its JSON */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key is missing, invalid, revoked or expired */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The account is suspended, or the scopes of the API key do not allow the request */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no such resource, or it belongs to another account; the response does not tell which */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description If-Match contains none of the resource's current ETags; nothing was changed */
        PreconditionFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is too large */
        BodyTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body does not have the content type that the operation accepts */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Fields of the request are invalid; the response lists all faults */
        ValidationFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ValidationError"];
            };
        };
        /** @description Too many requests (then wait for the seconds in Retry-After), or a quota is used up (then there is no Retry-After) */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The headers of the request are larger than 16 KiB in total */
        HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service has an internal error; its logs contain the X-Request-Id of the response */
        InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service is temporarily unavailable; try again after the seconds in Retry-After */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
        IdempotencyKey: string;
        /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
        IfMatch: string;
        /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
        IfNoneMatch: string;
        /** @description Id of the last received event; the stream begins with the event after it */
        LastEventId: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Annotation = components['schemas']['Annotation'];
export type AnnotationSet = components['schemas']['AnnotationSet'];
export type AnnotationSetDetail = components['schemas']['AnnotationSetDetail'];
export type ApiKey = components['schemas']['ApiKey'];
export type AudioFile = components['schemas']['AudioFile'];
export type AudioUpload = components['schemas']['AudioUpload'];
export type AudioUploads = components['schemas']['AudioUploads'];
export type ConfirmUpload = components['schemas']['ConfirmUpload'];
export type CreateAnnotation = components['schemas']['CreateAnnotation'];
export type CreateAnnotationSet = components['schemas']['CreateAnnotationSet'];
export type CreateAnnotations = components['schemas']['CreateAnnotations'];
export type CreateApiKey = components['schemas']['CreateApiKey'];
export type CreateAudioFromUrl = components['schemas']['CreateAudioFromUrl'];
export type CreateDataset = components['schemas']['CreateDataset'];
export type CreateInferenceJob = components['schemas']['CreateInferenceJob'];
export type CreateTrainingJob = components['schemas']['CreateTrainingJob'];
export type CreateUpload = components['schemas']['CreateUpload'];
export type CreateUploads = components['schemas']['CreateUploads'];
export type CreateWebhook = components['schemas']['CreateWebhook'];
export type CreatedAnnotations = components['schemas']['CreatedAnnotations'];
export type CreatedApiKey = components['schemas']['CreatedApiKey'];
export type Dataset = components['schemas']['Dataset'];
export type DeleteAnnotations = components['schemas']['DeleteAnnotations'];
export type DeletedAnnotations = components['schemas']['DeletedAnnotations'];
export type Detection = components['schemas']['Detection'];
export type DetectionsToAnnotationSet = components['schemas']['DetectionsToAnnotationSet'];
export type Download = components['schemas']['Download'];
export type Error = components['schemas']['Error'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type Event = components['schemas']['Event'];
export type ExportedDetection = components['schemas']['ExportedDetection'];
export type ImportReport = components['schemas']['ImportReport'];
export type InferenceFile = components['schemas']['InferenceFile'];
export type InferenceJob = components['schemas']['InferenceJob'];
export type InferenceUpload = components['schemas']['InferenceUpload'];
export type InferenceUploads = components['schemas']['InferenceUploads'];
export type JobEvent = components['schemas']['JobEvent'];
export type LabelToolExport = components['schemas']['LabelToolExport'];
export type LabelToolImport = components['schemas']['LabelToolImport'];
export type LabelToolPredictions = components['schemas']['LabelToolPredictions'];
export type Model = components['schemas']['Model'];
export type ModelArchitecture = components['schemas']['ModelArchitecture'];
export type ModelMetrics = components['schemas']['ModelMetrics'];
export type ReviewedFile = components['schemas']['ReviewedFile'];
export type RotateApiKey = components['schemas']['RotateApiKey'];
export type StreamedEvent = components['schemas']['StreamedEvent'];
export type TextImportReport = components['schemas']['TextImportReport'];
export type TrainingJob = components['schemas']['TrainingJob'];
export type TrainingMetrics = components['schemas']['TrainingMetrics'];
export type UpdateAnnotation = components['schemas']['UpdateAnnotation'];
export type UpdateAnnotations = components['schemas']['UpdateAnnotations'];
export type UpdateAudioFile = components['schemas']['UpdateAudioFile'];
export type UpdateDataset = components['schemas']['UpdateDataset'];
export type UpdateModel = components['schemas']['UpdateModel'];
export type UpdateWebhook = components['schemas']['UpdateWebhook'];
export type UploadParts = components['schemas']['UploadParts'];
export type Usage = components['schemas']['Usage'];
export type ValidationError = components['schemas']['ValidationError'];
export type Waveform = components['schemas']['Waveform'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookWithSecret = components['schemas']['WebhookWithSecret'];
export type ResponseBadRequest = components['responses']['BadRequest'];
export type ResponseUnauthorized = components['responses']['Unauthorized'];
export type ResponseForbidden = components['responses']['Forbidden'];
export type ResponseNotFound = components['responses']['NotFound'];
export type ResponsePreconditionFailed = components['responses']['PreconditionFailed'];
export type ResponseBodyTooLarge = components['responses']['BodyTooLarge'];
export type ResponseUnsupportedMediaType = components['responses']['UnsupportedMediaType'];
export type ResponseValidationFailed = components['responses']['ValidationFailed'];
export type ResponseTooManyRequests = components['responses']['TooManyRequests'];
export type ResponseHeadersTooLarge = components['responses']['HeadersTooLarge'];
export type ResponseInternalError = components['responses']['InternalError'];
export type ResponseUnavailable = components['responses']['Unavailable'];
export type ParameterIdempotencyKey = components['parameters']['IdempotencyKey'];
export type ParameterIfMatch = components['parameters']['IfMatch'];
export type ParameterIfNoneMatch = components['parameters']['IfNoneMatch'];
export type ParameterLastEventId = components['parameters']['LastEventId'];
export type $defs = Record<string, never>;
export interface operations {
    listApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            /** @description The key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `key_already_created`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the key */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is revoked */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the key */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateApiKey"];
            };
        };
        responses: {
            /** @description The new key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `key_already_created`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDatasets: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only datasets whose name contains this text */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["Dataset"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createDataset: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDataset"];
            };
        };
        responses: {
            /** @description The dataset */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDataset: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dataset */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteDataset: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dataset is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `dataset_in_use` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateDataset: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateDataset"];
            };
        };
        responses: {
            /** @description The dataset */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `artifact_type_in_use`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAudioUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUpload"];
            };
        };
        responses: {
            /** @description The upload ticket */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioUpload"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAudioUploads: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUploads"];
            };
        };
        responses: {
            /** @description The upload tickets, in the order of the request */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioUploads"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAudioFromUrl: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAudioFromUrl"];
            };
        };
        responses: {
            /** @description The audio file */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioFile"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    requestAudioUploadParts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The next missing parts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadParts"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `request_in_progress`, `upload_expired` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    confirmAudioUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ConfirmUpload"];
            };
        };
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioFile"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `upload_not_found`, `upload_mismatch`, `unsupported_audio`, `request_in_progress`, `upload_expired` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAudioFiles: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only files with this status */
                status?: "pending_upload" | "processing" | "ready" | "failed" | "expired";
                /** @description Only files with this embedding status */
                embedding_status?: "pending" | "processing" | "completed" | "failed";
                /** @description Only files whose name contains this text */
                filename?: string;
            };
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["AudioFile"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAudioFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The audio file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioFile"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAudioFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The audio file is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `audio_in_use`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAudioFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAudioFile"];
            };
        };
        responses: {
            /** @description The audio file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AudioFile"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    downloadAudioFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The URL */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Download"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `audio_not_ready` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWaveform: {
        parameters: {
            query?: {
                /** @description Samples per pixel; rounded up to a multiple of the stored resolution, never finer */
                samples_per_pixel?: number;
            };
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The peaks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Waveform"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `audio_not_ready` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAnnotationSets: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only sets with this status */
                status?: "draft" | "published";
            };
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["AnnotationSet"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAnnotationSet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateAnnotationSet"];
            };
        };
        responses: {
            /** @description The draft */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnotationSet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_copying`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAnnotationSet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The set and its annotations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnotationSetDetail"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAnnotationSet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The draft is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    publishAnnotationSet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The published set */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnotationSet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listReviewedFiles: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
            };
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["ReviewedFile"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    markReviewedFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file is marked */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying`, `audio_not_ready` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    unmarkReviewedFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
                /** @description Id of the audio file */
                audio_file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file is no longer marked */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAnnotations: {
        parameters: {
            query?: {
                /** @description Only annotations of this audio file */
                audio_file_id?: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only annotations with at least this confidence */
                min_confidence?: number;
                /** @description Only annotations with at most this confidence */
                max_confidence?: number;
                /** @description Only annotations of this annotator */
                annotator?: string;
                /** @description Start of a window: only annotations that overlap it, in milliseconds */
                start_ms?: number;
                /** @description End of a window: only annotations that overlap it, in milliseconds */
                end_ms?: number;
                /** @description Page to return; without page and page_size, the response has all annotations */
                page?: number;
                /** @description Items per page */
                page_size?: number;
            };
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The annotations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotation"][];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAnnotation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAnnotation"];
            };
        };
        responses: {
            /** @description The annotation */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAnnotations: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAnnotations"];
            };
        };
        responses: {
            /** @description The annotations, in the order of the request */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedAnnotations"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAnnotations: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAnnotations"];
            };
        };
        responses: {
            /** @description The annotations, in the order of the request */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedAnnotations"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAnnotations: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeleteAnnotations"];
            };
        };
        responses: {
            /** @description How many were deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedAnnotations"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAnnotation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
                /** @description Id of the annotation */
                annotation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The annotation */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotation"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAnnotation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
                /** @description Id of the annotation */
                annotation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The annotation is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAnnotation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
                /** @description Id of the annotation */
                annotation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAnnotation"];
            };
        };
        responses: {
            /** @description The annotation */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportAnnotationTool: {
        parameters: {
            query?: {
                /** @description Only annotations of this audio file */
                audio_file_id?: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only annotations with at least this confidence */
                min_confidence?: number;
                /** @description Only annotations with at most this confidence */
                max_confidence?: number;
                /** @description Only annotations of this annotator */
                annotator?: string;
                /** @description Start of a window: only annotations that overlap it, in milliseconds */
                start_ms?: number;
                /** @description End of a window: only annotations that overlap it, in milliseconds */
                end_ms?: number;
                /** @description `import` omits completed_by, because the tool rejects a file that names an unknown user */
                flavor?: "full" | "import";
                /** @description Content of data.audio: `url` for a presigned URL, valid for 24 hours by default, `key` for the audio file's id */
                audio?: "url" | "key";
            };
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelToolExport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportCsv: {
        parameters: {
            query?: {
                /** @description Only annotations of this audio file */
                audio_file_id?: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only annotations with at least this confidence */
                min_confidence?: number;
                /** @description Only annotations with at most this confidence */
                max_confidence?: number;
                /** @description Only annotations of this annotator */
                annotator?: string;
                /** @description Start of a window: only annotations that overlap it, in milliseconds */
                start_ms?: number;
                /** @description End of a window: only annotations that overlap it, in milliseconds */
                end_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One line for each annotation */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportAudacity: {
        parameters: {
            query: {
                /** @description Audio file to export; this format covers one file only */
                audio_file_id: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only annotations with at least this confidence */
                min_confidence?: number;
                /** @description Only annotations with at most this confidence */
                max_confidence?: number;
                /** @description Only annotations of this annotator */
                annotator?: string;
                /** @description Start of a window: only annotations that overlap it, in milliseconds */
                start_ms?: number;
                /** @description End of a window: only annotations that overlap it, in milliseconds */
                end_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One line for each annotation of the file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportDcase: {
        parameters: {
            query?: {
                /** @description Only annotations of this audio file */
                audio_file_id?: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only annotations with at least this confidence */
                min_confidence?: number;
                /** @description Only annotations with at most this confidence */
                max_confidence?: number;
                /** @description Only annotations of this annotator */
                annotator?: string;
                /** @description Start of a window: only annotations that overlap it, in milliseconds */
                start_ms?: number;
                /** @description End of a window: only annotations that overlap it, in milliseconds */
                end_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One line for each annotation */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/tab-separated-values": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportWebvtt: {
        parameters: {
            query: {
                /** @description Audio file to export; this format covers one file only */
                audio_file_id: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only annotations with at least this confidence */
                min_confidence?: number;
                /** @description Only annotations with at most this confidence */
                max_confidence?: number;
                /** @description Only annotations of this annotator */
                annotator?: string;
                /** @description Start of a window: only annotations that overlap it, in milliseconds */
                start_ms?: number;
                /** @description End of a window: only annotations that overlap it, in milliseconds */
                end_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One cue for each annotation of the file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/vtt": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    importAnnotationTool: {
        parameters: {
            query?: {
                /** @description True: reports what would be imported, and changes nothing */
                dry_run?: boolean;
                /** @description True: labels that are not artifact types of the dataset yet are added to it, if they are valid names */
                create_types?: boolean;
            };
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LabelToolImport"];
            };
        };
        responses: {
            /** @description Report: what was imported, and what was skipped and why */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    importCsv: {
        parameters: {
            query?: {
                /** @description True: reports what would be imported, and changes nothing */
                dry_run?: boolean;
                /** @description True: labels that are not artifact types of the dataset yet are added to it, if they are valid names */
                create_types?: boolean;
            };
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/csv": string;
            };
        };
        responses: {
            /** @description Report: what was imported, and what was skipped and why */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TextImportReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    importAudacity: {
        parameters: {
            query: {
                /** @description True: reports what would be imported, and changes nothing */
                dry_run?: boolean;
                /** @description True: labels that are not artifact types of the dataset yet are added to it, if they are valid names */
                create_types?: boolean;
                /** @description Audio file that the labels belong to */
                audio_file_id: string;
            };
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the dataset */
                dataset_id: string;
                /** @description Id of the annotation set */
                annotation_set_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/plain": string;
            };
        };
        responses: {
            /** @description Report: what was imported, and what was skipped and why */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TextImportReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_published`, `annotation_set_copying`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportDetections: {
        parameters: {
            query?: {
                /** @description Format of the export; audacity and webvtt require inference_file_id */
                format?: "json" | "csv" | "audacity" | "webvtt" | "dcase" | "annotation-tool";
                /** @description Only detections of this file */
                inference_file_id?: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only detections with at least this confidence */
                min_confidence?: number;
                /** @description Only for annotation-tool. Content of data.audio: `url` for a presigned URL, `key` for the inference file's id */
                audio?: "url" | "key";
            };
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The detections, ordered by file and start, in the format of the parameter `format` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportedDetection"][] | components["schemas"]["LabelToolPredictions"];
                    "text/csv": string;
                    "text/plain": string;
                    "text/vtt": string;
                    "text/tab-separated-values": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAnnotationSetFromDetections: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DetectionsToAnnotationSet"];
            };
        };
        responses: {
            /** @description The draft */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnotationSet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_not_finished`, `no_files`, `artifact_types_missing`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTrainingJobs: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only jobs with these statuses; repeat the parameter for several */
                status?: ("pending" | "queued" | "running" | "cancelling" | "completed" | "failed" | "cancelled")[];
                /** @description Only jobs of this dataset */
                dataset_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["TrainingJob"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createTrainingJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTrainingJob"];
            };
        };
        responses: {
            /** @description The job */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJob"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `annotation_set_not_published`, `embeddings_not_ready`, `not_enough_audio`, `no_annotations`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTrainingJob: {
        parameters: {
            query?: {
                /** @description Long polling: seconds to wait until the resource differs from the ETag in If-None-Match, or, without that header, from its present state. The response comes as soon as the resource changes */
                wait?: number;
            };
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the training job */
                training_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJob"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteTrainingJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the training job */
                training_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_not_finished` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelTrainingJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the training job */
                training_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJob"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_finished` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    retryTrainingJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the training job */
                training_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new job */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingJob"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_finished`, `job_not_finished`, `annotation_set_not_published`, `embeddings_not_ready`, `not_enough_audio`, `no_annotations`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTrainingJobEvents: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
            };
            header?: never;
            path: {
                /** @description Id of the training job */
                training_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["JobEvent"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTrainingJobMetrics: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the training job */
                training_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The curves */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingMetrics"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listModels: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description True: only active models. False: only inactive models */
                is_active?: boolean;
                /** @description `false`: models that are not archived. `true`: archived models. `all`: both */
                archived?: "false" | "true" | "all";
                /** @description Only the model of this training job */
                training_job_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["Model"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the model */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteModel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the model */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `model_not_archived`, `model_in_use` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateModel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the model */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateModel"];
            };
        };
        responses: {
            /** @description The model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `model_archived` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    archiveModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the model */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    unarchiveModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the model */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    downloadModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the model */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The URL */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Download"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listInferenceJobs: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only jobs with these statuses; repeat the parameter for several */
                status?: ("pending" | "queued" | "running" | "cancelling" | "completed" | "failed" | "cancelled")[];
                /** @description Only jobs of this model */
                model_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["InferenceJob"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createInferenceJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInferenceJob"];
            };
        };
        responses: {
            /** @description The job */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceJob"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `model_inactive`, `audio_not_ready`, `no_files`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getInferenceJob: {
        parameters: {
            query?: {
                /** @description Long polling: seconds to wait until the resource differs from the ETag in If-None-Match, or, without that header, from its present state. The response comes as soon as the resource changes */
                wait?: number;
            };
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceJob"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteInferenceJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_not_finished`, `annotation_set_copying` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    startInferenceJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceJob"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `no_files`, `job_finished`, `model_inactive` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelInferenceJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceJob"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_finished` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    retryInferenceJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new job */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceJob"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_not_finished`, `no_files`, `model_inactive`, `audio_not_ready`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listInferenceJobDetections: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only detections of this file */
                inference_file_id?: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only detections with at least this confidence */
                min_confidence?: number;
            };
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["Detection"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listInferenceJobEvents: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
            };
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["JobEvent"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createInferenceUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUpload"];
            };
        };
        responses: {
            /** @description The upload ticket */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceUpload"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_started`, `job_finished`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createInferenceUploads: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUploads"];
            };
        };
        responses: {
            /** @description The upload tickets, in the order of the request */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceUploads"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_started`, `job_finished`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    requestInferenceUploadParts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
                /** @description Id of the inference file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The next missing parts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadParts"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    confirmInferenceUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
                /** @description Id of the inference file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ConfirmUpload"];
            };
        };
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceFile"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `upload_not_found`, `upload_mismatch`, `unsupported_audio`, `request_in_progress`, `job_started`, `job_finished` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listInferenceFiles: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only files with this status */
                status?: "pending_upload" | "queued" | "processing" | "completed" | "failed" | "cancelled";
            };
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["InferenceFile"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getInferenceFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
                /** @description Id of the inference file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InferenceFile"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteInferenceFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
                /** @description Id of the inference file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `job_started`, `job_finished` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    downloadInferenceFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
                /** @description Id of the inference file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The URL */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Download"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `audio_not_ready` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listInferenceFileDetections: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only these artifact types; repeat the parameter for several */
                artifact_type?: string[];
                /** @description Only detections with at least this confidence */
                min_confidence?: number;
            };
            header?: never;
            path: {
                /** @description Id of the inference job */
                inference_job_id: string;
                /** @description Id of the inference file */
                file_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["Detection"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only events of these types; repeat the parameter for several */
                types?: ("audio_file.ready" | "audio_file.failed" | "annotation_set.published" | "training_job.pending" | "training_job.queued" | "training_job.running" | "training_job.cancelling" | "training_job.completed" | "training_job.failed" | "training_job.cancelled" | "training_job.progress" | "model.created" | "model.archived" | "inference_job.pending" | "inference_job.queued" | "inference_job.running" | "inference_job.cancelling" | "inference_job.completed" | "inference_job.failed" | "inference_job.cancelled" | "inference_file.completed" | "inference_file.failed" | "api_key.created" | "api_key.revoked" | "webhook.disabled")[];
                /** @description Only events with a greater id */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["Event"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Only events of these types; repeat the parameter for several */
                types?: ("audio_file.ready" | "audio_file.failed" | "annotation_set.published" | "training_job.pending" | "training_job.queued" | "training_job.running" | "training_job.cancelling" | "training_job.completed" | "training_job.failed" | "training_job.cancelled" | "training_job.progress" | "model.created" | "model.archived" | "inference_job.pending" | "inference_job.queued" | "inference_job.running" | "inference_job.cancelling" | "inference_job.completed" | "inference_job.failed" | "inference_job.cancelled" | "inference_file.completed" | "inference_file.failed" | "api_key.created" | "api_key.revoked" | "webhook.disabled")[];
            };
            header?: {
                /** @description Id of the last received event; the stream begins with the event after it */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A sequence of events of this form */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["StreamedEvent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["Webhook"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            /** @description The webhook with its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the webhook */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the webhook */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Expected ETags: if the resource has none of them, nothing is changed and the response is 412 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the webhook */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhook"];
            };
        };
        responses: {
            /** @description The webhook */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the webhook */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook with its new secret */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the webhook */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pending delivery */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `webhook_disabled`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items per page */
                page_size?: number;
                /** @description Only items created at this time or later: RFC 3339 */
                created_after?: string;
                /** @description Only items created before this time: RFC 3339 */
                created_before?: string;
                /** @description Order by time of creation: newest first, or oldest first */
                order?: "desc" | "asc";
                /** @description Value of the header X-Next-Cursor of the page before, instead of `page`: a long list is read faster, and items that are added or deleted meanwhile move no others */
                cursor?: string;
                /** @description Only deliveries with these statuses; repeat the parameter for several */
                status?: ("pending" | "delivered" | "failed")[];
            };
            header?: never;
            path: {
                /** @description Id of the webhook */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The items of this page, newest first unless `order` is asc */
                        items: components["schemas"]["WebhookDelivery"][];
                        /**
                         * Format: int64
                         * @description Number of items on all pages
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description Number of this page
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items per page
                         */
                        page_size: number;
                        /** @description Whether there are more pages */
                        has_more: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Known ETags: if the resource still has one of them, the response is 304 without a body */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the webhook */
                webhook_id: string;
                /** @description Id of the delivery */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            /** @description Unchanged: If-None-Match contains the current ETag of the resource */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    redeliverWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Your own name for this request, valid for 24 hours. A repeated request with the same key and body creates nothing; its response describes what the first request created, with Idempotency-Replayed. A request with the same key and a different body is refused. Failed requests are not stored. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the webhook */
                webhook_id: string;
                /** @description Id of the delivery */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, pending again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The request conflicts with the current state: `webhook_disabled`, `request_in_progress` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Usage and limits */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["BadRequest"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process accepts requests */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["BadRequest"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getStartup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process has started; it keeps this response from now on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["BadRequest"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1.0 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
        };
    };
    getOpenApiV1: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1.0 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
        };
    };
}
