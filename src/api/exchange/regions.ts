// Reads the regions of an export: the annotations of a set, or the detections of an inference job, each with its file.
// In batches, so that an export is never in memory as a whole. Called by the export routes.
import { eachAnnotation, type SetPlace } from "../../db/annotation.ts";
import { namesOfAudio } from "../../db/audio-file.ts";
import { type DetectionFilter, eachDetection } from "../../db/detection.ts";
import type { Db } from "../../db/driver/page.ts";
import { namesOfInferenceFiles } from "../../db/inference-file.ts";
import type { AnnotationFilter } from "../../schemas/annotation.ts";
import { audioKey } from "../../storage/keys.ts";
import type { Region, RegionFile, Regions } from "./format.ts";

/** Writing a batch takes the event loop about a millisecond. */
const batchSize = 250;

/** Yields the annotations of the set that match the filter, ordered by file, start and id. */
export async function* annotationRegions(db: Db, place: SetPlace, filter: AnnotationFilter): Regions {
  const { tenantId, datasetId } = place;
  for await (const rows of eachAnnotation(db, place, filter, batchSize)) {
    const ids = [...new Set(rows.map((row) => row.audio_file_id))];
    const names = await namesOfAudio(db, tenantId, datasetId, ids);
    const files = new Map(ids.map((id) => [id, audioFileOf(tenantId, id, names.get(id) ?? "")]));
    yield rows.map((row) => ({
      id: row.id,
      file: files.get(row.audio_file_id)!,
      type: row.artifact_type,
      startMs: row.start_ms,
      endMs: row.end_ms,
      confidence: row.confidence,
      extraData: row.extra_data,
      annotator: row.annotator,
    }));
  }
}

function audioFileOf(tenantId: string, id: string, filename: string): RegionFile {
  return { id, audioFileId: id, filename, objectKey: audioKey(tenantId, id) };
}

/** Yields the detections of the job that match the filter, ordered by file and start. */
export async function* detectionRegions(
  db: Db,
  tenantId: string,
  jobId: string,
  filter: DetectionFilter,
): Regions {
  for await (const rows of eachDetection(db, tenantId, jobId, filter, batchSize)) {
    const ids = [...new Set(rows.map((row) => row.inference_file_id))];
    const names = await namesOfInferenceFiles(db, tenantId, jobId, ids);
    const files = new Map(
      [...names.values()].map(({ id, audio_file_id, filename, object_key }): [string, RegionFile] => [
        id,
        { id, audioFileId: audio_file_id, filename, objectKey: object_key },
      ]),
    );
    // Skips detections whose file was deleted after this batch was read.
    yield rows.flatMap((row): Region[] => {
      const file = files.get(row.inference_file_id);
      if (file === undefined) return [];
      const { id, artifact_type: type, start_ms: startMs, end_ms: endMs, confidence } = row;
      return [{ id, file, type, startMs, endMs, confidence, extraData: {}, annotator: null }];
    });
  }
}
