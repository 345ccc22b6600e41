// A span for each request of the API, below that of the caller. Used by app.ts if there is a collector.
import type { Middleware } from "koa";
import type { Tracing } from "../../tracing.ts";
import { traceparentOf } from "../request-facts.ts";

export function trace(tracing: Tracing): Middleware {
  return async (ctx, next) => {
    if (!/^(\/dashboard)?\/api\//.test(ctx.path)) return await next();
    const span = tracing.begin(ctx.method, {
      parent: traceparentOf(ctx.req.headers.traceparent),
      kind: "server",
      attributes: { "http.request.method": ctx.method, "plosive.request.id": ctx.state.requestId },
    });
    ctx.state.traceparent = span.traceparent;
    try {
      await next();
    } finally {
      const { route, tenantId } = ctx.state;
      span.end({
        name: route === undefined ? undefined : `${ctx.method} ${route}`,
        attributes: {
          "http.route": route,
          "http.response.status_code": ctx.status,
          "plosive.tenant.id": tenantId === "" ? undefined : tenantId,
        },
        error: ctx.status >= 500 ? `status ${ctx.status}` : undefined,
      });
    }
  };
}
