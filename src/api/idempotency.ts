// Makes requests with an Idempotency-Key safe to repeat: a repeated request creates nothing, and its response is
// rendered again from the resources that the first request created. Called by answer.ts for routes that create.
import { insertRequestKey, lockRequestKey, type RequestKey } from "../db/idempotency.ts";
import { type ValidationItem, validationFailed, valueError } from "../errors.ts";
import { digest } from "./fingerprint.ts";
import { type Exchange, inTransaction, keyOf } from "./step.ts";

const header = "Idempotency-Key";

/** Returns the faults of the header Idempotency-Key, to be listed with all other faults of the request. */
export function faultsOfKey(key: string | undefined): ValidationItem[] {
  if (key === undefined) return [];
  const loc = ["header", header];
  if (key === "") return [{ loc, msg: "String should have at least 1 character", type: "string_too_short" }];
  if (key.length > 255)
    return [{ loc, msg: "String should have at most 255 characters", type: "string_too_long" }];
  return [];
}

/**
 * With an Idempotency-Key, runs the later steps in one transaction with the insert of the key's row; for a key that was
 * used before, replies with what the first request created. Throws requestInProgress while the first request runs, and
 * validationFailed if the key was used for a different request.
 */
export async function runOnce(exchange: Exchange, next: () => Promise<void>): Promise<void> {
  const { ctx, route, caller, fingerprint } = exchange;
  const [replay, key] = [route.idempotent, keyOf(exchange)];
  if (replay === undefined || key === undefined || fingerprint === undefined) return await next();
  const request: RequestKey = {
    tenantId: caller.tenantId,
    scope: digest([ctx.method, ctx.path, key]),
    fingerprint: Buffer.from(fingerprint),
  };
  await inTransaction(exchange, async (call) => {
    const before = await lockRequestKey(call.deps.db, request);
    if (before === null) {
      await next();
      const { created = [], report } = exchange.reply;
      return await insertRequestKey(call.deps.db, request, created, report);
    }
    if (!before.same)
      throw validationFailed([valueError(["header", header], "the key was used for a different request")]);
    const reply = await replay(call, before.created_ids, before.report);
    exchange.reply = { ...reply, headers: { ...reply.headers, "Idempotency-Replayed": "true" } };
  });
}
