// The three steps of an upload: request a ticket, post the form to the object store, confirm. For audio files of
// datasets and for files of inference jobs. Used by the demo, the tests and the dashboard.
import { body, type Client } from "./client.ts";
import type { AudioFile, AudioUpload, CreateUpload, InferenceFile } from "./schema.ts";

export interface LocalFile {
  readonly name: string;
  readonly bytes: Blob;
  readonly contentType: CreateUpload["content_type"];
  /** Hexadecimal digest. With it, the object store verifies the upload. */
  readonly sha256?: string;
}

export async function uploadAudio(client: Client, datasetId: string, file: LocalFile): Promise<AudioFile> {
  const ticket = await body(
    client.POST("/api/v1/datasets/{dataset_id}/audio/upload-url", {
      params: { path: { dataset_id: datasetId } },
      body: announcement(file),
    }),
  );
  await sendForm(ticket.upload, file);
  return await body(
    client.POST("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/confirm", {
      params: { path: { dataset_id: datasetId, audio_file_id: ticket.audio_file_id } },
    }),
  );
}

export async function uploadForInference(
  client: Client,
  jobId: string,
  file: LocalFile,
): Promise<InferenceFile> {
  const ticket = await body(
    client.POST("/api/v1/inference-jobs/{inference_job_id}/files/upload-url", {
      params: { path: { inference_job_id: jobId } },
      body: announcement(file),
    }),
  );
  await sendForm(ticket.upload, file);
  return await body(
    client.POST("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/confirm", {
      params: { path: { inference_job_id: jobId, file_id: ticket.inference_file_id } },
    }),
  );
}

function announcement(file: LocalFile): CreateUpload {
  return {
    filename: file.name,
    content_type: file.contentType,
    size_bytes: file.bytes.size,
    ...(file.sha256 === undefined ? {} : { checksum_sha256: file.sha256 }),
  };
}

/**
 * Temporary failures of the object store: a concurrent upload, too many requests, an internal error. The form stays
 * valid.
 */
const temporary = new Set([409, 429, 500, 502, 503, 504]);

/** Step 2: posts the form. The API key must never go to the object store; the form has a signature of its own. */
export async function sendForm(
  { url, method, fields }: AudioUpload["upload"],
  file: LocalFile,
): Promise<void> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  // The file must be the last field: S3 ignores all fields after it.
  form.append("file", file.bytes, file.name);
  const store = new URL(url).origin;
  const send = () =>
    fetch(url, { method, body: form, signal: AbortSignal.timeout(300_000) }).catch((error: unknown) => {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new Error(`uploading ${file.name} to the object store at ${store} failed: ${String(reason)}`, {
        cause: error,
      });
    });
  let answer = await send();
  for (let tries = 1; temporary.has(answer.status) && tries < 4; tries++) {
    await answer.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** tries));
    answer = await send();
  }
  if (!answer.ok) {
    const text = (await answer.text()).slice(0, 300);
    throw new Error(`the object store refused ${file.name} with ${answer.status}: ${text}`);
  }
  await answer.body?.cancel();
}
