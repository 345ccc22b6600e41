// The parts that training and inference jobs share in REST: statuses and job events.
import { z } from "zod";
import { count, sentence, time } from "./rest.ts";

export const jobStatuses = [
  "pending",
  "queued",
  "running",
  "cancelling",
  "completed",
  "failed",
  "cancelled",
] as const;

export type JobState = (typeof jobStatuses)[number];

/** Whether the job has ended; its status never changes again. */
export const isTerminal = (status: JobState): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** Members of both REST representations. */
export const jobProgress = {
  status: z
    .enum(jobStatuses)
    .describe("State of the job")
    .meta({ examples: ["running"] }),
  status_message: sentence("State of the job as a sentence", "The job is running").nullable(),
  progress_percent: z
    .int()
    .min(0)
    .max(100)
    .describe("Progress in percent; it never decreases, and is 100 only when the job is completed")
    .meta({ examples: [40] }),
};

export const jobEvent = z
  .object({
    id: count("Number that grows with every job event", 4711),
    created_at: time("When the event happened"),
    level: z.enum(["info", "warning", "error"]).describe("Severity of the event"),
    type: z.enum(["status", "message", "metrics"]).describe("Kind of the event"),
    message: sentence("Description of the event as a sentence", "The job is running"),
    data: z
      .record(z.string(), z.unknown())
      .describe("Details of the event for programs")
      .meta({ examples: [{ status: "running" }] }),
  })
  .meta({ id: "JobEvent" });
