// The reconcile of all three kinds of jobs: gather -> decide -> act -> row -> status, each written once and only if it
// changed. The order is what makes a crash at any point harmless: object store -> Postgres -> custom resource.
import { manyAdopted } from "../../src/db/adoption.ts";
import { isDatabaseUnavailable } from "../../src/db/errors.ts";
import { endJob, manyIngestedShards } from "../../src/db/ingest.ts";
import { advanceJob, type Database, type JobRow, maybeOneJob, terminalStatuses } from "../../src/db/job.ts";
import { dropProgress, manyLastMetrics, manyProgress } from "../../src/db/run.ts";
import { dropPods, manyFailedPods, recordPods } from "../../src/db/run-pod.ts";
import type { Kube } from "../../src/kube/client.ts";
import { isAlreadyExists, isConflict, isInvalid } from "../../src/kube/errors.ts";
import { jobs as jobType, pods as podType } from "../../src/kube/kinds.ts";
import type { Job, Pod } from "../../src/kube/objects.ts";
import type { Log } from "../../src/log.ts";
import { jobIdOf, keys, parseResourceName, resourceName } from "../../src/schemas/job-kind.ts";
import type { JobStatus } from "../../src/schemas/job-resource.ts";
import type { Profiles } from "../../src/schemas/profile.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { conditionOf } from "../runtime/conditions.ts";
import type { EventWords, Recorder } from "../runtime/events.ts";
import { type Outcome, RetryError, settled } from "../runtime/outcome.ts";
import type { Store } from "../runtime/store.ts";
import type { JobAdapter, JobResource } from "./adapter.ts";
import { adopt, type Refusal } from "./adopt.ts";
import { endOf } from "./census.ts";
import { buildJob, type PodSettings } from "./child.ts";
import { turn } from "./conditions.ts";
import { deadlinesOf } from "./deadlines.ts";
import {
  type Admission,
  decide,
  type End,
  expiresAt,
  type Facts,
  failed,
  hasEnded,
  reasonOf,
  type Stop,
  type Verdict,
} from "./decide.ts";
import type { JobMetrics } from "./metrics.ts";
import { PodEnds, podEnd } from "./pod-ends.ts";
import { isEnded, startOf } from "./pods.ts";
import { takeResults } from "./results.ts";
import { endStatus, openStatus, rowChange, statusDiffers } from "./status.ts";

export const fieldManager = "plosive-operator";

export type EngineDeps = {
  kube: Kube;
  db: Database;
  storage: Storage;
  log: Log;
  recorder: Recorder;
  metrics: JobMetrics;
  now: () => number;
  namespace: string;
  profiles: Profiles;
  settings: PodSettings;
  jobs: Store<Job>;
  pods: Store<Pod>;
  queueing: Queueing;
};

/** A database that is away for less is not worth telling. */
const awayMs = 10_000;

export const resourceGone = "The job's custom resource was deleted in Kubernetes.";

const hasRowEnded = (row: JobRow) => terminalStatuses.some((status) => status === row.status);

