// Spaces out the responses to clients without a valid key, by network: each costs little, but thousands a second would take the
// event loop from all tenants. The probes of Kubernetes are exempt. Used by app.ts.
import type { Middleware } from "koa";
import { networkOf } from "../failed-auth-limiter.ts";
import { waitForTurn } from "../pace.ts";
import { addressOf } from "../request-facts.ts";
import type { SharedDeps } from "../route.ts";

const probes = ["/healthz", "/readyz", "/startupz"];

export function paceStrangers({ pace, config }: Pick<SharedDeps, "pace" | "config">): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      const isKnown = (ctx.state.tenantId ?? "") !== "" || ctx.state.pausedMs !== undefined;
      if (!isKnown && !probes.includes(ctx.path))
        await waitForTurn(ctx, pace, networkOf(addressOf(ctx.req, config.PLOSIVE_TRUSTED_PROXIES)));
    }
  };
}
