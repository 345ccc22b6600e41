// What training and inference jobs share in REST: status words, events.
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

/** Nothing happens to the job any more. */
export const isTerminal = (status: JobState): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** Members of both REST forms. */
export const jobProgress = {
  status: z
    .enum(jobStatuses)
    .describe("How far the job is")
    .meta({ examples: ["running"] }),
  status_message: sentence("The same in one sentence", "The job is running").nullable(),
  progress_percent: z
    .int()
    .min(0)
    .max(100)
    .describe("Never falls; 100 only when completed")
    .meta({ examples: [40] }),
};

export const jobEvent = z
  .object({
    id: count("Grows with every event", 4711),
    created_at: time("When it happened"),
    level: z.enum(["info", "warning", "error"]).describe("How bad it is"),
    type: z.enum(["status", "message", "metrics"]).describe("What kind of thing happened"),
    message: sentence("What happened, as a sentence", "The job is running"),
    data: z
      .record(z.string(), z.unknown())
      .describe("The same for programs")
      .meta({ examples: [{ status: "running" }] }),
  })
  .meta({ id: "JobEvent" });
