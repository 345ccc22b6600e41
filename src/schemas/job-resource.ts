// What the three job kinds share: the common part of their spec, and their status. Used by the noun files.
import { z } from "zod";
import { condition } from "./condition.ts";
import type { CelRule, Column } from "./kind.ts";

const seconds = (max: number) => z.int().min(1).max(max);
const fixed = (field: string) => `${field} cannot be changed after creation`;

/** A field that the API server refuses to change once it is there. */
export function immutable<T extends z.ZodType>(field: string, schema: T, message = fixed(field)): T {
  const validations = [{ rule: "self == oldSelf", message }];
  return schema.meta({ ...schema.meta(), "x-kubernetes-validations": validations }) as T;
}

const name = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);

/** Lower-case, as the service writes them: it compares them as text too. */
export const resourceId = (text: string) =>
  z
    .string()
    .min(36)
    .max(36)
    .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    .describe(text);

export const commonSpec = {
  tenantId: immutable("tenantId", resourceId("Tenant that owns the job, a UUID")),
  suspend: z.boolean().default(false).describe("True: no pods run until it is false again"),
  cancel: immutable(
    "cancel",
    z
      .object({ reason: z.string().max(256).describe("Why the job is cancelled") })
      .optional()
      .describe("Once set, the job ends as Cancelled; it cannot be taken back"),
    "cancel is set once: its reason cannot be changed",
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
        infraPerShard: z
          .int()
          .min(0)
          .max(100)
          .default(10)
          .describe("How often a shard may lose its pod to preemption, eviction or a lost node"),
        maxFailedShards: z
          .int()
          .min(0)
          .max(10_000)
          .default(0)
          .describe("Failed shards that the job may have"),
      })
      .default({ perShard: 2, infraPerShard: 10, maxFailedShards: 0 })
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
  progressDeadlineSeconds: immutable(
    "progressDeadlineSeconds",
    seconds(604_800)
      .default(900)
      .describe("Time that a running shard may be silent before its pod is replaced, once, in seconds"),
  ),
  ttlSecondsAfterFinished: immutable(
    "ttlSecondsAfterFinished",
    z
      .int()
      .min(0)
      .max(31_536_000)
      .optional()
      .describe("Time after the end of the job when this resource is deleted; its records stay"),
  ),
  priorityClassName: immutable(
    "priorityClassName",
    name(253).optional().describe("PriorityClass of the job's pods, and of its place in the queue"),
  ),
  // It becomes a label.
  queueName: name(63).optional().describe("Queue that admits the job; it can be changed until then"),
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

/** What is absent at first must stay absent, which a rule on the field itself cannot say. */
export const neverAdded = (field: string): CelRule => ({
  rule: `has(self.${field}) == has(oldSelf.${field})`,
  message: fixed(field),
});

/** CEL rules of a job kind's spec as a whole. */
export const specRules = {
  "x-kubernetes-validations": [
    { rule: "!has(oldSelf.cancel) || has(self.cancel)", message: "cancel cannot be taken back" },
    neverAdded("ttlSecondsAfterFinished"),
    neverAdded("priorityClassName"),
  ],
};

/** CEL rules of a job as a whole: what its name or its status has a say in. */
export const jobRules: CelRule[] = [
  { rule: "size(self.metadata.name) <= 52", message: "the name has at most 52 characters" },
  {
    rule: "!has(oldSelf.status) || !has(oldSelf.status.admittedTime) || (has(self.spec.queueName) == has(oldSelf.spec.queueName) && (!has(self.spec.queueName) || self.spec.queueName == oldSelf.spec.queueName))",
    message: "queueName cannot be changed after admission",
  },
];

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
  admittedTime: time("When the job was let through to run").optional(),
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
      etaSeconds: z.int().min(0).optional().describe("Time left at the pace so far, in seconds"),
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
  artifacts: z
    .array(
      z.object({
        name: z.string().max(64).describe("Name of the file"),
        key: z.string().max(512).describe("Where it lies in the object store"),
        sha256: z.string().max(64).describe("SHA-256 digest"),
        sizeBytes: z.int().min(0).describe("Size in bytes"),
      }),
    )
    .max(16)
    .optional()
    .describe("Files that came out"),
  checkpoint: z
    .object({
      key: z.string().max(512).describe("Where it lies in the object store"),
      step: z.int().min(0).describe("Steps of training that are in it"),
      time: time("When it was written"),
    })
    .optional()
    .describe("Where the work goes on after its pod is lost"),
  usage: z
    .object({
      podSeconds: z.int().min(0).describe("Time of all pods"),
      cpuSeconds: z.int().min(0).describe("Requested processors by time"),
      gpuSeconds: z.int().min(0).describe("Requested GPUs by time"),
      audioSeconds: z.int().min(0).describe("Audio that was worked through"),
    })
    .optional()
    .describe("What the ended pods of the job have used"),
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

/** The printer columns of a kind; `model` is where its model's id stands. */
export function jobColumns(model?: string): Column[] {
  const text = (name: string, jsonPath: string, description: string): Column => ({
    name,
    type: "string",
    jsonPath,
    description,
  });
  const count = (name: string, jsonPath: string, description: string): Column => ({
    ...text(name, jsonPath, description),
    type: "integer",
  });
  const wide = (column: Column): Column => ({ ...column, priority: 1 });
  return [
    text("Phase", ".status.phase", "State of the job"),
    count("Progress", ".status.progress.percent", "Percent done"),
    count("Shards", ".status.shards.succeeded", "Finished shards"),
    count("Failed", ".status.progress.itemsFailed", "Failed items"),
    text("Reason", '.status.conditions[?(@.type=="Progressing")].reason', "Why it is so, as one word"),
    wide(text("Queue", ".spec.queueName", "Queue that admits the job")),
    wide(count("ETA", ".status.progress.etaSeconds", "Seconds left at the pace so far")),
    ...(model === undefined ? [] : [wide(text("Model", model, "Model of the job"))]),
    wide(text("Run", ".status.runId", "Kubernetes Job of the present run")),
    { ...text("Age", ".metadata.creationTimestamp", "Age"), type: "date" },
  ];
}

export type JobStatus = z.infer<typeof jobStatus>;
export type JobPhase = (typeof phases)[number];
export type FailureClass = (typeof failureClasses)[number];
