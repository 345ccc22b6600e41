// Rests that bound the bytes a tenant may have handled per second. Called by answer.ts.
import { makeDebts } from "./debts.ts";

/** What has fewer bytes costs no rest. The rate limits bound it. */
export const minLargeBytes = 256 * 1024;

/**
 * Returns a function that says how many ms the tenant's share stays taken after work that began at `since` and handled `bytes`:
 * until the tenant's large work so far is paid for.
 */
export function makeRestAfter(bytesPerSecond: number) {
  const debts = makeDebts();
  return (tenantId: string, since: number, bytes: number) =>
    bytes < minLargeBytes ? 0 : debts.add(tenantId, (bytes / bytesPerSecond) * 1_000, since);
}
