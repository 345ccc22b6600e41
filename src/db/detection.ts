// Detections: what inference found. Written by the operator's ingestion, read here.
import { sql } from "slonik";
import { z } from "zod";
import { type Db, type Page, type PageRequest, selectPage } from "./page.ts";

const row = z.object({
  id: z.string(),
  inference_file_id: z.string(),
  artifact_type: z.string(),
  start_ms: z.number(),
  end_ms: z.number(),
  confidence: z.number(),
});
export type DetectionRow = z.infer<typeof row>;

/** One page of a job's detections, by file and place in the file. */
export async function listDetections(
  db: Db,
  tenantId: string,
  jobId: string,
  query: PageRequest & { inference_file_id?: string; artifact_type?: string[]; min_confidence?: number },
): Promise<Page<DetectionRow>> {
  const conditions = [sql.fragment`tenant_id = ${tenantId} and inference_job_id = ${jobId}`];
  if (query.inference_file_id !== undefined)
    conditions.push(sql.fragment`inference_file_id = ${query.inference_file_id}`);
  if (query.artifact_type !== undefined)
    conditions.push(sql.fragment`artifact_type = any(${sql.array(query.artifact_type, "text")})`);
  if (query.min_confidence !== undefined)
    conditions.push(sql.fragment`confidence >= ${query.min_confidence}`);
  return await selectPage(
    db,
    row,
    {
      columns: sql.fragment`id, inference_file_id, ordinal, artifact_type, start_ms, end_ms, confidence`,
      from: sql.fragment`detections where ${sql.join(conditions, sql.fragment` and `)}`,
      order: sql.fragment`inference_file_id, ordinal`,
    },
    query,
  );
}
