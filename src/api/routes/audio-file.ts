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
  updateAudioFile,
} from "../../db/audio-file.ts";
import { requireAudioRoom, requireDataset } from "../../db/dataset.ts";
import type { AudioQuota } from "../../db/quota.ts";
import { audioFile, audioUpload, listAudioQuery, updateAudioFileBody } from "../../schemas/audio-file.ts";
import { id, listOf } from "../../schemas/rest.ts";
import { audioKey } from "../../storage/keys.ts";
import { etagOf } from "../conditional.ts";
import { type Call, defineRoute, type HandlerDeps } from "../route.ts";
import { uploadRoutes } from "../upload-routes.ts";
import { listReply, show, viewOf } from "../view.ts";

const base = "/api/v1/datasets/{dataset_id}/audio";
export const inDataset = z.object({ dataset_id: id("Id of the dataset") });
export const audioParams = inDataset.extend({ audio_file_id: id("Id of the audio file") });

export const viewAudioFile = viewOf(audioFile);

/** Returns the quota of audio files and bytes. */
export const audioQuotaOf = ({ config }: HandlerDeps): AudioQuota => ({
  maxFiles: config.PLOSIVE_QUOTA_AUDIO_FILES,
  maxBytes: config.PLOSIVE_QUOTA_BYTES,
});

const { createUpload, createUploads, parts, confirm } = uploadRoutes<
  typeof inDataset,
  typeof audioParams,
  AudioFileRow
>({
  path: base,
  params: inDataset,
  locationOf: ({ dataset_id }) => `/api/v1/datasets/${dataset_id}/audio`,
  filePath: `${base}/{audio_file_id}`,
  fileParams: audioParams,
  name: "Audio",
  file: "audio_file",
  ticket: audioUpload,
  schema: audioFile,
  view: viewAudioFile,
  insert: async ({ params: { dataset_id: datasetId }, tenantId, deps }, uploads) => {
    await requireAudioRoom(deps.db, tenantId, datasetId, uploads, audioQuotaOf(deps));
    const { PLOSIVE_UPLOAD_LIFETIME_SECONDS: lifetimeSeconds } = deps.config;
    return await insertAudioFiles(deps.db, tenantId, datasetId, uploads, lifetimeSeconds);
  },
  many: ({ params, tenantId, deps }, ids) => manyAudioFiles(deps.db, tenantId, params.dataset_id, ids),
  read: ({ params, tenantId, deps }) =>
    oneAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id),
  keyOf: (tenantId, row) => audioKey(tenantId, row.id),
  markUploaded: ({ params, tenantId, deps }, audio) =>
    markUploaded(deps.db, tenantId, params.audio_file_id, audio),
});

const list = defineRoute("GET", base, {
  operationId: "listAudioFiles",
  summary: "List the audio files of a dataset",
  params: inDataset,
  query: listAudioQuery,
  answer: { status: 200, description: "One page", schema: listOf(audioFile) },
  handler: async ({ params, query, tenantId, deps }) => {
    await requireDataset(deps.db, tenantId, params.dataset_id);
    const page = await listAudioFiles(deps.db, tenantId, params.dataset_id, query);
    return listReply(page, query, viewAudioFile);
  },
});

const read = defineRoute("GET", `${base}/{audio_file_id}`, {
  operationId: "getAudioFile",
  summary: "Read an audio file's record",
  params: audioParams,
  conditional: true,
  answer: { status: 200, description: "The audio file", schema: audioFile },
  handler: ({ params, tenantId, deps }) =>
    show(oneAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id), viewAudioFile),
});

const update = defineRoute("PATCH", `${base}/{audio_file_id}`, {
  operationId: "updateAudioFile",
  summary: "Change the file name or the metadata",
  params: audioParams,
  body: updateAudioFileBody,
  guard,
  answer: { status: 200, description: "The audio file", schema: audioFile },
  handler: ({ params, body, tenantId, deps }) =>
    show(updateAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id, body), viewAudioFile),
});

const remove = defineRoute("DELETE", `${base}/{audio_file_id}`, {
  operationId: "deleteAudioFile",
  summary: "Delete an audio file and its annotations in drafts",
  description:
    "Refused while a published annotation set labels the file or a job that has not ended uses it. Its bytes are deleted after a grace period, 7 days by default.",
  params: audioParams,
  reads: "all",
  answer: { status: 204, description: "The audio file is deleted" },
  conflicts: ["audio_in_use", "annotation_set_copying"],
  guard,
  handler: ({ params, tenantId, deps }) =>
    deleteAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id),
});

async function guard({ params, tenantId, deps }: Call<z.infer<typeof audioParams>>) {
  const { dataset_id, audio_file_id } = params;
  await lockAudioFile(deps.db, tenantId, dataset_id, audio_file_id);
  return [etagOf(viewAudioFile(await oneAudioFile(deps.db, tenantId, dataset_id, audio_file_id)))];
}

export const tickets = [createUpload, createUploads];
export const routes = [parts, confirm, list, read, update, remove];
