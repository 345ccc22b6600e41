// Copies labels into a draft, from another set with its reviewed files or from the detections of a job, in pieces: a source
// may have a million. A small copy is complete when its request ends; background-work.ts continues a large one. Called by
// annotation-set.ts, src/api/routes and background-work.ts.
import { sql } from "slonik";
import { z } from "zod";
import { shareExceeded } from "../errors.ts";
import { requireRoom, type SetPlace } from "./annotation.ts";
import { countRows, type Db } from "./driver/page.ts";
import { type AnnotationQuota, lockQuota } from "./quota.ts";

/** Upper bound of the annotations and files that one request copies or deletes: a quarter of a second. */
export const rowsPerRequest = 10_000;
/** Rows of one piece of background work. */
export const rowsPerPiece = 5_000;

const total = z.number();

/** What is left of a copy: its source, the number of labels in all, and the last one that was copied. */
export const copying = z.union([
  z.object({
    annotation_set_id: z.string(),
    total,
    /** The last reviewed file that was copied; absent when all are. */
    reviewed_after: z.string().optional(),
    after: z.tuple([z.string(), z.number(), z.string()]).nullable(),
  }),
  z.object({
    inference_job_id: z.string(),
    min_confidence: z.number(),
    total,
    after: z.tuple([z.string(), z.number()]).nullable(),
  }),
]);
export type Copying = z.infer<typeof copying>;

/** Drafts of one tenant that are filled in the background at the same time: each takes disk space for a million rows. */
const mostCopies = 3;
const beforeAnyId = "00000000-0000-0000-0000-000000000000";

/**
 * Fills a new draft: at once, or in the background if the source is large. The caller has locked the source, so that it
 * does not change before this transaction ends. Rejects with shareExceeded while other copies of the tenant are under way, or
 * with quotaExceeded.
 */
export async function startCopy(
  tx: Db,
  to: SetPlace,
  labels: Copying,
  quota: AnnotationQuota,
): Promise<void> {
  await requireRoom(tx, to, labels.total, quota);
  const reviewed = "annotation_set_id" in labels ? await countReviewed(tx, to, labels.annotation_set_id) : 0;
  const work = reviewed === 0 ? labels : { ...labels, reviewed_after: beforeAnyId };
  if (work.total + reviewed > rowsPerRequest) {
    await lockQuota(tx, "annotation_sets", to.tenantId);
    const copies = await countRows(
      tx,
      sql.fragment`annotation_sets where tenant_id = ${to.tenantId} and copying is not null`,
    );
    if (copies >= mostCopies) throw shareExceeded("large copies of annotations");
    await tx.query(sql.fragment`
      update annotation_sets set copying = ${sql.jsonb(work)} where tenant_id = ${to.tenantId} and id = ${to.setId}`);
  } else for (let left: Copying | null = work; left !== null; ) left = await copyPiece(tx, to, left);
}

const countReviewed = (tx: Db, { tenantId }: SetPlace, setId: string) =>
  countRows(tx, sql.fragment`reviewed_files where tenant_id = ${tenantId} and annotation_set_id = ${setId}`);

/** Copies the next piece. Returns what is left; null when the copy is complete. The caller has locked the draft. */
export async function copyPiece(tx: Db, to: SetPlace, work: Copying): Promise<Copying | null> {
  if ("inference_job_id" in work) {
    const after = await copyDetections(tx, to, work);
    return after === null ? null : { ...work, after };
  }
  const { reviewed_after, ...labels } = work;
  if (reviewed_after !== undefined) {
    const last = await copyReviewed(tx, to, labels.annotation_set_id, reviewed_after);
    if (last !== null) return { ...labels, reviewed_after: last };
  }
  const after = await copyLabels(tx, to, labels);
  return after === null ? null : { ...labels, after };
}

