// Conditions of the custom resources: closed lists of types and reasons. Types have positive polarity: True means that
// the type's name applies. The names never change. Ready and Stalled have the meaning of kstatus, which Flux, Argo CD and
// `kubectl wait` know for every kind; in jobs they repeat what the other conditions say.
import { z } from "zod";

export const conditionTypes = [
  "Ready",
  "Stalled",
  "Retried",
  "Accepted",
  "QuotaReserved",
  "Started",
  "Progressing",
  "Suspended",
  "Checkpointed",
  "StoreSynced",
  "Succeeded",
  "Failed",
  "Cancelled",
] as const;

export const conditionReasons = [
  "Accepted",
  "PreconditionFailed",
  "QuotaExceeded",
  "RowMissing",
  "Admitted",
  "WaitingForQuota",
  "QueuePending",
  "Preempted",
  "WaitingForPods",
  "Unschedulable",
  "ImageUnavailable",
  "NodeUnreachable",
  "PodsRunning",
  "Reporting",
  "ProgressStalled",
  "CheckpointWritten",
  "NoCheckpoint",
  "RecordsUpdated",
  "RecordsBehind",
  "ReconcileFailed",
  "ChildDeleted",
  "SuspendRequested",
  "Resumed",
  "Completed",
  "DeadlineExceeded",
  "PendingDeadlineExceeded",
  "UserError",
  "ResourceLimit",
  "InfrastructureError",
  "SystemError",
  "CancelRequested",
  "RetryCreated",
  "RetryRefused",
  "Available",
  "Archived",
] as const;

export const condition = z
  .object({
    type: z.enum(conditionTypes).describe("Type of the condition"),
    status: z.enum(["True", "False", "Unknown"]).describe("Whether the condition holds"),
    reason: z.enum(conditionReasons).describe("Reason as one word from a closed list"),
    message: z.string().max(1024).describe("Reason as a sentence"),
    observedGeneration: z.int().min(0).describe("Generation of the spec that the condition describes"),
    lastTransitionTime: z
      .string()
      .max(64)
      .meta({ format: "date-time" })
      .describe("When `status` last changed"),
  })
  .describe("One condition");

export const conditions = z
  .array(condition)
  .max(16)
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] })
  .optional()
  .describe("Conditions: the state of the resource in detail");

/** The observed generation of a resource that the operator has not seen. */
export const unseen = -1;
export const observedGeneration = z
  .int()
  .min(unseen)
  .optional()
  .describe("Generation of the spec that the operator has acted on; -1 before it has seen the resource");

export type Condition = z.infer<typeof condition>;
export type ConditionReason = (typeof conditionReasons)[number];
