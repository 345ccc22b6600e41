// The contract between the operator and the Python workers: the work of a shard (Work), its heartbeats (Progress), the
// result that it writes to the object store (Result), and its termination log (Termination). JSON members are
// snake_case, with the same names as in the Python dataclasses. Used by controllers/runs and src/gen.
import { z } from "zod";
import { architecture, modelMetrics } from "./model-metrics.ts";
import { artifactTypeName, falseAlarms, sha256Hex } from "./primitives.ts";
import { trainingConfig } from "./training-config.ts";

const url = z
  .string()
  .min(1)
  .max(8192)
  .describe("Presigned URL; fetch the work document again when it has expired");
const sizeBytes = z.int().min(0).describe("Size in bytes");
/**
 * A count that a pod reports. The upper bound is what database columns and the status of a custom resource can hold.
 */
const count = z.int().min(0).max(2_147_483_647);

/** An object that the pod may read. */
export const source = z.object({
  url,
  size_bytes: sizeBytes.nullable(),
  sha256: sha256Hex.nullable().describe("Digest to verify after the download; null if it is unknown"),
});

/** An object that the pod may write once. The request must have exactly these headers. */
export const target = z.object({
  url,
  headers: z
    .record(z.string(), z.string())
    .describe("Headers that the signature covers; send them unchanged"),
});

export const exitCodes = {
  ok: 0,
  badManifest: 64,
  unusableAudio: 65,
  inputMissing: 66,
  internal: 70,
  gpuOutOfMemory: 71,
  temporary: 75,
  forbidden: 77,
} as const;

const audioItem = z.object({
  id: z.uuid().describe("Audio file id (embed) or inference file id (detect)"),
  filename: z.string().max(255).describe("File name for messages; never use it as a path"),
  audio: source,
});

const common = {
  version: z.literal(1),
  run: z.string().min(1).max(63).describe("Name of the Kubernetes Job, which is the id of the run"),
  shard: z.int().min(0).describe("Completion index of the pod"),
  result: target.describe(
    "Target of result.json, which the pod writes last: it makes the shard's outcome final",
  ),
};

/** A plug-in encoder, whose columns are appended to those of the built-in features. */
const encoder = z
  .object({ manifest: source, onnx: source })
  .nullish()
  .describe("Plug-in encoder of the installation; null if there is none");

export const embedWork = z.object({
  ...common,
  kind: z.literal("embed"),
  encoder,
  items: z
    .array(audioItem.extend({ outputs: z.object({ embedding: target, peaks: target }) }))
    .min(1)
    .max(1000),
});

export const trainFile = z.object({
  id: z.uuid(),
  duration_ms: z.int().min(1),
  embedding: source,
  reviewed: z
    .boolean()
    .describe("Whether the file is reviewed; only then its unlabelled parts count as negatives"),
  annotations: z.array(
    z.object({ artifact_type: artifactTypeName, start_ms: z.int().min(0), end_ms: z.int().min(0) }),
  ),
});

export const trainWork = z.object({
  ...common,
  kind: z.literal("train"),
  config: trainingConfig,
  seed: z.int().min(0),
  feature_spec: z
    .object({ id: z.string(), hash: z.string() })
    .describe("Feature specification that all embeddings of the run have"),
  files: z.array(trainFile).min(1),
  outputs: z.object({
    model: target.describe("model.onnx"),
    weights: target.describe("weights.safetensors"),
    card: target.describe("card.json"),
    sums: target.describe("SHA256SUMS"),
    checkpoint: target.describe("Overwritten at every checkpoint"),
  }),
  checkpoint: source.nullable().describe("Last checkpoint of this run; null at the first start"),
});

/** The effective options of inference: every member is present. */
export const detectConfig = z.object({
  threshold: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe("One threshold for all types; null: the thresholds of the model"),
  thresholds: z
    .record(artifactTypeName, z.number().min(0).max(1))
    .describe("Thresholds by type; they take precedence over `threshold`"),
  artifact_types: z
    .array(artifactTypeName)
    .nullable()
    .describe("Artifact types to report; null: all types of the model"),
  min_duration_ms: z.int().min(0).nullable(),
  merge_gap_ms: z.int().min(0).nullable(),
  chunk_size_ms: z.int().min(1).nullable(),
  stride_ms: z.int().min(1).nullable(),
  // Jobs of releases that knew no budget have no such member.
  max_false_alarms_per_hour: falseAlarms(
    "Thresholds are raised until this many false alarms are expected; null: the budget of the model, if it has one",
  )
    .nullable()
    .default(null),
});

export const detectWork = z.object({
  ...common,
  kind: z.literal("detect"),
  encoder,
  config: detectConfig,
  model: z.object({ onnx: source, card: source }),
  items: z.array(audioItem).min(1).max(1000),
});

