// Reads two inference jobs, their shared files and their detections in those. Called by comparison.tsx.

import { allItems } from "../../../../client/client.ts";
import type { Detection, InferenceFile, InferenceJob } from "../../../../client/schema.ts";
import { api, body } from "../../app/api.ts";
import { type Found, type Pairing, pair, sharedFiles } from "../../compare/pairing.ts";

/** A detection with the file that it is in, to listen to it. */
export interface Heard extends Found {
  readonly source: InferenceFile;
}

export interface Compared {
  readonly a: InferenceJob;
  readonly b: InferenceJob;
  /** Names of the shared files, by the names that detections have for their files. */
  readonly files: ReadonlyMap<string, string>;
  readonly pairing: Pairing<Heard>;
}

/** More would take the browser too long; a part of the files can be searched again in jobs of their own. */
export const mostDetections = 200_000;

export async function loadComparison(a: string, b: string): Promise<Compared | "too-many"> {
  const [jobA, jobB] = await Promise.all([jobOf(a), jobOf(b)]);
  if (jobA.total_detections + jobB.total_detections > mostDetections) return "too-many";
  const [filesA, filesB] = await Promise.all([filesOf(a), filesOf(b)]);
  const { keyOfA, keyOfB } = sharedFiles(filesA, filesB);
  const [foundA, foundB] = await Promise.all([
    keyOfA.size === 0 ? [] : foundIn(a, filesA, keyOfA),
    keyOfB.size === 0 ? [] : foundIn(b, filesB, keyOfB),
  ]);
  const files = new Map(filesA.filter(({ id }) => keyOfA.has(id)).map(({ id, filename }) => [id, filename]));
  return { a: jobA, b: jobB, files, pairing: pair(foundA, foundB) };
}

const jobOf = (id: string) =>
  body(api.GET("/api/v1/inference-jobs/{inference_job_id}", { params: { path: { inference_job_id: id } } }));

const filesOf = (id: string) =>
  allItems((query) =>
    api.GET("/api/v1/inference-jobs/{inference_job_id}/files", {
      params: { path: { inference_job_id: id }, query: { ...query, status: "completed" } },
    }),
  );

async function foundIn(
  jobId: string,
  files: readonly InferenceFile[],
  keyOf: ReadonlyMap<string, string>,
): Promise<readonly Heard[]> {
  const exported = await body(
    api.GET("/api/v1/inference-jobs/{inference_job_id}/export", {
      params: { path: { inference_job_id: jobId }, query: { format: "json" } },
    }),
  );
  const detections: readonly Detection[] = Array.isArray(exported) ? exported : [];
  const byId = new Map(files.map((file) => [file.id, file]));
  return detections.flatMap((detection) => {
    const file = keyOf.get(detection.inference_file_id);
    const source = byId.get(detection.inference_file_id);
    if (file === undefined || source === undefined) return [];
    return {
      id: detection.id,
      file,
      type: detection.artifact_type,
      startMs: detection.start_ms,
      endMs: detection.end_ms,
      confidence: detection.confidence,
      source,
    };
  });
}
