// The recordings that inference jobs have searched, for the player.
import type { InferenceFile } from "../../../client/schema.ts";
import { api, body } from "../app/api.ts";
import type { Recording } from "./player.ts";

export const recordingOf = ({ id, inference_job_id, filename }: InferenceFile): Recording => ({
  key: id,
  name: filename,
  address: () =>
    body(
      api.GET("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/download", {
        params: { path: { inference_job_id, file_id: id } },
      }),
    ),
});
