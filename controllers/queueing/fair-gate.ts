// Whose turn it is: at most so many running jobs per tenant and kind and, if wanted, of all together. Within a tenant the
// higher priority goes first, then the older job; between tenants the higher priority, then the one with the fewest
// running jobs. In memory only and without I/O; queueing.ts feeds it from the caches.
import type { JobKind } from "../../src/schemas/job-kind.ts";

/** 0 is no limit. */
export type Limits = { perTenant: Readonly<Record<JobKind, number>>; total: number };

export type Candidate = {
  uid: string;
  kind: JobKind;
  name: string;
  tenant: string;
  priority: number;
  /** As the API server wrote it; two of one second go by their uids. */
  createdAt: string;
};

/** Running jobs of all its kinds. */
type Tenant = { running: number };
type Lane = { key: string; kind: JobKind; tenant: Tenant; running: number; waiting: Candidate[] };
type Place = { job: Candidate; lane: Lane; runs: boolean; words: string };

/** `onAdmitted` is called with each job that gets its turn while somebody else is looked at. */
export function makeFairGate(limits: Limits, onAdmitted: (job: Candidate) => void) {
  const lanes = new Map<string, Lane>();
  const places = new Map<string, Place>();
  const tenants = new Map<string, Tenant>();
  /** Lanes with a job that waits for nothing but the limit over all. */
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
    const made = { job, lane, runs: false, words: "" };
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

  function mark(lane: Lane): void {
    if (lane.waiting.length > 0 && hasRoom(lane)) ready.add(lane);
    else ready.delete(lane);
    if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(lane.key);
  }

  /** Lets through whoever may; of the one that asks just now nobody needs to be told. */
  function settle(asking?: string): void {
    while (ready.size > 0 && (limits.total === 0 || running < limits.total)) {
      const lane = next();
      const job = lane.waiting.shift()!;
      start(places.get(job.uid)!);
      mark(lane);
      if (job.uid !== asking) onAdmitted(job);
    }
  }

  function next(): Lane {
    let best: Lane | undefined;
    for (const lane of ready) {
      // Without a limit over all each of them gets its turn anyway.
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

  /** Said once and kept: what changes with every step of the queue would be written with every step of the queue. */
  function wordsFor(lane: Lane, ahead: number): string {
    const { kind } = lane;
    const limit = limits.perTenant[kind];
    const full = hasRoom(lane)
      ? `${running} of ${limits.total} jobs of all tenants were running`
      : `${lane.running} of ${limit} ${kind} jobs of the tenant were running`;
    const before = ahead === 0 ? "it was the next" : `${ahead} waited ahead of it`;
    return `The job waits for its turn: when it came, ${full} and ${before}.`;
  }

  return {
    /** A job that runs already, as after a change of the leader: it keeps its place, also beyond a limit. */
    hold(job: Candidate): void {
      if (places.has(job.uid)) return;
      const held = place(job);
      start(held);
      mark(held.lane);
    },

    /** True: it may run, and has its place until it leaves. Else why not; `said` is what it was told before. */
    ask(job: Candidate, said?: string): true | string {
      let present = places.get(job.uid);
      if (present === undefined) {
        present = place(job);
        const { lane } = present;
        const ahead = positionOf(lane.waiting, job);
        lane.waiting.splice(ahead, 0, job);
        mark(lane);
        settle(job.uid);
        if (!present.runs) present.words = said ?? wordsFor(lane, ahead);
      }
      return present.runs || present.words;
    },

    runs: (uid: string): boolean => places.get(uid)?.runs ?? false,

    /** The job has ended, is suspended or gone: its place goes to the next. */
    leave(uid: string): void {
      const present = places.get(uid);
      if (present === undefined) return;
      places.delete(uid);
      const { job, lane, runs } = present;
      if (runs) count(lane, -1);
      else lane.waiting.splice(positionOf(lane.waiting, job), 1);
      mark(lane);
      settle();
    },

    counts: () => ({ running, waiting: places.size - running }),
  };
}

function compare(a: Candidate, b: Candidate): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0;
}

/** Where a job stands, or would stand, among the sorted: a search by halves. */
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
