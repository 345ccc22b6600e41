// The parts that the custom resources of the three job kinds share: common spec fields, CEL rules, status, printer
// columns. Used by embedding-job.ts, inference-job.ts and training-job.ts.
import { z } from "zod";
import { conditions, observedGeneration } from "./condition.ts";
import type { CelRule, Column } from "./kind.ts";

const seconds = (max: number) => z.int().min(1).max(max);
const fixed = (field: string) => `${field} cannot be changed after creation`;

/** Adds a CEL rule with which the Kubernetes API server refuses to change the field once it is set. */
export function immutable<T extends z.ZodType>(field: string, schema: T, message = fixed(field)): T {
  const validations = [{ rule: "self == oldSelf", message }];
  return schema.meta({ ...schema.meta(), "x-kubernetes-validations": validations }) as T;
}

const name = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);

/** A UUID in lower case, because the service also compares ids as text. */
export const resourceId = (text: string) =>
  z
    .string()
    .min(36)
    .max(36)
    .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    .describe(text);

export const commonSpec = {
  tenantId: immutable("tenantId", resourceId("Tenant that owns the job, a UUID")),
  suspend: z.boolean().default(false).describe("True: the job has no running pods until this is false again"),
  cancel: immutable(
    "cancel",
    z
      .object({ reason: z.string().max(256).describe("Why the job is cancelled") })
      .optional()
      .describe("Once set, the job ends as Cancelled; this cannot be undone"),
    "cancel cannot be changed once it is set",
  ),
  shards: z
    .object({
      count: immutable(
        "shards.count",
        z.int().min(1).max(10_000).describe("Number of shards; one pod processes each of them"),
      ),
      parallelism: z.int().min(1).max(1_000).default(1).describe("Maximum number of pods that run at once"),
    })
    .describe("How the work is split into shards"),
  retries: immutable(
    "retries",
    z
      .object({
        perShard: z
          .int()
          .min(0)
          .max(10)
          .default(2)
          .describe("How often one shard is retried after its own failures"),
        infraPerShard: z
          .int()
          .min(0)
          .max(100)
          .default(10)
          .describe(
            "How often one shard is retried after its pod is lost to preemption, eviction or a lost node",
          ),
        maxFailedShards: z
          .int()
          .min(0)
          .max(10_000)
          .default(0)
          .describe("Number of shards that may fail before the job fails"),
      })
      .default({ perShard: 2, infraPerShard: 10, maxFailedShards: 0 })
      .describe("Retry budgets of the job"),
  ),
  activeDeadlineSeconds: immutable(
    "activeDeadlineSeconds",
    seconds(604_800)
      .default(86_400)
      .describe("Seconds that the job may run, not counting the time that it is suspended"),
  ),
  pendingDeadlineSeconds: immutable(
    "pendingDeadlineSeconds",
    seconds(604_800)
      .default(3_600)
      .describe("Seconds that the job's pods may wait for a node or an image before the job fails"),
  ),
  progressDeadlineSeconds: immutable(
    "progressDeadlineSeconds",
    seconds(604_800)
      .default(900)
      .describe(
        "Seconds without a progress report after which a running shard is stalled and its pod is replaced, once",
      ),
  ),
  ttlSecondsAfterFinished: immutable(
    "ttlSecondsAfterFinished",
    z
      .int()
      .min(0)
      .max(31_536_000)
      .optional()
      .describe("Seconds after the end of the job until this resource is deleted; its database records stay"),
  ),
  priorityClassName: immutable(
    "priorityClassName",
    name(253).optional().describe("PriorityClass of the job's pods; it also orders the queue"),
  ),
  // At most 63 characters, because the name becomes a label value.
  queueName: name(63).optional().describe("Queue that admits the job; it can be changed until admission"),
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

/** How a job runs, apart from what it works on. */
export const runSettings = z
  .object(commonSpec)
  .omit({ tenantId: true, suspend: true, cancel: true, shards: true })
  .extend({ parallelism: commonSpec.shards.shape.parallelism });
export type RunSettings = z.infer<typeof runSettings>;
export const runSettingsOf = (spec: z.infer<z.ZodObject<typeof commonSpec>>): RunSettings =>
  runSettings.parse({ ...spec, parallelism: spec.shards.parallelism });

/** Annotation of an ended job that asks for another job like it. Each value is answered once. */
export const retryRequest = "plosive.dev/retry-requested-at";
export const maxRetryRequest = 64;

/** Annotation with the W3C trace context of the request that created the job. */
export const traceparentAnnotation = "plosive.dev/traceparent";

/** A field that is absent at creation must stay absent. A rule on the field itself cannot express this. */
export const neverAdded = (field: string): CelRule => ({
  rule: `has(self.${field}) == has(oldSelf.${field})`,
  message: fixed(field),
});

/** CEL rules of a job kind's spec as a whole. */
export const specRules = {
  "x-kubernetes-validations": [
    { rule: "!has(oldSelf.cancel) || has(self.cancel)", message: "cancel cannot be removed once it is set" },
    neverAdded("ttlSecondsAfterFinished"),
    neverAdded("priorityClassName"),
  ],
};

/** CEL rules of a job as a whole, because they read its name or its status. */
export const jobRules: CelRule[] = [
  { rule: "size(self.metadata.name) <= 52", message: "the name must have at most 52 characters" },
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
  observedGeneration,
  phase: z.enum(phases).optional().describe("Summary of the conditions as one word, for people"),
  attempt: z.int().min(1).optional().describe("Number of the current run, from 1"),
  runId: z.string().max(63).optional().describe("Name of the current run and of its Kubernetes Job"),
  admittedTime: time("When the job was admitted").optional(),
  startTime: time("When the first pod started to run").optional(),
  suspendedSeconds: z
    .int()
    .min(0)
    .optional()
    .describe(
      "Seconds that the job was suspended after its start; they do not count towards activeDeadlineSeconds",
    ),
  heldSince: time(
    "Since when the job has been suspended, in its queue or refused; absent while its pods may run",
  ).optional(),
  pendingSince: time("Since when pods of the job may run and none does; absent otherwise").optional(),
  completionTime: time("When the job ended").optional(),
  lastHandledRetryAt: z
    .string()
    .max(maxRetryRequest)
    .optional()
    .describe(`Value of the annotation ${retryRequest} that the condition Retried answers`),
  progress: z
    .object({
      percent: z
        .int()
        .min(0)
        .max(100)
        .describe("Share of the work that is done, in percent; 100 only after success"),
      itemsDone: z.int().min(0).describe("Finished items: files, or epochs of a training job"),
      itemsTotal: z.int().min(0).describe("Number of all items"),
      itemsFailed: z.int().min(0).describe("Failed items; itemsDone includes them"),
      message: z.string().max(256).optional().describe("Current step"),
      etaSeconds: z
        .int()
        .min(0)
        .optional()
        .describe("Estimated seconds until the end, at the average speed so far"),
      lastReportTime: time("When a pod last reported").optional(),
    })
    .optional()
    .describe("Progress of the job"),
  shards: z
    .object({
      total: z.int().min(0).describe("Number of shards of the job"),
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
        value: z.string().max(32).describe("Latest value, as a decimal number"),
      }),
    )
    .max(32)
    .optional()
    .describe("Latest metrics that the pods reported"),
  artifacts: z
    .array(
      z.object({
        name: z.string().max(64).describe("Name of the file"),
        key: z.string().max(512).describe("Key in the object store"),
        sha256: z.string().max(64).describe("SHA-256 digest"),
        sizeBytes: z.int().min(0).describe("Size in bytes"),
      }),
    )
    .max(16)
    .optional()
    .describe("Files that the job produced"),
  checkpoint: z
    .object({
      key: z.string().max(512).describe("Key in the object store"),
      step: z.int().min(0).describe("Number of training steps that the checkpoint contains"),
      time: time("When the checkpoint was written"),
    })
    .optional()
    .describe("Checkpoint from which the job continues after it loses its pod"),
  usage: z
    .object({
      podSeconds: z.int().min(0).describe("Run time of all pods, in seconds"),
      cpuSeconds: z.int().min(0).describe("Requested CPU cores times run time, in core seconds"),
      gpuSeconds: z.int().min(0).describe("Requested GPUs times run time, in GPU seconds"),
      audioSeconds: z.int().min(0).describe("Seconds of processed audio"),
    })
    .optional()
    .describe("Resources that the ended pods of the job used"),
  failure: z
    .object({
      class: z.enum(failureClasses).describe("Failure class: who can fix the cause"),
      code: z.string().max(64).describe("Machine-readable code"),
      message: z.string().max(1024).describe("What happened, and what to do"),
      shard: z.int().min(0).optional().describe("Shard that failed"),
      exitCode: z.int().optional().describe("Exit code of the shard's container"),
      retryable: z.boolean().describe("Whether a new job with the same spec may succeed"),
    })
    .optional()
    .describe("Why the job failed"),
  conditions,
});

/** Returns the printer columns of a job kind; `model` is the JSON path of its model's id. */
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
    text("Reason", '.status.conditions[?(@.type=="Progressing")].reason', "Reason of the state, as one word"),
    wide(text("Queue", ".spec.queueName", "Queue that admits the job")),
    wide(count("ETA", ".status.progress.etaSeconds", "Estimated seconds until the end")),
    ...(model === undefined ? [] : [wide(text("Model", model, "Model of the job"))]),
    wide(text("Run", ".status.runId", "Kubernetes Job of the current run")),
    { ...text("Age", ".metadata.creationTimestamp", "Age"), type: "date" },
  ];
}

export type JobStatus = z.infer<typeof jobStatus>;
export type JobPhase = (typeof phases)[number];
export type FailureClass = (typeof failureClasses)[number];
