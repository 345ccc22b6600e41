// Spaces out the bytes of fetched files. At the speed of the network, decryption and digests of one tenant's files would take
// the operator's thread from everything else. Made and called by fetches.ts.
import { setTimeout } from "node:timers/promises";

/** Resolves when the tenant's fetches may go on after so many bytes. */
export type PaceBytes = (tenantId: string, bytes: number) => Promise<void>;

/** The part of the bytes that one tenant's fetches may take. */
const tenantPart = 0.5;
/** Shorter pauses are not worth a timer. */
const minPauseMs = 20;
const maxTenants = 100;

/** `bytesPerSecond`: of all tenants together. */
export function makePaceBytes(bytesPerSecond: number): PaceBytes {
  const paidAt = new Map<string, number>();
  const pay = async (payer: string, ms: number) => {
    const now = performance.now();
    if (paidAt.size >= maxTenants) for (const [one, at] of paidAt) if (at < now) paidAt.delete(one);
    const at = Math.max(paidAt.get(payer) ?? 0, now) + ms;
    paidAt.set(payer, at);
    if (at - now >= minPauseMs) await setTimeout(at - now);
  };
  return async (tenantId, bytes) => {
    const ms = (bytes / bytesPerSecond) * 1_000;
    // The tenant's part first: while it waits for that, it takes nothing of what all share.
    await pay(tenantId, ms / tenantPart);
    await pay("all", ms);
  };
}
