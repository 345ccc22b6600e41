// /api/v1/webhooks: the webhooks of the account (signed as in Standard Webhooks) and their deliveries. src/webhooks
// sends them.
import { z } from "zod";
import { newId } from "../../db/driver/id.ts";
import {
  deleteWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  oneWebhook,
  replaceWebhookSecret,
  updateWebhook,
  type WebhookRow,
} from "../../db/webhook.ts";
import {
  type DeliveryRow,
  insertTestDelivery,
  listDeliveries,
  oneDelivery,
  redeliver as redeliverRow,
} from "../../db/webhook-delivery.ts";
import { id, listOf, listQuery } from "../../schemas/rest.ts";
import {
  createWebhookBody,
  delivery,
  listDeliveriesQuery,
  updateWebhookBody,
  webhook,
  webhookWithSecret,
} from "../../schemas/webhook.ts";
import { formatSecret, makeSecret } from "../../webhooks/secret.ts";
import { etagOf } from "../conditional.ts";
import { type Call, defineRoute, type HandlerDeps } from "../route.ts";
import { targetOf } from "../target.ts";
import { listReply, show, viewOf } from "../view.ts";

const base = "/api/v1/webhooks";
const one = `${base}/{webhook_id}`;
const params = z.object({ webhook_id: id("Id of the webhook") });
const deliveryParams = params.extend({ delivery_id: id("Id of the delivery") });
type Params = z.infer<typeof params>;

const viewWebhook = viewOf(webhook);

const viewDelivery = viewOf(delivery);

const create = defineRoute("POST", base, {
  operationId: "createWebhook",
  summary: "Create a webhook; the response shows its signing secret",
  body: createWebhookBody,
  answer: { status: 201, description: "The webhook with its secret", schema: webhookWithSecret },
  handler: async ({ body, tenantId, deps }) => {
    const webhookId = newId();
    const secret = deps.secrets.seal(makeSecret(deps.random), webhookId);
    const made = { ...body, ...targetOf(body.url, deps), id: webhookId, secret };
    const row = await insertWebhook(deps.db, tenantId, made, deps.config.PLOSIVE_QUOTA_WEBHOOKS);
    return { location: `${base}/${row.id}`, ...replyWithSecret(row, deps) };
  },
  idempotent: async ({ tenantId, deps }, [id = ""]) => ({
    location: `${base}/${id}`,
    ...replyWithSecret(await oneWebhook(deps.db, tenantId, id), deps),
  }),
});

const list = defineRoute("GET", base, {
  operationId: "listWebhooks",
  summary: "List the webhooks",
  query: z.object(listQuery),
  answer: { status: 200, description: "One page", schema: listOf(webhook) },
  handler: async ({ query, tenantId, deps }) =>
    listReply(await listWebhooks(deps.db, tenantId, query), query, viewWebhook),
});

const read = defineRoute("GET", one, {
  operationId: "getWebhook",
  summary: "Read a webhook",
  params,
  conditional: true,
  answer: { status: 200, description: "The webhook", schema: webhook },
  handler: ({ params, tenantId, deps }) =>
    show(oneWebhook(deps.db, tenantId, params.webhook_id), viewWebhook),
});

const update = defineRoute("PATCH", one, {
  operationId: "updateWebhook",
  summary: "Change the URL, types or description of a webhook, or disable or enable it",
  params,
  body: updateWebhookBody,
  answer: { status: 200, description: "The webhook", schema: webhook },
  guard: (call) => {
    // A forbidden URL gets 422 before 404 and 412.
    changeOf(call);
    return guard(call);
  },
  handler: async (call) => {
    const { params, tenantId, deps } = call;
    return { body: viewWebhook(await updateWebhook(deps.db, tenantId, params.webhook_id, changeOf(call))) };
  },
});

const remove = defineRoute("DELETE", one, {
  operationId: "deleteWebhook",
  summary: "Delete a webhook with its deliveries; pending ones are not sent",
  params,
  reads: "all",
  answer: { status: 204, description: "The webhook is deleted" },
  guard,
  handler: ({ params, tenantId, deps }) => deleteWebhook(deps.db, tenantId, params.webhook_id),
});

