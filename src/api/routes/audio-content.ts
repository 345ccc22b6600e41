// The contents of an audio file: a presigned URL of its bytes, and the waveform that the worker computed.
import { oneAudioFile } from "../../db/audio-file.ts";
import { audioNotReady } from "../../errors.ts";
import {
  download as downloadSchema,
  waveformQuery,
  waveform as waveformSchema,
} from "../../schemas/audio-file.ts";
import { isNotFound } from "../../storage/errors.ts";
import { audioKey } from "../../storage/keys.ts";
import { defineRoute, type HandlerDeps } from "../route.ts";
import { holding } from "../shares.ts";
import { viewDownload } from "../view.ts";
import { audioParams } from "./audio-file.ts";

const base = "/api/v1/datasets/{dataset_id}/audio/{audio_file_id}";
/** The worker writes at most 480,000 numbers. */
const maxPeaksBytes = 8 * 1024 * 1024;

const download = defineRoute("GET", `${base}/download`, {
  operationId: "downloadAudioFile",
  summary: "Get a presigned URL of the original bytes",
  description:
    "Returns JSON and not a redirect, because a client that follows redirects would send its API key to the object store.",
  params: audioParams,
  answer: { status: 200, description: "The URL", schema: downloadSchema },
  conflicts: ["audio_not_ready"],
  handler: async ({ params, tenantId, deps }) => {
    const file = await oneAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id);
    if (file.uploaded_at === null)
      throw audioNotReady("The audio file has not been uploaded and confirmed yet");
    const { filename, size_bytes, checksum_sha256 } = file;
    const facts = { size_bytes, checksum_sha256 };
    return { body: await viewDownload(deps, audioKey(tenantId, file.id), filename, facts) };
  },
});

const waveform = defineRoute("GET", `${base}/waveform`, {
  operationId: "getWaveform",
  summary: "Read the waveform of an audio file",
  params: audioParams,
  query: waveformQuery,
  conditional: true,
  answer: { status: 200, description: "The peaks", schema: waveformSchema },
  conflicts: ["audio_not_ready"],
  handler: async ({ params, query, tenantId, deps }) => {
    const { peaks_key } = await oneAudioFile(deps.db, tenantId, params.dataset_id, params.audio_file_id);
    if (peaks_key === null) throw audioNotReady("The waveform has not been computed yet");
    return await holding(deps.shares.waveforms, tenantId, async () => {
      const bytes = await readPeaks(deps, peaks_key);
      return await deps.readWaveform({ bytes, samplesPerPixel: query.samples_per_pixel });
    });
  },
});

/** Reads the stored peaks. Throws audioNotReady if they were purged after the row was read. */
async function readPeaks(deps: HandlerDeps, key: string): Promise<Buffer> {
  try {
    return await deps.storage.readAll(key, maxPeaksBytes);
  } catch (error) {
    if (isNotFound(error)) throw audioNotReady("The waveform has been deleted");
    throw error;
  }
}

export const routes = [download, waveform];
