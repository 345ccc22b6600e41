// The requests of the demo's user, as named functions on the typed client. Called by the demo's steps and by the
// end-to-end test. Needs only the address and an API key, like any user of the service.
import { allItems, body, type ClientOptions, makeClient } from "../../client/client.ts";
import type { CreateAnnotation, CreateTrainingJob } from "../../client/schema.ts";
import { type LocalFile, uploadAudio, uploadForInference } from "../../client/upload.ts";

export type User = ReturnType<typeof makeUser>;

export function makeUser(options: ClientOptions) {
  const client = makeClient(options);
  const set = (dataset_id: string, annotation_set_id: string) => ({
    params: { path: { dataset_id, annotation_set_id } },
  });
  const training = (training_job_id: string) => ({ params: { path: { training_job_id } } });
  const inference = (inference_job_id: string) => ({ params: { path: { inference_job_id } } });
  return {
    client,
    createDataset: (name: string, types: readonly string[]) =>
      body(
        client.POST("/api/v1/datasets", {
          body: { name, artifact_types: types.map((type) => ({ name: type })) },
        }),
      ),
    listAudio: (dataset_id: string) =>
      allItems((query) =>
        client.GET("/api/v1/datasets/{dataset_id}/audio", { params: { path: { dataset_id }, query } }),
      ),
    upload: (datasetId: string, file: LocalFile) => uploadAudio(client, datasetId, file),

    createAnnotationSet: (dataset_id: string) =>
      body(
        client.POST("/api/v1/datasets/{dataset_id}/annotation-sets", { params: { path: { dataset_id } } }),
      ),
    addAnnotations: (datasetId: string, setId: string, annotations: CreateAnnotation[]) =>
      body(
        client.POST("/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/annotations/bulk", {
          ...set(datasetId, setId),
          body: { annotations },
        }),
      ),
    publish: (datasetId: string, setId: string) =>
      body(
        client.POST(
          "/api/v1/datasets/{dataset_id}/annotation-sets/{annotation_set_id}/publish",
          set(datasetId, setId),
        ),
      ),

    createTrainingJob: (dataset_id: string, annotation_set_id: string, config: CreateTrainingJob["config"]) =>
      body(client.POST("/api/v1/training-jobs", { body: { dataset_id, annotation_set_id, config } })),
    getTrainingJob: (jobId: string) =>
      body(client.GET("/api/v1/training-jobs/{training_job_id}", training(jobId))),
    getTrainingMetrics: (jobId: string) =>
      body(client.GET("/api/v1/training-jobs/{training_job_id}/metrics", training(jobId))),
    listModels: (training_job_id: string) =>
      allItems((query) => client.GET("/api/v1/models", { params: { query: { ...query, training_job_id } } })),

    createInferenceJob: (model_id: string, audioFileIds?: readonly string[]) =>
      body(
        client.POST("/api/v1/inference-jobs", {
          body: { model_id, ...(audioFileIds === undefined ? {} : { audio_file_ids: [...audioFileIds] }) },
        }),
      ),
    uploadForInference: (jobId: string, file: LocalFile) => uploadForInference(client, jobId, file),
    startInferenceJob: (jobId: string) =>
      body(client.POST("/api/v1/inference-jobs/{inference_job_id}/start", inference(jobId))),
    getInferenceJob: (jobId: string) =>
      body(client.GET("/api/v1/inference-jobs/{inference_job_id}", inference(jobId))),
    listInferenceFiles: (inference_job_id: string) =>
      allItems((query) =>
        client.GET("/api/v1/inference-jobs/{inference_job_id}/files", {
          params: { path: { inference_job_id }, query },
        }),
      ),
    listDetections: (inference_job_id: string) =>
      allItems((query) =>
        client.GET("/api/v1/inference-jobs/{inference_job_id}/detections", {
          params: { path: { inference_job_id }, query },
        }),
      ),
  };
}
