// What handlers may want to know about a request besides its input. Called for each request once its input is valid.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Context } from "koa";
import type { RequestFacts } from "./route.ts";

export function factsOf(ctx: Context, trustedProxies: number): RequestFacts {
  let gone: AbortController | undefined;
  return {
    id: ctx.state.requestId,
    ip: addressOf(ctx.req, trustedProxies),
    traceparent: traceparentOf(ctx.req.headers.traceparent),
    headers: ctx.req.headers,
    // Most handlers never ask, so it is made for those that do.
    get signal() {
      if (gone === undefined) {
        const made = new AbortController();
        gone = made;
        if (ctx.res.closed || ctx.res.destroyed) made.abort();
        else ctx.res.once("close", () => made.abort());
      }
      return gone.signal;
    },
  };
}

/**
 * Where the request came from. Each proxy appends to X-Forwarded-For whom it got the request from, so that with n
 * proxies of ours the n-th from the end is the client; what stands before it anyone may have written.
 */
export function addressOf(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = trustedProxies === 0 ? [] : String(request.headers["x-forwarded-for"] ?? "").split(",");
  const told = forwarded.at(-trustedProxies)?.trim() ?? "";
  const address = isIP(told) === 0 ? (request.socket.remoteAddress ?? "") : told;
  return address.replace(/^::ffff:(?=\d+\.)/, "");
}

/** W3C trace context, level 1 and 2: version 00 has exactly this form; neither id is all zeros. */
export function traceparentOf(header: string | string[] | undefined): string | null {
  if (typeof header !== "string") return null;
  const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header);
  return match === null || /^0+$/.test(match[1] ?? "") || /^0+$/.test(match[2] ?? "") ? null : header;
}
