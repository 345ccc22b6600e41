// Metrics and a log line for every request. The label is the route and not the path, because an id in a label would
// create a time series per id. Used by app.ts.
import type { Middleware } from "koa";
import { Counter, Histogram, type Registry } from "prom-client";
import type { Log } from "../../log.ts";

const uploadRoute = /\/(upload-urls?|from-url|parts|confirm)$/;

export function observe(registry: Registry, log: Log): Middleware {
  const requests = new Counter({
    name: "plosive_http_requests_total",
    help: "Requests by route and status",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "plosive_http_request_seconds",
    help: "Time until the response headers, by route",
    labelNames: ["method", "route"],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const uploads = new Counter({
    name: "plosive_uploads_total",
    help: "Uploads: announced (tickets issued), confirmed, or the error code if refused",
    labelNames: ["outcome"],
    registers: [registry],
  });
  const countUploads = (route: string, status: number, state: { created?: number; code?: string }) => {
    if (status >= 300) uploads.inc({ outcome: state.code ?? "internal_error" });
    else if (route.endsWith("/confirm")) uploads.inc({ outcome: "confirmed" });
    else uploads.inc({ outcome: "announced" }, state.created ?? 1);
  };
  return async (ctx, next) => {
    const start = performance.now();
    try {
      await next();
    } finally {
      // The pause before a refusal (pace.ts) is not the time that the service takes.
      const took = performance.now() - start - (ctx.state.pausedMs ?? 0);
      const route: string = ctx.state.route ?? "none";
      const method = ctx.state.route === undefined ? "none" : ctx.method;
      requests.inc({ method, route, status: String(ctx.status) });
      seconds.observe({ method, route }, took / 1000);
      if (uploadRoute.test(route)) countUploads(route, ctx.status, ctx.state);
      // Probes arrive every few seconds. A successful probe is logged at level debug only.
      const level = route.startsWith("/api/") || ctx.status >= 400 ? "info" : "debug";
      log[level](
        {
          requestId: ctx.state.requestId,
          tenantId: ctx.state.tenantId,
          method: ctx.method,
          route,
          status: ctx.status,
          ms: Math.round(took),
        },
        "request",
      );
    }
  };
}
