// What training and inference jobs share in REST: status words, events (design 2.7).
import { z } from "zod";
import { time } from "./rest.ts";

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

export const jobEvent = z
  .object({
    id: z.int().describe("Grows with every event"),
    created_at: time("When it happened"),
    level: z.enum(["info", "warning", "error"]),
    type: z.enum(["status", "message", "metrics"]),
    message: z.string().describe("What happened, as a sentence"),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "JobEvent" });
