// Deliveries: one event on its way to one webhook. The sequencer adds them in the transaction that numbers the event
// (migration 0007); src/webhooks/sender.ts claims them on any replica of the operator; the routes list and repeat them.
import { sql } from "slonik";
import { z } from "zod";
import { deliveryNotFound, webhookDisabled, webhookNotFound } from "../errors.ts";
import {
  type DeliveryError,
  delivery,
  type deliveryStatuses,
  type listDeliveriesQuery,
} from "../schemas/webhook.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { newId } from "./driver/id.ts";
import { type Db, fits, type ListRequest, type Page, selectPage } from "./driver/page.ts";
import { oneWebhook } from "./webhook.ts";

const row = rowOf(delivery);
export type DeliveryRow = z.infer<typeof row>;

const columns = columnsOf(row);
const seconds = (ms: number) => sql.fragment`${ms / 1000}::double precision`;
const timeOf = (ms: number | null) =>
  ms === null ? sql.fragment`null::timestamptz` : sql.fragment`to_timestamp(${seconds(ms)})`;

/** Returns one page of a webhook's deliveries, newest first. They are deleted 7 days after they end. */
export async function listDeliveries(
  db: Db,
  tenantId: string,
  webhookId: string,
  query: ListRequest<typeof listDeliveriesQuery>,
): Promise<Page<DeliveryRow>> {
  await oneWebhook(db, tenantId, webhookId);
  const filter = { tenant_id: tenantId, webhook_id: webhookId, status: query.status };
  const from = sql.fragment`webhook_deliveries where ${fits(filter)}`;
  return await selectPage(db, row, { columns, from }, query);
}

/** Returns the delivery; rejects with deliveryNotFound. */
export const oneDelivery = (db: Db, tenantId: string, webhookId: string, id: string) =>
  db.expecting(deliveryNotFound).one(sql.type(row)`
    select ${columns} from webhook_deliveries
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and id = ${id}
      and exists (select from webhooks where tenant_id = ${tenantId} and id = ${webhookId})`);

/** Adds a delivery without an event, to test the webhook; rejects with webhookNotFound or webhookDisabled. */
export async function insertTestDelivery(db: Db, tenantId: string, webhookId: string, now: number) {
  const webhook = await oneWebhook(db, tenantId, webhookId);
  if (!webhook.enabled) throw webhookDisabled();
  const id = newId();
  const body = JSON.stringify({
    type: "webhook.test",
    timestamp: new Date(now).toISOString(),
    data: { webhook_id: webhookId },
  });
  // Selects from the locked webhook's row: the webhook may have been deleted since it was read.
  const made = await db.expecting(webhookNotFound).one(sql.type(row)`
    with hook as (
      select tenant_id, id from webhooks where tenant_id = ${tenantId} and id = ${webhookId} for key share
    )
    insert into webhook_deliveries (id, tenant_id, webhook_id, message_id, type, body, next_attempt_at)
    select ${id}, tenant_id, id, ${`test_${id}`}, 'webhook.test', ${body}, now() from hook
    returning ${columns}`);
  await wake(db);
  return made;
}

/**
 * Makes a delivery due now, with all its attempts again, whatever its status is. Rejects with webhookNotFound,
 * deliveryNotFound or webhookDisabled.
 */
export async function redeliver(db: Db, tenantId: string, webhookId: string, id: string) {
  const webhook = await oneWebhook(db, tenantId, webhookId);
  await oneDelivery(db, tenantId, webhookId, id);
  if (!webhook.enabled) throw webhookDisabled();
  const again = await db.expecting(deliveryNotFound).one(sql.type(row)`
    update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = now(), finished_at = null
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and id = ${id}
    returning ${columns}`);
  await wake(db);
  return again;
}

async function wake(db: Db): Promise<void> {
  await db.query(sql.fragment`select pg_notify('plosive_deliveries', '')`);
}

const claimed = z.object({
  id: z.string(),
  tenant_id: z.string(),
  webhook_id: z.string(),
  message_id: z.string(),
  type: z.string(),
  body: z.string(),
  attempt: z.number(),
  url: z.string(),
  host: z.string(),
  secret: z.instanceof(Buffer),
  old_secret: z.instanceof(Buffer).nullable(),
  failing_since: z.number().nullable(),
});
export type ClaimedDelivery = z.infer<typeof claimed>;

