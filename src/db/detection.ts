// Detections: the results of inference jobs. The operator's ingest writes them (ingest.ts); this file reads them for
// src/api.
import { type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { detectionRecord, type listDetectionsQuery } from "../schemas/detection.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { type Db, fits, inBatches, type Page, type PageRequest, selectPage } from "./driver/page.ts";

const row = rowOf(detectionRecord, { ordinal: z.number() });
const columns = columnsOf(row);
export type DetectionRow = z.infer<typeof row>;

export type DetectionFilter = Omit<z.infer<typeof listDetectionsQuery>, keyof PageRequest>;

/** Returns one page of a job's detections, by file and position in the file. */
export async function listDetections(
  db: Db,
  tenantId: string,
  jobId: string,
  query: PageRequest & DetectionFilter,
): Promise<Page<DetectionRow>> {
  const from = sql.fragment`detections where ${matching(tenantId, jobId, query)}`;
  const order = sql.fragment`inference_file_id, ordinal`;
  const position = sql.fragment`inference_file_id || '.' || ordinal`;
  const [file = "", ordinal = ""] = query.cursor?.split(".") ?? [];
  const after = query.cursor === undefined ? undefined : afterDetection(query, file, Number(ordinal));
  const isWhole = (query.inference_file_id ?? query.artifact_type ?? query.min_confidence) === undefined;
  // Each ingest updates it with the detections.
  const count = sql.fragment`
    select total_detections from inference_jobs where tenant_id = ${tenantId} and id = ${jobId}`;
  const total = isWhole ? count : undefined;
  return await selectPage(db, row, { columns, from, order, position, after, total }, query);
}

/** Yields all matching detections by file and position in the file. */
export function eachDetection(
  db: Db,
  tenantId: string,
  jobId: string,
  filter: DetectionFilter = {},
  batchSize = 2_000,
) {
  return inBatches<DetectionRow>(batchSize, (last) =>
    db.any(sql.type(row)`
      select ${columns} from detections where ${matching(tenantId, jobId, filter, last)}
      order by inference_file_id, ordinal limit ${batchSize}`),
  );
}

const summary = z.object({ files: z.number(), detections: z.number(), types: z.array(z.string()) });

/** Counts the files that a job shares with a dataset and the detections in them, and lists the detections' types. */
export async function summarizeDetections(
  db: Db,
  tenantId: string,
  jobId: string,
  from: { datasetId: string; minConfidence: number },
): Promise<z.infer<typeof summary>> {
  return await db.one(sql.type(summary)`
    with files as (
      select f.id from inference_files f
      join audio_files a on a.tenant_id = f.tenant_id and a.dataset_id = ${from.datasetId} and a.id = f.audio_file_id
      where f.tenant_id = ${tenantId} and f.inference_job_id = ${jobId}
    ), found as (
      select artifact_type, count(*) as count from detections
      where tenant_id = ${tenantId} and inference_job_id = ${jobId} and confidence >= ${from.minConfidence}
        and inference_file_id in (select id from files)
      group by artifact_type
    )
    select (select count(*) from files) as files, coalesce(sum(count), 0)::bigint as detections,
      coalesce(array_agg(artifact_type order by artifact_type), '{}') as types
    from found`);
}

/** A condition for the filter and the position `last`. */
function matching(
  tenantId: string,
  jobId: string,
  { inference_file_id, artifact_type, min_confidence }: DetectionFilter,
  last?: DetectionRow,
): FragmentSqlToken {
  return fits(
    { tenant_id: tenantId, inference_job_id: jobId, inference_file_id, artifact_type },
    min_confidence === undefined ? undefined : sql.fragment`confidence >= ${min_confidence}`,
    last && afterDetection({ inference_file_id }, last.inference_file_id, last.ordinal),
  );
}

/** As afterAnnotation: if the filter names the file, the condition must not compare it again. */
const afterDetection = ({ inference_file_id }: DetectionFilter, file: string, ordinal: number) =>
  inference_file_id === undefined
    ? sql.fragment`(inference_file_id, ordinal) > (${file}::uuid, ${ordinal}::int)`
    : sql.fragment`ordinal > ${ordinal}::int`;
