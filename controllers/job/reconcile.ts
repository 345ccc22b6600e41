// The reconcile of all three kinds of jobs: gather -> decide -> apply -> row -> status. Row and status are written at most once
// and only if they changed. The order object store -> Postgres -> custom resource makes a crash at any point harmless. Created
// by controllers/controllers.ts, one per kind.
import { maybeOneJob } from "../../src/db/job.ts";
import { isTerminal } from "../../src/schemas/job.ts";
import { jobIdOf } from "../../src/schemas/job-kind.ts";
import { conditionOf } from "../runtime/conditions.ts";
import { type Outcome, settled } from "../runtime/outcome.ts";
import type { Store } from "../runtime/store.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";
import { type Applied, apply } from "./apply.ts";
import { setConditions } from "./conditions.ts";
import { deadlinesOf, workedOnUntil } from "./deadlines.ts";
import { awaitPodsUntil, decide, expiresAt, hasEnded, jobsExpireAt, type Verdict } from "./decide.ts";
import { handleDeleted, repairRow } from "./drift.ts";
import { removeEarlierJobs, removeJob, removeOrphanedJobs } from "./end.ts";
import { type EngineDeps, isDatabaseOutage, makeEngine } from "./engine.ts";
import type { Facts } from "./facts.ts";
import { gather } from "./gather.ts";
import { makeMemory } from "./memory.ts";
import { lostAt } from "./pods.ts";
import { answerRetry, retryAskedOf } from "./retry.ts";
import { jobsOf } from "./run.ts";
import { openStatus } from "./status.ts";

/** Retry interval of refused jobs and rejected Kubernetes Jobs: no event reports that the reason has gone. */
const retryMs = 30_000;
const longestRetryMs = 900_000;
/** Shorter failures, for example of the database, are not reported in the status. */
const failureReportMs = 10_000;

