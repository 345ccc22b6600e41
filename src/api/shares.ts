// The shares of what is scarce in one API process: the memory of request bodies, parsed documents and responses that are not
// read yet, copies in the object store, lists, exports, and the thread that reads waveforms. A tenant may hold a part of each, so
// that one tenant's requests cannot take what the others need. Made by app.ts; answer.ts and the routes take shares, in the order
// of the list below.
import { Counter, type Registry } from "prom-client";
import { BusyError, makeKeyedSemaphore, makeSemaphore } from "../db/driver/semaphore.ts";
import { shareExceeded } from "../errors.ts";

interface Bound {
  /** For clients: completes "Your account already uses its share of ...". */
  readonly what: string;
  readonly perTenant: number;
  readonly total: number;
  /** How long a request waits for its tenant's other requests, and then for those of other tenants. */
  readonly waitMs: number;
}

/**
 * Waits until `units` of the tenant's share are free, and returns the function that releases them: the total at once, the
 * tenant's part after `restMs` if given. Rejects with shareExceeded or BusyError.
 */
export type Share = (tenantId: string, units: number) => Promise<Release>;
export type Release = (restMs?: number) => void;

/** The unit of bodies, documents and responses. */
const unitBytes = 64 * 1024;
export const unitsOf = (bytes: number) => Math.max(1, Math.ceil(bytes / unitBytes));

const MiB = unitsOf(1024 * 1024);
const bounds = {
  bodies: { what: "request bodies", perTenant: 8 * MiB, total: 32 * MiB, waitMs: 10_000 },
  large_bodies: { what: "large request bodies", perTenant: 8 * MiB, total: 32 * MiB, waitMs: 10_000 },
  // Two threads parse (body/threads.ts). Three documents, so that a tenant's largest one is less than half of the total.
  documents: { what: "large documents", perTenant: 8 * MiB, total: 24 * MiB, waitMs: 10_000 },
  copies: { what: "upload confirms", perTenant: 4, total: 12, waitMs: 30_000 },
  // One statement that reads very many rows takes a processor of the database.
  scans: { what: "requests that read very many rows", perTenant: 1, total: 64, waitMs: 10_000 },
  // As many as a tenant has database connections by default. The rows of large ones are in memory meanwhile.
  lists: { what: "lists", perTenant: 4, total: 64, waitMs: 10_000 },
  // A slow reader holds its part, so the total leaves room for many tenants.
  exports: { what: "exports and whole annotation sets", perTenant: 2, total: 64, waitMs: 10_000 },
  waveforms: { what: "waveforms", perTenant: 1, total: 4, waitMs: 10_000 },
  // Short, because the response is in memory already while it waits.
  responses: { what: "large responses", perTenant: 8 * MiB, total: 32 * MiB, waitMs: 1_000 },
} satisfies Record<string, Bound>;
export type Shares = Readonly<Record<keyof typeof bounds, Share>>;

export function makeShares(registry: Registry): Shares {
  const refused = new Counter({
    name: "plosive_share_refused_total",
    help: "Requests refused because one tenant (tenant) or all tenants together (total) used a share up",
    labelNames: ["share", "bound"],
    registers: [registry],
  });
  const shares = Object.entries(bounds).map(([share, bound]) => [
    share,
    makeShare(bound, (exhausted) => refused.inc({ share, bound: exhausted })),
  ]);
  return Object.fromEntries(shares);
}

function makeShare(
  { what, perTenant, total, waitMs }: Bound,
  onRefusal: (bound: "tenant" | "total") => void,
): Share {
  const part = makeKeyedSemaphore(perTenant, waitMs, () => {
    onRefusal("tenant");
    return shareExceeded(what);
  });
  const all = makeSemaphore(total, waitMs, () => {
    onRefusal("total");
    return new BusyError(`timed out after ${waitMs} ms: all tenants together use the share of ${what}`);
  });
  return async (tenantId, wanted) => {
    // What is larger than the tenant's part takes all of it.
    const units = Math.min(wanted, perTenant);
    // The tenant's part first: a tenant waits for the total with no more than its part.
    const releasePart = await part(tenantId, units);
    try {
      const releaseAll = await all.acquire(units);
      return (restMs = 0) => {
        releaseAll();
        if (restMs > 0) setTimeout(releasePart, restMs).unref();
        else releasePart();
      };
    } catch (error) {
      releasePart();
      throw error;
    }
  };
}
