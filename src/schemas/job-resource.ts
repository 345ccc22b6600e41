// What the three job kinds share: the common part of their spec, and their status. Used by the noun files.
import { z } from "zod";
import { condition } from "./condition.ts";
import type { Column } from "./kind.ts";

const seconds = (max: number) => z.int().min(1).max(max);
const once = (field: string) => ({
  "x-kubernetes-validations": [
    { rule: "self == oldSelf", message: `${field} cannot be changed after creation` },
  ],
});

/** A field that the API server refuses to change. */
export function immutable<T extends z.ZodType>(field: string, schema: T): T {
  return schema.meta({ ...schema.meta(), ...once(field) }) as T;
}

export const commonSpec = {
  tenantId: immutable("tenantId", z.string().min(36).max(36).describe("Tenant that owns the job, a UUID")),
  suspend: z.boolean().default(false).describe("True: no pods run until it is false again"),
  cancel: immutable(
    "cancel",
    z
      .object({ reason: z.string().max(256).describe("Why the job is cancelled") })
      .optional()
      .describe("Once set, the job ends as Cancelled; it cannot be taken back"),
  ),
  shards: z
    .object({
      count: immutable("shards.count", z.int().min(1).max(10_000).describe("Number of pods' worth of work")),
      parallelism: z.int().min(1).max(1_000).default(1).describe("How many pods may run at once"),
    })
    .describe("How the work is split"),
  retries: immutable(
    "retries",
    z
      .object({
        perShard: z.int().min(0).max(10).default(2).describe("How often one shard is tried again"),
        maxFailedShards: z
          .int()
          .min(0)
          .max(10_000)
          .default(0)
          .describe("Failed shards that the job may have"),
      })
      .default({ perShard: 2, maxFailedShards: 0 })
      .describe("What is tried again before the job fails"),
  ),
  activeDeadlineSeconds: immutable(
    "activeDeadlineSeconds",
    seconds(604_800)
      .default(86_400)
      .describe("Time that the job may run, in seconds, without the time that it is suspended"),
  ),
  pendingDeadlineSeconds: immutable(
    "pendingDeadlineSeconds",
    seconds(604_800)
      .default(3_600)
      .describe("Time that the job's pods may wait for a node or an image before the job fails, in seconds"),
  ),
  profile: immutable(
    "profile",
    z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
      .default("default")
      .describe(
        "Worker profile of the operator's configuration: image, resources, node selector, tolerations",
      ),
  ),
};

/** CEL rules of a job kind's spec as a whole. */
export const specRules = {
  "x-kubernetes-validations": [
    { rule: "!has(oldSelf.cancel) || has(self.cancel)", message: "cancel cannot be taken back" },
  ],
};

const time = (text: string) => z.string().max(64).meta({ format: "date-time" }).describe(text);

export const phases = [
  "Pending",
  "Suspended",
  "Waiting",
  "Running",
  "Cancelling",
  "Succeeded",
  "Failed",
  "Cancelled",
] as const;
export const failureClasses = ["User", "Resources", "Infra", "System", "Quota"] as const;

export const jobStatus = z.object({
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe("Generation of the spec that the operator has acted on"),
  phase: z.enum(phases).optional().describe("One word for humans, derived from the conditions"),
  attempt: z.int().min(1).optional().describe("Number of the present run, from 1"),
  runId: z.string().max(63).optional().describe("Name of the present run: the name of its Kubernetes Job"),
  startTime: time("When the first pod ran").optional(),
  suspendedSeconds: z
    .int()
    .min(0)
    .optional()
    .describe("Time that the started job was suspended; it does not count against activeDeadlineSeconds"),
  completionTime: time("When the job ended").optional(),
  progress: z
    .object({
      percent: z.int().min(0).max(100).describe("Share of the work done; 100 only with success"),
      itemsDone: z.int().min(0).describe("Finished items: files, or epochs of a training"),
      itemsTotal: z.int().min(0).describe("All items"),
      itemsFailed: z.int().min(0).describe("Items that failed, a part of itemsDone"),
      message: z.string().max(256).optional().describe("The present step"),
      lastReportTime: time("When a pod last reported").optional(),
    })
    .optional()
    .describe("How far the job is"),
  shards: z
    .object({
      total: z.int().min(0).describe("Shards of the job"),
      active: z.int().min(0).describe("Shards with a running pod"),
      succeeded: z.int().min(0).describe("Finished shards"),
      failed: z.int().min(0).describe("Failed shards"),
    })
    .optional()
    .describe("Shards by state"),
  metrics: z
    .array(
      z.object({
        name: z.string().max(64).describe("Name of the metric"),
        value: z.string().max(32).describe("Last value, as a decimal number"),
      }),
    )
    .max(32)
    .optional()
    .describe("Last values reported by the pods"),
  failure: z
    .object({
      class: z.enum(failureClasses).describe("Who can do something about it"),
      code: z.string().max(64).describe("Machine-readable code"),
      message: z.string().max(1024).describe("What happened, and what to try"),
      shard: z.int().min(0).optional().describe("Shard that failed"),
      exitCode: z.int().optional().describe("Exit code of its container"),
      retryable: z.boolean().describe("Whether a new job may succeed unchanged"),
    })
    .optional()
    .describe("Why the job failed"),
  conditions: z
    .array(condition)
    .max(16)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] })
    .optional()
    .describe("The state in detail"),
});

export const jobColumns: Column[] = [
  { name: "Phase", type: "string", jsonPath: ".status.phase", description: "State of the job" },
  { name: "Progress", type: "integer", jsonPath: ".status.progress.percent", description: "Percent done" },
  { name: "Shards", type: "integer", jsonPath: ".status.shards.succeeded", description: "Finished shards" },
  { name: "Failed", type: "integer", jsonPath: ".status.progress.itemsFailed", description: "Failed items" },
  {
    name: "Reason",
    type: "string",
    jsonPath: '.status.conditions[?(@.status=="True")].reason',
    description: "Reason of the newest condition",
    priority: 1,
  },
  {
    name: "Run",
    type: "string",
    jsonPath: ".status.runId",
    description: "Kubernetes Job of the present run",
    priority: 1,
  },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: "Age" },
];

export type JobStatus = z.infer<typeof jobStatus>;
export type JobPhase = (typeof phases)[number];
export type FailureClass = (typeof failureClasses)[number];
