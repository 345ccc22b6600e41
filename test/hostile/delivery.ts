// Delivers a worker's result to the database as the operator does: ingests it and ends the job. Called by
// ingest-process.ts, which is killed while it runs, and by its test, which is not.

import type { DatabasePool } from "../../src/db/driver/pool.ts";
import {
  endJob,
  ingestDetections,
  ingestEmbeddings,
  ingestModel,
  type ShardRef,
} from "../../src/db/operator/ingest.ts";
import { result as resultSchema } from "../../src/schemas/worker.ts";

export interface Delivery {
  readonly ref: ShardRef;
  readonly digest: string;
  readonly result: object;
  readonly modelId: string;
}

export async function takeIn(db: DatabasePool, { ref, digest, result, modelId }: Delivery): Promise<void> {
  const parsed = resultSchema.parse(result);
  if (parsed.kind === "embed") await ingestEmbeddings(db, ref, digest, parsed);
  if (parsed.kind === "detect") await ingestDetections(db, ref, digest, parsed);
  if (parsed.kind === "train") await ingestModel(db, ref, digest, parsed, modelId);
  const kind = ({ embed: "embedding", detect: "inference", train: "training" } as const)[parsed.kind];
  await endJob(db, kind, ref.jobId, { status: "completed", statusMessage: null, errorMessage: null });
}
