// The reconcile of all three kinds of jobs: gather -> decide -> act -> row -> status, each written once and only if it
// changed. The order is what makes a crash at any point harmless: object store -> Postgres -> custom resource.
import { isDatabaseUnavailable } from "../../src/db/errors.ts";
import { manyIngestedShards } from "../../src/db/ingest.ts";
import { type JobRow, maybeOneJob } from "../../src/db/job.ts";
import { manyLastMetrics, manyProgress } from "../../src/db/run.ts";
import { manyFailedPods } from "../../src/db/run-pod.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { jobIdOf, keys, parseRunName, resourceName } from "../../src/schemas/job-kind.ts";
import { conditionOf } from "../runtime/conditions.ts";
import { type Outcome, settled } from "../runtime/outcome.ts";
import type { Store } from "../runtime/store.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";
import { adopt, type Refusal } from "./adopt.ts";
import { turn } from "./conditions.ts";
import { deadlinesOf } from "./deadlines.ts";
import { awaitPodsUntil, decide, expiresAt, hasEnded, type Verdict } from "./decide.ts";
import { forget, repairRow } from "./drift.ts";
import { finishJob, removeOrphanedJobs } from "./end.ts";
import { type EngineDeps, hasRowEnded, makeEngine } from "./engine.ts";
import type { Facts } from "./facts.ts";
import { PodEnds } from "./pod-ends.ts";
import { lostAt } from "./pods.ts";
import type { Admission } from "./queueing.ts";
import { recordEndedPods, stopPods } from "./record-pods.ts";
import { ingestResults } from "./results.ts";
import { childOf, createChild, isFirst } from "./run.ts";
import { openStatus } from "./status.ts";

export type { EngineDeps };

/** What happens to pods comes in swarms, and one look sees all of it: this long after the first of them. */
export const debounceMs = 500;
/** What nobody tells of when it changes: why a job was refused, or its Job not let into the cluster. */
const retryMs = 30_000;
/** Of a thousand jobs of one tenant that are refused for its quota not each asks the records. */
const quotaRefusalMs = 5_000;
/** A database that is away for less is not worth telling. */
const awayMs = 10_000;

