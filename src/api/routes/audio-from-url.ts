// POST /api/v1/datasets/{dataset_id}/audio/from-url: a file that the service fetches. src/uploads/fetches.ts fetches it.
import { type AudioFileRow, oneAudioFile } from "../../db/audio-file.ts";
import { requireAudioRoom } from "../../db/dataset.ts";
import { newId } from "../../db/driver/id.ts";
import { insertUrlUpload } from "../../db/url-upload.ts";
import { type AudioType, audioFile, fromUrlBody } from "../../schemas/audio-file.ts";
import { defineRoute } from "../route.ts";
import { targetOf } from "../target.ts";
import { audioQuotaOf, inDataset, viewAudioFile } from "./audio-file.ts";

const replyOf = (row: AudioFileRow) => ({
  created: [row.id],
  location: `/api/v1/datasets/${row.dataset_id}/audio/${row.id}`,
  body: viewAudioFile(row),
});

export const createFromUrl = defineRoute("POST", "/api/v1/datasets/{dataset_id}/audio/from-url", {
  operationId: "createAudioFromUrl",
  summary: "Add an audio file that the service fetches from a URL",
  description:
    "The service fetches the file in the background and checks it as at a confirm. Its status is `pending_upload` until then, and `failed` if it cannot be fetched; `error_message` says why. No response shows the URL.",
  params: inDataset,
  body: fromUrlBody,
  rate: "uploads",
  answer: { status: 201, description: "The audio file", schema: audioFile },
  handler: async ({ params: { dataset_id: datasetId }, body, tenantId, deps }) => {
    const { url: text, ...rest } = body;
    const { url, host } = targetOf(text, deps);
    const filename = body.filename ?? nameIn(url) ?? "audio";
    const content_type = body.content_type ?? typeOf(filename) ?? typeOf(nameIn(url)) ?? unknownType;
    const upload = { ...rest, id: newId(), filename, content_type };
    await requireAudioRoom(deps.db, tenantId, datasetId, [{ size_bytes: 0 }], audioQuotaOf(deps));
    const sealed = { url: deps.secrets.seal(Buffer.from(url), upload.id), host };
    const { PLOSIVE_UPLOAD_LIFETIME_SECONDS: lifetimeSeconds } = deps.config;
    return replyOf(await insertUrlUpload(deps.db, tenantId, datasetId, upload, sealed, lifetimeSeconds));
  },
  idempotent: async ({ params, tenantId, deps }, [id = ""]) =>
    replyOf(await oneAudioFile(deps.db, tenantId, params.dataset_id, id)),
});

/** Until the response says which one it is. */
const unknownType = "application/octet-stream";
const types: Readonly<Record<string, AudioType>> = {
  wav: "audio/wav",
  flac: "audio/flac",
  mp3: "audio/mpeg",
  ogg: "audio/ogg",
  opus: "audio/opus",
};

const typeOf = (name = ""): AudioType | undefined => types[name.split(".").at(-1)?.toLowerCase() ?? ""];

/** The name of the file in the URL, only if it ends like one of audio: another segment of the path may be a secret. */
function nameIn(url: string): string | undefined {
  const [, segment = ""] = /\/([^/?]*)(?:\?|$)/.exec(url.replace(/^https?:\/\/[^/?]*/i, "")) ?? [];
  try {
    const name = decodeURIComponent(segment);
    return typeOf(name) !== undefined && /^[^\p{Cc}/\\]{1,255}$/u.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
