// When each client has paid for what it has taken: work costs time, and a client pays as time passes. Used by pace.ts, rests.ts and
// body/discard.ts.

/** Clients that have paid are forgotten when there are more. */
const manyClients = 1_000;

export function makeDebts() {
  const paidAt = new Map<string, number>();
  return {
    /** Returns the ms until the client has paid; 0 or less: it has. */
    of: (client: string) => (paidAt.get(client) ?? 0) - performance.now(),
    /** Adds work of `ms` that began at `since`. Returns the ms until all of the client's work is paid. */
    add(client: string, ms: number, since = performance.now()): number {
      const now = performance.now();
      const mine = Math.max(paidAt.get(client) ?? 0, since) + ms;
      paidAt.set(client, mine);
      if (paidAt.size > manyClients) for (const [one, at] of paidAt) if (at < now) paidAt.delete(one);
      return mine - now;
    },
  };
}