const rotate = defineRoute("POST", `${one}/rotate-secret`, {
  operationId: "rotateWebhookSecret",
  summary: "Create a new signing secret; for 24 hours, deliveries have signatures with both secrets",
  params,
  answer: { status: 200, description: "The webhook with its new secret", schema: webhookWithSecret },
  handler: async ({ params, tenantId, deps }) => {
    const secret = deps.secrets.seal(makeSecret(deps.random), params.webhook_id);
    return replyWithSecret(await replaceWebhookSecret(deps.db, tenantId, params.webhook_id, secret), deps);
  },
  idempotent: async ({ params, tenantId, deps }) =>
    replyWithSecret(await oneWebhook(deps.db, tenantId, params.webhook_id), deps),
});

const test = defineRoute("POST", `${one}/test`, {
  operationId: "testWebhook",
  summary: "Send an event of the type webhook.test",
  params,
  answer: { status: 201, description: "The pending delivery", schema: delivery },
  conflicts: ["webhook_disabled"],
  handler: async ({ params, tenantId, deps }) =>
    added(await insertTestDelivery(deps.db, tenantId, params.webhook_id, deps.clock.now())),
  idempotent: async ({ params, tenantId, deps }, [id = ""]) =>
    added(await oneDelivery(deps.db, tenantId, params.webhook_id, id)),
});

const deliveries = defineRoute("GET", `${one}/deliveries`, {
  operationId: "listWebhookDeliveries",
  summary: "List the deliveries of a webhook, newest first; finished deliveries are kept for 7 days",
  params,
  query: listDeliveriesQuery,
  reads: "all",
  answer: { status: 200, description: "One page", schema: listOf(delivery) },
  handler: async ({ params, query, tenantId, deps }) =>
    listReply(await listDeliveries(deps.db, tenantId, params.webhook_id, query), query, viewDelivery),
});

const readDelivery = defineRoute("GET", `${one}/deliveries/{delivery_id}`, {
  operationId: "getWebhookDelivery",
  summary: "Read a delivery",
  params: deliveryParams,
  conditional: true,
  answer: { status: 200, description: "The delivery", schema: delivery },
  handler: ({ params, tenantId, deps }) =>
    show(oneDelivery(deps.db, tenantId, params.webhook_id, params.delivery_id), viewDelivery),
});

const redeliver = defineRoute("POST", `${one}/deliveries/{delivery_id}/redeliver`, {
  operationId: "redeliverWebhookDelivery",
  summary: "Send a delivery again, with the same webhook-id",
  params: deliveryParams,
  answer: { status: 200, description: "The delivery, pending again", schema: delivery },
  conflicts: ["webhook_disabled"],
  handler: ({ params, tenantId, deps }) =>
    show(redeliverRow(deps.db, tenantId, params.webhook_id, params.delivery_id), viewDelivery),
  idempotent: ({ params, tenantId, deps }) =>
    show(oneDelivery(deps.db, tenantId, params.webhook_id, params.delivery_id), viewDelivery),
});

function changeOf({ body, deps }: Call<Params, unknown, z.infer<typeof updateWebhookBody>>) {
  return { ...body, url: body.url === undefined ? undefined : targetOf(body.url, deps) };
}

async function guard({ params, tenantId, deps }: Call<Params>): Promise<readonly string[]> {
  return [etagOf(viewWebhook(await lockWebhook(deps.db, tenantId, params.webhook_id)))];
}

function added(row: DeliveryRow) {
  const location = `${base}/${row.webhook_id}/deliveries/${row.id}`;
  return { location, body: viewDelivery(row), created: [row.id] };
}

function replyWithSecret(row: WebhookRow, deps: HandlerDeps) {
  const secret = formatSecret(deps.secrets.open(row.secret, row.id));
  return { body: { ...viewWebhook(row), secret }, created: [row.id] };
}

export const routes = [create, list, read, update, remove, rotate, test, deliveries, readDelivery, redeliver];
