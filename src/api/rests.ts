// Rests that bound the bytes a tenant may have handled per second. Called by answer.ts.

/** What has fewer bytes costs no rest. The rate limits bound it. */
export const minLargeBytes = 256 * 1024;
/** Entries of the past are deleted when there are more. */
const manyTenants = 1_000;

/**
 * Returns how many ms the tenant's share stays taken after work that began at `since` and handled `bytes`: until the tenant's
 * large work so far is paid for.
 */
export type RestAfter = (tenantId: string, since: number, bytes: number) => number;

export function makeRestAfter(bytesPerSecond: number): RestAfter {
  const isPaidAt = new Map<string, number>();
  return (tenantId, since, bytes) => {
    if (bytes < minLargeBytes) return 0;
    const now = performance.now();
    const paidAt = Math.max(since, isPaidAt.get(tenantId) ?? 0) + (bytes / bytesPerSecond) * 1_000;
    isPaidAt.set(tenantId, paidAt);
    if (isPaidAt.size > manyTenants) for (const [id, at] of isPaidAt) if (at < now) isPaidAt.delete(id);
    return paidAt - now;
  };
}