/** A reconcile function over the names of one kind's custom resources. */
export function makeJobReconcile(deps: EngineDeps, adapter: JobAdapter, store: Store<JobResource>) {
  const { kube, db, storage, recorder, metrics, now, namespace } = deps;
  const log = deps.log.child({ kind: adapter.kind });
  const podEnds = new PodEnds(deps.pods, adapter.type.plural);
  /** What pods said before that may be lost: nobody led, or the database was away. */
  let listeningSince = now();
  let awaySince: number | undefined;
  /** Ended jobs whose rows are known to have ended too: nothing is asked or sent for them again. */
  const settledUids = new Set<string>();
  store.onChange(({ object, deleted }) => {
    if (deleted) settledUids.delete(object.metadata.uid ?? "");
  });

  return async (name: string): Promise<Outcome> => {
    try {
      const outcome = await reconcile(name);
      awaySince = undefined;
      return outcome;
    } catch (error) {
      if (isDatabaseUnavailable(error)) await tellAway(name);
      throw error;
    }
  };

  async function reconcile(name: string): Promise<Outcome> {
    const cr = store.get(name);
    if (cr === undefined) return forget(name);
    const uid = cr.metadata.uid ?? "";
    if (cr.metadata.deletionTimestamp !== undefined) return settled;
    if (settledUids.has(uid)) return expire(cr);
    const id = jobIdOf(adapter.kind, cr.metadata);
    let row = await maybeOneJob(db, adapter.kind, id);
    if (hasEnded(cr)) {
      if (row !== null && !hasRowEnded(row)) await repairRow(cr, id, row);
      settledUids.add(uid);
      podEnds.forget(name);
      return expire(cr);
    }
    let refusal: Refusal | undefined;
    if (row === null && cr.spec.cancel === undefined) {
      refusal = await adopt(db, adapter, cr);
      if (refusal === undefined) row = await maybeOneJob(db, adapter.kind, id);
    }

    let facts = await gather(cr, row, refusal);
    let verdict = decide(facts);
    while (verdict.kind === "ingest") {
      const run = facts.child!.metadata.name;
      // The row must name this run, else its results count as those of an older one.
      await advance(id, facts, openStatus(facts, verdict));
      const taken = await takeResults({ storage, log }, adapter, id, run, verdict.shards);
      facts = {
        ...facts,
        ingested: new Set([...facts.ingested, ...taken.ingested]),
        bad: new Map([...facts.bad, ...taken.bad]),
      };
      verdict = decide(facts);
    }
    if (verdict.kind === "create") verdict = await createChild(facts, verdict);
    if (verdict.kind === "end") return end(id, facts, verdict);
    if (verdict.kind === "activate") await deps.queueing.activate(facts.child!, verdict.active);
    if (verdict.kind === "move") await deps.queueing.move(facts.child!, verdict.queue);
    if (verdict.kind === "patch") {
      const { suspend, parallelism } = verdict;
      deps.jobs.set(await kube.patch(jobType, facts.child!.metadata, { spec: { suspend, parallelism } }));
      if (suspend !== (facts.child!.spec.suspend ?? false))
        say(cr, "Normal", suspend ? "Suspended" : "Resumed", "As spec.suspend says.");
    }
    if (verdict.kind === "stop") await stopPods(facts, verdict.pods);
    const status = openStatus(facts, verdict);
    if (verdict.kind === "refuse") tellRefusal(cr, verdict);
    else await advance(id, facts, status);
    await writeStatus(cr, status);
    return { requeueAfterMs: whenAgain(facts, verdict) };
  }

  /** The records cannot be reached: what pods report meanwhile may be lost, and who looks at the job should know. */
  async function tellAway(name: string): Promise<void> {
    listeningSince = now();
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
  function tellRefusal(cr: JobResource, { reason, message }: Refusal): void {
    const accepted = conditionOf(cr.status?.conditions, "Accepted");
    if (accepted?.reason === reason && accepted.message === message) return;
    if (reason === "RowMissing") metrics.drift("resource");
    log.warn({ name: cr.metadata.name, reason }, message);
    say(cr, "Warning", reason, message);
  }

  async function gather(cr: JobResource, row: JobRow | null, refusal?: Refusal): Promise<Facts> {
    const child = await childOf(cr);
    const run = child?.metadata.name;
    const known = run !== undefined && row !== null;
    const latest = run ?? cr.status?.runId;
    const pods = run === undefined ? [] : deps.pods.by("job", run);
    const hadPods = await tellPods(cr, row, podEnds.of(cr.metadata.name, pods));
    const [progress, ingested, failedPods, points] = await Promise.all([
      known ? manyProgress(db, run) : [],
      // Also of a run that is gone: what it gave stays.
      row !== null && latest !== undefined ? manyIngestedShards(db, latest) : [],
      hadPods && row !== null ? manyFailedPods(db, row.id) : [],
      known && adapter.kind === "training" ? manyLastMetrics(db, row.id) : [],
    ]);
    return {
      now: now(),
      cr,
      row,
      refusal,
      job: resourceName(adapter.kind, jobIdOf(adapter.kind, cr.metadata)),
      child,
      pods,
      progress,
      failedPods,
      listeningSince,
      ingested: new Set(ingested),
      bad: new Map(),
      metrics: points,
      checkpoints: adapter.kind === "training",
      checkpoint: checkpointOf(run, progress),
      ...(await deps.queueing.ask(adapter.kind, cr, child)),
      profileKnown: deps.profiles[cr.spec.profile] !== undefined,
    };
  }

  /** Writes down which pods have ended, each once. Says whether the job had any, now or before. */
  async function tellPods(cr: JobResource, row: JobRow | null, ended: readonly Pod[]): Promise<boolean> {
    const { name } = cr.metadata;
    if (row === null || ended.length === 0) return cr.status?.startTime !== undefined;
    const ends = ended.map((pod) => podEnd(pod, now()));
    const recorded = await recordPods(db, adapter.kind, row.id, ends);
    podEnds.told(name, ended);
    Object.assign(row, recorded?.usage);
    for (const { podUid, failure } of ends) {
      if (failure === undefined || !recorded?.told.includes(podUid)) continue;
      metrics.shardRetried(failure.class);
      say(cr, "Warning", reasonOf[failure.class], `Shard ${failure.shard}: ${failure.message}`);
    }
    return true;
  }

  /** Deletes pods before their end. What counts as their failure is told first: a pod is never deleted twice for it. */
  async function stopPods({ cr, row }: Facts, stops: readonly Stop[]): Promise<void> {
    const counted = stops.filter(({ failure }) => failure !== undefined);
    const ends = counted.map(({ pod, failure }) => podEnd(pod, now(), failure));
    if (ends.length > 0) await recordPods(db, adapter.kind, row!.id, ends);
    for (const { pod, failure } of stops) {
      await kube.remove(podType, pod.metadata, { uid: pod.metadata.uid });
      if (failure === undefined) continue;
      metrics.shardRetried(failure.class);
      say(cr, "Warning", "ProgressStalled", `Shard ${failure.shard}: ${failure.message} Its pod is deleted.`);
    }
  }

  /** The Job of the newest run. When the status names one that the cache lacks, the API server is asked: the cache may be behind. */
  async function childOf(cr: JobResource): Promise<Job | undefined> {
    const uid = cr.metadata.uid ?? "";
    const isOwn = (job: Job) =>
      job.metadata.deletionTimestamp === undefined &&
      job.metadata.ownerReferences?.some((owner) => owner.uid === uid);
    const cached = deps.jobs.by("owner", uid).filter(isOwn);
    if (cached.length > 0) return cached.sort((a, b) => attemptIn(b) - attemptIn(a))[0];
    const run = cr.status?.runId;
    if (run === undefined) return undefined;
    const live = await kube.find(jobType, { namespace, name: run });
    if (live === undefined || !isOwn(live)) return undefined;
    deps.jobs.set(live);
    return live;
  }

  /** Creates the Job of the next attempt, after one more look at the custom resource: the cache may be behind. */
  async function createChild(facts: Facts, verdict: Verdict & { kind: "create" }): Promise<Verdict> {
    const { cr } = facts;
    const live = await kube.find(adapter.type, cr.metadata);
    if (live !== undefined) store.set(live);
    if (
      live?.metadata.uid !== cr.metadata.uid ||
      live?.metadata.resourceVersion !== cr.metadata.resourceVersion
    ) {
      throw new RetryError("the custom resource changed meanwhile");
    }
    const profile = deps.profiles[cr.spec.profile]![adapter.verb];
    const terms = await deps.queueing.terms(cr).catch(unknownPriority);
    if ("kind" in terms) return terms;
    const job = buildJob(cr, adapter, verdict.attempt, profile, deps.settings, terms);
    try {
      deps.jobs.set(await kube.create(jobType, job));
      log.info({ run: job.metadata.name, attempt: verdict.attempt }, "created a Job");
      const again = cr.status?.runId === undefined ? "" : `, because ${cr.status.runId} was deleted`;
      say(
        cr,
        again === "" ? "Normal" : "Warning",
        again === "" ? "JobCreated" : "ChildDeleted",
        `Created Job ${job.metadata.name}${again}.`,
      );
    } catch (error) {
      if (isInvalid(error)) {
        const message = error instanceof Error ? error.message : String(error);
        return failed({ class: "System", code: "job_refused", message, retryable: false });
      }
      if (!isAlreadyExists(error)) throw error;
      const present = await kube.get(jobType, job.metadata);
      if (!present.metadata.ownerReferences?.some((owner) => owner.uid === cr.metadata.uid)) {
        throw new RetryError(`Job ${job.metadata.name} exists and belongs to something else`);
      }
      deps.jobs.set(present);
    }
    return verdict;
  }

  /** Ends the job: rows first, then the child, then the status. Each step may be repeated. */
  async function end(id: string, facts: Facts, verdict: End): Promise<Outcome> {
    const { cr, child, row } = facts;
    const run = child?.metadata.name ?? cr.status?.runId;
    const endedAt = child === undefined ? undefined : endOf(child);
    const tellLag = (sink: "row" | "resource") => {
      if (endedAt !== undefined) metrics.statusLag(sink, (now() - Date.parse(endedAt)) / 1000);
    };
    if (row !== null && !hasRowEnded(row)) {
      const alive = facts.pods.filter((pod) => !isEnded(pod) && startOf(pod) !== undefined);
      if (alive.length > 0)
        await recordPods(
          db,
          adapter.kind,
          id,
          alive.map((pod) => podEnd(pod, now(), null)),
        );
      if (verdict.end === "Succeeded") {
        for (const [shard, failure] of verdict.failedShards) {
          await adapter.failShard({ jobId: id, run: run!, shard }, failure.message);
        }
      }
      await endJob(db, adapter.kind, id, {
        status: verdict.end === "Succeeded" ? "completed" : verdict.end === "Failed" ? "failed" : "cancelled",
        statusMessage: verdict.end === "Failed" ? null : verdict.message,
        errorMessage: verdict.end === "Failed" ? verdict.message : null,
      });
      tellLag("row");
    }
    let final = verdict;
    const after = await maybeOneJob(db, adapter.kind, id);
    if (verdict.end === "Succeeded" && after?.status === "failed") {
      const message = after.error_message ?? "Every item failed.";
      final = failed({ class: "User", code: "all_items_failed", message, retryable: false });
    }
    const extra = final.end === "Succeeded" ? await adapter.completed(cr, id) : {};
    const over = child?.status?.conditions?.some(
      ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
    );
    if (child !== undefined && !over) await kube.remove(jobType, child.metadata, { uid: child.metadata.uid });
    const status = endStatus({ ...facts, row: after ?? row }, final, extra);
    await writeStatus(cr, status);
    tellLag("resource");
    if (run !== undefined) await dropProgress(db, run);
    if (facts.failedPods.length > 0 || cr.status?.startTime !== undefined) await dropPods(db, id);
    log.info({ name: cr.metadata.name, run, outcome: final.end, reason: final.reason }, final.message);
    say(cr, final.end === "Failed" ? "Warning" : "Normal", final.end, final.message);
    return settled;
  }

  async function advance(id: string, facts: Facts, status: JobStatus): Promise<void> {
    const change = rowChange(facts, status);
    const { row } = facts;
    const same =
      row?.submitted &&
      row.status === change.status &&
      row.status_message === change.statusMessage &&
      row.progress_percent >= Math.min(99, change.progressPercent) &&
      (change.platformJobName === null || row.platform_job_name === change.platformJobName);
    if (!same) await advanceJob(db, adapter.kind, id, change);
  }

  async function writeStatus(cr: JobResource, status: JobStatus): Promise<void> {
    if (!statusDiffers(cr.status, status)) return;
    const { name, uid, resourceVersion } = cr.metadata;
    try {
      const object = {
        metadata: { name, namespace, uid, resourceVersion },
        status,
      } as unknown as JobResource;
      store.set(await kube.apply(adapter.type, object, { fieldManager, subresource: "status" }));
      metrics.statusWritten(adapter.kind, cr, status);
    } catch (error) {
      if (isConflict(error)) throw new RetryError("the custom resource changed meanwhile");
      throw error;
    }
  }

  /** The custom resource is gone: so are its Jobs, and a row that still waits for it would wait for ever. */
  async function forget(name: string): Promise<Outcome> {
    const waiting = await waitingFor(name);
    const owned = deps.jobs
      .by("resource", name)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (waiting.length === 0 && owned.length === 0) return settled;
    // The cache may only be behind, or the name was used again.
    const live = await kube.find(adapter.type, { namespace, name });
    if (live !== undefined) store.set(live);
    // They go by owner reference too; the garbage collector may take half a minute to know a new kind of owner.
    for (const { metadata } of owned) {
      if (metadata.ownerReferences?.some(({ uid }) => uid === live?.metadata.uid)) continue;
      await kube.remove(jobType, metadata, { uid: metadata.uid });
    }
    for (const id of waiting) {
      if (live !== undefined && jobIdOf(adapter.kind, live.metadata) === id) continue;
      metrics.drift("row");
      log.warn({ name, id }, "the custom resource of an open job is gone; the job counts as cancelled");
      await endJob(db, adapter.kind, id, {
        status: "cancelled",
        statusMessage: resourceGone,
        errorMessage: null,
      });
    }
    return settled;
  }

  /** Open jobs whose custom resource had this name: one made through the API, or those that were adopted. */
  async function waitingFor(name: string): Promise<readonly string[]> {
    const named = parseResourceName(name);
    if (named?.kind !== adapter.kind) return manyAdopted(db, adapter.kind, name);
    const row = await maybeOneJob(db, adapter.kind, named.id);
    return row?.submitted === true && !hasRowEnded(row) ? [named.id] : [];
  }

  /** The custom resource has ended and the row has not, as after a restore of the database. */
  async function repairRow(cr: JobResource, id: string, row: JobRow): Promise<void> {
    metrics.drift("row");
    log.warn(
      { name: cr.metadata.name, status: row.status },
      "the row is behind its custom resource; repairing it",
    );
    const { phase, runId, failure, shards } = cr.status ?? {};
    if (phase === "Succeeded" && runId !== undefined) {
      await advanceJob(db, adapter.kind, id, {
        status: "running",
        statusMessage: row.status_message,
        progressPercent: 0,
        platformJobName: runId,
      });
      const all = Array.from({ length: shards?.total ?? 1 }, (_, shard) => shard);
      await takeResults({ storage, log }, adapter, id, runId, all);
      await endJob(db, adapter.kind, id, { status: "completed", statusMessage: null, errorMessage: null });
      return;
    }
    const isFailure = phase === "Failed";
    await endJob(db, adapter.kind, id, {
      status: isFailure ? "failed" : "cancelled",
      statusMessage: null,
      errorMessage: isFailure ? (failure?.message ?? "The job failed.") : null,
    });
  }

  function say(cr: JobResource, type: EventWords["type"], reason: string, note: string): void {
    const { apiVersion, kind } = adapter.type;
    recorder.record({ apiVersion, kind, metadata: cr.metadata }, { type, reason, action: "Reconcile", note });
  }
}

const attemptIn = (job: Job) => Number(job.metadata.name.slice(job.metadata.name.lastIndexOf("-") + 1));

function whenAgain(facts: Facts, verdict: Verdict): number | undefined {
  if (verdict.kind === "refuse") return 30_000;
  const [deadline] = deadlinesOf(facts);
  return deadline === undefined ? undefined : Math.max(1_000, deadline.at - facts.now);
}

/** The last checkpoint that a pod of the run told. */
function checkpointOf(run: string | undefined, progress: Facts["progress"]): Facts["checkpoint"] {
  const line = progress.find(({ checkpoint_step }) => checkpoint_step !== null);
  if (run === undefined || line?.checkpoint_step == null || line.checkpoint_at === null) return undefined;
  const time = new Date(line.checkpoint_at).toISOString();
  return { key: keys.checkpoint(run), step: line.checkpoint_step, time };
}
