// Bounds the memory of responses that a tenant's clients do not read. Large reads are refused while others are unread
// (answer.ts), but what a change did cannot be refused any more when its response is ready. Used by app.ts.
import type { ServerResponse } from "node:http";
import type { Middleware } from "koa";
import type { Log } from "../../log.ts";

/** Of one tenant. The largest response to a change, to 1,000 annotations, has more than 4 MiB. */
const maxBytes = 32 * 1024 * 1024;

interface Unread {
  bytes: number;
  /** With their bytes, the oldest first. */
  readonly responses: Map<ServerResponse, number>;
}

/** Cuts off the oldest ones: a client that reads has its response before that. */
export function boundUnread(log: Log): Middleware {
  const tenants = new Map<string, Unread>();
  const forget = (tenantId: string, unread: Unread, response: ServerResponse) => {
    unread.bytes -= unread.responses.get(response) ?? 0;
    if (unread.responses.delete(response) && unread.responses.size === 0) tenants.delete(tenantId);
  };
  const add = (tenantId: string, response: ServerResponse, bytes: number) => {
    const unread = tenants.get(tenantId) ?? { bytes: 0, responses: new Map() };
    tenants.set(tenantId, unread);
    unread.bytes += bytes;
    unread.responses.set(response, bytes);
    // Also when Node has passed all of it on to the kernel.
    response.once("close", () => forget(tenantId, unread, response));
    for (const oldest of unread.responses.keys()) {
      if (unread.bytes <= maxBytes || oldest === response) return;
      forget(tenantId, unread, oldest);
      oldest.destroy();
      log.info({ tenantId }, "cut off a response: the tenant's clients leave too many bytes unread");
    }
  };
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      const { tenantId = "" } = ctx.state;
      // Streams have no length, and have bounds of their own.
      const bytes = ctx.length ?? 0;
      if (tenantId !== "" && bytes > 0 && !ctx.res.closed) add(tenantId, ctx.res, bytes);
    }
  };
}
