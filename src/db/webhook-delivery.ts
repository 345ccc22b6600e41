// Deliveries: one event on its way to one webhook. Made by the stamper in the transaction that numbers the event
// (migration 0007), claimed by src/webhooks/sender.ts on any replica, shown and repeated by the routes.
import { sql } from "slonik";
import { z } from "zod";
import { deliveryNotFound, webhookDisabled, webhookNotFound } from "../errors.ts";
import { type DeliveryError, deliveryErrors, deliveryStatuses } from "../schemas/webhook.ts";
import { newId } from "./id.ts";
import { type Db, type Page, type PageRequest, selectPage } from "./page.ts";
import { oneWebhook } from "./webhook.ts";

const row = z.object({
  id: z.string(),
  webhook_id: z.string(),
  message_id: z.string(),
  type: z.string(),
  status: z.enum(deliveryStatuses),
  attempts: z.number(),
  next_attempt_at: z.number().nullable(),
  last_attempt_at: z.number().nullable(),
  last_status: z.number().nullable(),
  last_error: z.enum(deliveryErrors).nullable(),
  created_at: z.number(),
  finished_at: z.number().nullable(),
});
export type DeliveryRow = z.infer<typeof row>;

const columns = sql.fragment`id, webhook_id, message_id, type, status, attempts, next_attempt_at, last_attempt_at,
  last_status, last_error, created_at, finished_at`;
const nothing = z.object({});
const seconds = (ms: number) => sql.fragment`${ms / 1000}::double precision`;
const timeOf = (ms: number | null) =>
  ms === null ? sql.fragment`null::timestamptz` : sql.fragment`to_timestamp(${seconds(ms)})`;

/** One page of a webhook's deliveries of the last days, newest first. */
export async function listDeliveries(
  db: Db,
  tenantId: string,
  webhookId: string,
  query: PageRequest & { status?: readonly (typeof deliveryStatuses)[number][] },
): Promise<Page<DeliveryRow>> {
  await oneWebhook(db, tenantId, webhookId);
  const status =
    query.status === undefined
      ? sql.fragment`true`
      : sql.fragment`status = any(${sql.array([...query.status], "text")})`;
  const from = sql.fragment`webhook_deliveries
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and ${status}`;
  return await selectPage(db, row, { columns, from }, query);
}

/** The delivery, or deliveryNotFound. */
export async function oneDelivery(
  db: Db,
  tenantId: string,
  webhookId: string,
  id: string,
): Promise<DeliveryRow> {
  const found = await db.maybeOne(sql.type(row)`
    select ${columns} from webhook_deliveries
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and id = ${id}`);
  if (found === null) throw deliveryNotFound();
  return found;
}

/** A delivery of no event, to try the webhook out; webhookDisabled when it is switched off. */
export async function insertTestDelivery(
  db: Db,
  tenantId: string,
  webhookId: string,
  now: number,
): Promise<DeliveryRow> {
  const webhook = await oneWebhook(db, tenantId, webhookId);
  if (!webhook.enabled) throw webhookDisabled();
  const id = newId();
  const body = JSON.stringify({
    type: "webhook.test",
    timestamp: new Date(now).toISOString(),
    data: { webhook_id: webhookId },
  });
  // From its row, locked: it may have been deleted since it was read.
  const made = await db.maybeOne(sql.type(row)`
    with hook as (
      select tenant_id, id from webhooks where tenant_id = ${tenantId} and id = ${webhookId} for key share
    )
    insert into webhook_deliveries (id, tenant_id, webhook_id, message_id, type, body, next_attempt_at)
    select ${id}, tenant_id, id, ${`test_${id}`}, 'webhook.test', ${body}, now() from hook
    returning ${columns}`);
  if (made === null) throw webhookNotFound();
  await wake(db);
  return made;
}

