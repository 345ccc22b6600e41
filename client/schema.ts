// Written by `make gen` from openapi.json: the types of every request and answer. Do not edit.

export interface paths {
    "/api/v1/auth/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description All keys of the account, newest first, without the keys themselves. */
        get: operations["listApiKeys"];
        put?: never;
        /** @description Make a key; the answer is the only one that shows it. Takes an Idempotency-Key. */
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
        /** @description Revoke a key: it is invalid at once and for good. */
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
        /** @description The new key has the old one's name and, if that had an end, the same life from now on. The old one is revoked at once, or works for overlap_seconds more. Takes an Idempotency-Key. */
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
        /** @description Make a dataset. Takes an Idempotency-Key. */
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
        /** @description Read a dataset. Polling costs little with If-None-Match. */
        get: operations["getDataset"];
        put?: never;
        post?: never;
        /** @description Refused while a job that has not ended uses it. The bytes of its audio go after a grace period, by default 7 days. With If-Match nothing is changed that you have not seen. */
        delete: operations["deleteDataset"];
        options?: never;
        head?: never;
        /** @description Change name, description or artifact types. With If-Match nothing is changed that you have not seen. */
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
        /** @description Step 2: POST the form to `upload.url` as multipart/form-data, with `upload.fields` and then the bytes as `file`. Step 3: confirm. Takes an Idempotency-Key. */
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
        /** @description Step 1 of 3 for up to 100 files at once. Takes an Idempotency-Key. */
        post: operations["createAudioUploads"];
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
        /** @description Step 3 of 3: say that the upload is complete; it is checked and then embedded. */
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
        /** @description Read an audio file's record. Polling costs little with If-None-Match. */
        get: operations["getAudioFile"];
        put?: never;
        post?: never;
        /** @description Refused while a published set names it or a job that has not ended uses it. Its bytes go after a grace period, by default 7 days. With If-Match nothing is changed that you have not seen. */
        delete: operations["deleteAudioFile"];
        options?: never;
        head?: never;
        /** @description Change file name or metadata. With If-Match nothing is changed that you have not seen. */
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
        /** @description JSON and not a redirect: a client that follows redirects would send its key to the store. */
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
        /** @description Read the peaks of an audio file. Polling costs little with If-None-Match. */
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
        /** @description Make a draft, empty or with the annotations of another set. Takes an Idempotency-Key. */
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
        /** @description Read an annotation set with all its annotations. Polling costs little with If-None-Match. */
        get: operations["getAnnotationSet"];
        put?: never;
        post?: never;
        /** @description Delete a draft. With If-Match nothing is changed that you have not seen. */
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
        /** @description A label that reaches beyond the end that decoding found is published as it is, and cut there for training. With If-Match nothing is changed that you have not seen. */
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
        /** @description Files with annotations count as reviewed too; they are listed only when they are marked. */
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
        /** @description Mark a file as reviewed: where it carries no label, it has no artifacts. With If-Match nothing is changed that you have not seen. */
        put: operations["markReviewedFile"];
        post?: never;
        /** @description Take the mark away. With If-Match nothing is changed that you have not seen. */
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
        /** @description A bare array; the header X-Total-Count says how many match. Without page and page_size: all of them. Polling costs little with If-None-Match. */
        get: operations["listAnnotations"];
        put?: never;
        /** @description Add an annotation to a draft. Takes an Idempotency-Key. With If-Match nothing is changed that you have not seen. */
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
        /** @description Add up to 1000 annotations to a draft: all or none. The body may have 8 MiB. Takes an Idempotency-Key. With If-Match nothing is changed that you have not seen. */
        post: operations["createAnnotations"];
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
        /** @description Read an annotation. Polling costs little with If-None-Match. */
        get: operations["getAnnotation"];
        put?: never;
        post?: never;
        /** @description Delete an annotation of a draft. With If-Match nothing is changed that you have not seen. */
        delete: operations["deleteAnnotation"];
        options?: never;
        head?: never;
        /** @description Change an annotation of a draft. With If-Match nothing is changed that you have not seen. */
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
        /** @description One task for each audio file that has annotations, times in seconds. `score` and `meta.extra_data` carry what the tool has no place for. */
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
        /** @description RFC 4180 in UTF-8, with a line of column names. A cell that a spreadsheet would take for a formula has an apostrophe in front; import/csv takes it off again. */
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
        /** @description Seconds, tab, seconds, tab, label: for File > Import > Labels. */
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
        /** @description Tab-separated: filename, onset, offset, event_label; times in seconds. File names are exact and not made safe for spreadsheets: use csv there. */
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
        /** @description A cue for each annotation. A cue must have a length, so that of a point is one millisecond. */
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
        /** @description At most 50000 labels. Everything that fits is added in one transaction; what does not fit is reported and left out. Labels that the set already has (same file, type and times) are not added again. A task belongs to the audio file of data.audio_file_id, or else to the one that is called as data.filename or the end of data.audio; two files of that name are an error. No address is ever fetched. The body may have 8 MiB. Takes an Idempotency-Key. With If-Match nothing is changed that you have not seen. */
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
        /** @description At most 50000 labels. Everything that fits is added in one transaction; what does not fit is reported and left out. Labels that the set already has (same file, type and times) are not added again. The first line names the columns, in any order: artifact_type, start_ms, end_ms, and audio_file_id or filename; confidence and extra_data if wanted. Others are ignored, the id too. Semicolons or tabs may stand for the commas. The body may have 8 MiB. Takes an Idempotency-Key. With If-Match nothing is changed that you have not seen. */
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
        /** @description At most 50000 labels. Everything that fits is added in one transaction; what does not fit is reported and left out. Labels that the set already has (same file, type and times) are not added again. Lines of frequencies are passed over. The body may have 8 MiB. Takes an Idempotency-Key. With If-Match nothing is changed that you have not seen. */
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
        /** @description The formats are those of the exports of annotation sets; for the labelling tool detections are predictions, which it shows as suggestions. */
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
        /** @description Takes the detections of the job's files that are audio files of the dataset, with their confidence; files that the job got by uploads of its own are left out. extra_data.inference_job_id says where an annotation comes from. Takes an Idempotency-Key. */
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
        /** @description Train a model from a published annotation set. Takes an Idempotency-Key. */
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
        /** @description Read a training job. Polling costs little with If-None-Match. */
        get: operations["getTrainingJob"];
        put?: never;
        post?: never;
        /** @description Delete a training job that has ended; its model stays. With If-Match nothing is changed that you have not seen. */
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
        /** @description Its pods are told within a few seconds; until they have ended, the job is `cancelling`. */
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
        /** @description Same configuration, same annotation set, the files of today; all preconditions are checked again. Takes an Idempotency-Key. */
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
        /** @description List what happened to a training job, newest first. */
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
        /** @description Read the training curves. Polling costs little with If-None-Match. */
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
        /** @description Read a model. Polling costs little with If-None-Match. */
        get: operations["getModel"];
        put?: never;
        post?: never;
        /** @description Delete an archived model; what it found stays. With If-Match nothing is changed that you have not seen. */
        delete: operations["deleteModel"];
        options?: never;
        head?: never;
        /** @description Change name, description or active status. With If-Match nothing is changed that you have not seen. */
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
        /** @description Archive a model: it is no longer listed and no longer active. */
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
        /** @description Take a model out of the archive; make it active by PATCH. */
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
        /** @description Get a URL of the model artifact (ONNX). */
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
        /** @description Search audio for artifacts with a model. Takes an Idempotency-Key. */
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
        /** @description Read an inference job. Polling costs little with If-None-Match. */
        get: operations["getInferenceJob"];
        put?: never;
        post?: never;
        /** @description Delete an inference job that has ended, with its files and detections. With If-Match nothing is changed that you have not seen. */
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
        /** @description Start a job with the files that were uploaded to it. */
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
        /** @description Cancel an inference job; what it has found so far stays. */
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
        /** @description Make a new job of the files that failed. Takes an Idempotency-Key. */
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
        /** @description List what was found, by file and start; also while the job runs. */
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
        /** @description List what happened to an inference job, newest first. */
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
        /** @description Step 1 of 3: announce a file and get the form to upload it with. Takes an Idempotency-Key. */
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
        /** @description Step 1 of 3 for up to 100 files at once. Takes an Idempotency-Key. */
        post: operations["createInferenceUploads"];
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
        /** @description Step 3 of 3: say that the upload is complete; it is checked. */
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
        /** @description Read a file of an inference job. Polling costs little with If-None-Match. */
        get: operations["getInferenceFile"];
        put?: never;
        post?: never;
        /** @description Take a file out of a job that has not been started. With If-Match nothing is changed that you have not seen. */
        delete: operations["deleteInferenceFile"];
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
        /** @description List what was found in one file, by start. */
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
        /** @description List what happened in the last 24 hours, newest first. */
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
        /** @description Each event has its id; with the last one in the header Last-Event-ID a client that was away gets what it missed in the last 24 hours. A comment comes every 15 seconds. The stream ends when the key is revoked or the service is updated. */
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
        /** @description Have events sent to an address; the answer shows the signing secret. Takes an Idempotency-Key. */
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
        /** @description Read a webhook. Polling costs little with If-None-Match. */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /** @description Delete a webhook; what is still to be delivered is not. With If-Match nothing is changed that you have not seen. */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /** @description Change address, types or description, or switch a webhook off or on. With If-Match nothing is changed that you have not seen. */
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
        /** @description Make a new signing secret; for 24 hours deliveries carry signatures by both. */
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
        /** @description Send an event of the type webhook.test. Takes an Idempotency-Key. */
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
        /** @description List what was sent or is to be sent, newest first; finished deliveries are kept for 7 days. */
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
        /** @description Read a delivery. Polling costs little with If-None-Match. */
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
        /** @description Send a delivery again, with the same webhook-id. */
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
        /** @description Read what the account uses, and its limits. */
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
        /** @description Whether the process lives. Needs no key. */
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
        /** @description Whether requests may be sent here: database reachable and migrated, not shutting down. Needs no key. */
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
        /** @description Whether the process has begun: its database was reached and migrated once. Needs no key. */
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
        /** @description This description. Needs no key. */
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
        /** @description This description. Needs no key. */
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
             * @description Set that it is in
             */
            annotation_set_id: string;
            /**
             * Format: uuid
             * @description Audio file that it labels
             */
            audio_file_id: string;
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type: string;
            /**
             * Format: int64
             * @description Where the artifact begins, in milliseconds
             */
            start_ms: number;
            /**
             * Format: int64
             * @description Where it ends; equal to the start for a point, in milliseconds
             */
            end_ms: number;
            /** @description How sure the annotator is, 0 to 1 */
            confidence: number;
            /** @description What the annotator added */
            extra_data: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was made: RFC 3339, UTC, milliseconds
             */
            created_at: string;
        };
        AnnotationSet: {
            /**
             * Format: uuid
             * @description Id of the set
             */
            id: string;
            /**
             * Format: uuid
             * @description Dataset whose audio it labels
             */
            dataset_id: string;
            /**
             * Format: int64
             * @description Number within the dataset, never used again
             */
            version: number;
            /**
             * @description A published set never changes
             * @enum {string}
             */
            status: "draft" | "published";
            /**
             * Format: int64
             * @description Annotations in it
             */
            total_annotations: number;
            /**
             * Format: int64
             * @description Sum of their lengths, in milliseconds; overlaps count twice
             */
            total_positive_duration_ms: number;
            /** @description How many of each type */
            annotations_by_type: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description When it was made: RFC 3339, UTC, milliseconds
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
             * @description Dataset whose audio it labels
             */
            dataset_id: string;
            /**
             * Format: int64
             * @description Number within the dataset, never used again
             */
            version: number;
            /**
             * @description A published set never changes
             * @enum {string}
             */
            status: "draft" | "published";
            /**
             * Format: int64
             * @description Annotations in it
             */
            total_annotations: number;
            /**
             * Format: int64
             * @description Sum of their lengths, in milliseconds; overlaps count twice
             */
            total_positive_duration_ms: number;
            /** @description How many of each type */
            annotations_by_type: {
                [key: string]: number;
            };
            /**
             * Format: date-time
             * @description When it was made: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            published_at: string | null;
            /** @description By audio file, start and id */
            annotations: components["schemas"]["Annotation"][];
        };
        ApiKey: {
            /**
             * Format: uuid
             * @description Id of the key
             */
            id: string;
            /** @description What the key is for */
            name: string;
            /** @description First 8 characters of the key */
            key_prefix: string;
            /** @description Always empty: a key opens everything of its tenant */
            scopes: string[];
            /**
             * Format: date-time
             * @description When the key was made: RFC 3339, UTC, milliseconds
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
             * @description Dataset that it is in
             */
            dataset_id: string;
            /** @description Name of the file, for people: no path is made of it */
            filename: string;
            /** @description Type of the audio */
            content_type: string;
            /**
             * Format: int64
             * @description Size in bytes
             */
            size_bytes: number;
            /** @description SHA-256 digest, hexadecimal; null until known */
            checksum_sha256: string | null;
            /**
             * @description How far the file is
             * @enum {string}
             */
            status: "pending_upload" | "processing" | "ready" | "failed" | "expired";
            duration_ms: number | null;
            sample_rate_hz: number | null;
            channels: number | null;
            codec: string | null;
            /**
             * @description How far its embedding is
             * @enum {string}
             */
            embedding_status: "pending" | "processing" | "completed" | "failed";
            embedding_model: string | null;
            embedded_at: string | null;
            /** @description Why the file failed */
            error_message: string | null;
            /** @description Your own pairs */
            metadata: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When the upload was announced: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            uploaded_at: string | null;
            /**
             * Format: date-time
             * @description When it was last changed: RFC 3339, UTC, milliseconds
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
                /** @constant */
                method: "POST";
                /** @description Where to POST the form */
                url: string;
                /** @description Form fields to send unchanged, before `file` */
                fields: {
                    [key: string]: string;
                };
                /**
                 * Format: date-time
                 * @description When the form stops working: RFC 3339, UTC, milliseconds
                 */
                expires_at: string;
            };
            /**
             * Format: int64
             * @description Largest accepted upload
             */
            max_size_bytes: number;
            audio_file: components["schemas"]["AudioFile"];
        };
        AudioUploads: {
            items: components["schemas"]["AudioUpload"][];
            /** Format: int64 */
            total: number;
        };
        ConfirmUpload: {
            /** @description SHA-256 digest of what was sent */
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
             * @description Where the artifact begins, in milliseconds
             */
            start_ms: number;
            /**
             * Format: int32
             * @description Where it ends; equal to the start for a point, in milliseconds
             */
            end_ms: number;
            /**
             * @description How sure the annotator is, 0 to 1
             * @default 1
             */
            confidence?: number;
            /**
             * @description Anything of your own, up to 4 KiB of JSON
             * @default {}
             */
            extra_data?: {
                [key: string]: unknown;
            };
        };
        CreateAnnotationSet: {
            from_annotation_set_id?: string | null;
        };
        CreateAnnotations: {
            /** @description All or none are added */
            annotations: components["schemas"]["CreateAnnotation"][];
        };
        CreateApiKey: {
            /** @description What the key is for */
            name: string;
            /** @description When it shall stop working, in the future, with offset; absent: never */
            expires_at?: string | null;
        };
        CreateDataset: {
            /** @description Name for people; need not be unique */
            name: string;
            /** @description What is in it */
            description?: string | null;
            /**
             * @description Artifact types of the dataset; names are unique, whatever their case
             * @default []
             */
            artifact_types?: {
                /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
                name: string;
                /** @description How it sounds */
                description?: string | null;
            }[];
        };
        CreateInferenceJob: {
            /**
             * Format: uuid
             * @description Model to use
             */
            model_id: string;
            /**
             * @description What is not given, the model decides
             * @default {}
             */
            config?: {
                /** @description One threshold for all types */
                threshold?: number | null;
                /** @description Thresholds by type, win over `threshold` */
                thresholds?: {
                    [key: string]: number;
                };
                /** @description Types to report */
                artifact_types?: string[] | null;
                /** @description Detections that are shorter when near ones have become one are dropped; in milliseconds */
                min_duration_ms?: number | null;
                /** @description Reported detections of a type this close become one, as sure as the surest; in milliseconds */
                merge_gap_ms?: number | null;
                /** @description Length of a window */
                chunk_size_ms?: number | null;
                /** @description Distance between windows */
                stride_ms?: number | null;
            };
            /** @description Audio files to search */
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
            /** @description How a detector is trained, and for how long at most */
            config: {
                /** @description Artifact types to learn; each one is in the dataset and has annotations in the set */
                artifact_types: string[];
                /**
                 * Format: int32
                 * @description How many times training goes through the data
                 * @default 20
                 */
                epochs?: number;
                /**
                 * @description Share of the files kept out of training to choose thresholds and to measure the model. Where labels are few, the model that was measured is then trained once more, on all files
                 * @default 0.2
                 */
                validation_split?: number;
                /**
                 * @description Peak learning rate of the optimizer
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
                 * @description Distance between the starts of neighbouring chunks, in milliseconds
                 * @default 250
                 */
                stride_ms?: number;
                /**
                 * Format: int32
                 * @description Seed of the run; by default derived from the job's id
                 */
                seed?: number;
                /**
                 * Format: int32
                 * @description The job fails when it runs longer than this, in seconds; by default one day
                 */
                max_runtime_seconds?: number;
            };
        };
        CreateUpload: {
            /** @description Name of the file, for people: no path is made of it */
            filename: string;
            /**
             * @description Type of the audio
             * @enum {string}
             */
            content_type: "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/flac" | "audio/x-flac" | "audio/mpeg" | "audio/ogg" | "audio/opus";
            /**
             * Format: int64
             * @description Exact size of the file in bytes
             */
            size_bytes: number;
            /** @description SHA-256 digest; the store then checks it */
            checksum_sha256?: string;
            /** @description Up to 16 pairs of your own */
            metadata?: {
                [key: string]: string;
            };
        };
        CreateUploads: {
            files: {
                /** @description Name of the file, for people: no path is made of it */
                filename: string;
                /**
                 * @description Type of the audio
                 * @enum {string}
                 */
                content_type: "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/flac" | "audio/x-flac" | "audio/mpeg" | "audio/ogg" | "audio/opus";
                /**
                 * Format: int64
                 * @description Exact size of the file in bytes
                 */
                size_bytes: number;
                /** @description SHA-256 digest; the store then checks it */
                checksum_sha256?: string;
                /** @description Up to 16 pairs of your own */
                metadata?: {
                    [key: string]: string;
                };
            }[];
        };
        CreateWebhook: {
            /** @description Public https address of the receiver, with a host name, on port 443 or 8443 */
            url: string;
            /**
             * @description What it is for
             * @default
             */
            description?: string;
            /**
             * @description Types of the events that are sent; empty: all
             * @default []
             */
            types?: ("audio_file.ready" | "audio_file.failed" | "annotation_set.published" | "training_job.pending" | "training_job.queued" | "training_job.running" | "training_job.cancelling" | "training_job.completed" | "training_job.failed" | "training_job.cancelled" | "training_job.progress" | "model.created" | "model.archived" | "inference_job.pending" | "inference_job.queued" | "inference_job.running" | "inference_job.cancelling" | "inference_job.completed" | "inference_job.failed" | "inference_job.cancelled" | "inference_file.completed" | "inference_file.failed" | "api_key.created" | "api_key.revoked" | "webhook.disabled")[];
        };
        CreatedAnnotations: {
            /** @description In the order of the request */
            items: components["schemas"]["Annotation"][];
            /**
             * Format: int64
             * @description How many were added
             */
            total: number;
        };
        CreatedApiKey: {
            /**
             * Format: uuid
             * @description Id of the key
             */
            id: string;
            /** @description What the key is for */
            name: string;
            /** @description First 8 characters of the key */
            key_prefix: string;
            /** @description Always empty: a key opens everything of its tenant */
            scopes: string[];
            /**
             * Format: date-time
             * @description When the key was made: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            /** @description The key itself, shown only now */
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
             * @description Tenant that owns it
             */
            tenant_id: string;
            /** @description Name for people; need not be unique */
            name: string;
            /** @description What is in it */
            description: string | null;
            /** @description What may be labelled in it */
            artifact_types: {
                /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
                name: string;
                description: string | null;
            }[];
            /**
             * Format: int64
             * @description Audio files in it, pending uploads included
             */
            audio_file_count: number;
            /**
             * Format: int64
             * @description Length of the files that training can use, in milliseconds
             */
            total_duration_ms: number;
            /**
             * Format: int64
             * @description Files that training can use
             */
            embedded_audio_file_count: number;
            /**
             * Format: date-time
             * @description When it was made: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed: RFC 3339, UTC, milliseconds
             */
            updated_at: string;
        };
        Detection: {
            /**
             * Format: uuid
             * @description Id of the detection
             */
            id: string;
            /**
             * Format: uuid
             * @description File that it was found in
             */
            inference_file_id: string;
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type: string;
            /**
             * Format: int64
             * @description Where the artifact begins, in milliseconds
             */
            start_ms: number;
            /**
             * Format: int64
             * @description Where it ends, in milliseconds
             */
            end_ms: number;
            /** @description How sure the model is */
            confidence: number;
        };
        DetectionsToAnnotationSet: {
            /**
             * Format: uuid
             * @description Dataset that the draft is made in: detections of its audio files are taken
             */
            dataset_id: string;
            /**
             * @description Only detections at least this sure
             * @default 0
             */
            min_confidence?: number;
            /**
             * @description True: artifact types that the dataset lacks are added to it
             * @default false
             */
            create_types?: boolean;
        };
        Download: {
            /** @description Signed URL of the bytes */
            url: string;
            /** @constant */
            method: "GET";
            /**
             * Format: date-time
             * @description When the URL stops working: RFC 3339, UTC, milliseconds
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
            /** @description What went wrong, as a sentence */
            detail: string;
            code?: components["schemas"]["ErrorCode"];
            /** @description Every precondition that failed, when there can be several */
            errors?: {
                code: components["schemas"]["ErrorCode"];
                /** @description The same as a sentence */
                message: string;
            }[];
        };
        /**
         * @description What went wrong as one stable word, for programs:
         *     - `annotation_not_found`: There is no such annotation
         *     - `annotation_set_not_found`: There is no such annotation set
         *     - `annotation_set_not_published`: Training needs a published annotation set
         *     - `annotation_set_published`: A published annotation set never changes
         *     - `api_key_expired`: The key's time is over
         *     - `api_key_not_found`: There is no such key
         *     - `artifact_type_in_use`: Annotations carry the artifact type that would go
         *     - `artifact_types_missing`: The dataset lacks artifact types of the detections
         *     - `audio_file_not_found`: There is no such audio file
         *     - `audio_in_use`: The audio is labelled in a published set, or a job that has not ended uses it
         *     - `audio_not_ready`: The audio file has not been decoded yet, or it failed
         *     - `body_too_large`: The body is larger than the operation takes
         *     - `dataset_in_use`: A job that has not ended uses the dataset
         *     - `dataset_not_found`: There is no such dataset
         *     - `delivery_not_found`: There is no such delivery
         *     - `embeddings_not_ready`: Audio of the dataset has no embeddings yet, or its file failed
         *     - `inference_file_not_found`: There is no such inference file
         *     - `inference_job_not_found`: There is no such inference job
         *     - `internal_error`: Something broke in the service
         *     - `invalid_api_key`: The key is missing, malformed, unknown or revoked
         *     - `invalid_request`: The request is not well formed
         *     - `job_finished`: The job has ended already
         *     - `job_not_finished`: The job has not ended yet
         *     - `job_started`: The job has been started and takes no more files
         *     - `key_already_created`: The same request has made a key already, which is shown only once
         *     - `method_not_allowed`: The path does not take this method; Allow says which it takes
         *     - `model_archived`: The model is archived
         *     - `model_in_use`: A job that has not ended uses the model
         *     - `model_inactive`: The model is not active
         *     - `model_not_archived`: Only an archived model can be deleted
         *     - `model_not_found`: There is no such model
         *     - `no_annotations`: The set has no annotation of an artifact type that shall be trained
         *     - `no_files`: The job has no files that are ready
         *     - `not_enough_audio`: Training needs five minutes of audio
         *     - `precondition_failed`: The resource has changed: If-Match names none of its ETags
         *     - `quota_exceeded`: A quota of the account is used up; waiting alone does not help
         *     - `rate_limited`: Too many requests; Retry-After says when to go on
         *     - `request_in_progress`: A request with the same Idempotency-Key is still being worked on
         *     - `route_not_found`: There is no such path
         *     - `tenant_suspended`: The account is suspended
         *     - `too_many_streams`: Too many event streams are open at once
         *     - `training_job_not_found`: There is no such training job
         *     - `unavailable`: The service cannot work at the moment; Retry-After says when to try again
         *     - `unsupported_audio`: The bytes are not audio of an accepted format
         *     - `unsupported_media_type`: The body is not of the content type that the operation takes
         *     - `upload_expired`: The upload was not confirmed in time
         *     - `upload_mismatch`: Size, type or digest of what was sent differ from what was announced
         *     - `upload_not_found`: The object store has nothing for this upload
         *     - `validation_failed`: Fields of the request are invalid
         *     - `webhook_disabled`: The webhook is switched off
         *     - `webhook_not_found`: There is no such webhook
         * @enum {string}
         */
        ErrorCode: "annotation_not_found" | "annotation_set_not_found" | "annotation_set_not_published" | "annotation_set_published" | "api_key_expired" | "api_key_not_found" | "artifact_type_in_use" | "artifact_types_missing" | "audio_file_not_found" | "audio_in_use" | "audio_not_ready" | "body_too_large" | "dataset_in_use" | "dataset_not_found" | "delivery_not_found" | "embeddings_not_ready" | "inference_file_not_found" | "inference_job_not_found" | "internal_error" | "invalid_api_key" | "invalid_request" | "job_finished" | "job_not_finished" | "job_started" | "key_already_created" | "method_not_allowed" | "model_archived" | "model_in_use" | "model_inactive" | "model_not_archived" | "model_not_found" | "no_annotations" | "no_files" | "not_enough_audio" | "precondition_failed" | "quota_exceeded" | "rate_limited" | "request_in_progress" | "route_not_found" | "tenant_suspended" | "too_many_streams" | "training_job_not_found" | "unavailable" | "unsupported_audio" | "unsupported_media_type" | "upload_expired" | "upload_mismatch" | "upload_not_found" | "validation_failed" | "webhook_disabled" | "webhook_not_found";
        Event: {
            /**
             * Format: int64
             * @description Grows with every event of this service; the `id` in the stream
             */
            id: number;
            /** @description What happened */
            type: string;
            /**
             * Format: date-time
             * @description When it happened: RFC 3339, UTC, milliseconds
             */
            timestamp: string;
            /** @description Ids and status of what it happened to; read the rest from there */
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
             * @description File that it was found in
             */
            inference_file_id: string;
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type: string;
            /**
             * Format: int64
             * @description Where the artifact begins, in milliseconds
             */
            start_ms: number;
            /**
             * Format: int64
             * @description Where it ends, in milliseconds
             */
            end_ms: number;
            /** @description How sure the model is */
            confidence: number;
            audio_file_id: string | null;
            filename: string;
        };
        ImportReport: {
            /**
             * Format: int64
             * @description Annotations added; with dry_run: that would be added
             */
            imported: number;
            /**
             * Format: int64
             * @description Labels left out: those with errors, and those that the set already has
             */
            skipped: number;
            /** @description Artifact types added to the dataset */
            created_types: string[];
            /** @description The first 1000 */
            errors: {
                /**
                 * Format: int64
                 * @description Which task, from 0
                 */
                task: number;
                /** @description Which result of the annotations that count, from 0; null: the task as a whole */
                result: number | null;
                /** @description Why the label, or all of its task, was left out */
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
             * @description Job that it belongs to
             */
            inference_job_id: string;
            audio_file_id: string | null;
            /** @description Name of the file */
            filename: string;
            /** @description Type of the audio */
            content_type: string;
            /**
             * Format: int64
             * @description Size in bytes
             */
            size_bytes: number;
            /** @description SHA-256 digest, hexadecimal; null until known */
            checksum_sha256: string | null;
            /**
             * @description How far the file is
             * @enum {string}
             */
            status: "pending_upload" | "queued" | "processing" | "completed" | "failed" | "cancelled";
            duration_ms: number | null;
            /**
             * Format: int64
             * @description Artifacts found in it
             */
            detection_count: number;
            /** @description Why the file failed */
            error_message: string | null;
            /**
             * Format: date-time
             * @description When it was added: RFC 3339, UTC, milliseconds
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
             * @description Tenant that owns it
             */
            tenant_id: string;
            /**
             * Format: uuid
             * @description Model that it uses
             */
            model_id: string;
            /** @description The effective configuration; null: as the model says */
            config: {
                [key: string]: unknown;
            };
            /**
             * @description How far the job is
             * @enum {string}
             */
            status: "pending" | "queued" | "running" | "cancelling" | "completed" | "failed" | "cancelled";
            status_message: string | null;
            /**
             * Format: int32
             * @description Never falls; 100 only when completed
             */
            progress_percent: number;
            /**
             * Format: int64
             * @description Files of the job
             */
            total_files: number;
            /**
             * Format: int64
             * @description Finished files, failed ones included
             */
            processed_files: number;
            /**
             * Format: int64
             * @description Files that failed
             */
            failed_files: number;
            /**
             * Format: int64
             * @description Artifacts found so far
             */
            total_detections: number;
            /** @description Why the job failed */
            error_message: string | null;
            platform_job_name: string | null;
            /**
             * Format: date-time
             * @description When the job was made: RFC 3339, UTC, milliseconds
             */
            created_at: string;
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
                /** @constant */
                method: "POST";
                /** @description Where to POST the form */
                url: string;
                /** @description Form fields to send unchanged, before `file` */
                fields: {
                    [key: string]: string;
                };
                /**
                 * Format: date-time
                 * @description When the form stops working: RFC 3339, UTC, milliseconds
                 */
                expires_at: string;
            };
            /**
             * Format: int64
             * @description Largest accepted upload
             */
            max_size_bytes: number;
            inference_file: components["schemas"]["InferenceFile"];
        };
        InferenceUploads: {
            items: components["schemas"]["InferenceUpload"][];
            /** Format: int64 */
            total: number;
        };
        JobEvent: {
            /**
             * Format: int64
             * @description Grows with every event
             */
            id: number;
            /**
             * Format: date-time
             * @description When it happened: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * @description How bad it is
             * @enum {string}
             */
            level: "info" | "warning" | "error";
            /**
             * @description What kind of thing happened
             * @enum {string}
             */
            type: "status" | "message" | "metrics";
            /** @description What happened, as a sentence */
            message: string;
            /** @description The same for programs */
            data: {
                [key: string]: unknown;
            };
        };
        LabelToolExport: {
            tasks: {
                /** Format: int64 */
                id: number;
                data: {
                    [key: string]: unknown;
                };
                annotations: {
                    /** Format: int64 */
                    id: number;
                    result: {
                        id: string;
                        /** @description start and end in seconds, labels, channel */
                        value: {
                            [key: string]: unknown;
                        };
                        from_name: string;
                        to_name: string;
                        type: string;
                        /** @description The confidence, 0 to 1 */
                        score: number;
                        /** @description extra_data of the annotation, if it has any */
                        meta?: {
                            [key: string]: unknown;
                        };
                    }[];
                    /** Format: int64 */
                    completed_by?: number;
                    was_cancelled: boolean;
                    ground_truth: boolean;
                }[];
            }[];
        };
        /** @description The export document, or a bare list of tasks */
        LabelToolImport: {
            tasks: {
                /** @description audio_file_id, or else a filename, or an address in audio that ends with one; never fetched */
                data?: {
                    audio?: unknown;
                    audio_file_id?: unknown;
                    filename?: unknown;
                } | null;
                file_upload?: unknown;
                annotations?: {
                    /** @description Those of the type labels are imported */
                    result?: unknown[] | null;
                    /** @description True: it is left out */
                    was_cancelled?: boolean | null;
                    /** @description True: the task's other annotations are left out */
                    ground_truth?: boolean | null;
                }[] | null;
            }[];
        } | {
            /** @description audio_file_id, or else a filename, or an address in audio that ends with one; never fetched */
            data?: {
                audio?: unknown;
                audio_file_id?: unknown;
                filename?: unknown;
            } | null;
            file_upload?: unknown;
            annotations?: {
                /** @description Those of the type labels are imported */
                result?: unknown[] | null;
                /** @description True: it is left out */
                was_cancelled?: boolean | null;
                /** @description True: the task's other annotations are left out */
                ground_truth?: boolean | null;
            }[] | null;
        }[];
        LabelToolPredictions: {
            tasks: {
                /** Format: int64 */
                id: number;
                data: {
                    [key: string]: unknown;
                };
                /** @description Nobody has labelled anything yet */
                annotations: unknown[];
                predictions: {
                    model_version: string;
                    result: {
                        id: string;
                        /** @description start and end in seconds, labels, channel */
                        value: {
                            [key: string]: unknown;
                        };
                        from_name: string;
                        to_name: string;
                        type: string;
                        /** @description The confidence, 0 to 1 */
                        score: number;
                        /** @description extra_data of the annotation, if it has any */
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
             * @description Tenant that owns it
             */
            tenant_id: string;
            /**
             * Format: uuid
             * @description Job that trained it
             */
            training_job_id: string;
            /** @description Name for people */
            name: string;
            /** @description What it is for */
            description: string;
            /** @description Artifact types that it finds */
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
            /** @description How it is built */
            architecture: components["schemas"]["ModelArchitecture"];
            /** @description How good it was on files kept out of training: the metrics of its training job */
            eval_metrics: components["schemas"]["ModelMetrics"];
            /** @description Whether new inference jobs may use it */
            is_active: boolean;
            /**
             * Format: date-time
             * @description When training finished: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            archived_at: string | null;
        };
        ModelArchitecture: {
            /** @description Temporal convolutional network */
            family?: string;
            /** @description Features that it takes: id and number of columns */
            encoder?: unknown;
            /** @description Its layers */
            head?: unknown;
            /**
             * Format: int64
             * @description Rate that audio is resampled to for the features
             */
            sample_rate_hz?: number;
            /**
             * Format: int64
             * @description Distance of two frames
             */
            frame_hop_ms?: number;
            /**
             * Format: int64
             * @description Learned numbers
             */
            parameters?: number;
        } & {
            [key: string]: unknown;
        };
        ModelMetrics: {
            /** @description Over all types */
            overall?: {
                /** @description Share of the detections that are right, null where there is none */
                precision?: number | null;
                /** @description Share of the events that are found, null where there is none */
                recall?: number | null;
                /** @description F1 of whole seconds */
                segment_f1?: number | null;
                /** @description Expected calibration error of confidences from 0.1 on */
                calibration_error?: number | null;
                /** @description Fewer than 5 events of a type to judge by: take the figures as a hint */
                few_events?: boolean;
                /** @description Mean event-F1 of the types that occur in validation */
                f1?: number | null;
                /** @description Event-F1 of all events together; precision and recall are theirs too */
                micro_f1?: number | null;
                /** @description Polyphonic sound detection score */
                psds?: number | null;
            } & {
                [key: string]: unknown;
            };
            /** @description By artifact type */
            per_type?: {
                [key: string]: {
                    /** @description Share of the detections that are right, null where there is none */
                    precision?: number | null;
                    /** @description Share of the events that are found, null where there is none */
                    recall?: number | null;
                    /** @description F1 of whole seconds */
                    segment_f1?: number | null;
                    /** @description Expected calibration error of confidences from 0.1 on */
                    calibration_error?: number | null;
                    /** @description Fewer than 5 events of a type to judge by: take the figures as a hint */
                    few_events?: boolean;
                    /** @description Event-F1 at the threshold */
                    f1?: number | null;
                    /** @description Average precision, whatever the threshold */
                    ap?: number | null;
                    /** @description Confidence from which on the model reports this type */
                    threshold?: number | null;
                    /**
                     * Format: int64
                     * @description Events in validation
                     */
                    support?: number;
                    /**
                     * Format: int64
                     * @description Events in training
                     */
                    train_support?: number;
                    /**
                     * Format: int64
                     * @description How far a detection's onset may be from the event's
                     */
                    collar_ms?: number;
                } & {
                    [key: string]: unknown;
                };
            };
            /** @description Of the events of each type, how many overlap a detection of each type, or of none */
            confusion?: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /** @description The curves, by epoch */
            history?: ({
                /**
                 * Format: int64
                 * @description Number of the epoch, from 1
                 */
                epoch?: number;
                /** @description Mean loss of the epoch */
                train_loss?: number;
                /** @description Loss on the validation files */
                val_loss?: number;
                /** @description Mean event-F1 at neutral thresholds; overall.f1 is at the chosen ones */
                val_f1?: number | null;
                /** @description At the end of the epoch */
                learning_rate?: number;
            } & {
                [key: string]: unknown;
            })[];
            /** @description What was kept out of training */
            split?: {
                /** @description files: whole files were kept out. time_blocks: too few files, blocks of the same ones were */
                mode?: string;
                /** @description Training and validation are not apart as they should be: expect less */
                optimistic?: boolean;
                /** @description validation, or training where nothing could be kept out */
                validated_on?: string;
                /**
                 * Format: int64
                 * @description Audio that was trained on
                 */
                train_seconds?: number;
                /**
                 * Format: int64
                 * @description Audio that was kept out
                 */
                validation_seconds?: number;
                /** @description Ids of the first 200 audio files that were kept out */
                validation_files?: string[];
                /** @description Types without an event on one of the two sides */
                types_without_validation?: string[];
                /**
                 * Format: int64
                 * @description What split and training were drawn with
                 */
                seed?: number;
                /** @description The finished model was trained once more, with the validation files too; the figures are those of the first training */
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
             * @description Audio file that was listened to as a whole
             */
            audio_file_id: string;
            /**
             * Format: date-time
             * @description When it was marked: RFC 3339, UTC, milliseconds
             */
            created_at: string;
        };
        RotateApiKey: {
            /**
             * Format: int32
             * @description How long the old key works besides the new one; 0: it is revoked at once
             * @default 0
             */
            overlap_seconds?: number;
        };
        StreamedEvent: {
            /** @description For Last-Event-ID */
            id: string;
            /** @description The Event as JSON, on one line */
            data: string;
        };
        TextImportReport: {
            /**
             * Format: int64
             * @description Annotations added; with dry_run: that would be added
             */
            imported: number;
            /**
             * Format: int64
             * @description Labels left out: those with errors, and those that the set already has
             */
            skipped: number;
            /** @description Artifact types added to the dataset */
            created_types: string[];
            /** @description The first 1000 */
            errors: {
                /**
                 * Format: int64
                 * @description Line of the text, from 1
                 */
                line: number;
                /** @description Why the label, or all of its task, was left out */
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
             * @description Tenant that owns it
             */
            tenant_id: string;
            /**
             * Format: uuid
             * @description Dataset that it trains on
             */
            dataset_id: string;
            /**
             * Format: uuid
             * @description Published annotation set with the labels
             */
            annotation_set_id: string;
            /** @description The effective configuration */
            config: {
                [key: string]: unknown;
            };
            /**
             * @description How far the job is
             * @enum {string}
             */
            status: "pending" | "queued" | "running" | "cancelling" | "completed" | "failed" | "cancelled";
            status_message: string | null;
            /**
             * Format: int32
             * @description Never falls; 100 only when completed
             */
            progress_percent: number;
            /** @description What training measured, null before its end */
            metrics: components["schemas"]["ModelMetrics"] | null;
            /** @description Why the job failed */
            error_message: string | null;
            platform_job_name: string | null;
            /**
             * Format: date-time
             * @description When the job was made: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            queued_at: string | null;
            started_at: string | null;
            completed_at: string | null;
        };
        TrainingMetrics: {
            /** @description By name */
            series: {
                /** @description Name of the curve */
                name: string;
                /** @description Pairs of step and value, by step */
                points: number[][];
            }[];
        };
        UpdateAnnotation: {
            /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
            artifact_type?: string;
            /**
             * Format: int32
             * @description Where the artifact begins, in milliseconds
             */
            start_ms?: number;
            /**
             * Format: int32
             * @description Where it ends, in milliseconds
             */
            end_ms?: number;
            /** @description How sure the annotator is, 0 to 1 */
            confidence?: number;
            /** @description Anything of your own, up to 4 KiB of JSON */
            extra_data?: {
                [key: string]: unknown;
            };
        };
        UpdateAudioFile: {
            /** @description Name of the file, for people: no path is made of it */
            filename?: string;
            /** @description Up to 16 pairs of your own */
            metadata?: {
                [key: string]: string;
            };
        };
        UpdateDataset: {
            /** @description Name for people; need not be unique */
            name?: string;
            /** @description What is in it */
            description?: string | null;
            /** @description Artifact types of the dataset; names are unique, whatever their case */
            artifact_types?: {
                /** @description Name of an artifact type: letters A to Z and a to z, digits, space, underscore, dot, hyphen; at most 64 characters */
                name: string;
                /** @description How it sounds */
                description?: string | null;
            }[];
        };
        UpdateModel: {
            /** @description Name for people */
            name?: string;
            /** @description What it is for */
            description?: string;
            /** @description Whether new inference jobs may use it */
            is_active?: boolean;
        };
        UpdateWebhook: {
            /** @description Public https address of the receiver, with a host name, on port 443 or 8443 */
            url?: string;
            /** @description What it is for */
            description?: string;
            /** @description Types of the events that are sent; empty: all */
            types?: ("audio_file.ready" | "audio_file.failed" | "annotation_set.published" | "training_job.pending" | "training_job.queued" | "training_job.running" | "training_job.cancelling" | "training_job.completed" | "training_job.failed" | "training_job.cancelled" | "training_job.progress" | "model.created" | "model.archived" | "inference_job.pending" | "inference_job.queued" | "inference_job.running" | "inference_job.cancelling" | "inference_job.completed" | "inference_job.failed" | "inference_job.cancelled" | "inference_file.completed" | "inference_file.failed" | "api_key.created" | "api_key.revoked" | "webhook.disabled")[];
            /** @description True starts a webhook again that was switched off */
            enabled?: boolean;
        };
        Usage: {
            quotas: {
                /** @description Datasets */
                datasets: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description Bytes of audio, announced uploads and inference uploads included */
                audio_bytes: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description Audio files of a dataset; used: of the largest one */
                audio_files_per_dataset: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description Annotations of an annotation set; used: of the largest one */
                annotations_per_set: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description Training jobs that run at once; more wait */
                running_training_jobs: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description Training jobs that wait; more are refused */
                waiting_training_jobs: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description Inference jobs that run at once; more wait */
                running_inference_jobs: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description Inference jobs that wait; more are refused */
                waiting_inference_jobs: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description API keys */
                api_keys: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
                /** @description Webhooks */
                webhooks: {
                    /**
                     * Format: int64
                     * @description How much there is
                     */
                    used: number;
                    /** @description How much there may be; null: no limit */
                    limit: number | null;
                };
            };
            /** @description What jobs have used so far, in seconds; it never falls, also when they are deleted */
            compute: {
                /**
                 * Format: int64
                 * @description Time of all pods
                 */
                pod_seconds: number;
                /**
                 * Format: int64
                 * @description Requested processors by time
                 */
                cpu_seconds: number;
                /**
                 * Format: int64
                 * @description Requested GPUs by time
                 */
                gpu_seconds: number;
                /**
                 * Format: int64
                 * @description Audio that was worked through
                 */
                audio_seconds: number;
            };
            /** @description Rates of requests: all count towards default, some towards one more */
            rates: {
                /**
                 * @description As in the header RateLimit
                 * @enum {string}
                 */
                name: "default" | "writes" | "uploads" | "keys" | "trainings";
                /** @description null: no limit */
                requests_per_minute: number | null;
            }[];
        };
        ValidationError: {
            detail: {
                /** @description Where the fault is, beginning with body, path, query or header */
                loc: (string | number)[];
                /** @description What is wrong with it */
                msg: string;
                /** @description The same as one stable word */
                type: string;
            }[];
        };
        /** @description Peaks in the layout of waveform-data.js */
        Waveform: {
            /** Format: int64 */
            version: number;
            /** Format: int64 */
            channels: number;
            /** Format: int64 */
            sample_rate: number;
            /** Format: int64 */
            samples_per_pixel: number;
            /** @constant */
            bits: 8;
            /**
             * Format: int64
             * @description Pairs of minimum and maximum in each channel
             */
            length: number;
            /** @description Minimum, maximum, minimum, maximum, ... */
            data: number[];
        };
        Webhook: {
            /**
             * Format: uuid
             * @description Id of the webhook
             */
            id: string;
            /** @description Where events are sent */
            url: string;
            /** @description What it is for */
            description: string;
            /** @description Types of the events that are sent; empty: all */
            types: string[];
            /** @description Whether events are sent */
            enabled: boolean;
            /** @description Why the service switched it off: it answered 410, or failed for days */
            disabled_reason: ("gone" | "failing") | null;
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When it was made: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed by a client: RFC 3339, UTC, milliseconds
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
             * @description Webhook that it goes to
             */
            webhook_id: string;
            /** @description The header webhook-id: the same for every attempt */
            message_id: string;
            /** @description Type of the event */
            type: string;
            /**
             * @description Whether it has arrived
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /**
             * Format: int64
             * @description Attempts so far
             */
            attempts: number;
            next_attempt_at: string | null;
            last_attempt_at: string | null;
            /** @description HTTP status of the last answer; null: there was none */
            last_status: number | null;
            /** @description Why the last attempt failed; `secret`: nothing can be signed until the secret is rotated */
            last_error: ("status" | "redirect" | "timeout" | "address" | "connection" | "tls" | "protocol" | "secret" | "webhook_disabled") | null;
            /**
             * Format: date-time
             * @description When it was made: RFC 3339, UTC, milliseconds
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
            /** @description Where events are sent */
            url: string;
            /** @description What it is for */
            description: string;
            /** @description Types of the events that are sent; empty: all */
            types: string[];
            /** @description Whether events are sent */
            enabled: boolean;
            /** @description Why the service switched it off: it answered 410, or failed for days */
            disabled_reason: ("gone" | "failing") | null;
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When it was made: RFC 3339, UTC, milliseconds
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed by a client: RFC 3339, UTC, milliseconds
             */
            updated_at: string;
            /** @description Signs what is sent: `whsec_` and base64 of 32 bytes. Shown only now */
            secret: string;
        };
    };
    responses: {
        /** @description The request is not well formed: its framing, its headers or the JSON in it */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The key is missing, invalid, revoked or expired */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The account is suspended */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no such resource, or it is not yours: the answer is the same */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description If-Match names none of the resource's present ETags; nothing was changed */
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
        /** @description The body is not of the content type that the operation takes */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Fields of the request are invalid: all of them are listed */
        ValidationFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ValidationError"];
            };
        };
        /** @description Too many requests (then Retry-After says when to go on), or a quota is used up */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The headers of the request are larger than 16 KiB together */
        HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Something broke in the service; X-Request-Id names the request in its logs */
        InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service cannot work at the moment; try again after the time in Retry-After */
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
        /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
        IdempotencyKey: string;
        /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
        IfMatch: string;
        /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
        IfNoneMatch: string;
        /** @description The id of the last event that you have: the stream begins with the one after it */
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
export type CreateDataset = components['schemas']['CreateDataset'];
export type CreateInferenceJob = components['schemas']['CreateInferenceJob'];
export type CreateTrainingJob = components['schemas']['CreateTrainingJob'];
export type CreateUpload = components['schemas']['CreateUpload'];
export type CreateUploads = components['schemas']['CreateUploads'];
export type CreateWebhook = components['schemas']['CreateWebhook'];
export type CreatedAnnotations = components['schemas']['CreatedAnnotations'];
export type CreatedApiKey = components['schemas']['CreatedApiKey'];
export type Dataset = components['schemas']['Dataset'];
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
export type UpdateAudioFile = components['schemas']['UpdateAudioFile'];
export type UpdateDataset = components['schemas']['UpdateDataset'];
export type UpdateModel = components['schemas']['UpdateModel'];
export type UpdateWebhook = components['schemas']['UpdateWebhook'];
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `key_already_created`, `request_in_progress` */
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
            header?: never;
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `key_already_created`, `request_in_progress` */
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
                /** @description Items on a page */
                page_size?: number;
                /** @description Only datasets whose name contains this */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["Dataset"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `request_in_progress` */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The dataset is gone */
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
            /** @description The request does not fit the present state: `dataset_in_use` */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The request does not fit the present state: `artifact_type_in_use` */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The form */
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
            /** @description The request does not fit the present state: `request_in_progress` */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The forms, in the order of the request */
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
            /** @description The request does not fit the present state: `request_in_progress` */
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
            /** @description The request does not fit the present state: `upload_not_found`, `upload_mismatch`, `unsupported_audio`, `upload_expired` */
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
                /** @description Items on a page */
                page_size?: number;
                /** @description Only files with this status */
                status?: "pending_upload" | "processing" | "ready" | "failed" | "expired";
                /** @description Only files with this embedding status */
                embedding_status?: "pending" | "processing" | "completed" | "failed";
                /** @description Only files whose name contains this */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["AudioFile"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The audio file is gone */
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
            /** @description The request does not fit the present state: `audio_in_use` */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The request does not fit the present state: `audio_not_ready` */
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
                /** @description Coarser than what is stored */
                samples_per_pixel?: number;
            };
            header?: {
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
            /** @description The request does not fit the present state: `audio_not_ready` */
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
                /** @description Items on a page */
                page_size?: number;
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["AnnotationSet"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `request_in_progress` */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The draft is gone */
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
            /** @description The request does not fit the present state: `annotation_set_published` */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The request does not fit the present state: `annotation_set_published` */
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
                /** @description Items on a page */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["ReviewedFile"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The request does not fit the present state: `annotation_set_published`, `audio_not_ready` */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The request does not fit the present state: `annotation_set_published` */
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
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only annotations at least this sure */
                min_confidence?: number;
                /** @description Only annotations at most this sure */
                max_confidence?: number;
                /** @description Only annotations that overlap the window from here, in milliseconds */
                start_ms?: number;
                /** @description Only annotations that overlap the window up to here, in milliseconds */
                end_ms?: number;
                /** @description Page to return; without page and page_size: everything */
                page?: number;
                /** @description Items on a page */
                page_size?: number;
            };
            header?: {
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The request does not fit the present state: `annotation_set_published`, `request_in_progress` */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The request does not fit the present state: `annotation_set_published`, `request_in_progress` */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The annotation is gone */
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
            /** @description The request does not fit the present state: `annotation_set_published` */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The request does not fit the present state: `annotation_set_published` */
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
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only annotations at least this sure */
                min_confidence?: number;
                /** @description Only annotations at most this sure */
                max_confidence?: number;
                /** @description Only annotations that overlap the window from here, in milliseconds */
                start_ms?: number;
                /** @description Only annotations that overlap the window up to here, in milliseconds */
                end_ms?: number;
                /** @description `import` leaves out completed_by: the tool refuses a file with a user that it does not know */
                flavor?: "full" | "import";
                /** @description What data.audio holds: a signed URL, by default for 24 hours, or the audio file's id */
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
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only annotations at least this sure */
                min_confidence?: number;
                /** @description Only annotations at most this sure */
                max_confidence?: number;
                /** @description Only annotations that overlap the window from here, in milliseconds */
                start_ms?: number;
                /** @description Only annotations that overlap the window up to here, in milliseconds */
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
            /** @description A line for each annotation */
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
                /** @description The audio file to export: the times of this format are those of one file */
                audio_file_id: string;
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only annotations at least this sure */
                min_confidence?: number;
                /** @description Only annotations at most this sure */
                max_confidence?: number;
                /** @description Only annotations that overlap the window from here, in milliseconds */
                start_ms?: number;
                /** @description Only annotations that overlap the window up to here, in milliseconds */
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
            /** @description A line for each annotation of the file */
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
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only annotations at least this sure */
                min_confidence?: number;
                /** @description Only annotations at most this sure */
                max_confidence?: number;
                /** @description Only annotations that overlap the window from here, in milliseconds */
                start_ms?: number;
                /** @description Only annotations that overlap the window up to here, in milliseconds */
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
            /** @description A line for each annotation */
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
                /** @description The audio file to export: the times of this format are those of one file */
                audio_file_id: string;
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only annotations at least this sure */
                min_confidence?: number;
                /** @description Only annotations at most this sure */
                max_confidence?: number;
                /** @description Only annotations that overlap the window from here, in milliseconds */
                start_ms?: number;
                /** @description Only annotations that overlap the window up to here, in milliseconds */
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
            /** @description A cue for each annotation of the file */
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
                /** @description True: says what would be imported, and changes nothing */
                dry_run?: boolean;
                /** @description True: labels that are no artifact types of the dataset become some, if their names allow it */
                create_types?: boolean;
            };
            header?: {
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description What was imported, and what was not and why */
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
            /** @description The request does not fit the present state: `annotation_set_published`, `request_in_progress` */
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
                /** @description True: says what would be imported, and changes nothing */
                dry_run?: boolean;
                /** @description True: labels that are no artifact types of the dataset become some, if their names allow it */
                create_types?: boolean;
            };
            header?: {
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description What was imported, and what was not and why */
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
            /** @description The request does not fit the present state: `annotation_set_published`, `request_in_progress` */
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
                /** @description True: says what would be imported, and changes nothing */
                dry_run?: boolean;
                /** @description True: labels that are no artifact types of the dataset become some, if their names allow it */
                create_types?: boolean;
                /** @description The audio file that the labels are of */
                audio_file_id: string;
            };
            header?: {
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description What was imported, and what was not and why */
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
            /** @description The request does not fit the present state: `annotation_set_published`, `request_in_progress` */
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
                /** @description Form of the answer; audacity and webvtt need inference_file_id */
                format?: "json" | "csv" | "audacity" | "webvtt" | "dcase" | "annotation-tool";
                /** @description Only detections of this file */
                inference_file_id?: string;
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only detections at least this sure */
                min_confidence?: number;
                /** @description annotation-tool only: what data.audio holds, a signed URL or the file's id */
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
            /** @description The detections by file and start, in the form that `format` names */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `job_not_finished`, `no_files`, `artifact_types_missing`, `request_in_progress` */
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
                /** @description Items on a page */
                page_size?: number;
                /** @description Only these statuses; may be repeated */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["TrainingJob"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `annotation_set_not_published`, `embeddings_not_ready`, `not_enough_audio`, `no_annotations`, `request_in_progress` */
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
                /** @description Seconds to wait for a change: from what If-None-Match names, or else from now. Answers sooner when there is one */
                wait?: number;
            };
            header?: {
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The job is gone */
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
            /** @description The request does not fit the present state: `job_not_finished` */
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
            /** @description The request does not fit the present state: `job_finished` */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `job_finished`, `job_not_finished`, `annotation_set_not_published`, `embeddings_not_ready`, `not_enough_audio`, `no_annotations`, `request_in_progress` */
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
                /** @description Items on a page */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["JobEvent"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Items on a page */
                page_size?: number;
                /** @description Only models that are (not) active */
                is_active?: boolean;
                /** @description Which models to list */
                archived?: "false" | "true" | "all";
                /** @description Only the model of this job */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["Model"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The model is gone */
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
            /** @description The request does not fit the present state: `model_not_archived`, `model_in_use` */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the model */
                model_id: string;
            };
            cookie?: never;
        };
        requestBody: {
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
            /** @description The request does not fit the present state: `model_archived` */
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
                /** @description Items on a page */
                page_size?: number;
                /** @description Only these statuses; may be repeated */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["InferenceJob"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `model_inactive`, `audio_not_ready`, `no_files`, `request_in_progress` */
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
                /** @description Seconds to wait for a change: from what If-None-Match names, or else from now. Answers sooner when there is one */
                wait?: number;
            };
            header?: {
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The job is gone */
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
            /** @description The request does not fit the present state: `job_not_finished` */
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
            /** @description The request does not fit the present state: `no_files`, `job_finished` */
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
            /** @description The request does not fit the present state: `job_finished` */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `job_not_finished`, `no_files`, `model_inactive`, `audio_not_ready`, `request_in_progress` */
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
                /** @description Items on a page */
                page_size?: number;
                /** @description Only detections of this file */
                inference_file_id?: string;
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only detections at least this sure */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["Detection"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description Items on a page */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["JobEvent"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The form */
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
            /** @description The request does not fit the present state: `job_started`, `job_finished`, `request_in_progress` */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The forms, in the order of the request */
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
            /** @description The request does not fit the present state: `job_started`, `job_finished`, `request_in_progress` */
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
            /** @description The request does not fit the present state: `upload_not_found`, `upload_mismatch`, `unsupported_audio`, `job_started`, `job_finished` */
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
                /** @description Items on a page */
                page_size?: number;
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["InferenceFile"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            /** @description The file is gone */
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
            /** @description The request does not fit the present state: `job_started`, `job_finished` */
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
    listInferenceFileDetections: {
        parameters: {
            query?: {
                /** @description Page to return, from 1 */
                page?: number;
                /** @description Items on a page */
                page_size?: number;
                /** @description Only these types; may be repeated */
                artifact_type?: string[];
                /** @description Only detections at least this sure */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["Detection"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description Items on a page */
                page_size?: number;
                /** @description Only events of these types; may be repeated */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["Event"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description Only events of these types; may be repeated */
                types?: ("audio_file.ready" | "audio_file.failed" | "annotation_set.published" | "training_job.pending" | "training_job.queued" | "training_job.running" | "training_job.cancelling" | "training_job.completed" | "training_job.failed" | "training_job.cancelled" | "training_job.progress" | "model.created" | "model.archived" | "inference_job.pending" | "inference_job.queued" | "inference_job.running" | "inference_job.cancelling" | "inference_job.completed" | "inference_job.failed" | "inference_job.cancelled" | "inference_file.completed" | "inference_file.failed" | "api_key.created" | "api_key.revoked" | "webhook.disabled")[];
            };
            header?: {
                /** @description The id of the last event that you have: the stream begins with the one after it */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One event after the other, each of this form */
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
                /** @description Items on a page */
                page_size?: number;
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["Webhook"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The request does not fit the present state: `request_in_progress` */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
                /** @description Only if the resource still has one of these ETags; otherwise nothing is done and 412 says so */
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
            header?: never;
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
                /** @description A word of your own for this request, good for 24 hours: sent again with the same body, the request makes nothing new and gets the answer for what it made the first time, with Idempotency-Replayed. With another body it is refused. Failed requests are not remembered. */
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
            /** @description The delivery, on its way */
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
            /** @description The request does not fit the present state: `webhook_disabled`, `request_in_progress` */
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
                /** @description Items on a page */
                page_size?: number;
                /** @description Only these statuses; may be repeated */
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
                        /** @description The items of this page, newest first */
                        items: components["schemas"]["WebhookDelivery"][];
                        /**
                         * Format: int64
                         * @description Items on all pages together
                         */
                        total: number;
                        /**
                         * Format: int64
                         * @description The page that was asked for
                         */
                        page: number;
                        /**
                         * Format: int32
                         * @description Items on a page
                         */
                        page_size: number;
                        /** @description Whether there are further pages */
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
                /** @description ETags that you have: if one of them is still the resource's, the answer is 304 without a body */
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
            /** @description Unchanged: If-None-Match names the ETag that the resource has */
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
            header?: never;
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
            /** @description The delivery, on its way again */
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
            /** @description The request does not fit the present state: `webhook_disabled` */
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
            /** @description Use and limits */
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
            /** @description It does */
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
            /** @description They may */
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
            /** @description It has, and from now on this is the answer */
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