/** A reconcile function over the names of one kind's custom resources. */
export function makeJobReconcile(deps: EngineDeps, adapter: JobAdapter, store: Store<JobResource>) {
  const engine = makeEngine(deps, adapter, store);
  const { kube, db, log, metrics, now, say, advance, writeStatus } = engine;
  const podEnds = new PodEnds(deps.pods, adapter.type.plural);
  /** What pods said before that may be lost: nobody led, or the database was away. */
  let listeningSince = now();
  let awaySince: number | undefined;
  /** Tenants whose quota of waiting jobs was used up, and when that was said. */
  const full = new Map<string, { at: number; refusal: Refusal }>();
  /** Ended jobs whose rows are known to have ended too: nothing is asked or sent for them again. */
  const settledUids = new Set<string>();
  /** Results that could not be used, by the uid of their resource: they lie as they are, and are not read again and again. */
  const unusable = new Map<string, { run: string; shards: Facts["bad"] }>();
  store.onChange(({ object, deleted }) => {
    if (deleted) settledUids.delete(object.metadata.uid ?? "");
    if (deleted || hasEnded(object)) unusable.delete(object.metadata.uid ?? "");
  });

  return async (name: string): Promise<Outcome> => {
    try {
      return await reconcile(name);
    } catch (error) {
      if (isDatabaseUnavailable(error)) await markStoreUnavailable(name);
      throw error;
    }
  };

  async function reconcile(name: string): Promise<Outcome> {
    const cr = store.get(name);
    if (cr === undefined || cr.metadata.deletionTimestamp !== undefined) {
      podEnds.forget(name);
      return forget(engine, name);
    }
    const uid = cr.metadata.uid ?? "";
    const toRecheck = deps.toRecheck.delete(uid);
    if (hasEnded(cr)) await removeOrphanedJobs(engine, cr);
    if (settledUids.has(uid) && !toRecheck) {
      podEnds.forget(name);
      return expire(cr);
    }
    const id = jobIdOf(adapter.kind, cr.metadata);
    let row = await maybeOneJob(db, adapter.kind, id);
    if (awaySince !== undefined) [awaySince, listeningSince] = [undefined, now()];
    if (hasEnded(cr)) {
      if (row !== null && !hasRowEnded(row)) await repairRow(engine, cr, id, row);
      settledUids.add(uid);
      podEnds.forget(name);
      return expire(cr);
    }
    let refusal: Refusal | undefined;
    if (row === null && cr.spec.cancel === undefined) {
      refusal = await adoptWithinQuota(cr);
      if (refusal === undefined) row = await maybeOneJob(db, adapter.kind, id);
    }

    let facts = await gather(cr, row, refusal);
    let verdict = decide(facts);
    while (verdict.kind === "ingest") {
      const run = facts.child!.metadata.name;
      // The row must name this run, else its results count as those of an older one.
      await advance(id, facts, openStatus(facts, verdict));
      const taken = await ingestResults(engine, adapter, id, run, verdict.shards);
      facts = {
        ...facts,
        ingested: new Set([...facts.ingested, ...taken.ingested]),
        bad: new Map([...facts.bad, ...taken.bad]),
      };
      if (facts.bad.size > 0) unusable.set(uid, { run, shards: facts.bad });
      verdict = decide(facts);
    }
    let blockedMs: number | undefined;
    if (verdict.kind === "create") {
      const made = await createChild(engine, facts, verdict);
      if (made.kind === "blocked") {
        blockedMs = retryMs;
        facts = { ...facts, admission: blocked(made.message) };
      }
      verdict = made.kind === "blocked" ? { kind: "wait" } : made;
      if (verdict.kind === "create" && isFirst(facts)) {
        // Others wait for their Jobs, and in a moment there is more to say: its pods, most likely.
        await advance(id, facts, openStatus(facts, verdict));
        return { requeueAfterMs: debounceMs };
      }
    }
    if (verdict.kind === "end") return finishJob(engine, id, facts, verdict);
    if (verdict.kind === "activate") {
      await deps.queueing.activate(facts.child!, verdict.active);
      say(cr, "Normal", verdict.active ? "Resumed" : "Suspended", "As spec.suspend says.");
    }
    if (verdict.kind === "move") await deps.queueing.move(facts.child!, verdict.queue);
    if (verdict.kind === "patch") {
      const { suspend, parallelism } = verdict;
      deps.jobs.set(await kube.patch(jobType, facts.child!.metadata, { spec: { suspend, parallelism } }));
      if (suspend !== undefined && suspend !== (facts.child!.spec.suspend ?? false))
        say(cr, "Normal", suspend ? "Suspended" : "Resumed", "As spec.suspend says.");
    }
    if (verdict.kind === "stop") await stopPods(engine, podEnds, facts, verdict.pods);
    const status = openStatus(facts, verdict);
    if (verdict.kind === "refuse") reportRefusal(cr, verdict);
    else await advance(id, facts, status);
    const waitMs = await writeStatus(cr, status);
    const againMs = blockedMs ?? nextReconcileMs({ ...facts, cr: { ...cr, status } }, verdict);
    return { requeueAfterMs: waitMs === undefined ? againMs : Math.min(waitMs, againMs ?? waitMs) };
  }

  /** A tenant that just had no place for a waiting job has none now. */
  async function adoptWithinQuota(cr: JobResource): Promise<Refusal | undefined> {
    const known = full.get(cr.spec.tenantId);
    if (known !== undefined && now() - known.at < quotaRefusalMs) return known.refusal;
    full.delete(cr.spec.tenantId);
    const refusal = await adopt(db, adapter, cr);
    if (refusal?.reason === "QuotaExceeded") full.set(cr.spec.tenantId, { at: now(), refusal });
    return refusal;
  }

  /** The records cannot be reached: what pods report meanwhile may be lost, and who looks at the job should know. */
  async function markStoreUnavailable(name: string): Promise<void> {
    awaySince ??= now();
    const cr = store.get(name);
    const synced = conditionOf(cr?.status?.conditions, "StoreSynced");
    if (cr === undefined || hasEnded(cr) || synced?.status !== "True" || now() - awaySince < awayMs) return;
    const message = "The service's records cannot be reached; what is said here may be behind.";
    const words = { type: "StoreSynced", status: "False", reason: "RecordsBehind", message } as const;
    const conditions = turn({ cr, now: now() }, cr.status?.conditions ?? [], [words]);
    // In vain when the API server is away too; the reconcile is tried again anyway.
    await writeStatus(cr, { ...cr.status, conditions }).catch(() => undefined);
  }

  /** Deletes the resource of an ended job when its time is over; its row stays. */
  async function expire(cr: JobResource): Promise<Outcome> {
    const at = expiresAt(cr);
    if (at === undefined) return settled;
    if (at > now()) return { requeueAfterMs: at - now() };
    await kube.remove(adapter.type, cr.metadata, { uid: cr.metadata.uid });
    log.info({ name: cr.metadata.name }, "deleted the custom resource of an ended job, as its spec says");
    return settled;
  }

  /** Said once; the condition keeps saying it. */
  function reportRefusal(cr: JobResource, { reason, message }: Refusal): void {
    deps.queueing.leave(cr);
    const accepted = conditionOf(cr.status?.conditions, "Accepted");
    if (accepted?.reason === reason && accepted.message === message) return;
    if (reason === "RowMissing") metrics.drift("resource");
    log.warn({ name: cr.metadata.name, reason }, message);
    say(cr, "Warning", reason, message);
  }

  async function gather(cr: JobResource, row: JobRow | null, refusal?: Refusal): Promise<Facts> {
    const child = await childOf(engine, cr);
    const run = child?.metadata.name;
    const hasRun = run !== undefined && row !== null;
    const latest = run ?? cr.status?.runId;
    const all = run === undefined ? [] : deps.pods.by("job", run);
    const id = jobIdOf(adapter.kind, cr.metadata);
    // A resource that had this name before may have left pods that end only now.
    const ended = podEnds.of(cr.metadata.name, all).filter((pod) => jobOfPod(pod) === id);
    await recordEndedPods(engine, podEnds, cr, row, ended, child);
    const known = unusable.get(cr.metadata.uid ?? "");
    const [progress, ingested, failedPods, points] = await Promise.all([
      hasRun ? manyProgress(db, run) : [],
      // Also of a run that is gone: what it gave stays.
      row !== null && latest !== undefined ? manyIngestedShards(db, latest) : [],
      hasRun ? manyFailedPods(db, row.id) : [],
      hasRun && adapter.kind === "training" ? manyLastMetrics(db, row.id) : [],
    ]);
    const isLost = (pod: Pod) => (lostAt(pod) ?? Number.POSITIVE_INFINITY) <= now();
    return {
      now: now(),
      cr,
      row,
      refusal,
      job: resourceName(adapter.kind, id),
      child,
      pods: all.filter((pod) => !isLost(pod)),
      lostPods: all.filter(isLost),
      progress,
      failedPods,
      listeningSince,
      ingested: new Set(ingested),
      bad: known !== undefined && known.run === run ? known.shards : none,
      metrics: points,
      checkpoints: adapter.kind === "training",
      checkpoint: checkpointOf(run, progress),
      ...(await deps.queueing.ask(adapter.kind, cr, child)),
      profileKnown: Object.hasOwn(deps.profiles, cr.spec.profile),
    };
  }
}

