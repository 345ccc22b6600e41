// Spaces out the responses to clients that are refused and do not wait: 150 connections that send their next request at
// once would otherwise take the event loop from all other tenants. Made by app.ts, called by authenticate.ts and
// middleware/pace-strangers.ts.
import { setTimeout } from "node:timers/promises";
import type { Context } from "koa";
import { makeDebts } from "./debts.ts";

/** Returns how long to wait, in ms, before the next refusal of this client is sent; null: the client has too many waiting. */
export type Pace = (client: string) => number | null;

const perSecond = 100;
const gapMs = 1_000 / perSecond;
/** So many at once do not wait: a client that sends in parallel learns of its refusals at once. */
const burstMs = 50 * gapMs;
const maxWaitMs = 5_000;

export function makePace(): Pace {
  const debts = makeDebts();
  return (client) => {
    const waitMs = Math.max(0, debts.of(client) - burstMs);
    if (waitMs > maxWaitMs) return null;
    debts.add(client, gapMs);
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
