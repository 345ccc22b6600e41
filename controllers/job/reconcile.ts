// The reconcile of all three kinds of jobs: gather -> decide -> act -> row -> status. Row and status are written at
// most once and only if they changed. The order object store -> Postgres -> custom resource makes a crash at any point
// harmless. Created by controllers/controllers.ts, one per kind.
import { isDatabaseUnavailable } from "../../src/db/driver/errors.ts";
import { type JobRow, maybeOneJob } from "../../src/db/job.ts";
import { manyIngestedShards } from "../../src/db/operator/ingest.ts";
import { manyLastMetrics, manyProgress } from "../../src/db/operator/run.ts";
import { manyFailedPods } from "../../src/db/operator/run-pod.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { jobIdOf, keys, parseRunName, resourceName } from "../../src/schemas/job-kind.ts";
import { isStoreUnavailable } from "../../src/storage/errors.ts";
import { conditionOf } from "../runtime/conditions.ts";
import { type Outcome, settled } from "../runtime/outcome.ts";
import type { Store } from "../runtime/store.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";
import { adopt, type Refusal } from "./adopt.ts";
import { setConditions } from "./conditions.ts";
import { deadlinesOf } from "./deadlines.ts";
import { awaitPodsUntil, decide, expiresAt, hasEnded, type Verdict } from "./decide.ts";
import { handleDeleted, repairRow } from "./drift.ts";
import { finishJob, removeOrphanedJobs } from "./end.ts";
import { type EngineDeps, hasRowEnded, makeEngine } from "./engine.ts";
import type { Facts } from "./facts.ts";
import { PodEnds } from "./pod-ends.ts";
import { lostAt } from "./pods.ts";
import type { Admission } from "./queueing.ts";
import { recordEndedPods, stopPods } from "./record-pods.ts";
import { type IngestedShards, ingestResults } from "./results.ts";
import { childOf, createChild, isFirstRun, lastAttempt } from "./run.ts";
import { openStatus } from "./status.ts";

export type { EngineDeps };

/** Debounce: pod events come in bursts, and one reconcile this long after the first event sees them all. */
export const debounceMs = 500;
/** Retry interval of refused jobs and rejected Kubernetes Jobs: no event reports that the reason has gone. */
const retryMs = 30_000;
const longestRetryMs = 900_000;
/** How long a quota refusal is reused, so that a thousand refused jobs of one tenant do not all query the database. */
const quotaRefusalMs = 5_000;
/** Shorter failures, for example of the database, are not reported in the status. */
const failureReportMs = 10_000;
/** How long results may be unreadable before a job that is to end ends without them. */
const resultPatienceMs = 600_000;

