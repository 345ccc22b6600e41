// Conditions of the custom resources: closed lists of types and reasons. Types have positive polarity: True means that
// the type's name applies. The names never change.
import { z } from "zod";

export const conditionTypes = [
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

export type Condition = z.infer<typeof condition>;
export type ConditionReason = (typeof conditionReasons)[number];