/** Returns the reconcile function of one kind. Its keys are names of custom resources. */
export function makeJobReconcile(deps: EngineDeps, adapter: JobAdapter, store: Store<JobResource>) {
  const engine = makeEngine(deps, adapter, store);
  const memory = makeMemory(deps, adapter, store);
  const { kube, db, log, now, emitEvent, reportEnd, advanceRow, writeStatus } = engine;
  const { podEnds, failingSince, settledUids, deletedIds } = memory;

  return async (name: string): Promise<Outcome> => {
    try {
      const outcome = await reconcile(name);
      failingSince.delete(name);
      return outcome;
    } catch (error) {
      await reportFailure(name, error);
      throw error;
    }
  };

  async function reconcile(name: string): Promise<Outcome> {
    const cr = store.get(name);
    if (cr === undefined || cr.metadata.deletionTimestamp !== undefined) return reconcileDeleted(name);
    const toRecheck = deps.toRecheck.delete(cr.metadata.uid ?? "");
    if (hasEnded(cr)) return reconcileEnded(cr, toRecheck);
    const asked = retryAskedOf(cr);
    if (asked !== undefined) {
      const waitMs = await writeStatus(cr, await answerRetry(engine, cr, asked));
      return { requeueAfterMs: waitMs ?? 0 };
    }
    let facts = await gather(engine, memory, cr);
    await removeEarlierJobs(engine, facts);
    for (;;) {
      const applied = await apply(engine, memory, facts, decide(facts));
      if ("outcome" in applied) return applied.outcome;
      if (!("again" in applied)) return report(applied);
      facts = applied.again;
    }
  }

  /** Writes row and status of an open job. */
  async function report({ facts, verdict }: Exclude<Applied, { again: Facts } | { outcome: Outcome }>) {
    const { cr } = facts;
    const status = openStatus(facts, verdict);
    if (verdict.kind !== "refuse") await advanceRow(jobIdOf(adapter.kind, cr.metadata), facts, status);
    const waitMs = await writeStatus(cr, status);
    const againMs = nextReconcileMs({ ...facts, cr: { ...cr, status } }, verdict);
    return { requeueAfterMs: waitMs === undefined ? againMs : Math.min(waitMs, againMs ?? waitMs) };
  }

  async function reconcileDeleted(name: string): Promise<Outcome> {
    podEnds.forget(name);
    const outcome = await handleDeleted(engine, name, deletedIds);
    for (const [id, of] of deletedIds) if (of === name) deletedIds.delete(id);
    return outcome;
  }

  async function reconcileEnded(cr: JobResource, toRecheck: boolean): Promise<Outcome> {
    const { name, uid = "" } = cr.metadata;
    await removeOrphanedJobs(engine, cr);
    if (!settledUids.has(uid) || toRecheck) {
      const id = jobIdOf(adapter.kind, cr.metadata);
      const row = await maybeOneJob(db, adapter.kind, id);
      if (row !== null && row.installation === deps.installation && !isTerminal(row.status))
        await repairRow(engine, cr, id, row);
      // Writing the end emits its event, unless the response was lost. Earlier leaders emitted theirs.
      const isOwn = Date.parse(cr.status?.completionTime ?? "") >= memory.leadingSince;
      if (isOwn && !settledUids.has(uid)) reportEnd(cr, cr.status ?? {});
      settledUids.add(uid);
    }
    podEnds.forget(name);
    await acknowledge(cr);
    return expire(cr);
  }

  /**
   * Answers a request for a retry. An ended job ignores changes of its spec; tools that compare the generations would wait for
   * it for ever. Ended jobs of earlier releases have no condition Ready.
   */
  async function acknowledge(cached: JobResource): Promise<void> {
    const { metadata, status: known } = cached;
    const isAcknowledged =
      retryAskedOf(cached) === undefined &&
      known?.observedGeneration === (metadata.generation ?? 0) &&
      conditionOf(known.conditions, "Ready") !== undefined;
    if (isAcknowledged) return;
    // The cache has only a part of an ended status.
    const cr = await kube.find(adapter.type, metadata);
    if (cr === undefined || cr.metadata.uid !== metadata.uid) return;
    const asked = retryAskedOf(cr);
    const status = asked === undefined ? cr.status : await answerRetry(engine, cr, asked);
    const conditions = setConditions({ cr, now: now() }, status?.conditions ?? [], []);
    await writeStatus(cr, { ...status, observedGeneration: cr.metadata.generation ?? 0, conditions });
  }

  /**
   * Deletes what is left of a job that ended long enough ago: the Jobs of a succeeded job, with their pods, and later its
   * resource. Its row stays.
   */
  async function expire(cr: JobResource): Promise<Outcome> {
    const resourceAt = expiresAt(cr, deps.retentionSeconds) ?? Number.POSITIVE_INFINITY;
    const jobsAt = jobsExpireAt(cr, deps.jobRetentionSeconds);
    if (resourceAt <= now()) {
      await kube.remove(adapter.type, cr.metadata, { uid: cr.metadata.uid });
      log.info({ name: cr.metadata.name }, "deleted the custom resource of an ended job");
      return settled;
    }
    const left = jobsOf(engine, cr);
    if (jobsAt <= now()) for (const job of left) await removeJob(engine, job);
    const at = Math.min(resourceAt, left.length === 0 || jobsAt <= now() ? Number.POSITIVE_INFINITY : jobsAt);
    return Number.isFinite(at) ? { requeueAfterMs: at - now() } : settled;
  }

  /** Sets StoreSynced to False once the reconcile has failed for failureReportMs, so that users see it. */
  async function reportFailure(name: string, error: unknown): Promise<void> {
    const since = failingSince.get(name) ?? now();
    failingSince.set(name, since);
    const cr = store.get(name);
    const synced = conditionOf(cr?.status?.conditions, "StoreSynced");
    if (cr === undefined || hasEnded(cr) || synced?.status === "False" || now() - since < failureReportMs)
      return;
    const isOutage = isDatabaseOutage(error);
    const cause = error instanceof Error ? error.message : String(error);
    const message = isOutage
      ? "The operator cannot reach the database. This status may be out of date."
      : `The operator cannot bring this job forward, and tries again: ${cause}`;
    const reason = isOutage ? "RecordsBehind" : "ReconcileFailed";
    if (!isOutage) emitEvent(cr, "Warning", reason, message.slice(0, 1000));
    const update = { type: "StoreSynced", status: "False", reason, message } as const;
    const conditions = setConditions({ cr, now: now() }, cr.status?.conditions ?? [], [update]);
    // This fails when the API server is unreachable too. The reconcile is retried anyway.
    await writeStatus(cr, { ...cr.status, conditions }).catch(() => undefined);
  }
}

/** A refused job is checked less often the longer it has been refused: thousands of them must not delay others. */
function refusedRetryMs({ cr, now }: Facts): number {
  const refusedMs = now - Date.parse(cr.status?.heldSince ?? new Date(now).toISOString());
  return Math.min(Math.max(retryMs, refusedMs / 8), longestRetryMs);
}

/** After how many ms the job is reconciled again without any event, if at all. */
export function nextReconcileMs(facts: Facts, verdict: Verdict): number | undefined {
  if (verdict.kind === "refuse") return refusedRetryMs(facts);
  if (facts.isBlocked) return retryMs;
  const times = [
    ...deadlinesOf(facts).map(({ at }) => at),
    ...[awaitPodsUntil(facts) ?? []].flat(),
    ...[workedOnUntil(facts)].filter((at) => at > facts.now && Number.isFinite(at)),
    ...facts.pods.flatMap((pod) => lostAt(pod) ?? []),
  ];
  return times.length === 0 ? undefined : Math.max(1_000, Math.min(...times) - facts.now);
}
