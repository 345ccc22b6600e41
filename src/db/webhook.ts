// Webhooks: the URLs that receive a tenant's events. Secrets are stored as src/webhooks/secret.ts seals them. Called by
// src/api/routes/webhook.ts.
import { sql } from "slonik";
import { z } from "zod";
import { quotaExceeded, webhookNotFound } from "../errors.ts";
import { webhook } from "../schemas/webhook.ts";
import { beginDeletion, seeDeleted } from "./deletion.ts";
import { columnsOf, rowOf } from "./driver/fields.ts";
import { type Db, type PageRequest, selectPage } from "./driver/page.ts";
import { requireBelowQuota } from "./quota.ts";

const row = rowOf(webhook, { secret: z.instanceof(Buffer) });
export type WebhookRow = z.infer<typeof row>;

const columns = columnsOf(row);

export interface NewWebhook {
  /** From newId: the secret is sealed for this id before the row exists. */
  readonly id: string;
  readonly url: string;
  readonly host: string;
  readonly description: string;
  readonly types: readonly string[];
  readonly secret: Buffer;
}

/** Adds a webhook; rejects with quotaExceeded when the tenant has `max` webhooks already (0: no limit). */
export async function insertWebhook(db: Db, tenantId: string, webhook: NewWebhook, max: number) {
  return await db.transaction(async (tx) => {
    await requireBelowQuota(tx, "webhooks", tenantId, max, () =>
      quotaExceeded(`An account has at most ${max} webhooks; delete one first`),
    );
    return await tx.one(sql.type(row)`
      insert into webhooks (id, tenant_id, url, host, description, types, secret)
      values (${webhook.id}, ${tenantId}, ${webhook.url}, ${webhook.host}, ${webhook.description},
        ${sql.array([...webhook.types], "text")}, ${sql.binary(webhook.secret)})
      returning ${columns}`);
  });
}

/** Returns one page of the tenant's webhooks, newest first. */
export async function listWebhooks(db: Db, tenantId: string, request: PageRequest) {
  const from = sql.fragment`webhooks where tenant_id = ${tenantId}`;
  return await selectPage(db, row, { columns, from }, request);
}

/** Returns the webhook; rejects with webhookNotFound. `lock`: a locking clause. */
export const oneWebhook = (db: Db, tenantId: string, id: string, lock = sql.fragment``) =>
  db.expecting(webhookNotFound).one(sql.type(row)`
    select ${columns} from webhooks where tenant_id = ${tenantId} and id = ${id} ${lock}`);

/** Returns the webhook, locked against changes until the transaction ends. */
export const lockWebhook = (tx: Db, tenantId: string, id: string) =>
  oneWebhook(tx, tenantId, id, sql.fragment`for update`);

export interface WebhookChange {
  readonly url?: { readonly url: string; readonly host: string };
  readonly description?: string;
  readonly types?: readonly string[];
  readonly enabled?: boolean;
}

/**
 * Changes the given members. Enabling the webhook or changing its URL resets its failures. Rejects with
 * webhookNotFound.
 */
export async function updateWebhook(db: Db, tenantId: string, id: string, change: WebhookChange) {
  const types = change.types === undefined ? null : sql.array([...change.types], "text");
  const anew = change.enabled === true || change.url !== undefined;
  return await db.expecting(webhookNotFound).one(sql.type(row)`
    update webhooks set
      url = coalesce(${change.url?.url ?? null}::text, url),
      host = coalesce(${change.url?.host ?? null}::text, host),
      description = coalesce(${change.description ?? null}::text, description),
      types = coalesce(${types}, types),
      enabled = coalesce(${change.enabled ?? null}::boolean, enabled),
      disabled_reason = case when ${change.enabled === undefined} then disabled_reason end,
      failing_since = case when ${!anew} then failing_since end,
      throttled_until = case when ${!anew} then throttled_until end,
      updated_at = now()
    where tenant_id = ${tenantId} and id = ${id}
    returning ${columns}`);
}

/** Deletes a webhook and its deliveries; rejects with webhookNotFound. */
export async function deleteWebhook(db: Db, tenantId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await lockWebhook(tx, tenantId, id);
    await seeDeleted(tx);
    // A disabled webhook gets no new deliveries.
    await tx.query(sql.fragment`
      update webhooks set deleted_at = now(), enabled = false where tenant_id = ${tenantId} and id = ${id}`);
    await beginDeletion(tx, "webhook", tenantId, id);
  });
}

/**
 * Replaces the secret. For 24 hours deliveries are signed with both. A rotation less than a minute after another one counts as
 * its repetition: the client may not have received the secret in between, and receivers still know only the first. Rejects
 * with webhookNotFound.
 */
export const replaceWebhookSecret = (db: Db, tenantId: string, id: string, secret: Buffer) =>
  db.expecting(webhookNotFound).one(sql.type(row)`
    update webhooks set
      old_secret = case when old_secret_expires_at > now() + interval '24 hours' - interval '1 minute'
        then old_secret else secret end,
      old_secret_expires_at = now() + interval '24 hours',
      secret = ${sql.binary(secret)}, updated_at = now()
    where tenant_id = ${tenantId} and id = ${id}
    returning ${columns}`);
