// Makes requests with an Idempotency-Key safe to repeat: a repeated request creates nothing, and its response is
// rendered again from the resources that the first request created. Called by answer.ts for routes that create.
import { insertRequestKey, lockRequestKey, type RequestKey } from "../db/idempotency.ts";
import { requestInProgress, type ValidationItem, validationFailed, valueError } from "../errors.ts";
import { digest } from "./fingerprint.ts";
import type { Call, Reply, Route } from "./route.ts";

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
 * Runs the handler in one transaction with the insert of the key's row; for a key that was used before, returns the
 * reply for what the first request created. Throws requestInProgress while the first request runs, and validationFailed
 * if the key was used for a different request.
 */
export async function runOnce({
  call,
  key,
  target,
  fingerprint,
  handler,
  replay,
}: {
  call: Call;
  key: string;
  /** Method and path. */
  target: readonly [method: string, path: string];
  fingerprint: Uint8Array;
  handler: (call: Call) => Promise<Reply>;
  replay: NonNullable<Route["idempotent"]>;
}): Promise<Reply> {
  const request: RequestKey = {
    tenantId: call.tenantId,
    scope: digest([...target, key]),
    fingerprint: Buffer.from(fingerprint),
  };
  return await call.deps.db.transaction(async (tx) => {
    const inside = { ...call, deps: { ...call.deps, db: tx } };
    const before = await lockRequestKey(tx, request);
    if (!before.locked) throw requestInProgress();
    if (before.created_ids === null) {
      const reply = await handler(inside);
      await insertRequestKey(tx, request, reply.created ?? [], reply.report);
      return reply;
    }
    if (!before.same)
      throw validationFailed([valueError(["header", header], "the key was used for a different request")]);
    const reply = await replay(inside, before.created_ids, before.report);
    return { ...reply, headers: { ...reply.headers, "Idempotency-Replayed": "true" } };
  });
}
