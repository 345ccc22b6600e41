// The operator's own queue: limits running jobs per tenant and kind and, if configured, in total. Within a tenant and
// kind, jobs are admitted by priority, then by age; between tenants by priority, then by the fewest running jobs. In
// memory only, without I/O; queueing.ts feeds it from the caches.
import type { JobKind } from "../../src/schemas/job-kind.ts";

/** 0 means no limit. */
export type Limits = { perTenant: Readonly<Record<JobKind, number>>; total: number };

export type Candidate = {
  uid: string;
  kind: JobKind;
  name: string;
  tenant: string;
  priority: number;
  /** As the API server wrote it, with a resolution of one second. The uid decides between jobs of one second. */
  createdAt: string;
};

/** `running` counts the jobs of all kinds. */
type Tenant = { running: number };
type Lane = { key: string; kind: JobKind; tenant: Tenant; running: number; waiting: Candidate[] };
type Place = { job: Candidate; lane: Lane; runs: boolean; message: string };

/** `onAdmitted` is called with each waiting job that the gate admits while it handles another one. */
export function makeFairGate(limits: Limits, onAdmitted: (job: Candidate) => void) {
  const lanes = new Map<string, Lane>();
  const places = new Map<string, Place>();
  const tenants = new Map<string, Tenant>();
  /** Lanes whose first job waits only for the limit over all tenants. */
  const ready = new Set<Lane>();
  let running = 0;

  const hasRoom = ({ kind, running }: Lane) =>
    limits.perTenant[kind] === 0 || running < limits.perTenant[kind];

  function place(job: Candidate): Place {
    const key = `${job.kind} ${job.tenant}`;
    let lane = lanes.get(key);
    if (lane === undefined) {
      const tenant = tenants.get(job.tenant) ?? { running: 0 };
      tenants.set(job.tenant, tenant);
      lane = { key, kind: job.kind, tenant, running: 0, waiting: [] };
      lanes.set(key, lane);
    }
    const made = { job, lane, runs: false, message: "" };
    places.set(job.uid, made);
    return made;
  }

  function start(place: Place): void {
    place.runs = true;
    count(place.lane, 1);
  }

  function count(lane: Lane, change: 1 | -1): void {
    running += change;
    lane.running += change;
    lane.tenant.running += change;
  }

  function updateReady(lane: Lane): void {
    if (lane.waiting.length > 0 && hasRoom(lane)) ready.add(lane);
    else ready.delete(lane);
    if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(lane.key);
  }

  /**
   * Admits waiting jobs while there is room. Does not call onAdmitted for `asking`, whose caller gets the answer
   * directly.
   */
  function admitWaiting(asking?: string): void {
    while (ready.size > 0 && (limits.total === 0 || running < limits.total)) {
      const lane = nextLane();
      const job = lane.waiting.shift()!;
      start(places.get(job.uid)!);
      updateReady(lane);
      if (job.uid !== asking) onAdmitted(job);
    }
  }

  function nextLane(): Lane {
    let best: Lane | undefined;
    for (const lane of ready) {
      // Without a limit over all tenants every ready lane is admitted anyway, so the order does not matter.
      if (limits.total === 0) return lane;
      if (best === undefined || compareLanes(lane, best) < 0) best = lane;
    }
    return best!;
  }

  function compareLanes(a: Lane, b: Lane): number {
    const [first, second] = [a.waiting[0]!, b.waiting[0]!];
    const fewest = a.tenant.running - b.tenant.running;
    return second.priority - first.priority || fewest || compare(first, second);
  }

  /**
   * Why a job waits. Computed once, because a message that changed with the queue would cause a status write for every
   * change.
   */
  function waitingMessage(lane: Lane, ahead: number): string {
    const { kind } = lane;
    const limit = limits.perTenant[kind];
    const full = hasRoom(lane)
      ? `${running} of ${limits.total} jobs of all tenants were running`
      : `${lane.running} of ${limit} ${kind} jobs of the tenant were running`;
    const before = ahead === 0 ? "no job" : ahead === 1 ? "1 job" : `${ahead} jobs`;
    return `The job waits in the queue. When it joined, ${full} and ${before} waited ahead of it.`;
  }

  /** Adds a job to its lane, and returns how many jobs wait ahead of it. */
  function join(waiter: Place): number {
    const { lane, job } = waiter;
    const ahead = positionOf(lane.waiting, job);
    lane.waiting.splice(ahead, 0, job);
    updateReady(lane);
    return ahead;
  }

  return {
    /** Adds jobs that waited before, each with its earlier message, and admits jobs only when all of them are there. */
    restore(waiting: readonly { job: Candidate; message: string }[]): void {
      for (const { job, message } of waiting) {
        if (places.has(job.uid)) continue;
        const waiter = place(job);
        waiter.message = message;
        join(waiter);
      }
      admitWaiting();
    },

    /** Registers a job that runs already, as after a change of leader. It keeps running even beyond a limit. */
    hold(job: Candidate): void {
      if (places.has(job.uid)) return;
      const held = place(job);
      start(held);
      updateReady(held.lane);
    },

    /**
     * Asks to admit a job. Returns true when it may run; it then counts as running until it leaves. Otherwise returns
     * why it waits; `previous` is the earlier message, which is kept.
     */
    ask(job: Candidate, previous?: string): true | string {
      let present = places.get(job.uid);
      if (present === undefined) {
        present = place(job);
        const ahead = join(present);
        admitWaiting(job.uid);
        if (!present.runs) present.message = previous ?? waitingMessage(present.lane, ahead);
      }
      return present.runs || present.message;
    },

    runs: (uid: string): boolean => places.get(uid)?.runs ?? false,

    /** Removes a job that has ended, or was suspended or deleted, and admits the next one. */
    leave(uid: string): void {
      const present = places.get(uid);
      if (present === undefined) return;
      places.delete(uid);
      const { job, lane, runs } = present;
      if (runs) count(lane, -1);
      else lane.waiting.splice(positionOf(lane.waiting, job), 1);
      updateReady(lane);
      admitWaiting();
    },

    counts: () => ({ running, waiting: places.size - running }),
  };
}

function compare(a: Candidate, b: Candidate): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0;
}

/** Returns the position of a job in the sorted list, or where to insert it (binary search). */
function positionOf(waiting: readonly Candidate[], job: Candidate): number {
  let low = 0;
  let high = waiting.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(waiting[middle]!, job) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
