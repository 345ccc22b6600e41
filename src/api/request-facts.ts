// Facts about a request besides its input: id, client address, trace context, abort signal. Called by answer.ts for
// each request after its input is validated; authenticate.ts also needs the client address.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Context } from "koa";
import type { RequestFacts } from "./route.ts";

export function factsOf(ctx: Context, trustedProxies: number): RequestFacts {
  let closed: AbortController | undefined;
  return {
    id: ctx.state.requestId,
    ip: addressOf(ctx.req, trustedProxies),
    // With tracing, what the request causes is below its span (middleware/trace.ts).
    traceparent: ctx.state.traceparent ?? traceparentOf(ctx.req.headers.traceparent),
    headers: ctx.req.headers,
    // Created lazily, because most handlers do not use it.
    get signal() {
      if (closed === undefined) {
        const controller = new AbortController();
        closed = controller;
        if (ctx.res.closed || ctx.res.destroyed) controller.abort();
        else ctx.res.once("close", () => controller.abort());
      }
      return closed.signal;
    },
  };
}

/**
 * Returns the address of the client. Each proxy appends the address of its peer to X-Forwarded-For. With n trusted
 * proxies, the n-th entry from the end is the client; the entries before it are untrusted input.
 */
export function addressOf(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = trustedProxies === 0 ? [] : String(request.headers["x-forwarded-for"] ?? "").split(",");
  const claimed = forwarded.at(-trustedProxies)?.trim() ?? "";
  const address = isIP(claimed) === 0 ? (request.socket.remoteAddress ?? "") : claimed;
  // The zone of a link-local address is a name of this machine or of a proxy, and Postgres does not accept it.
  return address.replace(/^::ffff:(?=\d+\.)/, "").replace(/%.*/, "");
}

/** Returns a well-formed W3C traceparent (level 1 and 2, version 00, no id of zeros only), else null. */
export function traceparentOf(header: string | string[] | undefined): string | null {
  if (typeof header !== "string") return null;
  const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header);
  return match === null || /^0+$/.test(match[1] ?? "") || /^0+$/.test(match[2] ?? "") ? null : header;
}
