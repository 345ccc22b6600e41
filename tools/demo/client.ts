// A small typed client of the REST API, over fetch. Called by the demo's steps and by the end-to-end test.
// It knows nothing but the address and the key: what it can do, any user of the service can do.
import { z } from "zod";
import * as shape from "./shapes.ts";

export interface Annotation {
  readonly audio_file_id: string;
  readonly artifact_type: string;
  readonly start_ms: number;
  readonly end_ms: number;
}

export interface NewFile {
  readonly filename: string;
  readonly content_type: string;
  readonly size_bytes: number;
}

/** The API answered, but not with success. */
export class ApiError extends Error {
  readonly status: number;
  constructor(call: string, status: number, detail: string) {
    super(`${call} answered ${status}: ${detail}`);
    this.status = status;
  }
}

export type Client = ReturnType<typeof makeClient>;

const v1 = "/api/v1";

/** `patienceMs`: how long a GET is tried again while the service is away (restarts), and a call while it says 429. */
export function makeClient({
  baseUrl,
  apiKey,
  patienceMs = 60_000,
}: {
  baseUrl: string;
  apiKey: string;
  patienceMs?: number;
}) {
  async function call<T extends z.ZodType>(
    method: string,
    path: string,
    schema: T,
    body?: unknown,
  ): Promise<z.infer<T>> {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const answer = await send(method, path, body).catch((error: unknown) => asError(error));
      // A POST that broke off may have been carried out; sent again it would make a second one.
      const canRepeat = answer instanceof Error ? method === "GET" : isBusy(answer.status, method);
      if (canRepeat && Date.now() < deadline) {
        await pause(answer instanceof Error ? 1_000 : retryAfterMs(answer));
        continue;
      }
      if (answer instanceof Error)
        throw new Error(`${method} ${baseUrl}${path} got no answer: ${answer.message}`);
      const text = await answer.text();
      if (!answer.ok) throw new ApiError(`${method} ${path}`, answer.status, detailOf(text));
      return parse(`${method} ${path}`, schema, text);
    }
  }

  const send = (method: string, path: string, body: unknown) =>
    fetch(`${baseUrl}${path}`, {
      method,
      headers: { "X-API-Key": apiKey, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });

  const get = <T extends z.ZodType>(path: string, schema: T) => call("GET", path, schema);
  const post = <T extends z.ZodType>(path: string, schema: T, body?: unknown) =>
    call("POST", path, schema, body);

  async function all<T extends z.ZodType>(path: string, schema: T): Promise<z.infer<T>[]> {
    const items: z.infer<T>[] = [];
    for (let number = 1; ; number++) {
      const one = await get(
        `${path}${path.includes("?") ? "&" : "?"}page=${number}&page_size=100`,
        shape.page(schema),
      );
      items.push(...one.items);
      if (!one.has_more) return items;
    }
  }

  return {
    createDataset: (name: string, types: readonly string[]) =>
      post(`${v1}/datasets`, shape.dataset, { name, artifact_types: types.map((type) => ({ name: type })) }),
    listAudio: (datasetId: string) => all(`${v1}/datasets/${datasetId}/audio`, shape.audioFile),
    requestUpload: (datasetId: string, file: NewFile) =>
      post(`${v1}/datasets/${datasetId}/audio/upload-url`, shape.audioTicket, file),
    confirmUpload: (datasetId: string, audioFileId: string) =>
      post(`${v1}/datasets/${datasetId}/audio/${audioFileId}/confirm`, shape.audioFile, {}),

    createAnnotationSet: (datasetId: string) =>
      post(`${v1}/datasets/${datasetId}/annotation-sets`, shape.annotationSet, {}),
    addAnnotations: (datasetId: string, setId: string, annotations: readonly Annotation[]) =>
      post(`${v1}/datasets/${datasetId}/annotation-sets/${setId}/annotations/bulk`, shape.bulk, {
        annotations,
      }),
    publish: (datasetId: string, setId: string) =>
      post(`${v1}/datasets/${datasetId}/annotation-sets/${setId}/publish`, shape.annotationSet),

    createTrainingJob: (datasetId: string, setId: string, config: Record<string, unknown>) =>
      post(`${v1}/training-jobs`, shape.trainingJob, {
        dataset_id: datasetId,
        annotation_set_id: setId,
        config,
      }),
    getTrainingJob: (jobId: string) => get(`${v1}/training-jobs/${jobId}`, shape.trainingJob),
    getTrainingMetrics: (jobId: string) => get(`${v1}/training-jobs/${jobId}/metrics`, shape.trainingMetrics),
    listModels: (trainingJobId: string) => all(`${v1}/models?training_job_id=${trainingJobId}`, shape.model),

    createInferenceJob: (modelId: string, audioFileIds?: readonly string[]) =>
      post(`${v1}/inference-jobs`, shape.inferenceJob, { model_id: modelId, audio_file_ids: audioFileIds }),
    requestInferenceUpload: (jobId: string, file: NewFile) =>
      post(`${v1}/inference-jobs/${jobId}/files/upload-url`, shape.inferenceTicket, file),
    confirmInferenceUpload: (jobId: string, fileId: string) =>
      post(`${v1}/inference-jobs/${jobId}/files/${fileId}/confirm`, shape.inferenceFile, {}),
    startInferenceJob: (jobId: string) => post(`${v1}/inference-jobs/${jobId}/start`, shape.inferenceJob),
    getInferenceJob: (jobId: string) => get(`${v1}/inference-jobs/${jobId}`, shape.inferenceJob),
    listInferenceFiles: (jobId: string) => all(`${v1}/inference-jobs/${jobId}/files`, shape.inferenceFile),
    listDetections: (jobId: string) => all(`${v1}/inference-jobs/${jobId}/detections`, shape.detection),
  };
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** 429 was not carried out; 503 of a GET comes from a service that is starting or stopping. */
function isBusy(status: number, method: string): boolean {
  return status === 429 || (method === "GET" && (status === 502 || status === 503));
}

function retryAfterMs(answer: Response): number {
  const seconds = Number(answer.headers.get("Retry-After") ?? 1);
  return Math.min(30, Math.max(0.2, Number.isFinite(seconds) ? seconds : 1)) * 1000;
}

/** fetch hides the reason (ECONNREFUSED, a timeout) in `cause`. */
function asError(error: unknown): Error {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return new Error(`${error instanceof Error ? error.message : String(error)}${cause}`);
}

/** The problem in the API's words: a string, or the list of faulty fields of a 422. */
function detailOf(text: string): string {
  const problem = z
    .object({
      detail: z.union([
        z.string(),
        z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })),
      ]),
    })
    .safeParse(fromJson(text));
  if (!problem.success) return text.slice(0, 300);
  const { detail } = problem.data;
  return typeof detail === "string"
    ? detail
    : detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
}

function parse<T extends z.ZodType>(call: string, schema: T, text: string): z.infer<T> {
  const parsed = schema.safeParse(fromJson(text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new Error(`${call} answered with a body that the specification does not allow: ${problems}`);
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
