// Webhooks in REST: where events are sent (Standard Webhooks).
import { z } from "zod";
import { eventTypes } from "./event.ts";
import { count, id, pageQuery, time } from "./rest.ts";

const url = z
  .string()
  .min(1)
  .max(2048)
  .describe("Public https address of the receiver, with a host name, on port 443 or 8443")
  .meta({ examples: ["https://hooks.example.com/plosive"] });
const description = z.string().max(255).describe("What it is for");
const types = z.array(z.enum(eventTypes)).max(64).describe("Types of the events that are sent; empty: all");

const members = {
  id: id("Id of the webhook"),
  url: z.string().describe("Where events are sent"),
  description: z.string().describe("What it is for"),
  types: z.array(z.string()).describe("Types of the events that are sent; empty: all"),
  enabled: z.boolean().describe("Whether events are sent"),
  disabled_reason: z
    .enum(["gone", "failing"])
    .nullable()
    .describe("Why the service switched it off: it answered 410, or failed for days"),
  failing_since: time("First failure since the last success; null: the last one succeeded").nullable(),
  created_at: time("When it was made"),
  updated_at: time("When it was last changed by a client"),
};

export const webhook = z.object(members).meta({ id: "Webhook" });

export const webhookWithSecret = z
  .object({
    ...members,
    secret: z.string().describe("Signs what is sent: `whsec_` and base64 of 32 bytes. Shown only now"),
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
    enabled: z.boolean().optional().describe("True starts a webhook again that was switched off"),
  })
  .meta({ id: "UpdateWebhook" });

export const deliveryStatuses = ["pending", "delivered", "failed"] as const;

/**
 * Why an attempt failed. Nothing of the receiver's answer but its status is kept. `secret`: nothing was sent, because the
 * service cannot read the webhook's secret any more.
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
    webhook_id: id("Webhook that it goes to"),
    message_id: z.string().describe("The header webhook-id: the same for every attempt"),
    type: z.string().describe("Type of the event"),
    status: z.enum(deliveryStatuses).describe("Whether it has arrived"),
    attempts: count("Attempts so far"),
    next_attempt_at: time("When it is tried next; null: not again").nullable(),
    last_attempt_at: time("When it was last tried").nullable(),
    last_status: z.int().nullable().describe("HTTP status of the last answer; null: there was none"),
    last_error: z
      .enum(deliveryErrors)
      .nullable()
      .describe("Why the last attempt failed; `secret`: nothing can be signed until the secret is rotated"),
    created_at: time("When it was made"),
    finished_at: time("When it arrived or was given up").nullable(),
  })
  .meta({ id: "WebhookDelivery" });

export const listDeliveriesQuery = z.object({
  ...pageQuery,
  status: z
    .array(z.enum(deliveryStatuses))
    .max(3)
    .optional()
    .describe("Only these statuses; may be repeated"),
});
