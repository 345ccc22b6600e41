// The three steps of an upload: request a ticket, send the bytes to the object store, confirm. Small files are sent as a
// form, large ones in parts, which can be resumed. For audio files of datasets and for files of inference jobs. Used by the
// demo, the tests and the dashboard.
import { body, type Client } from "./client.ts";
import type { AudioFile, AudioUpload, CreateUpload, InferenceFile, UploadParts } from "./schema.ts";

export interface LocalFile {
  readonly name: string;
  readonly bytes: Blob;
  readonly contentType: CreateUpload["content_type"];
  /** Hexadecimal digest. With it, the service or the object store verifies the upload. */
  readonly sha256?: string;
}

/** Sends one request to the object store. A browser's XMLHttpRequest, unlike fetch, reports progress. */
export type Transport = (
  url: string,
  request: { readonly method: string; readonly body: Blob | FormData },
) => Promise<Response>;

const byFetch: Transport = (url, request) => fetch(url, { ...request, signal: AbortSignal.timeout(300_000) });

export interface UploadOptions {
  /** Larger files are sent in parts; by default those from 100 MB on. */
  readonly partsFromBytes?: number;
  /** Called before the bytes of a large file are sent. With the id, another process can resume the upload. */
  readonly onTicket?: (id: string) => unknown;
}

/** Larger files are sent in parts. */
export const partsFromBytes = 100_000_000;

export async function uploadAudio(
  client: Client,
  datasetId: string,
  file: LocalFile,
  options: UploadOptions = {},
): Promise<AudioFile> {
  const ticket = await body(
    client.POST("/api/v1/datasets/{dataset_id}/audio/upload-url", {
      params: { path: { dataset_id: datasetId } },
      body: announcement(file),
    }),
  );
  const resume = () => resumeAudioUpload(client, datasetId, ticket.audio_file_id, file);
  if (await isForParts(file, ticket.audio_file_id, options)) return await resume();
  await sendForm(ticket.upload, file);
  return await confirmAudio(client, datasetId, ticket.audio_file_id);
}

/** Sends the parts that the object store does not have yet, and confirms the upload. */
export async function resumeAudioUpload(
  client: Client,
  datasetId: string,
  audioFileId: string,
  file: LocalFile,
): Promise<AudioFile> {
  const path = { dataset_id: datasetId, audio_file_id: audioFileId };
  await sendParts(file, () =>
    body(client.POST("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/parts", { params: { path } })),
  );
  return await confirmAudio(client, datasetId, audioFileId);
}

const confirmAudio = (client: Client, datasetId: string, audioFileId: string) =>
  body(
    client.POST("/api/v1/datasets/{dataset_id}/audio/{audio_file_id}/confirm", {
      params: { path: { dataset_id: datasetId, audio_file_id: audioFileId } },
    }),
  );

export async function uploadForInference(
  client: Client,
  jobId: string,
  file: LocalFile,
  options: UploadOptions = {},
): Promise<InferenceFile> {
  const ticket = await body(
    client.POST("/api/v1/inference-jobs/{inference_job_id}/files/upload-url", {
      params: { path: { inference_job_id: jobId } },
      body: announcement(file),
    }),
  );
  const resume = () => resumeInferenceUpload(client, jobId, ticket.inference_file_id, file);
  if (await isForParts(file, ticket.inference_file_id, options)) return await resume();
  await sendForm(ticket.upload, file);
  return await confirmInference(client, jobId, ticket.inference_file_id);
}

/** Sends the parts that the object store does not have yet, and confirms the upload. */
export async function resumeInferenceUpload(
  client: Client,
  jobId: string,
  fileId: string,
  file: LocalFile,
): Promise<InferenceFile> {
  const path = { inference_job_id: jobId, file_id: fileId };
  await sendParts(file, () =>
    body(
      client.POST("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/parts", { params: { path } }),
    ),
  );
  return await confirmInference(client, jobId, fileId);
}

const confirmInference = (client: Client, jobId: string, fileId: string) =>
  body(
    client.POST("/api/v1/inference-jobs/{inference_job_id}/files/{file_id}/confirm", {
      params: { path: { inference_job_id: jobId, file_id: fileId } },
    }),
  );

function announcement(file: LocalFile): CreateUpload {
  return {
    filename: file.name,
    content_type: file.contentType,
    size_bytes: file.bytes.size,
    ...(file.sha256 === undefined ? {} : { checksum_sha256: file.sha256 }),
  };
}

async function isForParts(file: LocalFile, id: string, options: UploadOptions): Promise<boolean> {
  if (file.bytes.size < (options.partsFromBytes ?? partsFromBytes)) return false;
  await options.onTicket?.(id);
  return true;
}

/** Step 2: posts the form. The file must be the last field: S3 ignores all fields after it. */
export async function sendForm(
  { url, method, fields }: AudioUpload["upload"],
  file: LocalFile,
  transport = byFetch,
): Promise<void> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", file.bytes, file.name);
  const answer = await send(url, { method, body: form }, file.name, transport);
  if (!answer.ok) throw await refusal(answer, file.name);
}

/** Step 2 for large files: puts every missing part. `ask` returns the next ones with new URLs. */
export async function sendParts(
  file: LocalFile,
  ask: () => Promise<UploadParts>,
  transport = byFetch,
): Promise<void> {
  let areAllSent = false;
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const { missing_part_count: missing, parts } = await ask();
    if (missing === 0) return;
    if (missing >= left && areAllSent)
      throw new Error(`uploading ${file.name}: the object store accepted parts and has not kept them`);
    areAllSent = true;
    for (const { url, method, offset_bytes: start, size_bytes: size } of parts) {
      const bytes = file.bytes.slice(start, start + size);
      const answer = await send(url, { method, body: bytes }, file.name, transport);
      if (answer.ok) continue;
      // The URLs have expired, or the service started the upload anew: ask again, unless that has brought nothing.
      if (![403, 404].includes(answer.status) || missing >= left) throw await refusal(answer, file.name);
      await answer.body?.cancel();
      areAllSent = false;
      break;
    }
    left = missing;
  }
}

/** Temporary failures of the object store: a concurrent upload, too many requests, an internal error. */
const temporary = new Set([409, 429, 500, 502, 503, 504]);

/** Repeats a request that failed temporarily. The API key must never go to the object store; the URL or the form is signed. */
async function send(url: string, request: Parameters<Transport>[1], name: string, transport: Transport) {
  const store = new URL(url).origin;
  for (let tries = 1; ; tries++) {
    const answer = await transport(url, request).catch((error: unknown) => {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new Error(`uploading ${name} to the object store at ${store} failed: ${String(reason)}`, {
        cause: error,
      });
    });
    if (!temporary.has(answer.status) || tries === 4) {
      if (answer.ok) await answer.body?.cancel();
      return answer;
    }
    await answer.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** tries));
  }
}

async function refusal(answer: Response, name: string): Promise<Error> {
  const text = (await answer.text()).slice(0, 300);
  return new Error(`the object store refused ${name} with ${answer.status}: ${text}`);
}
