// Checks the preconditions of a training job, and finds warnings that do not prevent it. Called by training-job.ts
// inside the transaction that adds the job.
import { sql } from "slonik";
import { z } from "zod";
import { preconditions } from "../errors.ts";
import type { ErrorCode } from "../schemas/error-code.ts";
import type { TrainingJobConfig } from "../schemas/training-config.ts";
import { countRows, type Db } from "./driver/page.ts";

const minAudioMs = 300_000;

export interface NewJob {
  readonly dataset_id: string;
  readonly annotation_set_id: string;
  readonly config: TrainingJobConfig;
}

const audioFacts = z.object({
  files: z.number(),
  failed: z.number(),
  without_embedding: z.number(),
  usable_ms: z.number(),
  /** The distinct feature specifications (embedding model and hash) of the embeddings. */
  kinds: z.array(z.string()),
});

const isDraft = {
  code: preconditions.annotationSetNotPublished,
  message: "The annotation set is a draft; publish it first",
};

type Failed = { code: ErrorCode; message: string }[];

/** Returns every precondition that does not hold. Locks the files against deletion until the transaction ends. */
export async function failedPreconditions(
  tx: Db,
  tenantId: string,
  job: NewJob,
  setStatus: string,
): Promise<Failed> {
  const failed = await checkAudio(tx, tenantId, job.dataset_id);
  // Training ignores a label that begins after the end of its decoded file.
  const labelled = await tx.anyFirst(sql.type(z.object({ artifact_type: z.string() }))`
    select distinct a.artifact_type
    from annotations a join audio_files f on f.tenant_id = a.tenant_id and f.id = a.audio_file_id
    where a.tenant_id = ${tenantId} and a.annotation_set_id = ${job.annotation_set_id}
      and (f.duration_ms is null or a.start_ms <= f.duration_ms)`);
  const unlabelled = job.config.artifact_types.filter((type) => !labelled.includes(type)).join(", ");
  const message = `The annotation set has no annotations of these types: ${unlabelled}`;
  if (setStatus !== "published") failed.unshift(isDraft);
  if (unlabelled !== "") failed.push({ code: preconditions.noAnnotations, message });
  return failed;
}

/**
 * Returns every precondition that the files of the dataset do not meet. Locks them against deletion until the transaction ends. With
 * `jobId` the usable ones become the files of the job, in one statement, so that the job has exactly the files that were checked.
 */
export async function checkAudio(
  tx: Db,
  tenantId: string,
  datasetId: string,
  jobId: string | null = null,
): Promise<Failed> {
  const audio = await tx.one(sql.type(audioFacts)`
    with files as (
      select id, status, embedding_status, duration_ms, embedding_key, embedding_sha256, embedding_size_bytes,
        embedding_model, embedding_spec_hash, status = 'ready' and embedding_status = 'completed' as usable
      from audio_files
      where tenant_id = ${tenantId} and dataset_id = ${datasetId} and status in ('processing', 'ready', 'failed')
      for key share
    ), manifest as (
      insert into training_job_files (tenant_id, training_job_id, audio_file_id, duration_ms, embedding_key,
        embedding_sha256, embedding_size_bytes, embedding_model, embedding_spec_hash)
      select ${tenantId}, ${jobId}::uuid, id, duration_ms, embedding_key, embedding_sha256, embedding_size_bytes,
        embedding_model, embedding_spec_hash
      from files where usable and ${jobId !== null}
    )
    select count(*) as files, count(*) filter (where 'failed' in (status, embedding_status)) as failed,
      count(*) filter (where not usable) as without_embedding,
      (coalesce(sum(duration_ms) filter (where usable), 0))::bigint as usable_ms,
      coalesce(array_agg(distinct embedding_model || ' ' || embedding_spec_hash) filter (where usable), '{}') as kinds
    from files`);
  const failed: Failed = [];
  const fail = (code: ErrorCode, message: string) => failed.push({ code, message });
  if (audio.without_embedding > 0) {
    const broken =
      audio.failed > 0
        ? ` (${audio.failed} failed: upload them again, delete them, or ask the administrator of this service to embed them again)`
        : "";
    fail(
      preconditions.embeddingsNotReady,
      `${audio.without_embedding} of ${audio.files} audio files have no embeddings yet${broken}`,
    );
  }
  if (audio.kinds.length > 1)
    fail(
      preconditions.embeddingsNotReady,
      `The audio files have ${audio.kinds.length} kinds of embeddings: from releases with different features, or from ` +
        "different encoders. Ask the administrator of this service to renew them (plosive-admin embeddings renew)",
    );
  if (audio.usable_ms < minAudioMs)
    fail(
      preconditions.notEnoughAudio,
      `The dataset has ${audio.usable_ms} ms of audio with embeddings; training needs at least ${minAudioMs} ms`,
    );
  return failed;
}

/** Returns a warning for unusual settings, or null. They are accepted: unusual data may need them. */
export function configWarning(config: TrainingJobConfig): string | null {
  const { chunk_size_ms, stride_ms } = config;
  if (stride_ms > chunk_size_ms)
    return "stride_ms is greater than chunk_size_ms: training will skip some audio";
  if (chunk_size_ms < 50 || chunk_size_ms > 10_000 || stride_ms < 50)
    return "chunk_size_ms or stride_ms is outside 50 to 10000: training may be slow or inexact";
  return null;
}

/**
 * Returns a warning when labels reach more than 50 ms beyond the end of the audio, or null. Labels may be published
 * before the file is decoded, by the duration in its header, and decoding may find a shorter one. Publishing has no
 * precondition, so run.ts cuts such labels for the trainer.
 */
export async function labelWarning(tx: Db, tenantId: string, job: NewJob): Promise<string | null> {
  const beyond = await countRows(
    tx,
    sql.fragment`annotations a join audio_files f on f.tenant_id = a.tenant_id and f.id = a.audio_file_id
    where a.tenant_id = ${tenantId} and a.annotation_set_id = ${job.annotation_set_id}
      and a.end_ms > f.duration_ms + 50`,
  );
  if (beyond === 0) return null;
  const [what, are] = beyond === 1 ? ["annotation reaches", "is"] : ["annotations reach", "are"];
  return `${beyond} ${what} beyond the end of the audio and ${are} cut there`;
}
