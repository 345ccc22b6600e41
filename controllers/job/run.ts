// Finds the Kubernetes Job of a job's newest run, and creates the Job of the next attempt. Called by gather.ts and apply.ts.
import type { JobRow } from "../../src/db/job.ts";
import { isAlreadyExists, isDenied, isInvalid } from "../../src/kube/errors.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import { runName } from "../../src/schemas/job-kind.ts";
import { RetryError } from "../runtime/outcome.ts";
import type { JobResource } from "./adapter.ts";
import type { CachedJob } from "./cached-job.ts";
import { buildJob, labels } from "./child.ts";
import { failed, type Verdict } from "./decide.ts";
import type { Engine } from "./engine.ts";
import type { Facts } from "./facts.ts";

/**
 * Returns the number of the newest attempt that status and row know of; 0 without one. After a restore of etcd the status and
 * the Jobs may be older than the row.
 */
export const lastAttempt = (cr: JobResource, row: JobRow | null): number =>
  Math.max(0, ...[cr.status?.runId, row?.platform_job_name].map((run) => attemptIn(run ?? "-0")));

/**
 * Returns the cached Jobs of the resource, also those that have lost their owner reference: the garbage collector never deletes
 * these.
 */
export function jobsOf({ jobs, adapter }: Engine, { metadata: { name, uid } }: JobResource): CachedJob[] {
  return jobs.by("resource", name).filter(({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    return (
      metadata.labels?.[labels.kind] === adapter.type.plural && (owner === undefined || owner.uid === uid)
    );
  });
}

/** Returns the cached Jobs of the resource that nobody deletes, the newest run first. */
export const presentJobsOf = (engine: Engine, cr: JobResource): CachedJob[] =>
  jobsOf(engine, cr)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort((a, b) => attemptOf(b) - attemptOf(a));

/**
 * Returns the Job of the newest run, and those of earlier ones, which a restore of etcd has brought back, or whose owner reference
 * somebody has removed. Asks the API server when the status names a Job that the cache lacks: the cache may be behind.
 */
export async function childrenOf(
  engine: Engine,
  cr: JobResource,
  row: JobRow | null,
): Promise<Pick<Facts, "child" | "earlierJobs">> {
  const { kube, jobs, namespace } = engine;
  const uid = cr.metadata.uid ?? "";
  const isOwn = (job: CachedJob) =>
    job.metadata.deletionTimestamp === undefined &&
    job.metadata.ownerReferences?.some((owner) => owner.uid === uid);
  const last = lastAttempt(cr, row);
  const cached = presentJobsOf(engine, cr);
  const newest = cached.find((job) => isOwn(job) && attemptOf(job) >= last);
  const earlierJobs = cached.filter((job) => job !== newest);
  if (newest !== undefined) return { child: newest, earlierJobs };
  const run = [cr.status?.runId, row?.platform_job_name].find(
    (name) => name != null && attemptIn(name) === last,
  );
  const live = run == null ? undefined : await kube.find(jobType, { namespace, name: run });
  if (live === undefined || !isOwn(live)) return { child: undefined, earlierJobs };
  jobs.set(live);
  return { child: live, earlierJobs };
}

/** The API server denies the Job, for example because a quota of the namespace is used up or an admission policy forbids it. */
export type Blocked = { kind: "blocked"; message: string };

/**
 * Creates the Job of the next attempt. Returns the verdict, `blocked`, or a failed end. Throws RetryError when the
 * custom resource changed or a foreign Job has the name.
 */
export async function createChild(
  engine: Engine,
  facts: Facts,
  verdict: Verdict & { kind: "create" },
): Promise<Verdict | Blocked> {
  const { kube, adapter, store, jobs, profiles, settings, log, emitEvent } = engine;
  const { cr } = facts;
  if (!isFirstRun(facts)) {
    // The cache may be behind.
    const live = await kube.find(adapter.type, cr.metadata);
    if (live !== undefined) store.set(live);
    if (
      live?.metadata.uid !== cr.metadata.uid ||
      live?.metadata.resourceVersion !== cr.metadata.resourceVersion
    ) {
      throw new RetryError("the custom resource changed during this reconcile");
    }
  }
  const profile = profiles[cr.spec.profile]![adapter.verb];
  const queueSettings = await engine.queueing.settingsOf(cr);
  if (queueSettings === undefined) {
    const message = `The cluster has no priority class named ${cr.spec.priorityClassName}.`;
    return failed({ class: "User", code: "priority_class_unknown", message, retryable: false });
  }
  const job = buildJob(cr, adapter, verdict.attempt, profile, settings, queueSettings);
  try {
    const made = await kube.create(jobType, job);
    jobs.set(made);
    if (isFirstRun(facts)) engine.metrics.jobCreated(adapter.kind, cr, made.metadata.creationTimestamp);
    log.info({ run: job.metadata.name, attempt: verdict.attempt }, "created a Kubernetes Job");
    const { attempt } = verdict;
    const again = attempt === 1 ? "" : `, because ${runName(facts.job, attempt - 1)} was deleted`;
    emitEvent(
      cr,
      again === "" ? "Normal" : "Warning",
      again === "" ? "JobCreated" : "ChildDeleted",
      `Created Job ${job.metadata.name}${again}.`,
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (isDenied(error)) return { kind: "blocked", message };
    if (isInvalid(error)) {
      return failed({ class: "System", code: "job_refused", message, retryable: false });
    }
    if (!isAlreadyExists(error)) throw error;
    const present = await kube.get(jobType, job.metadata);
    if (!present.metadata.ownerReferences?.some((owner) => owner.uid === cr.metadata.uid)) {
      throw new RetryError(`Job ${job.metadata.name} exists and belongs to something else`);
    }
    jobs.set(present);
    // An earlier request created it, whose response was lost.
    if (isFirstRun(facts)) engine.metrics.jobCreated(adapter.kind, cr, present.metadata.creationTimestamp);
  }
  return verdict;
}

/**
 * Whether this is the first run, according to the row, which is never behind. Then a cache that is behind does no harm:
 * an ended job has an ended row, a Job cannot be created twice, and a Job whose owner is deleted is garbage-collected.
 */
export const isFirstRun = ({ cr, row }: Facts) =>
  cr.status?.runId === undefined && row?.platform_job_name === null;

const attemptIn = (run: string) => Number(run.slice(run.lastIndexOf("-") + 1));
const attemptOf = ({ metadata }: CachedJob) => attemptIn(metadata.name);
