// /api/v1/datasets/{dataset_id}/audio: audio files and their three-step upload.
import { z } from "zod";
import {
  type AudioFileRow,
  deleteAudioFile,
  insertAudioFiles,
  listAudioFiles,
  lockAudioFile,
  manyAudioFiles,
  markUploaded,
  oneAudioFile,
  recordRefusedUpload,
  updateAudioFile,
} from "../../db/audio-file.ts";
import { requireAudioRoom, requireDataset } from "../../db/dataset.ts";
import { uploadExpired } from "../../errors.ts";
import {
  audioFile,
  audioUpload,
  confirmBody,
  listAudioQuery,
  updateAudioFileBody,
  uploadBody,
} from "../../schemas/audio-file.ts";
import { id, listOf } from "../../schemas/rest.ts";
import { audioKey } from "../../storage/keys.ts";
import { etagOf } from "../conditional.ts";
import { type Call, defineRoute, type HandlerDeps, type Reply } from "../route.ts";
import {
  acceptUpload,
  audioQuotaOf,
  confirmAlone,
  discardUpload,
  signUpload,
  toNewUploads,
  type UploadRequest,
} from "../upload.ts";
import { envelope, viewOf } from "../view.ts";

const base = "/api/v1/datasets/{dataset_id}/audio";
const inDataset = z.object({ dataset_id: id("Id of the dataset") });
export const audioParams = inDataset.extend({ audio_file_id: id("Id of the audio file") });

const viewAudioFile = viewOf(audioFile);

export const createUpload = defineRoute({
  method: "POST",
  path: `${base}/upload-url`,
  operationId: "createAudioUpload",
  summary: "Step 1 of 3: request an upload ticket",
  description:
    "Step 2: POST `upload.fields` and then the bytes as `file` to `upload.url`, as multipart/form-data. Step 3: confirm the upload.",
  tag: "Audio files",
  params: inDataset,
  body: uploadBody.meta({ id: "CreateUpload" }),
  rate: "uploads",
  answer: { status: 201, description: "The upload ticket", schema: audioUpload },
  handler: async ({ params, body, tenantId, deps }) => {
    const rows = await announce(deps, tenantId, params.dataset_id, [body], () => ["body"]);
    return await oneTicket(deps, rows);
  },
  idempotent: async ({ params, tenantId, deps }, ids) =>
    await oneTicket(deps, await manyAudioFiles(deps.db, tenantId, params.dataset_id, ids)),
});

export const createUploads = defineRoute({
  method: "POST",
  path: `${base}/upload-urls`,
  operationId: "createAudioUploads",
  summary: "Step 1 of 3: request upload tickets for up to 100 files",
  tag: "Audio files",
  params: inDataset,
  body: z.object({ files: z.array(uploadBody).min(1).max(100) }).meta({ id: "CreateUploads" }),
  rate: "uploads",
  answer: {
    status: 201,
    description: "The upload tickets, in the order of the request",
    schema: z.object({ items: z.array(audioUpload), total: z.int() }).meta({ id: "AudioUploads" }),
  },
  handler: async ({ params, body, tenantId, deps }) => {
    const rows = await announce(deps, tenantId, params.dataset_id, body.files, (i) => ["body", "files", i]);
    return await allTickets(deps, params.dataset_id, rows);
  },
  idempotent: async ({ params, tenantId, deps }, ids) => {
    const rows = await manyAudioFiles(deps.db, tenantId, params.dataset_id, ids);
    return await allTickets(deps, params.dataset_id, rows);
  },
});

async function announce(
  deps: HandlerDeps,
  tenantId: string,
  datasetId: string,
  requests: readonly UploadRequest[],
  locOf: (index: number) => (string | number)[],
) {
  const uploads = toNewUploads(deps, requests, locOf);
  await requireAudioRoom(deps.db, tenantId, datasetId, uploads, audioQuotaOf(deps));
  return await insertAudioFiles(
    deps.db,
    tenantId,
    datasetId,
    uploads,
    deps.config.PLOSIVE_UPLOAD_LIFETIME_SECONDS,
  );
}

async function oneTicket(deps: HandlerDeps, rows: readonly AudioFileRow[]): Promise<Reply> {
  const row = rows[0]!;
  return {
    created: [row.id],
    location: locationOf(row.dataset_id, row.id),
    body: await ticketOf(deps, row),
  };
}

async function allTickets(
  deps: HandlerDeps,
  datasetId: string,
  rows: readonly AudioFileRow[],
): Promise<Reply> {
  const items = await Promise.all(rows.map((row) => ticketOf(deps, row)));
  return {
    created: rows.map((row) => row.id),
    location: `/api/v1/datasets/${datasetId}/audio`,
    body: { items, total: items.length },
  };
}

