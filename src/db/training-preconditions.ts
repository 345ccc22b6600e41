// What must hold before a training job is made, and what its owner should know although it is made. Called by
// training-job.ts inside the transaction that adds the job.
import { sql } from "slonik";
import { z } from "zod";
import { preconditions } from "../errors.ts";
import type { ErrorCode } from "../schemas/error-code.ts";
import type { TrainingConfig } from "../schemas/training-config.ts";
import type { Db } from "./page.ts";

const minAudioMs = 300_000;

interface NewJob {
  readonly dataset_id: string;
  readonly annotation_set_id: string;
  readonly config: TrainingConfig;
}

const audioFacts = z.object({
  files: z.number(),
  failed: z.number(),
  without_embedding: z.number(),
  usable_ms: z.number(),
  /** Features and encoders that the embeddings come from. */
  kinds: z.array(z.string()),
});

/** Every precondition that does not hold now. Locks the files against deletion until the transaction ends. */
export async function failedPreconditions(
  tx: Db,
  tenantId: string,
  job: NewJob,
  setStatus: string,
): Promise<{ code: ErrorCode; message: string }[]> {
  const audio = await tx.one(sql.type(audioFacts)`
    with files as (
      select status, embedding_status, duration_ms, embedding_model, embedding_spec_hash from audio_files
      where tenant_id = ${tenantId} and dataset_id = ${job.dataset_id} and status in ('processing', 'ready', 'failed')
      for key share
    )
    select count(*) as files, count(*) filter (where 'failed' in (status, embedding_status)) as failed,
      count(*) filter (where status <> 'ready' or embedding_status <> 'completed') as without_embedding,
      (coalesce(sum(duration_ms) filter (where status = 'ready' and embedding_status = 'completed'), 0))::bigint
        as usable_ms,
      coalesce(array_agg(distinct embedding_model || ' ' || embedding_spec_hash)
        filter (where status = 'ready' and embedding_status = 'completed'), '{}') as kinds
    from files`);
  // A label that lies beyond the true end of its file is none for training.
  const labelled = await tx.anyFirst(sql.type(z.object({ artifact_type: z.string() }))`
    select distinct a.artifact_type
    from annotations a join audio_files f on f.tenant_id = a.tenant_id and f.id = a.audio_file_id
    where a.tenant_id = ${tenantId} and a.annotation_set_id = ${job.annotation_set_id}
      and (f.duration_ms is null or a.start_ms <= f.duration_ms)`);

  const failed: { code: ErrorCode; message: string }[] = [];
  if (setStatus !== "published") {
    failed.push({
      code: preconditions.annotationSetNotPublished,
      message: "The annotation set is a draft; publish it first",
    });
  }
  if (audio.without_embedding > 0) {
    const broken =
      audio.failed > 0
        ? ` (${audio.failed} failed: have them embedded again by whoever runs this service, upload them again, or delete them)`
        : "";
    failed.push({
      code: preconditions.embeddingsNotReady,
      message: `${audio.without_embedding} of ${audio.files} audio files have no embeddings yet${broken}`,
    });
  }
  if (audio.kinds.length > 1) {
    failed.push({
      code: preconditions.embeddingsNotReady,
      message:
        `The audio files were embedded in ${audio.kinds.length} ways: by releases with other features, or with and ` +
        "without an encoder. Have them embedded again by whoever runs this service (plosive-admin embeddings renew)",
    });
  }
  if (audio.usable_ms < minAudioMs) {
    failed.push({
      code: preconditions.notEnoughAudio,
      message: `The dataset has ${audio.usable_ms} ms of audio with embeddings, training needs ${minAudioMs} ms`,
    });
  }
  const silent = job.config.artifact_types.filter((type) => !labelled.includes(type));
  if (silent.length > 0) {
    failed.push({
      code: preconditions.noAnnotations,
      message: `The annotation set has no annotations of these types: ${silent.join(", ")}`,
    });
  }
  return failed;
}

/** Unusual settings are taken as they are (the specification states no bounds), but not in silence. */
export function remarkOnConfig(config: TrainingConfig): string | null {
  const { chunk_size_ms, stride_ms } = config;
  if (stride_ms > chunk_size_ms)
    return "stride_ms is greater than chunk_size_ms: some audio will not be seen";
  if (chunk_size_ms < 50 || chunk_size_ms > 10_000 || stride_ms < 50)
    return "chunk_size_ms or stride_ms is outside 50 to 10000: training may be slow or inexact";
  return null;
}

/**
 * Labels may have been made and published by the length in a file's header, and decoding found it shorter. Publishing
 * has no condition, so they are cut to what is there when the trainer gets its work (run.ts), and their owner is told.
 */
export async function remarkOnLabels(tx: Db, tenantId: string, job: NewJob): Promise<string | null> {
  const beyond = await tx.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*) as count
    from annotations a join audio_files f on f.tenant_id = a.tenant_id and f.id = a.audio_file_id
    where a.tenant_id = ${tenantId} and a.annotation_set_id = ${job.annotation_set_id}
      and a.end_ms > f.duration_ms + 50`);
  if (beyond === 0) return null;
  const [what, are] = beyond === 1 ? ["annotation reaches", "is"] : ["annotations reach", "are"];
  return `${beyond} ${what} beyond the end of the audio and ${are} cut there`;
}