export interface Claim {
  readonly now: number;
  /** If the outcome is not recorded within the lease, the process counts as dead and the delivery is due again. */
  readonly leaseMs: number;
  /** Claim at most this many deliveries. */
  readonly limit: number;
  /** Deliveries that this process is sending already. */
  readonly inFlight: readonly Pick<ClaimedDelivery, "webhook_id" | "tenant_id" | "host">[];
  readonly limits: { readonly webhook: number; readonly tenant: number; readonly host: number };
}

/** Claims due deliveries of all tenants. No other process gets them until the lease expires. */
export async function claimDeliveries(db: Db, claim: Claim): Promise<readonly ClaimedDelivery[]> {
  const { inFlight, limits } = claim;
  const ofInFlight = (name: "webhook_id" | "tenant_id" | "host", type: string) =>
    sql.array(
      inFlight.map((delivery) => delivery[name]),
      type,
    );
  return await db.any(sql.type(claimed)`
    select ${columnsOf(claimed)}
    from claim_deliveries(${timeOf(claim.now)}, make_interval(secs => ${seconds(claim.leaseMs)}), ${claim.limit},
      ${ofInFlight("webhook_id", "uuid")}, ${ofInFlight("tenant_id", "uuid")}, ${ofInFlight("host", "text")},
      ${limits.webhook}, ${limits.tenant}, ${limits.host})`);
}

export interface DeliveryOutcome {
  readonly status: (typeof deliveryStatuses)[number];
  readonly nextAttemptAt: number | null;
  readonly lastStatus: number | null;
  readonly lastError: DeliveryError | null;
  readonly webhook: {
    readonly disable: "gone" | "failing" | null;
    readonly failingSince: number | null;
    readonly throttledUntil: number | null;
  };
}

/**
 * Records the outcome of a claimed delivery. No effect when the delivery was claimed again meanwhile or deleted with its
 * webhook.
 */
export async function recordOutcome(
  db: Db,
  delivery: ClaimedDelivery,
  now: number,
  outcome: DeliveryOutcome,
): Promise<void> {
  const { tenant_id, webhook_id } = delivery;
  const { disable, failingSince, throttledUntil } = outcome.webhook;
  await db.transaction(async (tx) => {
    // Lock order, as in the deletion of a webhook: the webhook, then its deliveries. In the other order, concurrent
    // outcomes of one webhook would deadlock. The webhook is locked only if this outcome changes it.
    const changed = await tx.query(sql.fragment`
      select from webhooks
      where tenant_id = ${tenant_id} and id = ${webhook_id} and (
        ${disable !== null} or ${throttledUntil !== null} or (failing_since is null) <> ${failingSince === null})
      for no key update`);
    const recorded = await tx.query(sql.fragment`
      update webhook_deliveries set status = ${outcome.status}, next_attempt_at = ${timeOf(outcome.nextAttemptAt)},
        last_status = ${outcome.lastStatus}, last_error = ${outcome.lastError},
        finished_at = ${timeOf(outcome.status === "pending" ? null : now)}
      where tenant_id = ${tenant_id} and id = ${delivery.id} and status = 'pending' and attempts = ${delivery.attempt}`);
    if (recorded.rowCount === 0 || changed.rowCount === 0) return;
    await tx.query(sql.fragment`
      update webhooks set
        failing_since = case when ${failingSince === null} then null
          else coalesce(failing_since, ${timeOf(failingSince)}) end,
        throttled_until = ${timeOf(throttledUntil)},
        enabled = enabled and ${disable === null},
        disabled_reason = coalesce(${disable}::text, disabled_reason)
      where tenant_id = ${tenant_id} and id = ${webhook_id}`);
    if (disable !== null) {
      await tx.query(sql.fragment`
        update webhook_deliveries set status = 'failed', next_attempt_at = null, last_error = 'webhook_disabled',
          finished_at = ${timeOf(now)}
        where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and status = 'pending'`);
    }
  });
}
