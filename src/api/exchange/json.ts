// Export for programs: a bare JSON array of an inference job's detections, each with the name of its file.
import { jsonArray } from "../view.ts";
import type { Format, Region, Regions } from "./format.ts";

export const json: Format = {
  contentType: "application/json; charset=utf-8",
  extension: "json",
  example: "",
  write: (regions) => jsonArray(itemsOf(regions)),
};

async function* itemsOf(regions: Regions): AsyncGenerator<string> {
  for await (const batch of regions)
    yield batch.map((region) => JSON.stringify(viewRegion(region))).join(",");
}

function viewRegion({ id, file, type, startMs, endMs, confidence }: Region) {
  return {
    id,
    inference_file_id: file.id,
    audio_file_id: file.audioFileId,
    filename: file.filename,
    artifact_type: type,
    start_ms: startMs,
    end_ms: endMs,
    confidence,
  };
}
