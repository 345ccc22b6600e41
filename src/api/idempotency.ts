// Requests that carry an Idempotency-Key may be sent again: the second time nothing is made, and the answer is rendered
// anew from what the first one made. Called by answer.ts for routes that create.
import { createHash } from "node:crypto";
import { insertRequestKey, lockRequestKey, type RequestKey } from "../db/idempotency.ts";
import { requestInProgress, type ValidationItem, validationFailed, valueError } from "../errors.ts";
import type { Call, Reply, Route } from "./route.ts";

const header = "Idempotency-Key";

/** What the client sent, as far as it decides what is made. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly querystring: string;
  /** Parsed, not yet validated: a later release with other defaults must know the request again. */
  readonly body: unknown;
}

/** The faults of the header, for the list of all faults of the request. */
export function faultsOfKey(key: string | undefined): ValidationItem[] {
  if (key === undefined) return [];
  const loc = ["header", header];
  if (key === "") return [{ loc, msg: "String should have at least 1 character", type: "string_too_short" }];
  if (key.length > 255)
    return [{ loc, msg: "String should have at most 255 characters", type: "string_too_long" }];
  return [];
}

/** Runs the handler in one transaction with the key's row, or gives the answer for what was made before. */
export async function runOnce({
  call,
  key,
  raw,
  handler,
  replay,
}: {
  call: Call;
  key: string;
  raw: RawRequest;
  handler: (call: Call) => Promise<Reply>;
  replay: NonNullable<Route["idempotent"]>;
}): Promise<Reply> {
  const request: RequestKey = {
    tenantId: call.tenantId,
    scope: digest([raw.method, raw.path, key]),
    fingerprint: digest([canonical(raw.body), raw.querystring]),
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
      throw validationFailed([valueError(["header", header], "the key was used for another request")]);
    const reply = await replay(inside, before.created_ids, before.report);
    return { ...reply, headers: { ...reply.headers, "Idempotency-Replayed": "true" } };
  });
}

function digest(parts: readonly string[]): Buffer {
  // As JSON, so that no two lists of parts run together into the same text.
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}

/** JSON with the members of every object in order of their names. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, member: unknown) => {
      if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
      return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
    }) ?? ""
  );
}
