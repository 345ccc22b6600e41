// The requests that both kinds of jobs have, so that pages need not tell them apart.
import { api, body } from "../app/api.ts";

export type JobKind = "training" | "inference";

const eventsPerPage = 50;

export const jobCalls = {
  training: {
    cancel: (id: string) =>
      body(
        api.POST("/api/v1/training-jobs/{training_job_id}/cancel", {
          params: { path: { training_job_id: id } },
        }),
      ),
    retry: (id: string, key: string) =>
      body(
        api.POST("/api/v1/training-jobs/{training_job_id}/retry", {
          params: { path: { training_job_id: id }, header: { "Idempotency-Key": key } },
        }),
      ),
    remove: (id: string) =>
      body(
        api.DELETE("/api/v1/training-jobs/{training_job_id}", { params: { path: { training_job_id: id } } }),
      ),
    events: (id: string, page: number) =>
      body(
        api.GET("/api/v1/training-jobs/{training_job_id}/events", {
          params: { path: { training_job_id: id }, query: { page, page_size: eventsPerPage } },
        }),
      ),
  },
  inference: {
    cancel: (id: string) =>
      body(
        api.POST("/api/v1/inference-jobs/{inference_job_id}/cancel", {
          params: { path: { inference_job_id: id } },
        }),
      ),
    retry: (id: string, key: string) =>
      body(
        api.POST("/api/v1/inference-jobs/{inference_job_id}/retry", {
          params: { path: { inference_job_id: id }, header: { "Idempotency-Key": key } },
        }),
      ),
    remove: (id: string) =>
      body(
        api.DELETE("/api/v1/inference-jobs/{inference_job_id}", {
          params: { path: { inference_job_id: id } },
        }),
      ),
    events: (id: string, page: number) =>
      body(
        api.GET("/api/v1/inference-jobs/{inference_job_id}/events", {
          params: { path: { inference_job_id: id }, query: { page, page_size: eventsPerPage } },
        }),
      ),
  },
} as const;

/** Where the pages of the kind are. */
export const pathOfKind = { training: "/training", inference: "/inference" } as const;
