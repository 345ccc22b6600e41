// Repairs drift of one job: the custom resource or the row is gone, or was restored to an older state. Called by
// reconcile.ts.
import { manyAdopted } from "../../src/db/adoption.ts";
import { advanceJob, type JobRow, maybeOneJob } from "../../src/db/job.ts";
import { endJob } from "../../src/db/operator/ingest.ts";
import { markUnsubmitted } from "../../src/db/operator/outbox.ts";
import { jobs as jobType } from "../../src/kube/kinds.ts";
import { isTerminal } from "../../src/schemas/job.ts";
import { jobIdOf, parseResourceName, resourceName, runsUntil } from "../../src/schemas/job-kind.ts";
import { type Outcome, settled } from "../runtime/outcome.ts";
import type { JobResource } from "./adapter.ts";
import { labels } from "./child.ts";
import type { Engine } from "./engine.ts";
import { ingestResults } from "./results.ts";

export const resourceGone = "The job's custom resource was deleted in Kubernetes.";

/**
 * Handles a custom resource that is deleted, or that only a finalizer still keeps. Deletes its Jobs, and ends its open row as
 * cancelled if somebody has deleted the resource. If nobody is known to have (`deletedIds` lacks the id), it may be lost with a
 * restore of etcd, and the job is submitted again; an adopted one cannot be, because only its resource had its whole spec.
 */
export async function handleDeleted(
  engine: Engine,
  name: string,
  deletedIds: Pick<ReadonlyMap<string, string>, "has">,
): Promise<Outcome> {
  const { kube, db, adapter, store, jobs, metrics, log, namespace } = engine;
  const openIds = await openJobsOf(engine, name);
  // Resources of two kinds may have the same name.
  const owned = jobs
    .by("resource", name)
    .filter(
      ({ metadata }) =>
        metadata.labels?.[labels.kind] === adapter.type.plural && metadata.deletionTimestamp === undefined,
    );
  if (openIds.length === 0 && owned.length === 0) return settled;
  // The cache may be behind, or a new resource may have taken the name.
  const found = await kube.find(adapter.type, { namespace, name });
  if (found !== undefined) store.set(found);
  const live = found?.metadata.deletionTimestamp === undefined ? found : undefined;
  // Owner references delete them too, but the garbage collector may need half a minute to learn a new kind of owner.
  for (const { metadata } of owned) {
    if (metadata.ownerReferences?.some(({ uid }) => uid === live?.metadata.uid)) continue;
    await kube.remove(jobType, metadata, { uid: metadata.uid });
  }
  for (const id of openIds) {
    if (live !== undefined && jobIdOf(adapter.kind, live.metadata) === id) continue;
    metrics.drift("row");
    const isDeleted = deletedIds.has(id) || found?.metadata.deletionTimestamp !== undefined;
    if (!isDeleted && resourceName(adapter.kind, id) === name) {
      log.warn({ name, id }, "the custom resource of an open job is missing; submitting the job again");
      await markUnsubmitted(db, adapter.kind, id);
      continue;
    }
    log.warn({ name, id }, "the custom resource of an open job is gone; the job counts as cancelled");
    await endJob(db, adapter.kind, id, {
      status: "cancelled",
      statusMessage: resourceGone,
      errorMessage: null,
    });
  }
  return settled;
}

/** Returns the ids of open jobs whose custom resource had this name: one created through the API, or adopted ones. */
async function openJobsOf(engine: Engine, name: string): Promise<readonly string[]> {
  const { db, adapter, installation } = engine;
  const named = parseResourceName(name);
  if (named?.kind !== adapter.kind) return manyAdopted(db, installation, adapter.kind, name);
  const row = await maybeOneJob(db, adapter.kind, named.id);
  if (row?.installation !== installation) return [];
  // An adopted job has a resource with another name, so it does not count here.
  return row.submitted && row.resource_name === null && !isTerminal(row.status) ? [named.id] : [];
}

/** Ends the row of a custom resource that has ended, as after a restore of the database. */
export async function repairRow(engine: Engine, cr: JobResource, id: string, row: JobRow): Promise<void> {
  const { db, adapter, metrics, log } = engine;
  metrics.drift("row");
  log.warn(
    { name: cr.metadata.name, status: row.status },
    "the row is behind its custom resource; repairing it",
  );
  const { phase, runId, failure, shards } = cr.status ?? {};
  if (phase === "Succeeded" && runId !== undefined) {
    await ingestAllRuns(engine, id, row, runId, shards?.total ?? 1);
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

/**
 * Ingests the results of all runs of a succeeded job, from the first run on. A shard without any result counts as
 * failed.
 */
async function ingestAllRuns(
  engine: Engine,
  id: string,
  row: JobRow,
  runId: string,
  count: number,
): Promise<void> {
  const { db, adapter } = engine;
  const missing = new Set(Array.from({ length: count }, (_, shard) => shard));
  for (const run of runsUntil(runId)) {
    // The database accepts results only for the run that the row names.
    const change = { status: "running", statusMessage: row.status_message, progressPercent: 0 } as const;
    await advanceJob(db, adapter.kind, id, { ...change, platformJobName: run }, { mayGoBack: true });
    const { ingested } = await ingestResults(engine, adapter, id, run, [...missing]);
    for (const shard of ingested) missing.delete(shard);
  }
  for (const shard of missing)
    await adapter.failShard(
      { jobId: id, run: runId, shard },
      "The shard failed and the job continued without it.",
    );
}
