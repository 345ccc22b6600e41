// Webhooks and their deliveries in REST. Webhooks follow Standard Webhooks.
import { z } from "zod";
import { eventTypes } from "./event.ts";
import { count, id, listQuery, time } from "./rest.ts";

const url = z
  .string()
  .min(1)
  .max(2048)
  .describe("Public https URL of the receiver, with a host name, on port 443 or 8443")
  .meta({ examples: ["https://hooks.example.com/plosive"] });
const description = z.string().max(255).describe("Purpose of the webhook");
const types = z.array(z.enum(eventTypes)).max(64).describe("Types of the events to send; empty: all types");

const members = {
  id: id("Id of the webhook"),
  url: z.string().describe("URL that events are sent to"),
  description: z.string().describe("Purpose of the webhook"),
  types: z.array(z.string()).describe("Types of the events to send; empty: all types"),
  enabled: z.boolean().describe("Whether events are sent to the webhook"),
  disabled_reason: z
    .enum(["gone", "failing"])
    .nullable()
    .describe(
      "Why the service disabled the webhook: `gone` if the receiver answered 410, `failing` if deliveries failed for days; null: the service did not disable it",
    ),
  failing_since: time(
    "First failure since the last successful delivery; null: the last delivery succeeded",
  ).nullable(),
  created_at: time("When the webhook was created"),
  updated_at: time("When a client last changed the webhook"),
};

export const webhook = z.object(members).meta({ id: "Webhook" });

export const webhookWithSecret = z
  .object({
    ...members,
    secret: z
      .string()
      .describe(
        "Secret that signs the deliveries: `whsec_` and 32 bytes in base64. No later response shows it",
      ),
  })
  .meta({ id: "WebhookWithSecret" });

export const createWebhookBody = z
  .object({ url, description: description.default(""), types: types.default([]) })
  .meta({ id: "CreateWebhook" });

export const updateWebhookBody = z
  .object({
    url: url.optional(),
    description: description.optional(),
    types: types.optional(),
    enabled: z.boolean().optional().describe("False disables the webhook; true enables it again"),
  })
  .meta({ id: "UpdateWebhook" });

export const deliveryStatuses = ["pending", "delivered", "failed"] as const;

/**
 * Why an attempt failed. The service stores only the status of the receiver's response. `secret`: nothing was sent,
 * because the service can no longer decrypt the webhook's secret.
 */
export const deliveryErrors = [
  "status",
  "redirect",
  "timeout",
  "address",
  "connection",
  "tls",
  "protocol",
  "secret",
  "webhook_disabled",
] as const;
export type DeliveryError = (typeof deliveryErrors)[number];

export const delivery = z
  .object({
    id: id("Id of the delivery"),
    webhook_id: id("Webhook that the delivery goes to"),
    message_id: z.string().describe("Value of the header webhook-id; the same for every attempt"),
    type: z.string().describe("Type of the event"),
    status: z.enum(deliveryStatuses).describe("State of the delivery"),
    attempts: count("Number of attempts so far"),
    next_attempt_at: time("When the next attempt is due; null: there is none").nullable(),
    last_attempt_at: time("When the last attempt was made").nullable(),
    last_status: z.int().nullable().describe("HTTP status of the last response; null: there was no response"),
    last_error: z
      .enum(deliveryErrors)
      .nullable()
      .describe(
        "Why the last attempt failed; `secret`: the secret cannot be decrypted, and no delivery can be signed until it is rotated",
      ),
    created_at: time("When the delivery was created"),
    finished_at: time("When the delivery succeeded or was given up").nullable(),
  })
  .meta({ id: "WebhookDelivery" });

export const listDeliveriesQuery = z.object({
  ...listQuery,
  status: z
    .array(z.enum(deliveryStatuses))
    .max(3)
    .optional()
    .describe("Only deliveries with these statuses; repeat the parameter for several"),
});