async function ticketOf(deps: HandlerDeps, row: AudioFileRow) {
  return {
    audio_file_id: row.id,
    upload: await signUpload(deps, row.tenant_id, {
      id: row.id,
      contentType: row.content_type,
      sizeBytes: row.size_bytes,
      checksumSha256: row.checksum_sha256,
    }),
    max_size_bytes: deps.config.PLOSIVE_UPLOAD_MAX_BYTES,
    audio_file: viewAudioFile(row),
  };
}

export const confirm = defineRoute({
  method: "POST",
  path: `${base}/{audio_file_id}/confirm`,
  operationId: "confirmAudioUpload",
  summary: "Step 3 of 3: confirm the upload; the service checks the file and then embeds it",
  tag: "Audio files",
  params: audioParams,
  body: confirmBody,
  bodyOptional: true,
  answer: { status: 200, description: "The audio file", schema: audioFile },
  conflicts: [
    "upload_not_found",
    "upload_mismatch",
    "unsupported_audio",
    "upload_expired",
    "request_in_progress",
  ],
  handler: async ({ params, body, tenantId, deps }) => {
    const { dataset_id, audio_file_id } = params;
    const known = await oneAudioFile(deps.db, tenantId, dataset_id, audio_file_id);
    if (known.status === "expired") throw uploadExpired();
    if (known.status !== "pending_upload") return { body: viewAudioFile(known) };
    const confirmed = await confirmAlone(deps, tenantId, known.id, async (requireHeld) => {
      const file = await oneAudioFile(deps.db, tenantId, dataset_id, audio_file_id);
      if (file.status !== "pending_upload") return file;
      const key = audioKey(tenantId, file.id);
      const recordRefusal = (reason: string) => recordRefusedUpload(deps.db, tenantId, file.id, reason);
      const audio = await acceptUpload(deps, tenantId, file, key, body.checksum_sha256, {
        requireHeld,
        recordRefusal,
      });
      await markUploaded(deps.db, tenantId, file.id, audio);
      return await oneAudioFile(deps.db, tenantId, dataset_id, audio_file_id);
    });
    discardUpload(deps, tenantId, known.id);
    return { body: viewAudioFile(confirmed) };
  },
});

export const list = defineRoute({
  method: "GET",
  path: base,
  operationId: "listAudioFiles",
  summary: "List the audio files of a dataset",
  tag: "Audio files",
  params: inDataset,
  query: listAudioQuery,
  answer: { status: 200, description: "One page", schema: listOf(audioFile) },
  handler: async ({ params, query, tenantId, deps }) => {
    await requireDataset(deps.db, tenantId, params.dataset_id);
    const page = await listAudioFiles(deps.db, tenantId, params.dataset_id, query);
    return { body: envelope(page, query, viewAudioFile) };
  },
});

export const read = defineRoute({
  method: "GET",
  path: `${base}/{audio_file_id}`,
  operationId: "getAudioFile",
  summary: "Read an audio file's record",
  tag: "Audio files",
  params: audioParams,
  conditional: true,
  answer: { status: 200, description: "The audio file", schema: audioFile },
  handler: async ({ params, tenantId, deps }) => ({
    body: viewAudioFile(await oneAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id)),
  }),
});

export const update = defineRoute({
  method: "PATCH",
  path: `${base}/{audio_file_id}`,
  operationId: "updateAudioFile",
  summary: "Change the file name or the metadata",
  tag: "Audio files",
  params: audioParams,
  body: updateAudioFileBody,
  guard,
  answer: { status: 200, description: "The audio file", schema: audioFile },
  handler: async ({ params, body, tenantId, deps }) => ({
    body: viewAudioFile(
      await updateAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id, body),
    ),
  }),
});

export const remove = defineRoute({
  method: "DELETE",
  path: `${base}/{audio_file_id}`,
  operationId: "deleteAudioFile",
  summary: "Delete an audio file and its annotations in drafts",
  description:
    "Refused while a published annotation set labels the file or a job that has not ended uses it. Its bytes are deleted after a grace period, 7 days by default.",
  tag: "Audio files",
  params: audioParams,
  answer: { status: 204, description: "The audio file is deleted" },
  conflicts: ["audio_in_use", "annotation_set_copying"],
  guard,
  handler: async ({ params, tenantId, deps }) => {
    await deleteAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id);
    return {};
  },
});

async function guard({ params, tenantId, deps }: Call<z.infer<typeof audioParams>>) {
  const { dataset_id, audio_file_id } = params;
  await lockAudioFile(deps.db, tenantId, dataset_id, audio_file_id);
  return [etagOf(viewAudioFile(await oneAudioFile(deps.db, tenantId, dataset_id, audio_file_id)))];
}

const locationOf = (datasetId: string, audioFileId: string) =>
  `/api/v1/datasets/${datasetId}/audio/${audioFileId}`;
