// The shares of what is scarce in an API process: the memory of request bodies, parsed documents and responses that are not
// read yet, copies in the object store, lists, exports, and the thread that reads waveforms. A tenant may hold a part of each, so
// that one tenant's requests cannot take what the others need. Large bodies and exports of a tenant are bounded in all processes
// together. Made by app.ts; answer.ts and the routes take shares, in the order of the list below.
import { Counter, type Registry } from "prom-client";
import type { Db } from "../db/driver/page.ts";
import { BusyError, makeKeyedSemaphore, makeSemaphore } from "../db/driver/semaphore.ts";
import { takeLease } from "../db/lease.ts";
import { shareExceeded } from "../errors.ts";

interface Bound {
  /** For clients: completes "Your account already uses its share of ...". */
  readonly what: string;
  readonly perTenant: number;
  readonly total: number;
  /** How long a request waits for its tenant's other requests, and then for those of other tenants. */
  readonly waitMs: number;
  /**
   * Ids of leases, which all processes share. A request for `perTenant / places.length` units or more also takes one of them.
   * Smaller requests are bounded in each process alone.
   */
  readonly places?: readonly string[];
}

/**
 * Waits until `units` of the tenant's share are free, and returns the function that releases them: the total at once, the
 * tenant's part after `restMs` if given. Rejects with shareExceeded or BusyError.
 */
export type Share = (tenantId: string, units: number) => Promise<Release>;
export type Release = (restMs?: number) => void;

/** Runs `work` while it holds one unit of the tenant's share. */
export async function holding<T>(share: Share, tenantId: string, work: () => Promise<T>): Promise<T> {
  const release = await share(tenantId, 1);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Releases at once or after `ms`, which do not keep the process alive. */
export function after(ms: number, release: () => void): void {
  if (ms > 0) setTimeout(release, ms).unref();
  else release();
}

/** The unit of bodies, documents and responses. */
const unitBytes = 64 * 1024;
export const unitsOf = (bytes: number) => Math.max(1, Math.ceil(bytes / unitBytes));

const MiB = unitsOf(1024 * 1024);
const bodyPlaces = ["5b0b3a4e-6f0c-4a57-9c5e-0d6c3e1f7a10"];
const exportPlaces = ["5b0b3a4e-6f0c-4a57-9c5e-0d6c3e1f7a20", "5b0b3a4e-6f0c-4a57-9c5e-0d6c3e1f7a21"];
const bounds = {
  bodies: { what: "request bodies", perTenant: 8 * MiB, total: 32 * MiB, waitMs: 10_000 },
  large_bodies: {
    what: "large request bodies",
    perTenant: 8 * MiB,
    total: 32 * MiB,
    waitMs: 10_000,
    places: bodyPlaces,
  },
  // Two threads parse (body/threads.ts). Three documents, so that a tenant's largest one is less than half of the total.
  documents: { what: "large documents", perTenant: 8 * MiB, total: 24 * MiB, waitMs: 10_000 },
  copies: { what: "upload confirms", perTenant: 4, total: 12, waitMs: 30_000 },
  // One statement that reads very many rows takes a processor of the database.
  scans: { what: "requests that read very many rows", perTenant: 1, total: 64, waitMs: 10_000 },
  // As many as a tenant has database connections by default. The rows of large ones are in memory meanwhile.
  lists: { what: "lists", perTenant: 4, total: 64, waitMs: 10_000 },
  // A slow reader holds its part, so the total leaves room for many tenants.
  exports: {
    what: "exports and whole annotation sets",
    perTenant: 2,
    total: 64,
    waitMs: 10_000,
    places: exportPlaces,
  },
  waveforms: { what: "waveforms", perTenant: 1, total: 4, waitMs: 10_000 },
  // Short, because the response is in memory already while it waits.
  responses: { what: "large responses", perTenant: 8 * MiB, total: 32 * MiB, waitMs: 1_000 },
} satisfies Record<string, Bound>;
export type Shares = Readonly<Record<keyof typeof bounds, Share>>;

export function makeShares(registry: Registry, db: Pick<Db, "asTenant">): Shares {
  const refused = new Counter({
    name: "plosive_share_refused_total",
    help: "Requests refused because one tenant (tenant) or all tenants together (total) used a share up",
    labelNames: ["share", "bound"],
    registers: [registry],
  });
  const shares = Object.entries(bounds).map(([share, bound]) => [
    share,
    makeShare(bound, db.asTenant, (exhausted) => refused.inc({ share, bound: exhausted })),
  ]);
  return Object.fromEntries(shares);
}

function makeShare(
  { what, perTenant, total, waitMs, places = [] }: Bound,
  dbOf: (tenantId: string) => Db,
  onRefusal: (bound: "tenant" | "total") => void,
): Share {
  const refuse = () => {
    onRefusal("tenant");
    return shareExceeded(what);
  };
  const queue = makeKeyedSemaphore(places.length, waitMs, refuse);
  const part = makeKeyedSemaphore(perTenant, waitMs, refuse);
  const all = makeSemaphore(total, waitMs, () => {
    onRefusal("total");
    return new BusyError(`timed out after ${waitMs} ms: all tenants together use the share of ${what}`);
  });

  /** Takes one of the places of all processes. As many requests of this process as there are places look for one. */
  const takePlace = async (tenantId: string): Promise<Release> => {
    const deadline = performance.now() + waitMs;
    const leaveQueue = await queue(tenantId);
    try {
      const lease = await takeLease(dbOf(tenantId), tenantId, places, deadline - performance.now());
      if (lease === undefined) throw refuse();
      return (restMs = 0) => {
        void lease.release(restMs).then(() => after(restMs, leaveQueue));
      };
    } catch (error) {
      leaveQueue();
      throw error;
    }
  };

  return async (tenantId, wanted) => {
    // What is larger than the tenant's part takes all of it.
    const units = Math.min(wanted, perTenant);
    const releases: Release[] = [];
    const release: Release = (restMs) => {
      for (const each of releases.toReversed()) each(restMs);
    };
    try {
      // The tenant's part before the total: a tenant waits for the total with no more than its part.
      if (units >= perTenant / places.length) releases.push(await takePlace(tenantId));
      const leavePart = await part(tenantId, units);
      releases.push((restMs = 0) => after(restMs, leavePart));
      const leaveAll = await all.acquire(units);
      releases.push(() => leaveAll());
      return release;
    } catch (error) {
      release();
      throw error;
    }
  };
}
