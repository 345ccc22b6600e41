// The routes of the three upload steps, for datasets and for inference jobs.
import { allItems } from "../../../client/client.ts";
import { body, etagOf, patientApi } from "../app/api.ts";
import type { UploadRoutes } from "./steps.ts";

/** The ETag of a file that waits for its bytes: a deletion with it fails when they have arrived meanwhile. */
const unsent = ({ data, response }: { data?: { status: string }; response: Response }) =>
  data?.status === "pending_upload" ? etagOf(response) : undefined;

export function datasetRoutes(datasetId: string): UploadRoutes {
  const pathOf = (id: string) => ({ dataset_id: datasetId, audio_file_id: id });
  return {
    async tickets({ key, files }) {
      const { items } = await body(
        patientApi.POST("/api/v1/datasets/{dataset_id}/audio/upload-urls", {
          params: { path: { dataset_id: datasetId }, header: { "Idempotency-Key": key } },
          body: { files: [...files] },
        }),
      );
      return items.map(({ audio_file, upload }) => ({ id: audio_file.id, file: audio_file, form: upload }));
    },
    parts: (id, signal) =>
      body(
        patientApi.POST("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/parts", {
          params: { path: pathOf(id) },
          signal,
        }),
      ),
    confirm: (id) =>
      body(
        patientApi.POST("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/confirm", {
          params: { path: pathOf(id) },
        }),
      ),
    remove: (id) =>
      body(
        patientApi.DELETE("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}", {
          params: { path: pathOf(id) },
        }),
      ),
    async removeUnsent(id) {
      const file = "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}";
      const etag = unsent(await patientApi.GET(file, { params: { path: pathOf(id) } }));
      if (etag !== undefined)
        await patientApi.DELETE(file, { params: { path: pathOf(id), header: { "If-Match": etag } } });
    },
  };
}

export function inferenceRoutes(jobId: string): UploadRoutes {
  const pathOf = (id: string) => ({ inference_job_id: jobId, file_id: id });
  return {
    async present() {
      const items = await allItems((query) =>
        patientApi.GET("/api/v1/inference-jobs/{inference_job_id}/files", {
          params: { path: { inference_job_id: jobId }, query },
        }),
      );
      return items.map((file) => ({ id: file.id, file, form: undefined }));
    },
    async tickets({ key, files }) {
      const { items } = await body(
        patientApi.POST("/api/v1/inference-jobs/{inference_job_id}/files/upload-urls", {
          params: { path: { inference_job_id: jobId }, header: { "Idempotency-Key": key } },
          body: { files: [...files] },
        }),
      );
      return items.map(({ inference_file, upload }) => ({
        id: inference_file.id,
        file: inference_file,
        form: upload,
      }));
    },
    parts: (id, signal) =>
      body(
        patientApi.POST("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/parts", {
          params: { path: pathOf(id) },
          signal,
        }),
      ),
    confirm: (id) =>
      body(
        patientApi.POST("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/confirm", {
          params: { path: pathOf(id) },
        }),
      ),
    remove: (id) =>
      body(
        patientApi.DELETE("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}", {
          params: { path: pathOf(id) },
        }),
      ),
    async removeUnsent(id) {
      const file = "/api/v1/inference-jobs/{inference_job_id}/files/{file_id}";
      const etag = unsent(await patientApi.GET(file, { params: { path: pathOf(id) } }));
      if (etag !== undefined)
        await patientApi.DELETE(file, { params: { path: pathOf(id), header: { "If-Match": etag } } });
    },
  };
}
