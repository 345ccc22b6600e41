// Finds the Kubernetes Job of a job's newest run, and creates the Job of the next attempt. Called by reconcile.ts.
import { isAlreadyExists, isForbidden, isInvalid } from "../../src/kube/errors.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import type { Job } from "../../src/kube/objects.ts";
import { RetryError } from "../runtime/outcome.ts";
import type { JobResource } from "./adapter.ts";
import { buildJob } from "./child.ts";
import { failed, type Verdict } from "./decide.ts";
import type { Engine } from "./engine.ts";
import type { Facts } from "./facts.ts";

/**
 * Returns the Job of the newest run. Asks the API server when the status names a Job that the cache lacks: the cache
 * may be behind.
 */
export async function childOf(engine: Engine, cr: JobResource): Promise<Job | undefined> {
  const { kube, jobs, namespace } = engine;
  const uid = cr.metadata.uid ?? "";
  const isOwn = (job: Job) =>
    job.metadata.deletionTimestamp === undefined &&
    job.metadata.ownerReferences?.some((owner) => owner.uid === uid);
  const cached = jobs.by("owner", uid).filter(isOwn);
  if (cached.length > 0) return cached.sort((a, b) => attemptIn(b) - attemptIn(a))[0];
  const run = cr.status?.runId;
  if (run === undefined) return undefined;
  const live = await kube.find(jobType, { namespace, name: run });
  if (live === undefined || !isOwn(live)) return undefined;
  jobs.set(live);
  return live;
}

/** The API server forbids the Job, for example because a quota of the namespace is used up. */
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
    jobs.set(await kube.create(jobType, job));
    log.info({ run: job.metadata.name, attempt: verdict.attempt }, "created a Kubernetes Job");
    const again = cr.status?.runId === undefined ? "" : `, because ${cr.status.runId} was deleted`;
    emitEvent(
      cr,
      again === "" ? "Normal" : "Warning",
      again === "" ? "JobCreated" : "ChildDeleted",
      `Created Job ${job.metadata.name}${again}.`,
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (isForbidden(error)) return { kind: "blocked", message };
    if (isInvalid(error)) {
      return failed({ class: "System", code: "job_refused", message, retryable: false });
    }
    if (!isAlreadyExists(error)) throw error;
    const present = await kube.get(jobType, job.metadata);
    if (!present.metadata.ownerReferences?.some((owner) => owner.uid === cr.metadata.uid)) {
      throw new RetryError(`Job ${job.metadata.name} exists and belongs to something else`);
    }
    jobs.set(present);
  }
  return verdict;
}

/**
 * Whether this is the first run, according to the row, which is never behind. Then a cache that is behind does no harm:
 * an ended job has an ended row, a Job cannot be created twice, and a Job whose owner is deleted is garbage-collected.
 */
export const isFirstRun = ({ cr, row }: Facts) =>
  cr.status?.runId === undefined && row?.platform_job_name === null;

const attemptIn = (job: Job) => Number(job.metadata.name.slice(job.metadata.name.lastIndexOf("-") + 1));