/** Returns the last reviewed file of a full piece; null when this was the last piece. */
async function copyReviewed(tx: Db, to: SetPlace, setId: string, after: string): Promise<string | null> {
  return await tx.maybeOneFirst(sql.type(z.object({ audio_file_id: z.string() }))`
    with piece as materialized (
      select * from reviewed_files
      where tenant_id = ${to.tenantId} and annotation_set_id = ${setId} and audio_file_id > ${after}::uuid
      order by audio_file_id limit ${rowsPerPiece}
    ), copied as (
      insert into reviewed_files (tenant_id, dataset_id, annotation_set_id, audio_file_id)
      select tenant_id, dataset_id, ${to.setId}, audio_file_id from piece
    )
    select audio_file_id from piece order by audio_file_id offset ${rowsPerPiece - 1}`);
}

type Labels = Extract<Copying, { annotation_set_id: string }>;
const label = z.object({ audio_file_id: z.string(), start_ms: z.number(), id: z.string() });

/** Returns the position of the last row of a full piece; null when this was the last piece. */
async function copyLabels(
  tx: Db,
  to: SetPlace,
  { annotation_set_id, after }: Labels,
): Promise<Labels["after"]> {
  const rest =
    after === null
      ? sql.fragment`true`
      : sql.fragment`(audio_file_id, start_ms, id) > (${after[0]}::uuid, ${after[1]}::bigint, ${after[2]}::uuid)`;
  const last = await tx.maybeOne(sql.type(label)`
    with piece as materialized (
      select * from annotations
      where tenant_id = ${to.tenantId} and annotation_set_id = ${annotation_set_id} and ${rest}
      order by audio_file_id, start_ms, id limit ${rowsPerPiece}
    ), copied as (
      insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
        end_ms, confidence, extra_data, annotator)
      select gen_random_uuid(), tenant_id, dataset_id, ${to.setId}, audio_file_id, artifact_type, start_ms, end_ms,
        confidence, extra_data, annotator
      from piece
    )
    select audio_file_id, start_ms, id from piece order by audio_file_id, start_ms, id offset ${rowsPerPiece - 1}`);
  return last === null ? null : [last.audio_file_id, last.start_ms, last.id];
}

type Detections = Extract<Copying, { inference_job_id: string }>;
const detection = z.object({ inference_file_id: z.string(), ordinal: z.number() });

/**
 * As copyLabels. Detections in files that were uploaded to the job, and in other datasets, are left out. Locks the audio files against
 * deletion: nothing else keeps them while the draft is new.
 */
async function copyDetections(
  tx: Db,
  to: SetPlace,
  { inference_job_id, min_confidence, after }: Detections,
): Promise<Detections["after"]> {
  const rest =
    after === null
      ? sql.fragment`true`
      : sql.fragment`(d.inference_file_id, d.ordinal) > (${after[0]}::uuid, ${after[1]}::int)`;
  const last = await tx.maybeOne(sql.type(detection)`
    with piece as materialized (
      select d.inference_file_id, d.ordinal, f.audio_file_id, d.artifact_type, d.start_ms, d.end_ms, d.confidence
      from detections d
      join inference_files f on f.tenant_id = d.tenant_id and f.id = d.inference_file_id
      join audio_files a on a.tenant_id = f.tenant_id and a.dataset_id = ${to.datasetId} and a.id = f.audio_file_id
      where d.tenant_id = ${to.tenantId} and d.inference_job_id = ${inference_job_id}
        and d.confidence >= ${min_confidence} and ${rest}
      order by d.inference_file_id, d.ordinal limit ${rowsPerPiece}
      for key share of a
    ), copied as (
      insert into annotations (id, tenant_id, dataset_id, annotation_set_id, audio_file_id, artifact_type, start_ms,
        end_ms, confidence, extra_data)
      select gen_random_uuid(), ${to.tenantId}, ${to.datasetId}, ${to.setId}, audio_file_id, artifact_type, start_ms,
        end_ms, confidence, ${sql.jsonb({ inference_job_id })}
      from piece
    )
    select inference_file_id, ordinal from piece order by inference_file_id, ordinal offset ${rowsPerPiece - 1}`);
  return last === null ? null : [last.inference_file_id, last.ordinal];
}
