// Events about a tenant's resources. The list, the stream and webhooks use the same shape. The database triggers of
// migration 0007 set the types.
import { z } from "zod";
import { jobStatuses } from "./job.ts";
import { pageQuery, time } from "./rest.ts";

export const eventTypes = [
  "audio_file.ready",
  "audio_file.failed",
  "annotation_set.published",
  ...jobStatuses.map((status) => `training_job.${status}` as const),
  "training_job.progress",
  "model.created",
  "model.archived",
  ...jobStatuses.map((status) => `inference_job.${status}` as const),
  "inference_file.completed",
  "inference_file.failed",
  "api_key.created",
  "api_key.revoked",
  "webhook.disabled",
] as const;

export type EventType = (typeof eventTypes)[number];

export const eventTypeList = z
  .array(z.enum(eventTypes))
  .max(64)
  .describe("Only events of these types; repeat the parameter for several");

export const event = z
  .object({
    id: z.int().describe("Number that grows with every event of this service; the `id` in the stream"),
    type: z
      .string()
      .describe("Type of the event")
      .meta({ examples: ["training_job.completed"] }),
    timestamp: time("When the event happened"),
    data: z
      .record(z.string(), z.unknown())
      .describe("Ids and status of the resource; read the resource itself for everything else"),
  })
  .meta({ id: "Event" });

/** One block of the stream, after a client has parsed it. */
export const streamedEvent = z
  .object({
    id: z
      .string()
      .regex(/^[0-9]{1,16}$/)
      .describe("Id of the event, for the header Last-Event-ID")
      .meta({ examples: ["1024"] }),
    data: z
      .string()
      .max(20_000)
      .describe("The Event as JSON, on one line")
      .meta({
        contentMediaType: "application/json",
        examples: [
          '{"id":1024,"type":"model.created","timestamp":"2026-01-31T12:00:00.000Z","data":{"model_id":"0198b0de-7c1f-7a59-8a3c-9f4d8f7f2f11"}}',
        ],
      }),
  })
  .meta({ id: "StreamedEvent" });

export const listEventsQuery = z.object({
  ...pageQuery,
  types: eventTypeList.optional(),
  after: z.int().min(0).optional().describe("Only events with a greater id"),
});

export const streamEventsQuery = z.object({ types: eventTypeList.optional() });

/** `?wait=` of the routes that can wait for a change. */
export const waitQuery = z.object({
  wait: z
    .int()
    .min(0)
    .max(60)
    .optional()
    .describe(
      "Long polling: seconds to wait until the resource differs from the ETag in If-None-Match, or, without that header, from its present state. The response comes as soon as the resource changes",
    ),
});