/** Sends it again, now and with the whole schedule before it, whatever became of it. */
export async function redeliver(
  db: Db,
  tenantId: string,
  webhookId: string,
  id: string,
): Promise<DeliveryRow> {
  const webhook = await oneWebhook(db, tenantId, webhookId);
  await oneDelivery(db, tenantId, webhookId, id);
  if (!webhook.enabled) throw webhookDisabled();
  const again = await db.maybeOne(sql.type(row)`
    update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = now(), finished_at = null
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and id = ${id}
    returning ${columns}`);
  if (again === null) throw deliveryNotFound();
  await wake(db);
  return again;
}

async function wake(db: Db): Promise<void> {
  await db.query(sql.type(nothing)`select pg_notify('plosive_deliveries', '')`);
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
  /** Whoever has not told the outcome by then is taken for dead, and the delivery is due again. */
  readonly leaseMs: number;
  readonly places: number;
  /** What this process is sending already. */
  readonly busy: readonly Pick<ClaimedDelivery, "webhook_id" | "tenant_id" | "host">[];
  readonly limits: { readonly webhook: number; readonly tenant: number; readonly host: number };
}

/** Takes deliveries that are due, of whatever tenant. Nobody else gets them until the lease is over. */
export async function claimDeliveries(db: Db, claim: Claim): Promise<readonly ClaimedDelivery[]> {
  const { busy, limits } = claim;
  const list = (values: string[], type: string) => sql.array(values, type);
  return await db.any(sql.type(claimed)`
    select id, tenant_id, webhook_id, message_id, type, body, attempt, url, host, secret, old_secret, failing_since
    from claim_deliveries(${timeOf(claim.now)}, make_interval(secs => ${seconds(claim.leaseMs)}), ${claim.places},
      ${list(
        busy.map((d) => d.webhook_id),
        "uuid",
      )}, ${list(
        busy.map((d) => d.tenant_id),
        "uuid",
      )},
      ${list(
        busy.map((d) => d.host),
        "text",
      )}, ${limits.webhook}, ${limits.tenant}, ${limits.host})`);
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
 * Tells what became of a claimed delivery. By the tenant's database. False when it was claimed again meanwhile, or is
 * gone with its webhook: then nothing is changed.
 */
export async function recordOutcome(
  db: Db,
  delivery: ClaimedDelivery,
  now: number,
  outcome: DeliveryOutcome,
): Promise<boolean> {
  const { tenant_id, webhook_id } = delivery;
  const { disable, failingSince, throttledUntil } = outcome.webhook;
  return await db.transaction(async (tx) => {
    // The webhook first and its deliveries after it, as its deletion takes them: several outcomes at once, each with its
    // delivery and then in want of the webhook or of the others' deliveries, would wait for each other. A webhook that is
    // as it should be is nothing to wait for.
    const changes = await tx.maybeOne(sql.type(nothing)`
      select from webhooks
      where tenant_id = ${tenant_id} and id = ${webhook_id} and (
        ${disable !== null} or ${throttledUntil !== null} or (failing_since is null) <> ${failingSince === null})
      for no key update`);
    const told = await tx.query(sql.type(nothing)`
      update webhook_deliveries set status = ${outcome.status}, next_attempt_at = ${timeOf(outcome.nextAttemptAt)},
        last_status = ${outcome.lastStatus}, last_error = ${outcome.lastError},
        finished_at = ${timeOf(outcome.status === "pending" ? null : now)}
      where tenant_id = ${tenant_id} and id = ${delivery.id} and status = 'pending' and attempts = ${delivery.attempt}`);
    if (told.rowCount === 0) return false;
    if (changes === null) return true;
    await tx.query(sql.type(nothing)`
      update webhooks set
        failing_since = case when ${failingSince === null} then null
          else coalesce(failing_since, ${timeOf(failingSince)}) end,
        throttled_until = ${timeOf(throttledUntil)},
        enabled = enabled and ${disable === null},
        disabled_reason = coalesce(${disable}::text, disabled_reason)
      where tenant_id = ${tenant_id} and id = ${webhook_id}`);
    if (disable !== null) {
      await tx.query(sql.type(nothing)`
        update webhook_deliveries set status = 'failed', next_attempt_at = null, last_error = 'webhook_disabled',
          finished_at = ${timeOf(now)}
        where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and status = 'pending'`);
    }
    return true;
  });
}
