// Who asks: one indexed query for each request, never cached, so that a revoked key is dead on the next request to any
// replica. Called by the router before it reads the body.
import type { IncomingMessage } from "node:http";
import { maybeOneCaller, touchApiKey } from "../db/api-key.ts";
import { tenantDatabase } from "../db/tenant-db.ts";
import { expiredApiKey, invalidApiKey, tenantSuspended } from "../errors.ts";
import { hashApiKey, isApiKey } from "./api-key-format.ts";
import type { SharedDeps } from "./route.ts";

export interface Caller {
  readonly tenantId: string;
  readonly keyId: string;
}

/** Who owns the key in X-API-Key. Two such headers arrive joined and are therefore no key. */
export async function authenticate(request: IncomingMessage, deps: SharedDeps): Promise<Caller> {
  const given = request.headers["x-api-key"];
  if (typeof given !== "string" || !isApiKey(given)) throw invalidApiKey();
  const caller = await maybeOneCaller(deps.db, hashApiKey(given));
  if (caller === null) throw invalidApiKey();
  if (caller.expired) throw expiredApiKey();
  if (caller.suspended) throw tenantSuspended();
  if (caller.unnoticed)
    deps.background("note the use of an API key", () =>
      touchApiKey(tenantDatabase(deps.db, caller.tenant_id), caller.id),
    );
  return { tenantId: caller.tenant_id, keyId: caller.id };
}
