// Spaces out the responses to clients that are refused and do not wait: 150 connections that send their next request at
// once would otherwise take the event loop from all other tenants. Made by app.ts, called by authenticate.ts and
// middleware/pace-strangers.ts.
import { setTimeout } from "node:timers/promises";
import type { Context } from "koa";

/** Returns how long to wait, in ms, before the next refusal of this client is sent; null: the client has too many waiting. */
export type Pace = (client: string) => number | null;

const perSecond = 100;
const gapMs = 1_000 / perSecond;
/** So many at once do not wait: a client that sends in parallel learns of its refusals at once. */
const burstMs = 50 * gapMs;
const maxWaitMs = 5_000;
const maxClients = 1_000;

export function makePace(): Pace {
  // A token bucket for each client: when it is full again, in ms.
  const fullAt = new Map<string, number>();
  return (client) => {
    const now = performance.now();
    const waitMs = Math.max(0, (fullAt.get(client) ?? 0) - burstMs - now);
    if (waitMs > maxWaitMs) return null;
    if (fullAt.size >= maxClients) for (const [one, at] of fullAt) if (at < now) fullAt.delete(one);
    fullAt.set(client, Math.max(fullAt.get(client) ?? 0, now) + gapMs);
    return waitMs;
  };
}

/** Waits until this client's next refusal may be sent. A client with too many waiting ones has to connect again. */
export async function waitForTurn(ctx: Context, pace: Pace, client: string): Promise<void> {
  const waitMs = pace(client);
  if (waitMs === null) ctx.set("Connection", "close");
  else if (waitMs > 0) await setTimeout(waitMs);
  ctx.state.pausedMs = waitMs ?? 0;
}