/** Returns the reconcile function of one kind. Its keys are names of custom resources. */
export function makeJobReconcile(deps: EngineDeps, adapter: JobAdapter, store: Store<JobResource>) {
  const engine = makeEngine(deps, adapter, store);
  const { kube, db, log, metrics, now, emitEvent, advanceRow, writeStatus } = engine;
  const podEnds = new PodEnds(deps.pods, adapter.type.plural);
  /** In ms since 1970. */
  const leadingSince = now();
  /** Since when the reconcile of a resource has failed, by its name. */
  const failingSince = new Map<string, number>();
  /** Tenants whose quota of waiting jobs is used up, with the time and text of the last refusal. */
  const quotaRefusals = new Map<string, { at: number; refusal: Refusal }>();
  /** Uids of ended jobs whose rows have ended too. They need no further request or query. */
  const settledUids = new Set<string>();
  /** Unusable results by the uid of their resource. They never change, so they are not read again. */
  const unusable = new Map<string, { run: string; shards: Facts["bad"] }>();
  /** Open jobs whose resource somebody has deleted, as the watch has reported: the resource's name by the job's id. */
  const deletedIds = new Map<string, string>();
  store.onChange(({ object, deleted, isReported }) => {
    if (isReported && !hasEnded(object))
      deletedIds.set(jobIdOf(adapter.kind, object.metadata), object.metadata.name);
    if (deleted) settledUids.delete(object.metadata.uid ?? "");
    if (deleted || hasEnded(object)) unusable.delete(object.metadata.uid ?? "");
  });

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
    if (cr === undefined || cr.metadata.deletionTimestamp !== undefined) {
      podEnds.forget(name);
      const outcome = await handleDeleted(engine, name, deletedIds);
      for (const [id, of] of deletedIds) if (of === name) deletedIds.delete(id);
      return outcome;
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
    if (hasEnded(cr)) {
      if (row !== null && !hasRowEnded(row)) await repairRow(engine, cr, id, row);
      reportEnd(cr);
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
      // The database accepts results only for the run that the row names.
      await advanceRow(id, facts, openStatus(facts, verdict));
      const { shards } = verdict;
      const results = await ingestResults(engine, adapter, id, run, shards).catch((error: unknown) =>
        giveUpResults(facts, run, shards, error),
      );
      facts = {
        ...facts,
        ingested: new Set([...facts.ingested, ...results.ingested]),
        bad: new Map([...facts.bad, ...results.bad]),
      };
      if (facts.bad.size > 0) unusable.set(uid, { run, shards: facts.bad });
      verdict = decide(facts);
    }
    let blockedMs: number | undefined;
    if (verdict.kind === "create") {
      const created = await createChild(engine, facts, verdict);
      if (created.kind === "blocked") {
        blockedMs = retryMs;
        facts = { ...facts, admission: blocked(created.message) };
      }
      verdict = created.kind === "blocked" ? { kind: "wait" } : created;
      if (verdict.kind === "create" && isFirstRun(facts)) {
        // The status can wait: other jobs wait for their Jobs, and the first pods will change it again in a moment.
        await advanceRow(id, facts, openStatus(facts, verdict));
        return { requeueAfterMs: debounceMs };
      }
    }
    if (verdict.kind === "end") return finishJob(engine, id, facts, verdict);
    if (verdict.kind === "activate") {
      await deps.queueing.activate(facts.child!, verdict.active);
      emitEvent(cr, "Normal", verdict.active ? "Resumed" : "Suspended", "Applied spec.suspend.");
    }
    if (verdict.kind === "move") await deps.queueing.move(facts.child!, verdict.queue);
    if (verdict.kind === "patch") {
      const { suspend, parallelism } = verdict;
      deps.jobs.set(await kube.patch(jobType, facts.child!.metadata, { spec: { suspend, parallelism } }));
      if (suspend !== undefined && suspend !== (facts.child!.spec.suspend ?? false))
        emitEvent(cr, "Normal", suspend ? "Suspended" : "Resumed", "Applied spec.suspend.");
    }
    if (verdict.kind === "stop") await stopPods(engine, podEnds, facts, verdict.pods);
    const status = openStatus(facts, verdict);
    if (verdict.kind === "refuse") reportRefusal(cr, verdict);
    else await advanceRow(id, facts, status);
    const waitMs = await writeStatus(cr, status);
    const againMs = blockedMs ?? nextReconcileMs({ ...facts, cr: { ...cr, status } }, verdict);
    return { requeueAfterMs: waitMs === undefined ? againMs : Math.min(waitMs, againMs ?? waitMs) };
  }

  /** Adopts the resource, or repeats the tenant's quota refusal when the last one is younger than quotaRefusalMs. */
  async function adoptWithinQuota(cr: JobResource): Promise<Refusal | undefined> {
    const known = quotaRefusals.get(cr.spec.tenantId);
    if (known !== undefined && now() - known.at < quotaRefusalMs) return known.refusal;
    quotaRefusals.delete(cr.spec.tenantId);
    const refusal = await adopt(db, adapter, cr);
    if (refusal?.reason === "QuotaExceeded") quotaRefusals.set(cr.spec.tenantId, { at: now(), refusal });
    return refusal;
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

  /**
   * The outcome of results that cannot be read. Throws the error, unless the job is to end (it is cancelled, or past its
   * active deadline) and has waited long enough for them: then these shards fail.
   */
  async function giveUpResults(
    facts: Facts,
    run: string,
    shards: readonly number[],
    error: unknown,
  ): Promise<IngestedShards> {
    const { cr } = facts;
    const failingMs = now() - (failingSince.get(cr.metadata.name) ?? now());
    const isToEnd =
      cr.spec.cancel !== undefined ||
      deadlinesOf(facts).some(({ which, at }) => which === "active" && at <= facts.now);
    if (isDatabaseOutage(error) || !isToEnd || failingMs < resultPatienceMs) throw error;
    const cause = error instanceof Error ? error.message : String(error);
    const message = `The operator could not read the result: ${cause}`.slice(0, 1000);
    const ingested = await manyIngestedShards(db, run);
    const unread = shards.filter((shard) => !ingested.includes(shard));
    const failure = { class: "System", code: "result_unreadable", message, retryable: true } as const;
    return { ingested: [...ingested], bad: new Map(unread.map((shard) => [shard, { ...failure, shard }])) };
  }

  /** Deletes the resource of an ended job after ttlSecondsAfterFinished. Its row stays. */
  async function expire(cr: JobResource): Promise<Outcome> {
    const at = expiresAt(cr);
    if (at === undefined) return settled;
    if (at > now()) return { requeueAfterMs: at - now() };
    await kube.remove(adapter.type, cr.metadata, { uid: cr.metadata.uid });
    log.info(
      { name: cr.metadata.name },
      "deleted the custom resource of an ended job after its ttlSecondsAfterFinished",
    );
    return settled;
  }

  /** Logs a refusal and emits an event, once. The condition keeps the message. */
  function reportRefusal(cr: JobResource, { reason, message }: Refusal): void {
    deps.queueing.leave(cr);
    const accepted = conditionOf(cr.status?.conditions, "Accepted");
    if (accepted?.reason === reason && accepted.message === message) return;
    if (reason === "RowMissing") metrics.drift("resource");
    log.warn({ name: cr.metadata.name, reason }, message);
    emitEvent(cr, "Warning", reason, message);
  }

  /**
   * Emits the event of the job's end. Not when the end is written: if the response were lost, the job would have no event.
   */
  function reportEnd(cr: JobResource): void {
    const { phase = "Failed", completionTime = "", conditions } = cr.status ?? {};
    const end = conditions?.find(({ type, status }) => type === phase && status === "True");
    // An earlier leader has emitted the others.
    if (end === undefined || Date.parse(completionTime) < leadingSince) return;
    if (phase === "Failed") emitEvent(cr, "Warning", end.reason, end.message);
    else emitEvent(cr, "Normal", phase, end.message);
  }

  async function gather(cr: JobResource, row: JobRow | null, refusal?: Refusal): Promise<Facts> {
    const child = await childOf(engine, cr, row);
    const run = child?.metadata.name;
    const hasRun = run !== undefined && row !== null;
    const latest = run ?? row?.platform_job_name ?? cr.status?.runId;
    const all = run === undefined ? [] : deps.pods.by("job", run);
    const id = jobIdOf(adapter.kind, cr.metadata);
    // Pods of an earlier resource with this name may end only now; they do not belong to this job.
    const ended = podEnds.of(cr.metadata.name, all).filter((pod) => jobOfPod(pod) === id);
    await recordEndedPods(engine, podEnds, cr, row, ended, child);
    const known = unusable.get(cr.metadata.uid ?? "");
    const [progress, ingested, failedPods, points] = await Promise.all([
      hasRun ? manyProgress(db, run) : [],
      // Also for a deleted Job: the results of its run remain.
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
      lastAttempt: lastAttempt(cr, row),
      pods: all.filter((pod) => !isLost(pod)),
      lostPods: all.filter(isLost),
      progress,
      failedPods,
      listeningSince: leadingSince,
      outages: deps.outages.all(),
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

/** Errors of the object store have the codes of sockets too. */
const isDatabaseOutage = (error: unknown) => isDatabaseUnavailable(error) && !isStoreUnavailable(error);

const none: Facts["bad"] = new Map();

const blocked = (message: string): Admission => ({
  admitted: false,
  reason: "WaitingForQuota",
  message: `The cluster rejects the job's Kubernetes Job: ${message}`.slice(0, 1000),
});

/** The id of the job that a pod works for. */
function jobOfPod({ metadata }: Pod): string | undefined {
  const run = metadata.ownerReferences?.find(({ controller }) => controller)?.name;
  return parseRunName(run ?? "")?.id;
}

/** A refused job is checked less often the longer it has been refused: thousands of them must not delay others. */
function refusedRetryMs({ cr, now }: Facts): number {
  const refusedMs = now - Date.parse(cr.status?.heldSince ?? new Date(now).toISOString());
  return Math.min(Math.max(retryMs, refusedMs / 8), longestRetryMs);
}

function nextReconcileMs(facts: Facts, verdict: Verdict): number | undefined {
  if (verdict.kind === "refuse") return refusedRetryMs(facts);
  const times = [
    ...deadlinesOf(facts).map(({ at }) => at),
    ...[awaitPodsUntil(facts) ?? []].flat(),
    ...facts.pods.flatMap((pod) => lostAt(pod) ?? []),
  ];
  return times.length === 0 ? undefined : Math.max(1_000, Math.min(...times) - facts.now);
}

/** The last checkpoint that a pod of the run reported. */
function checkpointOf(run: string | undefined, progress: Facts["progress"]): Facts["checkpoint"] {
  const line = progress.find(({ checkpoint_step }) => checkpoint_step !== null);
  if (run === undefined || line?.checkpoint_step == null || line.checkpoint_at === null) return undefined;
  const time = new Date(line.checkpoint_at).toISOString();
  return { key: keys.checkpoint(run), step: line.checkpoint_step, time };
}