const none: Facts["bad"] = new Map();

const blocked = (message: string): Admission => ({
  admitted: false,
  reason: "WaitingForQuota",
  message: `The cluster does not let the job's Job in: ${message}`.slice(0, 1000),
});

/** The id of the job that a pod works for. */
function jobOfPod({ metadata }: Pod): string | undefined {
  const run = metadata.ownerReferences?.find(({ controller }) => controller)?.name;
  return parseRunName(run ?? "")?.id;
}

function nextReconcileMs(facts: Facts, verdict: Verdict): number | undefined {
  if (verdict.kind === "refuse") return retryMs;
  const times = [
    ...deadlinesOf(facts).map(({ at }) => at),
    ...[awaitPodsUntil(facts) ?? []].flat(),
    ...facts.pods.flatMap((pod) => lostAt(pod) ?? []),
  ];
  return times.length === 0 ? undefined : Math.max(1_000, Math.min(...times) - facts.now);
}

/** The last checkpoint that a pod of the run told. */
function checkpointOf(run: string | undefined, progress: Facts["progress"]): Facts["checkpoint"] {
  const line = progress.find(({ checkpoint_step }) => checkpoint_step !== null);
  if (run === undefined || line?.checkpoint_step == null || line.checkpoint_at === null) return undefined;
  const time = new Date(line.checkpoint_at).toISOString();
  return { key: keys.checkpoint(run), step: line.checkpoint_step, time };
}
