// The jobs of a chaos run: their rows as the API inserts them, the results of their workers, and their expected final
// status. Called by run.ts and judge.ts.
import { sql } from "slonik";
import { z } from "zod";
import type { DatabasePool } from "../../src/db/driver/pool.ts";
import { cancelTrainingJob } from "../../src/db/training-job.ts";
import type { Kube } from "../../src/kube/client.ts";
import { trainingJobs } from "../../src/kube/kinds.ts";
import { type JobKind, keys, resourceName } from "../../src/schemas/job-kind.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { put } from "../support/operator.ts";
import { poll } from "../support/poll.ts";
import {
  insertConfirmedAudio,
  insertDataset,
  insertInferenceJob,
  insertLabelledSet,
  insertTenant,
  insertTrainingJob,
} from "../support/rows.ts";

export type End = "completed" | "failed" | "cancelled";
export interface PlannedJob {
  readonly kind: JobKind;
  readonly id: string;
  readonly tenant: string;
  readonly end: End;
  /** The name of its custom resource. */
  readonly name: string;
  /** Suspended with kubectl when its first pod runs, and resumed when the pod is gone. */
  readonly suspends?: boolean;
  /** Kueue admits it, and may preempt it. */
  readonly isQueued?: boolean;
  readonly shards: number;
  /** Files by shard. */
  readonly files: readonly string[];
}

export interface Scene {
  readonly pool: DatabasePool;
  readonly storage: Storage;
  readonly tenant: string;
  readonly model: string;
  readonly admin: Kube;
  readonly namespace: string;
  /** A LocalQueue of Kueue, for some of the jobs, and a class whose jobs preempt others. Without it Kueue is not there. */
  readonly queue?: { readonly name: string; readonly urgent: string };
}

type Plan = (scene: Scene) => Promise<PlannedJob>;
const plans: readonly Plan[] = [
  (scene) => inference(scene, 1, "completed"),
  (scene) => training(scene, "completed"),
  embedding,
  (scene) => inference(scene, 2, "completed"),
  (scene) => training(scene, "cancelled"),
  (scene) => inference(scene, 1, "failed"),
  async (scene) => ({ ...(await inference(scene, 1, "completed")), suspends: true }),
  adopted,
];
const queuedPlans: readonly Plan[] = [
  queued,
  (scene) => queued(scene, { priorityClassName: scene.queue?.urgent }),
  async (scene) => ({ ...(await queued(scene)), suspends: true }),
];

/** Creates the n-th job of a run. */
export function addJob(scene: Scene, n: number): Promise<PlannedJob> {
  const all = scene.queue === undefined ? plans : [...plans, ...queuedPlans];
  return all[n % all.length]!(scene);
}

async function inference(scene: Scene, shards: number, end: End): Promise<PlannedJob> {
  const { pool, tenant, model } = scene;
  const { id, files } = await insertInferenceJob(pool, tenant, model, shards);
  return { kind: "inference", id, name: resourceName("inference", id), tenant, end, shards, files };
}

async function training({ pool, tenant }: Scene, end: End): Promise<PlannedJob> {
  const id = await pool.transaction((tx) => insertTrainingJob(tx, tenant));
  return { kind: "training", id, name: resourceName("training", id), tenant, end, shards: 1, files: [] };
}

async function queued(scene: Scene, spec: object = {}): Promise<PlannedJob> {
  return { ...(await adopted(scene, { queueName: scene.queue?.name, ...spec })), isQueued: true };
}

/** A training job applied with kubectl, which the operator adopts. `spec`: further fields of its resource's spec. */
async function adopted({ pool, tenant, admin, namespace }: Scene, spec: object = {}): Promise<PlannedJob> {
  const { dataset, set } = await pool.transaction((tx) => insertLabelledSet(tx, tenant));
  const name = `by-hand-${set}`;
  const { metadata } = await admin.create(trainingJobs, {
    metadata: { namespace, name },
    spec: {
      tenantId: tenant,
      datasetId: dataset,
      annotationSetId: set,
      config: { artifact_types: ["click"], epochs: 2 },
      shards: { count: 1 },
      ...spec,
    },
  } as never);
  return { kind: "training", id: metadata.uid ?? "", name, tenant, end: "completed", shards: 1, files: [] };
}

/**
 * Inserts an audio file; the operator creates an embedding job for it. Each file has its own tenant, so that each
 * embedding job has one file.
 */
async function embedding({ pool }: Scene): Promise<PlannedJob> {
  const tenant = await insertTenant(pool);
  const file = await insertConfirmedAudio(pool, tenant, await insertDataset(pool, tenant));
  const id = await poll(
    "an embedding job",
    () =>
      pool.maybeOneFirst(sql.type(z.object({ id: z.string() }))`
        select embedding_job_id as id from audio_files where id = ${file} and embedding_job_id is not null`),
    180_000,
  );
  return {
    kind: "embedding",
    id,
    name: resourceName("embedding", id),
    tenant,
    end: "completed",
    shards: 1,
    files: [file],
  };
}

export async function cancel(scene: Scene, job: PlannedJob): Promise<void> {
  await cancelTrainingJob(scene.pool, job.tenant, job.id);
}

const hex = (digit: string) => digit.repeat(64);
const facts = { duration_ms: 1_000, sample_rate_hz: 16_000, channels: 1, sha256: hex("e"), size_bytes: 10 };
const detections = [10, 20, 30].map((at) => ({
  artifact_type: "click",
  start_ms: at,
  end_ms: at + 5,
  confidence: 0.9,
}));
export const detectionsPerFile = detections.length;

/** Writes the result of a shard to the object store, as its worker does before it exits successfully. */
export async function leaveResult(
  { storage }: Scene,
  job: PlannedJob,
  run: string,
  shard: number,
): Promise<void> {
  const leave = async (key: string, body: string) =>
    put(await storage.presignPut(key, { expiresSeconds: 60 }), body);
  const id = job.files[shard];
  const head = { version: 1, run, shard };
  if (job.kind === "training") {
    const names = ["model.onnx", "card.json"];
    for (const name of names) await leave(keys.model(job.tenant, job.id, run, name), name);
    const artifacts = names.map((name) => ({ name, sha256: hex("f"), size_bytes: name.length }));
    const metrics = { overall: { f1: 0.9 } };
    const model = { artifact_types: ["click"], architecture: { family: "tcn" }, metrics, artifacts };
    await leave(keys.result(run, shard), JSON.stringify({ ...head, kind: "train", ...model }));
  } else if (job.kind === "inference") {
    const items = [{ id, status: "completed", ...facts, detections }];
    await leave(keys.result(run, shard), JSON.stringify({ ...head, kind: "detect", items }));
  } else {
    const embedding = { sha256: hex("a"), size_bytes: 5 };
    const items = [{ id, status: "completed", ...facts, codec: "pcm16", frames: 100, embedding }];
    const feature_spec = { id: "dsp", hash: "h", dims: 4, hop_ms: 10 };
    await leave(keys.result(run, shard), JSON.stringify({ ...head, kind: "embed", feature_spec, items }));
  }
}
