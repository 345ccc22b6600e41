// Gathers the facts about an open job for decide.ts: adopts its resource if it has no row, records the ends of its pods, and reads
// its Job, pods, progress and results. Called by reconcile.ts.
import type { JobRow } from "../../src/db/job.ts";
import { maybeOneJobState } from "../../src/db/operator/job-state.ts";
import type { Pod } from "../../src/kube/objects.ts";
import { jobIdOf, keys, parseRunName, resourceName } from "../../src/schemas/job-kind.ts";
import type { JobResource } from "./adapter.ts";
import { adopt, type Refusal } from "./adopt.ts";
import type { Engine } from "./engine.ts";
import type { Facts } from "./facts.ts";
import type { Memory } from "./memory.ts";
import { lostAt } from "./pods.ts";
import { recordEndedPods } from "./record-pods.ts";
import { childrenOf, lastAttempt, presentJobsOf } from "./run.ts";

/** How long a quota refusal is reused, so that a thousand refused jobs of one tenant do not all query the database. */
const quotaRefusalMs = 5_000;
const none: Facts["bad"] = new Map();

export async function gather(engine: Engine, memory: Memory, cr: JobResource): Promise<Facts> {
  const { db, adapter, pods, now } = engine;
  const id = jobIdOf(adapter.kind, cr.metadata);
  const read = (run: string | undefined) => maybeOneJobState(db, adapter.kind, id, run);
  // As a rule this is the run whose progress and results count. Otherwise they are read once more.
  const expected = presentJobsOf(engine, cr)[0]?.metadata.name ?? cr.status?.runId;
  let state = await read(expected);
  const isNew = state === null && cr.spec.cancel === undefined;
  const refusal = isNew
    ? await adoptWithinQuota(engine, memory, cr)
    : refusalOfForeign(engine, state?.row ?? null);
  if (isNew && refusal === undefined) state = await read(expected);
  const found = state?.row ?? null;
  const isOwn = found?.installation === engine.installation;

  // The row of another installation shows that it has begun a newer run.
  const { child, earlierJobs } = await childrenOf(engine, cr, found);
  const run = child?.metadata.name;
  const latest = run ?? (isOwn ? found.platform_job_name : undefined) ?? cr.status?.runId;
  const all = run === undefined ? [] : pods.by("job", run);
  // Pods of an earlier resource with this name may end only now; they do not belong to this job.
  const ended = memory.podEnds.of(cr.metadata.name, all).filter((pod) => jobOfPod(pod) === id);
  const hasRecorded = await recordEndedPods(engine, memory.podEnds, cr, isOwn ? found : null, ended, child);
  if (isOwn && (hasRecorded || latest !== expected)) state = (await read(latest)) ?? state;
  const row = isOwn ? (state?.row ?? null) : null;
  const hasRun = run !== undefined && row !== null;
  const known = memory.unusable.get(cr.metadata.uid ?? "");
  const progress = (hasRun && state?.progress) || [];
  const isLost = (pod: Pod) => (lostAt(pod) ?? Number.POSITIVE_INFINITY) <= now();
  return {
    now: now(),
    cr,
    row,
    refusal,
    job: resourceName(adapter.kind, id),
    child,
    earlierJobs,
    lastAttempt: lastAttempt(cr, row),
    pods: all.filter((pod) => !isLost(pod)),
    lostPods: all.filter(isLost),
    progress,
    failedPods: (hasRun && state?.failedPods) || [],
    listeningSince: memory.leadingSince,
    outages: engine.outages.all(),
    // Also for a deleted Job: the results of its run remain.
    ingested: new Set(row === null ? [] : state?.ingested),
    bad: known !== undefined && known.run === run ? known.shards : none,
    metrics: (hasRun && state?.metrics) || [],
    checkpoints: adapter.kind === "training",
    checkpoint: checkpointOf(run, progress),
    ...(await engine.queueing.ask(adapter.kind, cr, child)),
    profileKnown: Object.hasOwn(engine.profiles, cr.spec.profile),
  };
}

/** Refuses a resource whose job another installation runs: one that was copied, or whose job was moved. */
function refusalOfForeign({ installation }: Engine, row: JobRow | null): Refusal | undefined {
  if (row === null || row.installation === installation) return undefined;
  const message =
    `The job belongs to the installation ${row.installation} on the same database, and this one is ${installation}. ` +
    "Delete this resource, which has no effect on the job. If the name of this installation was changed by mistake, change " +
    "it back.";
  return { reason: "PreconditionFailed", message };
}

/** Adopts the resource, or repeats the tenant's quota refusal when the last one is younger than quotaRefusalMs. */
async function adoptWithinQuota(
  { db, adapter, now }: Engine,
  { quotaRefusals }: Memory,
  cr: JobResource,
): Promise<Refusal | undefined> {
  const known = quotaRefusals.get(cr.spec.tenantId);
  if (known !== undefined && now() - known.at < quotaRefusalMs) return known.refusal;
  quotaRefusals.delete(cr.spec.tenantId);
  const refusal = await adopt(db, adapter, cr);
  if (refusal?.reason === "QuotaExceeded") quotaRefusals.set(cr.spec.tenantId, { at: now(), refusal });
  return refusal;
}

/** The id of the job that a pod works for. */
function jobOfPod({ metadata }: Pod): string | undefined {
  const run = metadata.ownerReferences?.find(({ controller }) => controller)?.name;
  return parseRunName(run ?? "")?.id;
}

/** The last checkpoint that a pod of the run reported. */
function checkpointOf(run: string | undefined, progress: Facts["progress"]): Facts["checkpoint"] {
  const line = progress.find(({ checkpoint_step }) => checkpoint_step !== null);
  if (run === undefined || line?.checkpoint_step == null || line.checkpoint_at === null) return undefined;
  const time = new Date(line.checkpoint_at).toISOString();
  return { key: keys.checkpoint(run), step: line.checkpoint_step, time };
}