/**
 * The operator has already ingested the shard's result from an earlier run, so the pod only has to exit with code 0.
 */
export const doneWork = z.object({
  version: z.literal(1),
  kind: z.literal("done"),
  run: common.run,
  shard: common.shard,
  items: z.int().min(0).describe("Number of items of the shard"),
});

export const work = z.discriminatedUnion("kind", [embedWork, trainWork, detectWork, doneWork]);

export const progress = z.object({
  seq: z
    .int()
    .min(1)
    .describe(
      "Number that grows with every report of this pod; the operator ignores reports with an older number",
    ),
  items_done: count,
  items_total: count,
  items_failed: count,
  fraction: z.number().min(0).max(1).describe("Share of this shard's work that is done"),
  message: z.string().max(200).nullable().describe("Current step as one sentence"),
  checkpoint_step: count
    .nullish()
    .describe("Number of training steps in the last checkpoint; null: this pod has not written one"),
  metrics: z
    .array(
      z.object({
        step: count,
        name: z.string().regex(/^[a-z][a-z0-9_.]{0,63}$/),
        value: z.number(),
      }),
    )
    .max(256)
    .describe("Points of the training curves since the last report"),
});

export const itemError = z.object({ code: z.string().max(64), message: z.string().max(1000) });

const audioFacts = {
  duration_ms: z.int().min(0),
  sample_rate_hz: z.int().min(1),
  channels: z.int().min(1).max(64),
  sha256: sha256Hex,
  size_bytes: sizeBytes,
};

const failedItem = z.object({ id: z.uuid(), status: z.literal("failed"), error: itemError });

export const embedResult = z.object({
  version: z.literal(1),
  kind: z.literal("embed"),
  run: z.string(),
  shard: z.int(),
  feature_spec: z.object({
    id: z.string().max(64),
    hash: z.string().max(128),
    dims: z.int(),
    hop_ms: z.number(),
  }),
  items: z.array(
    z.discriminatedUnion("status", [
      z.object({
        id: z.uuid(),
        status: z.literal("completed"),
        ...audioFacts,
        codec: z.string().max(32),
        frames: z.int().min(0),
        embedding: z.object({ sha256: sha256Hex, size_bytes: sizeBytes }),
      }),
      failedItem,
    ]),
  ),
});

const artifact = z.object({ name: z.string().max(64), sha256: sha256Hex, size_bytes: sizeBytes });

export const trainResult = z.object({
  version: z.literal(1),
  kind: z.literal("train"),
  run: z.string(),
  shard: z.int(),
  artifact_types: z.array(artifactTypeName).min(1),
  architecture,
  metrics: modelMetrics.describe(
    "Metrics of the model; they become the job's metrics and the model's eval_metrics",
  ),
  artifacts: z
    .array(artifact)
    .min(1)
    .max(16)
    .describe("model.onnx, weights.safetensors, card.json, SHA256SUMS"),
});

export const detection = z.object({
  artifact_type: artifactTypeName,
  start_ms: z.int().min(0),
  end_ms: z.int().min(0),
  confidence: z.number().min(0).max(1),
});

export const detectResult = z.object({
  version: z.literal(1),
  kind: z.literal("detect"),
  run: z.string(),
  shard: z.int(),
  items: z.array(
    z.discriminatedUnion("status", [
      z.object({
        id: z.uuid(),
        status: z.literal("completed"),
        ...audioFacts,
        detections: z.array(detection).max(100_000),
      }),
      failedItem,
    ]),
  ),
});

export const result = z.discriminatedUnion("kind", [embedResult, trainResult, detectResult]);

/** Written to /dev/termination-log before every exit, <= 4096 bytes of JSON. */
export const termination = z.object({
  code: z
    .string()
    .max(64)
    .describe("snake_case: ok, bad_manifest, unusable_audio, input_missing, temporary, ..."),
  message: z.string().max(1000),
  hint: z.string().max(1000).nullable(),
  shard: z.int().nullable(),
  item: z.string().max(64).nullable(),
  items_done: count.nullable(),
  items_total: count.nullable(),
  items_failed: count.nullable(),
});

export type Work = z.infer<typeof work>;
export type DetectConfig = z.infer<typeof detectConfig>;
export type Progress = z.infer<typeof progress>;
export type Result = z.infer<typeof result>;
export type EmbedResult = z.infer<typeof embedResult>;
export type TrainResult = z.infer<typeof trainResult>;
export type DetectResult = z.infer<typeof detectResult>;
export type Detection = z.infer<typeof detection>;
export type Termination = z.infer<typeof termination>;
